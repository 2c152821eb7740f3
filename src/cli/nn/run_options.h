#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/App.hpp>

#include "cli/method_flags.h"
#include "medley/nn/trainer.h"
#include "medley/train/recipe.h"
#include "medley/train/result.h"

namespace medley::cli {

/// --data, --train-images, --test-images, --skip-broken, --threads and --device, common to all
/// verbs that run networks.
struct DataOptions {
  train::DataChoice chosen{.source = "synthetic"};
  std::int32_t threads = 0;
  std::string device_word = "auto";

  void add_to(CLI::App& app);
  /// Throws InvalidArgument, IoError.
  [[nodiscard]] data::ImageData open() const;
  /// The test images alone, with the classes of the data.
  [[nodiscard]] data::ImageData open_test() const;
  [[nodiscard]] data::ImageFiles::Broken broken() const {
    return chosen.skip_broken ? data::ImageFiles::Broken::skip : data::ImageFiles::Broken::refuse;
  }
  /// "cifar100" of "cifar100:DIR".
  [[nodiscard]] std::string name() const {
    return chosen.source.substr(0, chosen.source.find(':'));
  }
  /// For run.json: folders by their absolute paths.
  [[nodiscard]] train::DataChoice choice() const;
  /// Sentences on the images that are damaged or were left out, if any are.
  static void note_left_out(const data::ImageData& images, bool quiet);
  /// A note on classes without a training image, if there are some.
  static void note_empty_classes(const data::ImageData& images, bool quiet);
  /// Throws InvalidArgument if the device is not to be had.
  [[nodiscard]] nn::Device device() const;
};

/// nn::run_options() but for `without`, which change `options`.
void add_run_options(CLI::App& app, nn::TrainOptions& options, std::string_view without = {});

/// --recipe, one option per field of it, and the options of methods. Must live at one address as
/// long as the parser.
class RecipeOptions {
 public:
  /// The field `without` is chosen in another way.
  void add_to(CLI::App& app, std::string_view without = {});

  /// Makes the recipe.json of a run the recipe that the options change, unless another was named.
  void start_from(const std::filesystem::path& file);

  /// The named recipe with the fields that were given; `eval_every` keeps to the epochs and
  /// `test_resize` to the image size unless they are among them. Throws InvalidArgument.
  [[nodiscard]] train::Recipe recipe() const;

  [[nodiscard]] bool given(std::string_view field) const;

  /// Notes on options that were given, but that none of the methods uses.
  void note_unused(const std::vector<std::string>& chosen, bool quiet) const;
  /// A note on `test_resize` if it was chosen for pictures of this data.
  void note_test_resize(const train::Recipe& recipe, const DataOptions& data, bool quiet) const;

 private:
  /// Not for runs that go on: theirs is in the folder.
  [[nodiscard]] bool chooses_test_resize() const;
  CLI::Option* add_field(CLI::App& app, const OptionSpec& field, std::string flag = {});

  std::string name_ = "demo";
  bool of_run_ = false;                                     // name_ is the recipe.json of a run
  std::map<std::string, std::string, std::less<>> fields_;  // that were given, by name
  MethodFlags methods_;
  const CLI::App* app_ = nullptr;
};

/// --format text|csv|markdown
void add_table_format(CLI::App& app, train::TableFormat& format);

/// --resume, --overwrite.
struct ExistingRunOptions {
  bool resume = false;
  bool overwrite = false;

  void add_to(CLI::App& app);
  [[nodiscard]] train::ExistingRun choice() const;
};

}  // namespace medley::cli
