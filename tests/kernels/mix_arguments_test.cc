// Wrong calls of `mix`: one sentence with the expectation and the fact, and nothing written.

#include <algorithm>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/mix_cases.h"

namespace medley {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// A correct call, to be spoilt.
struct Call {
  std::vector<float> input = std::vector<float>(120);
  std::vector<float> output = std::vector<float>(60, -1.0f);
  MixPlan plan = test::plan_of({4, 5}, FlatMask{0.5});
  ImageBatchView in = view_of(input, {2, 3, 4, 5});
  MutableImageBatchView out = mutable_view_of(output, {1, 3, 4, 5});
  MixOptions options;

  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

struct WrongCall {
  std::string name;
  std::function<void(Call&)> change;
  std::string expectation;
  std::string fact;

  friend std::ostream& operator<<(std::ostream& out, const WrongCall& wrong) {
    return out << wrong.name;
  }
};

class WrongCalls : public testing::TestWithParam<WrongCall> {};

TEST_P(WrongCalls, AreRefusedWithExpectationAndFactAndWriteNothing) {
  for (const Backend backend : available_backends()) {
    Call call;
    call.options.backend = backend;
    GetParam().change(call);
    std::string text;
    try {
      mix(call.plan, call.in, call.out, call.options);
    } catch (const InvalidArgument& error) {
      text = error.what();
    }
    EXPECT_THAT(text, AllOf(HasSubstr(GetParam().expectation), HasSubstr(GetParam().fact)));
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_THAT(call.output, Each(-1.0f));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Calls, WrongCalls,
    testing::Values(
        WrongCall{"NoEntries", [](Call& c) { c.plan.entries.clear(); },
                  "the output must be 0x3x4x5", "got 1x3x4x5"},
        WrongCall{"BrokenPlan", [](Call& c) { c.plan.entries[0].mask = FieldMask{7}; },
                  "entry 0 of the plan", "got 7"},
        WrongCall{"NanWeight",
                  [](Call& c) {
                    c.plan.entries[0].mask = FlatMask{std::numeric_limits<double>::quiet_NaN()};
                  },
                  "must be finite", "nan"},
        WrongCall{"InputNull", [](Call& c) { c.in.data = nullptr; }, "the input must have memory",
                  "null"},
        WrongCall{"OutputNull", [](Call& c) { c.out.data = nullptr; },
                  "the output must have memory", "null"},
        WrongCall{"NoImages", [](Call& c) { c.in.shape.count = 0; },
                  "the input must have at least one image, channel and pixel", "got 0x3x4x5"},
        WrongCall{"NoChannels", [](Call& c) { c.in.shape.channels = 0; }, "at least one image",
                  "got 2x0x4x5"},
        WrongCall{"NoRows", [](Call& c) { c.out.shape.height = 0; }, "the output must have",
                  "got 1x3x0x5"},
        WrongCall{"NoColumns", [](Call& c) { c.in.shape.width = 0; }, "at least one image",
                  "got 2x3x4x0"},
        WrongCall{"NegativeRows", [](Call& c) { c.in.shape.height = -4; }, "at least one image",
                  "got 2x3x-4x5"},
        WrongCall{"OutputCount", [](Call& c) { c.out.shape.count = 2; },
                  "the output must be 1x3x4x5", "got 2x3x4x5"},
        WrongCall{"OutputSize",
                  [](Call& c) {
                    c.out = mutable_view_of(std::span(c.output).first(36), {1, 3, 4, 3});
                  },
                  "the output must be 1x3x4x5", "got 1x3x4x3"},
        WrongCall{"OutputChannels",
                  [](Call& c) {
                    c.out = mutable_view_of(std::span(c.output).first(20), {1, 1, 4, 5});
                  },
                  "the output must be 1x3x4x5", "got 1x1x4x5"},
        WrongCall{"MissingImage", [](Call& c) { c.plan.entries[0].partner.index = 2; },
                  "entry 0 of the plan uses image 2", "the input has 2 images"},
        WrongCall{"ImageBeforeTheBase", [](Call& c) { c.plan.base = 1; },
                  "entry 0 of the plan uses image -1", "the input has 2 images"},
        WrongCall{"MissingTerm",
                  [](Call& c) {
                    c.plan.terms = {{{0, 0, 0, false}, 0.5}, {{9, 0, 0, false}, 0.5}};
                    c.plan.entries[0].term_count = 2;
                  },
                  "uses image 9", "has 2 images"},
        WrongCall{"ColumnStride", [](Call& c) { c.in.strides.column = 2; }, "contiguous rows",
                  "got strides 60, 20, 5, 2"},
        WrongCall{"RowsOverlap", [](Call& c) { c.in.strides.row = 4; }, "do not overlap",
                  "got strides 60, 20, 4, 1"},
        WrongCall{"PlanesOverlap", [](Call& c) { c.in.strides.channel = 19; }, "do not overlap",
                  "got strides 60, 19, 5, 1"},
        WrongCall{"ImagesOverlap", [](Call& c) { c.in.strides.image = 59; }, "do not overlap",
                  "got strides 59, 20, 5, 1"},
        WrongCall{"NegativeStride", [](Call& c) { c.out.strides.row = -5; }, "the output must have",
                  "got strides 60, 20, -5, 1"},
        WrongCall{"OtherLayout", [](Call& c) { c.in.layout = Layout::nhwc; },
                  "the input must have contiguous rows", "nhwc 2x3x4x5"},
        WrongCall{"Misaligned",
                  [](Call& c) { c.in.data = static_cast<const char*>(c.in.data) + 1; },
                  "aligned to its elements", "4 bytes"},
        WrongCall{"StridesPastTheAddressSpace",
                  [](Call& c) {
                    c.plan.entries.resize(2, c.plan.entries[0]);
                    c.out.shape.count = 2;
                    c.out.strides.image = kHuge / 2;
                  },
                  "the output must end within the address space", "4611686018427387903, 20, 5, 1"},
        WrongCall{"InputPastTheAddressSpace", [](Call& c) { c.in.strides.image = kHuge; },
                  "the input must end within the address space", "9223372036854775807, 20, 5, 1"},
        WrongCall{"RowsPastTheAddressSpace",
                  [](Call& c) {
                    c.in.strides = {kHuge, kHuge / 2, kHuge / 3, 1};
                  },
                  "the input must end within the address space",
                  "9223372036854775807, 4611686018427387903, 3074457345618258602, 1"},
        WrongCall{"InputOfAnotherSize",
                  [](Call& c) {
                    c.in = view_of(c.input, {2, 3, 5, 4});
                  },
                  "images of the plan's size, 4x5 (height x width)", "got 5x4; set windows"},
        WrongCall{
            "InputLargerThanAPlanWithWindows",
            [](Call& c) {
              c.plan.entries[0].own.dx = 1;
              c.in = view_of(std::span<const float>(c.input).first(2 * 3 * 2 * 10), {2, 3, 2, 10});
            },
            "images of the plan's size, 4x5", "got 2x10"},
        WrongCall{"UnknownType", [](Call& c) { c.in.dtype = static_cast<DType>(9); },
                  "the type of the input must be u8, f16, bf16 or f32", "got the number 9"},
        WrongCall{"UnknownLayout", [](Call& c) { c.out.layout = static_cast<Layout>(2); },
                  "the layout of the output must be nchw or nhwc", "got the number 2"},
        WrongCall{"UnknownBackend", [](Call& c) { c.options.backend = static_cast<Backend>(42); },
                  "backend must be auto, reference, cpu or cuda", "got the number 42"},
        WrongCall{"UnknownPadMode", [](Call& c) { c.options.pad_mode = static_cast<PadMode>(2); },
                  "pad_mode must be constant or reflect", "got the number 2"},
        WrongCall{"UnknownStores", [](Call& c) { c.options.stores = static_cast<Stores>(3); },
                  "stores must be automatic, cached or streaming", "got the number 3"},
        WrongCall{"UnknownResample",
                  [](Call& c) { c.plan.entries[0].resample = static_cast<Resample>(3); },
                  "resample must be none, bilinear or nearest", "got the number 3"},
        WrongCall{"UnknownPeak",
                  [](Call& c) {
                    c.plan.entries[0].mask = GaussianMask{1, 1, 0.5, static_cast<Peak>(2)};
                  },
                  "peak must be own or partner", "got the number 2"},
        WrongCall{"NormalizeChannels",
                  [](Call& c) {
                    c.options.normalize = {{1.0f, 2.0f}, {1.0f, 1.0f}};
                  },
                  "for 3 channels", "got 2 and 2"},
        WrongCall{"NormalizeHalf",
                  [](Call& c) {
                    c.options.normalize.mean = {1.0f, 2.0f, 3.0f};
                  },
                  "for 3 channels", "got 3 and 0"},
        WrongCall{"DeviationZero",
                  [](Call& c) {
                    c.options.normalize = {{0, 0, 0}, {1, 0, 1}};
                  },
                  "stddev must be > 0", "got 0"},
        WrongCall{
            "MeanNan",
            [](Call& c) {
              c.options.normalize = {{0, std::numeric_limits<float>::quiet_NaN(), 0}, {1, 1, 1}};
            },
            "a mean must be finite", "nan"},
        WrongCall{"PaddingNan",
                  [](Call& c) { c.options.pad_value = std::numeric_limits<float>::quiet_NaN(); },
                  "pad_value must be finite", "nan"},
        WrongCall{"ThreadsNegative", [](Call& c) { c.options.threads = -1; },
                  "threads must be in [0, 4096]", "got -1"},
        WrongCall{"ThreadsHuge", [](Call& c) { c.options.threads = 5000; },
                  "threads must be in [0, 4096]", "got 5000"}),
    [](const auto& param) { return param.param.name; });

TEST(MixArguments, BackendMustBeThere) {
  if (std::ranges::count(available_backends(), Backend::cuda) != 0) {
    GTEST_SKIP() << "every backend is there";
  }
  Call call;
  call.options.backend = Backend::cuda;
  EXPECT_THAT([&] { mix(call.plan, call.in, call.out, call.options); },
              testing::ThrowsMessage<Error>(testing::ContainsRegex("cuda|CUDA")));
  EXPECT_THAT(call.output, Each(-1.0f));
}

TEST(MixArguments, HugeStridesOfASingleImageMoveNothing) {
  Call call;
  call.out.strides.image = kHuge;
  EXPECT_NO_THROW(mix(call.plan, call.in, call.out, call.options));
  EXPECT_THAT(call.output, Each(0.0f));
}

TEST(MixArguments, RightCallWorks) {
  Call call;
  EXPECT_NO_THROW(mix(call.plan, call.in, call.out, call.options));
  EXPECT_THAT(call.output, Each(0.0f));
}

}  // namespace
}  // namespace medley
