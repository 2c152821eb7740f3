// Every kernel file has a test that holds its bits, and the comparison of these tests notices a
// kernel that is wrong.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/lower.h"
#include "kernels/output_pixel.h"
#include "medley/medley.h"
#include "support/batches.h"

namespace medley {
namespace {

namespace fs = std::filesystem;

fs::path root() { return fs::path(MEDLEY_TEST_DATA).parent_path().parent_path(); }

std::string text_of(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The tests that each file of src/kernels names, "-" where it says that it needs none.
std::map<std::string, std::vector<std::string>> read_manifest() {
  std::map<std::string, std::vector<std::string>> entries;
  std::istringstream lines(text_of(root() / "tests/kernels/manifest"));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string file;
    words >> file;
    for (std::string test; words >> test && test != "#";) entries[file].push_back(test);
  }
  return entries;
}

std::set<std::string> kernel_files() {
  std::set<std::string> files;
  const fs::path kernels = root() / "src/kernels";
  for (const char* backend : {"reference", "cpu", "cuda"}) {
    for (const auto& file : fs::recursive_directory_iterator(kernels / backend)) {
      if (file.is_regular_file()) files.insert(fs::relative(file.path(), kernels).string());
    }
  }
  return files;
}

/// Names of the tests of tests/kernels and tests/cuda, as they stand in their sources.
std::set<std::string> known_tests() {
  std::set<std::string> names;
  const std::regex test(R"(\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
  for (const char* folder : {"tests/kernels", "tests/cuda"}) {
    for (const auto& file : fs::directory_iterator(root() / folder)) {
      if (file.path().extension() != ".cc") continue;
      const std::string text = text_of(file.path());
      for (std::sregex_iterator it(text.begin(), text.end(), test), end; it != end; ++it) {
        names.insert((*it)[1].str() + "." + (*it)[2].str());
      }
    }
  }
  return names;
}

/// What is wrong with a manifest.
std::vector<std::string> problems_of(const std::map<std::string, std::vector<std::string>>& entries,
                                     const std::set<std::string>& files,
                                     const std::set<std::string>& tests) {
  std::vector<std::string> problems;
  for (const std::string& file : files) {
    if (!entries.contains(file)) problems.push_back(file + " has no entry");
  }
  for (const auto& [file, names] : entries) {
    if (!files.contains(file)) problems.push_back(file + " does not exist");
    if (names.empty()) problems.push_back(file + " names no test");
    for (const std::string& name : names) {
      if (name != "-" && !tests.contains(name)) {
        problems.push_back(file + " names " + name + ", which does not exist");
      }
    }
  }
  return problems;
}

TEST(KernelManifest, NamesTheTestOfEveryKernelFile) {
  for (const std::string& problem : problems_of(read_manifest(), kernel_files(), known_tests())) {
    ADD_FAILURE() << "tests/kernels/manifest: " << problem;
  }
}

TEST(KernelManifest, MissesNothing) {
  const std::set<std::string> tests = {"Some.Test"};
  EXPECT_EQ(problems_of({{"cpu/a.cc", {"Some.Test"}}}, {"cpu/a.cc"}, tests).size(), 0u);
  EXPECT_EQ(problems_of({}, {"cpu/a.cc"}, tests),
            std::vector<std::string>{"cpu/a.cc has no entry"});
  EXPECT_EQ(problems_of({{"cpu/a.cc", {"Other.Test"}}}, {"cpu/a.cc"}, tests),
            std::vector<std::string>{"cpu/a.cc names Other.Test, which does not exist"});
  EXPECT_EQ(problems_of({{"cpu/a.cc", {}}}, {"cpu/a.cc"}, tests),
            std::vector<std::string>{"cpu/a.cc names no test"});
  EXPECT_EQ(problems_of({{"cpu/a.cc", {"-"}}}, {}, tests),
            std::vector<std::string>{"cpu/a.cc does not exist"});
}

// ---- kernels that are wrong ----

enum class Fault { none, fused, reads_what_has_no_weight, rounds_blocks, rounds_up };

/// Value of an output without terms and shrunk partners.
float value_with(Fault fault, const InputImages<float>& in, const LoweredEntry& e,
                 const float* fields, std::int32_t c, std::int32_t y, std::int32_t x) {
  const float row = gaussian_factor_f32(e.gaussian_scale, y - e.top);
  const float column = gaussian_factor_f32(e.gaussian_scale, x - e.left);
  const ImageSize size = in.window;
  float field = 0;
  if (e.kind == MaskKind::field) field = fields[e.field + std::int64_t{y} * size.width + x];
  if (e.kind == MaskKind::grid) {
    field = grid_at(e.grid(), fields, size, y, x);
    if (fault == Fault::rounds_blocks && e.top == 0) {
      field = grid_value(fields + e.field, e.width, nearest_tap(y, size.height + 1, e.height),
                         nearest_tap(x, size.width + 1, e.width));
    }
  }
  const Weights weights = weights_at(e, size, y, x, row, column, field);
  const float own = in.at(e.own, c, y, x);
  const float partner = in.at(e.partner, c, y, x);
  if (fault == Fault::reads_what_has_no_weight) {
    return own * weights.own + partner * weights.partner;
  }
  if (fault == Fault::fused && weights.own != 0 && weights.partner != 0) {
    return std::fma(own, weights.own, partner * weights.partner);
  }
  const float value = blend(weights, own, partner);
  return fault == Fault::rounds_up ? std::nextafter(value, 1e30f) : value;
}

/// The number of the first of `count` cases in which the comparison notices the fault, or `count`.
std::uint64_t first_noticed(Fault fault, std::uint64_t count) {
  for (std::uint64_t number = 0; number < count; ++number) {
    test::MixCase c = test::random_case(number);
    c.blocks = test::Blocks::masks;
    c.in_dtype = c.out_dtype = DType::f32;
    c.options.normalize = {};
    c.options.backend = Backend::reference;
    const MixPlan plan = c.plan();
    test::Batch in(c.in_dtype, c.in_layout, c.in_shape, c.in_gap, c.in_offset);
    in.fill_random(c.seed);
    test::Batch expected(
        c.out_dtype, c.out_layout,
        {std::ssize(plan.entries), c.in_shape.channels, c.size.height, c.size.width}, c.out_gap,
        c.out_offset);
    test::Batch actual = expected;
    mix(plan, in.view(), expected.mutable_view(), c.options);
    mix(plan, in.view(), actual.mutable_view(), c.options);
    const LoweredPlan lowered = lower(plan, c.in_shape.count);
    const ImageBatchView view = in.view();
    const InputImages<float> images{static_cast<const float*>(view.data),
                                    view.strides,
                                    view.shape.size(),
                                    plan.size,
                                    c.options.pad_mode == PadMode::reflect,
                                    static_cast<float>(c.options.pad_value),
                                    lowered.tiles.data()};
    for (std::size_t b = 0; b < lowered.entries.size(); ++b) {
      const LoweredEntry& e = lowered.entries[b];
      if (e.term_count > 0 || e.resample != Resample::none) continue;
      for (std::int32_t k = 0; k < c.in_shape.channels; ++k) {
        for (std::int32_t y = 0; y < plan.size.height; ++y) {
          for (std::int32_t x = 0; x < plan.size.width; ++x) {
            actual.set(static_cast<std::int64_t>(b), k, y, x,
                       value_with(fault, images, e, lowered.fields, k, y, x));
          }
        }
      }
    }
    if (!test::difference(expected, actual, c.out_dtype).empty()) return number;
  }
  return count;
}

TEST(WrongKernels, AreNoticed) {
  constexpr std::uint64_t kCases = 200;
  EXPECT_EQ(first_noticed(Fault::none, kCases), kCases);
  for (const Fault fault :
       {Fault::fused, Fault::reads_what_has_no_weight, Fault::rounds_blocks, Fault::rounds_up}) {
    EXPECT_LT(first_noticed(fault, kCases), kCases) << static_cast<int>(fault);
  }
}

}  // namespace
}  // namespace medley
