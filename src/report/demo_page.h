#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace medley::report {

/// What a run of the demo gave, accuracies in percent.
struct DemoRun {
  std::string method;
  double test_top1 = 0;
  double clean_train_top1 = 0;  ///< on unmixed training images
};

/// What the runs of the demo have in common.
struct DemoTraining {
  std::string data;  ///< "fashion-mnist", "synthetic"
  std::int64_t train = 0;
  std::int64_t test = 0;
  std::int64_t classes = 0;
  std::string model;
  std::int64_t epochs = 0;
  std::uint64_t seed = 0;
  std::vector<DemoRun> runs;
};

/// Test images by which of two networks gets them right.
struct DemoComparison {
  std::string method;  ///< of the first; the second was trained without mixing
  std::int64_t only_mixed = 0;
  std::int64_t only_plain = 0;
  std::int64_t images = 0;
};

/// What `make demo` has to show. Pictures are paths relative to the page; what is empty is left
/// out.
struct DemoPage {
  std::string contact_sheet;
  std::string theory;       ///< coefficients by displacement
  std::string first_batch;  ///< of a run with mixing, with its labels
  std::string gallery;      ///< images of `comparison` that only the mixed network gets right
  DemoTraining training;    ///< without runs: has not been done yet
  std::optional<DemoComparison> comparison;
};

/// One HTML page, static and without anything from elsewhere but those pictures, on light and dark
/// backgrounds. It has the settings of results/demo/settings.json, in some of which mixing does not
/// help.
[[nodiscard]] std::string demo_page(const DemoPage& page);

}  // namespace medley::report
