#include "medley/types.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/check.h"
#include "medley/error.h"
#include "medley/mix.h"
#include "medley/policy.h"

namespace medley {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr BatchShape kShape{2, 3, 4, 5};

TEST(DenseStrides, OfPlanarImages) {
  EXPECT_EQ(dense_strides(kShape, Layout::nchw), (BatchStrides{60, 20, 5, 1}));
}

TEST(DenseStrides, OfInterleavedImages) {
  EXPECT_EQ(dense_strides(kShape, Layout::nhwc), (BatchStrides{60, 1, 15, 3}));
}

TEST(ViewOf, DescribesItsSpan) {
  const std::vector<float> values(120);
  const ImageBatchView view = view_of(values, kShape, Layout::nhwc);
  EXPECT_EQ(view.data, values.data());
  EXPECT_EQ(view.dtype, DType::f32);
  EXPECT_EQ(view.layout, Layout::nhwc);
  EXPECT_EQ(view.shape, kShape);
  EXPECT_EQ(view.strides, dense_strides(kShape, Layout::nhwc));
}

TEST(ViewOf, KnowsEveryType) {
  std::vector<std::uint8_t> u8(120);
  std::vector<F16> f16(120);
  std::vector<BF16> bf16(120);
  EXPECT_EQ(mutable_view_of(u8, kShape).dtype, DType::u8);
  EXPECT_EQ(mutable_view_of(f16, kShape).dtype, DType::f16);
  EXPECT_EQ(mutable_view_of(bf16, kShape).dtype, DType::bf16);
  EXPECT_EQ(view_of(std::span<const std::uint8_t>(u8), kShape).dtype, DType::u8);
  EXPECT_EQ(view_of(std::span<const F16>(f16), kShape).dtype, DType::f16);
  EXPECT_EQ(view_of(std::span<const BF16>(bf16), kShape).dtype, DType::bf16);
}

TEST(ViewOf, RefusesASpanOfAnotherSize) {
  const std::vector<float> values(119);
  EXPECT_THAT([&] { (void)view_of(values, kShape); },
              ThrowsMessage<InvalidArgument>(
                  AllOf(HasSubstr("2x3x4x5"), HasSubstr("120"), HasSubstr("119"))));
}

TEST(ViewOf, RefusesShapesThatNoMemoryHolds) {
  const std::vector<float> values(4);
  constexpr BatchShape kWraps{(std::int64_t{1} << 62) + 1, 4, 1, 1};  // 4 modulo 2^64
  EXPECT_THAT([&] { (void)view_of(values, kWraps); },
              ThrowsMessage<InvalidArgument>(HasSubstr("needs too many values, got 4")));
}

TEST(ViewOf, RefusesNegativeSides) {
  const std::vector<float> values(4);
  EXPECT_THAT(
      [&] {
        (void)view_of(values, {1, 1, -2, -2});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("1x1x-2x-2")));
  const std::vector<float> many(4608);
  constexpr BatchShape kTwiceNegative{-4, -3, 16, 24};  // of the right number of values
  EXPECT_THAT([&] { (void)view_of(many, kTwiceNegative); },
              ThrowsMessage<InvalidArgument>(
                  HasSubstr("must have no negative number in its shape, got -4x-3x16x24")));
}

TEST(ViewOf, RefusesALayoutThatIsNone) {
  const std::vector<float> values(120);
  EXPECT_THAT(
      [&] { (void)view_of(values, kShape, static_cast<Layout>(7)); },
      ThrowsMessage<InvalidArgument>(HasSubstr("layout must be nchw or nhwc, got the number 7")));
}

TEST(SizeOf, IsTheStorageOfAPixel) {
  EXPECT_EQ(size_of(DType::u8), 1);
  EXPECT_EQ(size_of(DType::f16), 2);
  EXPECT_EQ(size_of(DType::bf16), 2);
  EXPECT_EQ(size_of(DType::f32), 4);
}

TEST(NameOf, SpellsEveryEnumeratorAsTheCommandLineDoes) {
  EXPECT_EQ(name_of(DType::bf16), "bf16");
  EXPECT_EQ(name_of(Layout::nhwc), "nhwc");
  EXPECT_EQ(name_of(Form::calibrated), "calibrated");
  EXPECT_EQ(name_of(Placement::clipped), "clipped");
  EXPECT_EQ(name_of(Placement::inside), "inside");
  EXPECT_EQ(name_of(Placement::wrap), "wrap");
  EXPECT_EQ(name_of(LabelRule::realized), "realized");
  EXPECT_EQ(name_of(LabelRule::drawn), "drawn");
  EXPECT_EQ(name_of(Mode::pair), "pair");
  EXPECT_EQ(name_of(Pairing::dataset), "dataset");
  EXPECT_EQ(name_of(ClassRule::other), "other");
  EXPECT_EQ(name_of(Interpolation::nearest), "nearest");
}

TEST(RequireFinite, SaysWhatItGot) {
  EXPECT_EQ(require_finite("alpha", 0.5), 0.5);
  EXPECT_THAT([] { require_finite("alpha", std::numeric_limits<double>::quiet_NaN()); },
              ThrowsMessage<InvalidArgument>("alpha must be finite, got nan"));
  EXPECT_THAT([] { require_finite("alpha", -std::numeric_limits<double>::infinity()); },
              ThrowsMessage<InvalidArgument>("alpha must be finite, got -inf"));
}

TEST(Errors, AreAllErrors) {
  EXPECT_THROW(fail_argument("a"), Error);
  EXPECT_THROW(fail_io("b"), Error);
  EXPECT_THROW(fail_io("b"), IoError);
}

}  // namespace
}  // namespace medley
