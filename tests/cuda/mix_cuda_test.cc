// The cuda backend against the reference, bit for bit: random mixing calls, and the list of
// methods, types, layouts, shapes and windows.

#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cuda/device.h"
#include "medley/medley.h"
#include "support/batches.h"

namespace medley {
namespace {

using test::Batch;
using test::MixCase;

class CudaMix : public test::CudaTest {};

std::uint64_t case_count() {
  const char* text = std::getenv("MEDLEY_TEST_CASES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 3000;
}

/// Difference between the backends on a case, "" if none.
std::string compare(const MixCase& c, std::uint64_t number) {
  const MixPlan plan = c.plan();
  Batch in(c.in_dtype, c.in_layout, c.in_shape, c.in_gap);
  in.fill_random(number);
  Batch expected(c.out_dtype, c.out_layout,
                 {std::ssize(plan.entries), c.in_shape.channels, c.size.height, c.size.width},
                 c.out_gap);
  Batch actual = expected;
  MixOptions options = c.options;
  options.backend = Backend::reference;
  mix(plan, in.view(), expected.mutable_view(), options);
  options.backend = Backend::cuda;
  mix(plan, in.view(), actual.mutable_view(), options);
  return test::difference(expected, actual, c.out_dtype);
}

TEST_F(CudaMix, MatchesReferenceOnRandomCases) {
  for (std::uint64_t number = 0; number < case_count(); ++number) {
    const MixCase c = test::random_case(number);
    ASSERT_EQ(compare(c, number), "") << "number " << number << ", " << c.describe();
  }
}

TEST_F(CudaMix, MatchesReferenceOnTheWholeList) {
  std::uint64_t number = 0;
  for (const MethodInfo* method : methods()) {
    for (const ImageSize size : {ImageSize{1, 1}, ImageSize{7, 5}, ImageSize{32, 32},
                                 ImageSize{17, 48}, ImageSize{64, 40}}) {
      for (int types = 0; types < 16; ++types) {
        for (int layouts = 0; layouts < 4; ++layouts) {
          for (const bool windows : {false, true}) {
            MixCase c = test::random_case(number++);
            c.policy.method = method->name;
            c.policy.lam.reset();
            c.size = size;
            c.in_shape.height = size.height;
            c.in_shape.width = size.width;
            c.in_shape.channels = 3;
            c.in_gap = c.out_gap = 0;
            c.in_dtype = static_cast<DType>(types / 4);
            c.out_dtype = static_cast<DType>(types % 4);
            c.in_layout = static_cast<Layout>(layouts / 2);
            c.out_layout = static_cast<Layout>(layouts % 2);
            c.policy.augment = windows ? Augment{2, 0.5} : Augment{};
            if (!c.options.normalise.empty()) {
              c.options.normalise = {{0.4f, 0.5f, 0.6f}, {0.3f, 0.5f, 0.7f}};
            }
            if (c.policy.method == "custom") {
              auto masks = std::make_shared<MaskSet>();
              masks->size = size;
              masks->values.assign(static_cast<std::size_t>(size.pixels()), 0.25f);
              masks->values[0] = 1.0f;
              c.policy.masks = masks;
            }
            ASSERT_EQ(compare(c, number), "") << c.describe();
          }
        }
      }
    }
  }
}

TEST_F(CudaMix, TakesSidesBeyondItsTables) {
  for (const char* method : {"gmix", "resizemix"}) {
    MixCase c = test::random_case(1);
    c.policy = MixPolicy{.method = method};
    c.labels.clear();
    c.size = {2, 5000};
    c.request = PlanRequest{.batch = 2};
    c.in_shape = {2, 1, 2, 5000};
    c.in_dtype = c.out_dtype = DType::f32;
    c.in_layout = c.out_layout = Layout::nchw;
    c.in_gap = c.out_gap = 0;
    c.options = {};
    ASSERT_EQ(compare(c, 1), "") << c.describe();
  }
}

TEST_F(CudaMix, RefusesToWorkInPlace) {
  std::vector<float> images(2 * 16, 0.5f);
  const BatchShape shape{2, 1, 4, 4};
  const MixPlan plan = Sampler({.method = "mixup"}, shape.size(), 1).plan({.batch = 2});
  EXPECT_THROW(mix(plan, view_of(std::span<const float>(images), shape),
                   mutable_view_of(images, shape), {.backend = Backend::cuda}),
               InvalidArgument);
}

TEST(CudaWithoutDevice, IsAClearError) {
  if (!cuda::devices().empty()) GTEST_SKIP() << "this machine has a CUDA device";
  std::vector<float> in(16, 0.5f);
  std::vector<float> out(16);
  const BatchShape shape{1, 1, 4, 4};
  const MixPlan plan = Sampler({.method = "mixup"}, shape.size(), 1).plan({.batch = 1});
  EXPECT_THROW(mix(plan, view_of(std::span<const float>(in), shape), mutable_view_of(out, shape),
                   {.backend = Backend::cuda}),
               CudaError);
}

}  // namespace
}  // namespace medley
