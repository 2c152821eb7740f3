// The cuda backend against the reference, bit for bit: random mixing calls, and the list of
// methods, types, layouts, shapes and windows.

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

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

TEST_F(CudaMix, MatchesReferenceOnRandomBlocks) {
  for (std::uint64_t number = 0; number < case_count(); ++number) {
    MixCase c = test::random_case(number);
    c.blocks = number % 3 == 0 ? test::Blocks::masks : test::Blocks::all;
    if (number % 2 == 0) {  // what vectors are made for
      c.in_gap = c.out_gap = 0;
      c.in_layout = c.out_layout;
      c.in_shape.channels = 3;
      if (!c.options.normalize.empty()) {
        c.options.normalize = {{0.4f, 0.5f, 0.6f}, {0.3f, 0.5f, 0.7f}};
      }
      if (number % 4 == 0) {
        c.policy.augment = {};
        c.options.windows = false;
        c.in_shape.height = c.size.height;
        c.in_shape.width = c.size.width;
      }
    }
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
            c.policy.method.set_if_used("form", static_cast<Form>(number % 3));
            c.policy.method.set_if_used("placement", static_cast<Placement>(number / 3 % 3));
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
            if (!c.options.normalize.empty()) {
              c.options.normalize = {{0.4f, 0.5f, 0.6f}, {0.3f, 0.5f, 0.7f}};
            }
            if (c.policy.method == "custom") {
              auto masks = std::make_shared<MaskSet>();
              masks->size = size;
              masks->values.assign(static_cast<std::size_t>(size.pixels()), 0.25f);
              masks->values[0] = 1.0f;
              c.policy.method.set("masks", masks);
            }
            ASSERT_EQ(compare(c, number), "") << c.describe();
          }
        }
      }
    }
  }
}

/// One entry of each kind of mask and more: boxes that copy or blend on either side, wrap or are
/// empty, shrunk partners, sums.
MixPlan plan_of_all_kinds(ImageSize size, bool windows) {
  MixPlan plan;
  plan.method = "custom";
  plan.size = size;
  const auto add = [&](const Mask& mask) -> MixEntry& {
    MixEntry& entry = plan.entries.emplace_back();
    const auto i = std::ssize(plan.entries);
    entry.own = {.index = i % 4, .dy = windows ? 1 : 0, .dx = windows ? -2 : 0, .flip = windows};
    entry.partner = {.index = (i + 1) % 4};
    entry.mask = mask;
    return entry;
  };
  for (const double value : {0.0, 0.3, 1.0}) add(FlatMask{value});
  for (const double inside : {0.0, 0.25, 1.0}) {
    for (const double outside : {0.0, 0.75, 1.0}) {
      add(BoxMask{
          .top = 3, .left = 5, .height = 9, .width = 14, .inside = inside, .outside = outside});
      add(BoxMask{.top = size.height - 4,
                  .left = size.width - 7,
                  .height = 9,
                  .width = 14,
                  .inside = inside,
                  .outside = outside});
      for (const Resample resample : {Resample::nearest, Resample::bilinear}) {
        add(BoxMask{.top = 2,
                    .left = 1,
                    .height = 11,
                    .width = 19,
                    .inside = inside,
                    .outside = outside})
            .resample = resample;
      }
    }
  }
  add(GaussianMask{.cy = 4, .cx = 9, .tau = 0.3, .peak = Peak::own});
  add(GaussianMask{.cy = 20, .cx = 0, .tau = 1e-9, .peak = Peak::partner});
  add(FieldMask{.offset = 0});
  add(FieldMask{.offset = 3});
  for (std::int64_t i = 0; i < size.pixels() + 3; ++i) {
    plan.fields.push_back(static_cast<float>(i % 5) / 4.0f);
  }
  for (const std::vector<double>& weights :
       {std::vector<double>{0.5, 0.5}, {0.2, 0.0, 0.8}, {0.0, 0.1, 0.2, 0.3, 0.4}}) {
    MixEntry& entry = add(FlatMask{weights[0]});
    entry.term_begin = std::ssize(plan.terms);
    entry.term_count = static_cast<std::int32_t>(weights.size());
    for (std::size_t k = 0; k < weights.size(); ++k) {
      Source source = entry.own;
      source.index = static_cast<std::int64_t>(k) % 4;
      plan.terms.push_back({source, weights[k]});
    }
    entry.own = plan.terms[static_cast<std::size_t>(entry.term_begin)].source;
    entry.partner = plan.terms[static_cast<std::size_t>(entry.term_begin) + 1].source;
  }
  return plan;
}

void expect_equal(const MixPlan& plan, const BatchShape& in_shape, Layout layout, DType in_type,
                  DType out_type) {
  Batch in(in_type, layout, in_shape);
  in.fill_random(7);
  Batch expected(out_type, layout,
                 {std::ssize(plan.entries), in_shape.channels, plan.size.height, plan.size.width});
  Batch actual = expected;
  MixOptions options{.backend = Backend::reference,
                     .normalize = {{0.4f, 0.5f, 0.6f}, {0.3f, 0.5f, 0.7f}}};
  mix(plan, in.view(), expected.mutable_view(), options);
  options.backend = Backend::cuda;
  mix(plan, in.view(), actual.mutable_view(), options);
  EXPECT_EQ(test::difference(expected, actual, out_type), "")
      << name_of(in_type) << " " << name_of(out_type) << " " << name_of(layout);
}

TEST_F(CudaMix, MixesAllKindsInOnePlan) {
  const ImageSize size{24, 32};
  for (const bool windows : {false, true}) {
    const MixPlan all = plan_of_all_kinds(size, windows);
    // A shrunk partner that shows outside its box is mixed in another way; so take it along or not.
    MixPlan some = all;
    std::erase_if(some.entries, [](const MixEntry& e) {
      const auto* box = std::get_if<BoxMask>(&e.mask);
      return e.resample != Resample::none && box->outside != 1;
    });
    for (const MixPlan* plan : {&all, &std::as_const(some)}) {
      for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
        for (const auto& [in_type, out_type] : {std::pair{DType::f32, DType::f32},
                                                {DType::f16, DType::f16},
                                                {DType::bf16, DType::f32},
                                                {DType::u8, DType::bf16},
                                                {DType::u8, DType::u8}}) {
          expect_equal(*plan, {4, 3, size.height, size.width}, layout, in_type, out_type);
        }
      }
    }
  }
}

/// Products with these may be -0 or infinite, which short cuts for weights from 0 to 1 are not for.
TEST_F(CudaMix, TakesWeightsOfAnySignAndSize) {
  for (const double weight : {-0.5, 1.5, 1e32, -1e-42}) {
    MixPlan plan;
    plan.method = "custom";
    plan.size = {8, 32};
    for (std::int64_t i = 0; i < 4; ++i) {
      plan.entries.push_back({.own = {.index = i}, .partner = {.index = 3 - i}, .mask = {}});
      plan.entries.back().mask = FlatMask{weight};
      if (i % 2 == 0) plan.entries.back().mask = BoxMask{1, 2, 5, 20, weight, 0.25};
    }
    for (const DType out_type : {DType::f32, DType::bf16, DType::u8}) {
      expect_equal(plan, {4, 3, 8, 32}, Layout::nchw, DType::u8, out_type);
      expect_equal(plan, {4, 3, 8, 32}, Layout::nhwc, DType::u8, out_type);
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
