#pragma once

#include <map>
#include <string>
#include <string_view>

#include <CLI/App.hpp>

#include "cli/method_flags.h"
#include "medley/policy.h"

namespace medley::cli {

/// The options that say how to mix, the same for every command; they fill a MixPolicy. Must live as
/// long as the parser it was added to, at one address.
class PolicyOptions {
 public:
  PolicyOptions() = default;
  PolicyOptions(const PolicyOptions&) = delete;
  PolicyOptions& operator=(const PolicyOptions&) = delete;

  /// `pairing` is the command's default. Options appear in the help in groups of their own.
  void add_to(CLI::App& app, Pairing pairing);

  /// Only the options that decide how a mask and its label are drawn.
  void add_masks_to(CLI::App& app);

  /// The policy that was asked for, with the files that options name read in; to be called after
  /// parsing. Throws InvalidArgument.
  [[nodiscard]] MixPolicy policy() const;

  [[nodiscard]] bool given(const std::string& flag) const;

  /// Says which of the options that were given have no effect.
  void note_unused(bool quiet) const;

 private:
  void add_method(CLI::App& app);
  void add_common(CLI::App& app, std::string_view option, const std::string& group);

  const CLI::App* app_ = nullptr;
  std::string method_ = "mixup";
  MethodFlags flags_;
  MixPolicy common_;
  std::map<std::string_view, std::string> common_texts_;  // by option
};

}  // namespace medley::cli
