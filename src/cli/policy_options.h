#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "medley/policy.h"

namespace medley::cli {

/// The options that say how to mix, the same for every verb; they fill a MixPolicy. Must live as
/// long as the parser it was added to, at one address.
class PolicyOptions {
 public:
  PolicyOptions() = default;
  PolicyOptions(const PolicyOptions&) = delete;
  PolicyOptions& operator=(const PolicyOptions&) = delete;

  /// `pairing` is the verb's default. Options appear in the help in groups of their own.
  void add_to(CLI::App& app, Pairing pairing);

  /// Only the options that decide how a mask and its label are drawn.
  void add_law_to(CLI::App& app);

  /// The policy that was asked for, with the files that options name read in; to be called after
  /// parsing. Throws InvalidArgument for an unknown method; `Sampler` checks the numbers.
  [[nodiscard]] MixPolicy policy() const;

  /// Options that were given, that the chosen method has no use for: "--ratio".
  [[nodiscard]] std::vector<std::string> unused() const;

  [[nodiscard]] bool given(const std::string& option) const;

 private:
  void add_method(CLI::App& app);
  void add_ratio(CLI::App& app);
  void add_boxes(CLI::App& app);
  void add_masks(CLI::App& app);
  void add_pairing(CLI::App& app);
  void add_label(CLI::App& app);
  void add_windows(CLI::App& app);

  const CLI::App* app_ = nullptr;
  MixPolicy policy_;
  bool same_class_ = false;
  bool other_class_ = false;
  std::string design_file_;
  std::vector<std::string> mask_files_;
};

}  // namespace medley::cli
