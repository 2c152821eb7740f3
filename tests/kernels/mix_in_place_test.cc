#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/mix_cases.h"
#include "support/batches.h"

namespace medley {
namespace {

using test::Batch;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Case {
  std::string method;
  Backend backend;

  [[nodiscard]] std::string name() const {
    std::string name = method + "_" + std::string(name_of(backend));
    std::ranges::replace(name, '-', '_');
    return name;
  }
  friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name(); }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const MethodInfo* info : methods()) {
    for (const Backend backend : {Backend::cpu, Backend::reference}) {
      if (info->in_place) all.push_back({std::string(info->name), backend});
    }
  }
  return all;
}

class InPlace : public testing::TestWithParam<Case> {};

TEST_P(InPlace, GivesTheBitsOfSeparateMemory) {
  constexpr ImageSize kSize{9, 14};
  for (const Pairing pairing : {Pairing::batch, Pairing::reverse, Pairing::roll}) {
    for (const std::int64_t batch : {1, 2, 3, 8, 11}) {
      for (const DType type : {DType::u8, DType::f16, DType::f32}) {
        MixPolicy policy;
        policy.method = GetParam().method;
        policy.pairing = pairing;
        policy.prob = 0.8;
        if (policy.method == "custom") {
          policy.method.set(
              "masks", std::make_shared<MaskSet>(MaskSet{kSize, std::vector<float>(126, 0.3f)}));
        }
        const MixPlan plan = Sampler(policy, kSize, 5).plan({.batch = batch, .first = 3 * batch});
        const BatchShape shape{batch, 3, 9, 14};
        Batch images(type, Layout::nchw, shape);
        images.fill_random(static_cast<std::uint64_t>(batch), false);
        Batch expected(type, Layout::nchw, shape);
        MixOptions options;
        options.backend = GetParam().backend;
        mix(plan, images.view(), expected.mutable_view(), options);
        mix(plan, images.view(), images.mutable_view(), options);
        ASSERT_EQ(test::difference(expected, images, type), "")
            << name_of(pairing) << ", batch " << batch << ", " << name_of(type);
      }
    }
  }
}

TEST_P(InPlace, TakesPartnersThatManyShare) {
  // Not a permutation: everybody mixes with image 1, which changes too.
  constexpr std::int64_t kBatch = 6;
  MixPlan plan = test::plan_of({2, 5}, FlatMask{0.25});
  for (std::int64_t b = 1; b < kBatch; ++b) {
    plan.entries.push_back(plan.entries[0]);
    plan.entries.back().own.index = b;
  }
  plan.entries[1].partner.index = 4;
  const BatchShape shape{kBatch, 1, 2, 5};
  Batch images(DType::f32, Layout::nchw, shape);
  images.fill_random(7, false);
  Batch expected(DType::f32, Layout::nchw, shape);
  MixOptions options;
  options.backend = GetParam().backend;
  mix(plan, images.view(), expected.mutable_view(), options);
  mix(plan, images.view(), images.mutable_view(), options);
  EXPECT_EQ(test::difference(expected, images, DType::f32), "");
}

INSTANTIATE_TEST_SUITE_P(Methods, InPlace, testing::ValuesIn(cases()),
                         [](const auto& param) { return param.param.name(); });

// ---- what cannot be done in place ----

class InPlaceRefusal : public testing::Test {
 protected:
  InPlaceRefusal() {
    plan_.entries[0].partner.index = 1;
    plan_.entries.push_back({});
    plan_.entries[1].own.index = 1;
    images_.fill_random(1, false);
  }

  /// The reason, after checking that nothing was written.
  std::string refusal() {
    const test::Bytes before = images_.bytes();
    std::string text;
    try {
      mix(plan_, images_.view(), images_.mutable_view());
    } catch (const InvalidArgument& error) {
      text = error.what();
    }
    EXPECT_EQ(images_.bytes(), before);
    return text;
  }

  MixPlan plan_ = test::plan_of({2, 3}, FlatMask{0.5});
  Batch images_{DType::f32, Layout::nchw, {2, 1, 2, 3}};
};

TEST_F(InPlaceRefusal, OfWindows) {
  plan_.entries[1].partner.dx = 1;
  EXPECT_THAT(refusal(), AllOf(HasSubstr("entry 1 cannot be mixed in place"),
                               HasSubstr("crops, shifts, flips or moves tiles")));
}

TEST_F(InPlaceRefusal, OfFlips) {
  plan_.entries[0].own.flip = true;
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("entry 0"), HasSubstr("crops, shifts, flips or moves tiles")));
}

TEST_F(InPlaceRefusal, OfResampledPartners) {
  plan_.entries[1].mask = BoxMask{0, 0, 1, 1, 0, 1};
  plan_.entries[1].resample = Resample::bilinear;
  EXPECT_THAT(refusal(), AllOf(HasSubstr("entry 1"), HasSubstr("resamples")));
}

TEST_F(InPlaceRefusal, OfSumsOfManySources) {
  plan_.terms.resize(3);
  plan_.entries[0].term_count = 3;
  EXPECT_THAT(refusal(), AllOf(HasSubstr("entry 0"), HasSubstr("more than two sources")));
}

TEST_F(InPlaceRefusal, OfImagesInAnotherOrder) {
  plan_.entries[0].own.index = 1;
  plan_.entries[1].own.index = 0;
  EXPECT_THAT(refusal(), AllOf(HasSubstr("entry 0"), HasSubstr("at another place")));
}

TEST(Overlap, OfOneImageIsRefused) {
  std::vector<float> memory(18);
  const BatchShape two{2, 1, 2, 3};
  MixPlan plan = test::plan_of({2, 3}, FlatMask{0.5});
  plan.entries.push_back(plan.entries[0]);
  EXPECT_THAT(
      [&] {
        mix(plan, view_of(std::span<const float>(memory).first(12), two),
            mutable_view_of(std::span(memory).subspan(6), two));
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("overlap")));
}

TEST(Overlap, OfAnotherTypeIsRefused) {
  std::vector<float> memory(12);
  const MixPlan plan = test::plan_of({2, 3}, FlatMask{0.5});
  const MutableImageBatchView bytes{memory.data(),
                                    DType::u8,
                                    Layout::nchw,
                                    {1, 1, 2, 3},
                                    dense_strides({1, 1, 2, 3}, Layout::nchw)};
  EXPECT_THAT(
      [&] {
        mix(plan, view_of(memory, {2, 1, 2, 3}), bytes);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("overlap")));
}

TEST(Overlap, OfAnotherLayoutIsRefused) {
  std::vector<float> memory(12);
  MixPlan plan = test::plan_of({2, 3}, FlatMask{0.5});
  plan.entries[0].partner.index = 0;
  const BatchShape shape{1, 2, 2, 3};
  EXPECT_THAT(
      [&] {
        mix(plan, view_of(memory, shape, Layout::nchw),
            mutable_view_of(memory, shape, Layout::nhwc));
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("overlap")));
}

TEST(Overlap, OfNeighborsIsNone) {
  std::vector<float> memory(18, 2.0f);
  const MixPlan plan = test::plan_of({2, 3}, FlatMask{0.5});
  const auto in = view_of(std::span<const float>(memory).first(12), {2, 1, 2, 3});
  const auto out = mutable_view_of(std::span(memory).subspan(12), {1, 1, 2, 3});
  EXPECT_NO_THROW(mix(plan, in, out));
  EXPECT_EQ(memory[17], 2.0f);
}

}  // namespace
}  // namespace medley
