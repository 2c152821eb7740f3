#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/picture_files.h"
#include "medley/data/image.h"
#include "medley/error.h"

namespace medley::data {
namespace {

using test::decode_error;
using test::PngKind;
using ::testing::HasSubstr;

std::vector<std::uint32_t> random_samples(const PngKind& kind, ImageSize size) {
  std::uint32_t state = 1;
  std::vector<std::uint32_t> samples;
  for (std::int64_t i = 0; i < size.pixels() * kind.channels(); ++i) {
    state = state * 1664525u + 1013904223u;
    samples.push_back((state >> 8) & ((1u << kind.depth) - 1));
  }
  return samples;
}

std::uint8_t to_8_bits(std::uint32_t sample, std::int32_t depth) {
  return static_cast<std::uint8_t>((sample * 255 + ((1u << depth) - 1) / 2) / ((1u << depth) - 1));
}

/// What the file shows, by the PNG specification.
std::vector<std::uint8_t> expected_rgb(const PngKind& kind,
                                       const std::vector<std::uint32_t>& samples) {
  std::vector<std::uint8_t> rgb;
  for (std::size_t i = 0; i < samples.size(); i += static_cast<std::size_t>(kind.channels())) {
    for (int channel = 0; channel < 3; ++channel) {
      const bool color = kind.color_type == 2 || kind.color_type == 6;
      const std::uint32_t sample = samples[i + static_cast<std::size_t>(color ? channel : 0)];
      rgb.push_back(kind.color_type == 3 ? test::palette_value(sample, channel)
                                         : to_8_bits(sample, kind.depth));
    }
  }
  return rgb;
}

std::vector<PngKind> all_kinds() {
  const std::vector<std::pair<int, std::vector<int>>> depths = {
      {0, {1, 2, 4, 8, 16}}, {2, {8, 16}}, {3, {1, 2, 4, 8}}, {4, {8, 16}}, {6, {8, 16}}};
  std::vector<PngKind> kinds;
  for (const auto& [color_type, of_type] : depths) {
    for (const int depth : of_type) {
      for (const bool interlaced : {false, true}) {
        for (const bool transparency : {false, true}) {
          if (transparency && color_type > 3) continue;
          kinds.push_back({color_type, depth, interlaced, transparency});
        }
      }
    }
  }
  return kinds;
}

class EveryPng : public ::testing::TestWithParam<PngKind> {};

TEST_P(EveryPng, DecodesToTheSpecifiedColors) {
  for (const ImageSize size : {ImageSize{1, 1}, ImageSize{9, 13}, ImageSize{2, 31}}) {
    const auto samples = random_samples(GetParam(), size);
    const Image image = decode_image(test::png_file(GetParam(), size, samples), "file");
    EXPECT_EQ(image.size, size);
    EXPECT_EQ(image.rgb, expected_rgb(GetParam(), samples));
  }
}

TEST_P(EveryPng, CutAnywhereIsAnError) {
  const ImageSize size = {5, 7};
  const auto bytes = test::png_file(GetParam(), size, random_samples(GetParam(), size));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(decode_error(std::span(bytes).first(length)), "") << "cut at " << length;
  }
}

std::string kind_name(const ::testing::TestParamInfo<PngKind>& info) {
  const char* const names[] = {"Gray", "", "Rgb", "Palette", "GrayAlpha", "", "Rgba"};
  return names[info.param.color_type] + std::to_string(info.param.depth) +
         (info.param.interlaced ? "Interlaced" : "") +
         (info.param.transparency ? "Transparent" : "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryPng, ::testing::ValuesIn(all_kinds()), kind_name);

std::vector<std::uint8_t> small_png() { return encode_png(test::gradient_image({8, 8})); }

TEST(Png, RoundTripKeepsEveryBit) {
  for (const ImageSize size : {ImageSize{1, 1}, ImageSize{17, 3}, ImageSize{64, 65}}) {
    const Image image = test::gradient_image(size);
    EXPECT_EQ(decode_image(encode_png(image), "file"), image);
  }
}

TEST(Png, GrayRoundTripGivesEqualChannels) {
  const std::vector<std::uint8_t> gray = {0, 1, 127, 128, 254, 255};
  const Image image = decode_image(encode_png_gray({2, 3}, gray), "file");
  ASSERT_EQ(image.size, (ImageSize{2, 3}));
  for (std::size_t i = 0; i < image.rgb.size(); ++i) EXPECT_EQ(image.rgb[i], gray[i / 3]);
}

TEST(Png, AnyChangedByteIsAnError) {
  const auto bytes = small_png();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x20, 0xFF}) {
      auto changed = bytes;
      changed[i] = static_cast<std::uint8_t>(changed[i] ^ flip);
      EXPECT_NE(decode_error(changed), "") << "byte " << i << " flipped by " << flip;
    }
  }
}

TEST(Png, TruncationIsNamed) {
  const auto bytes = small_png();
  EXPECT_THAT(decode_error(std::span(bytes).first(bytes.size() - 6), "cat.png"),
              HasSubstr("cat.png is truncated"));
}

TEST(Png, BytesAfterTheEndAreIgnored) {
  auto bytes = small_png();
  bytes.insert(bytes.end(), 100, 0xAB);
  EXPECT_EQ(decode_image(bytes, "file"), test::gradient_image({8, 8}));
}

TEST(Png, ImpossibleSizesAreRefusedFromTheHeaderAlone) {
  struct Case {
    std::uint32_t width, height;
    const char* text;
  };
  const Case cases[] = {{0, 5, "has no pixels: its size is 0 x 5"},
                        {5, 0, "has no pixels"},
                        {65536, 1, "too large"},
                        {1, 65536, "too large"},
                        {40000, 40000, "got 40000 x 40000"},
                        {0x7FFFFFFF, 0x7FFFFFFF, "too large"},
                        {0xFFFFFFFF, 0xFFFFFFFF, "too large"}};
  for (const Case& c : cases) {
    auto bytes = small_png();
    for (int i = 0; i < 4; ++i) {
      bytes[16 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(c.width >> (24 - 8 * i));
      bytes[20 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(c.height >> (24 - 8 * i));
    }
    EXPECT_THAT(decode_error(bytes), HasSubstr(c.text)) << c.width << " x " << c.height;
  }
}

TEST(Png, EncodingChecksTheNumberOfValues) {
  EXPECT_THROW((void)encode_png({{2, 2}, std::vector<std::uint8_t>(11)}), InvalidArgument);
  EXPECT_THROW((void)encode_png({{0, 2}, {}}), InvalidArgument);
  EXPECT_THROW((void)encode_png({{-2, -2}, std::vector<std::uint8_t>(12)}), InvalidArgument);
  EXPECT_THROW((void)encode_png_gray({2, 2}, std::vector<std::uint8_t>(12)), InvalidArgument);
}

}  // namespace
}  // namespace medley::data
