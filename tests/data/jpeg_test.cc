#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/picture_files.h"
#include "medley/data/image.h"
#include "medley/error.h"

namespace medley {
namespace {

using test::decode_error;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A smooth picture at quality 95 comes back within this, colour subsampling included.
constexpr int kTolerance = 8;

std::vector<std::uint8_t> small_jpeg(bool progressive = false) {
  return test::jpeg_file({.components = 3, .progressive = progressive}, {24, 40},
                         test::gradient_image({24, 40}).rgb);
}

/// Overwrites height and width in the frame header.
std::vector<std::uint8_t> with_size(std::vector<std::uint8_t> bytes, int height, int width) {
  for (std::size_t i = 0; i + 8 < bytes.size(); ++i) {
    if (bytes[i] == 0xFF && bytes[i + 1] == 0xC0) {
      bytes[i + 5] = static_cast<std::uint8_t>(height >> 8);
      bytes[i + 6] = static_cast<std::uint8_t>(height);
      bytes[i + 7] = static_cast<std::uint8_t>(width >> 8);
      bytes[i + 8] = static_cast<std::uint8_t>(width);
      return bytes;
    }
  }
  ADD_FAILURE() << "no frame header";
  return bytes;
}

TEST(Jpeg, ColourComesBackWithinTheLossOfTheFormat) {
  for (const bool progressive : {false, true}) {
    const Image image = decode_image(small_jpeg(progressive), "file");
    const Image wanted = test::gradient_image({24, 40});
    ASSERT_EQ(image.size, wanted.size);
    for (std::size_t i = 0; i < image.rgb.size(); ++i) {
      EXPECT_LE(std::abs(image.rgb[i] - wanted.rgb[i]), kTolerance);
    }
  }
}

TEST(Jpeg, GreyComesBackAsEqualChannels) {
  std::vector<std::uint8_t> grey(135);
  std::iota(grey.begin(), grey.end(), std::uint8_t{0});
  const Image image = decode_image(test::jpeg_file({.components = 1}, {15, 9}, grey), "file");
  ASSERT_EQ(image.size, (ImageSize{15, 9}));
  for (std::size_t i = 0; i < grey.size(); ++i) {
    EXPECT_LE(std::abs(image.rgb[3 * i] - grey[i]), kTolerance);
    EXPECT_EQ(image.rgb[3 * i], image.rgb[3 * i + 1]);
    EXPECT_EQ(image.rgb[3 * i], image.rgb[3 * i + 2]);
  }
}

TEST(Jpeg, OnePixelIsAPicture) {
  const std::vector<std::uint8_t> white = {255, 255, 255};
  EXPECT_EQ(decode_image(test::jpeg_file({}, {1, 1}, white), "file").rgb, white);
}

TEST(Jpeg, CmykIsRefused) {
  const auto bytes = test::jpeg_file({.components = 4}, {8, 8}, std::vector<std::uint8_t>(256, 90));
  EXPECT_EQ(decode_error(bytes, "print.jpg"),
            "print.jpg is a CMYK JPEG, expected grey or RGB: convert it to RGB first");
}

TEST(Jpeg, CutAnywhereIsAnError) {
  for (const bool progressive : {false, true}) {
    const auto bytes = small_jpeg(progressive);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_NE(decode_error(std::span(bytes).first(length)), "") << "cut at " << length;
    }
  }
}

TEST(Jpeg, TruncationIsNamed) {
  const auto bytes = small_jpeg();
  EXPECT_THAT(decode_error(std::span(bytes).first(bytes.size() - 20), "cat.jpg"),
              StartsWith("cat.jpg is truncated"));
}

TEST(Jpeg, DamagedPixelsAreAnError) {
  // A marker in the middle of the entropy-coded data ends the segment too early.
  auto bytes = small_jpeg();
  bytes[bytes.size() - 30] = 0xFF;
  bytes[bytes.size() - 29] = 0xD9;
  EXPECT_THAT(decode_error(bytes, "cat.jpg"), StartsWith("cat.jpg is a broken JPEG: "));
}

TEST(Jpeg, LargePicturesMayHaveFewerScans) {
  const auto grey_jpeg = [](std::int32_t side) {
    const std::vector<std::uint8_t> grey(static_cast<std::size_t>(side) *
                                         static_cast<std::size_t>(side));
    return test::jpeg_file({.components = 1, .many_scans = true}, {side, side}, grey);
  };
  EXPECT_EQ(decode_error(grey_jpeg(16)), "");
  EXPECT_EQ(decode_error(grey_jpeg(3000), "cat.jpg"),
            "cat.jpg is a broken JPEG: it has more than 238 scans");
}

TEST(Jpeg, ChangedBytesNeverCrash) {
  for (const bool progressive : {false, true}) {
    const auto bytes = small_jpeg(progressive);
    for (std::size_t i = 2; i < bytes.size(); ++i) {
      for (const int flip : {0x01, 0x80, 0xFF}) {
        auto changed = bytes;
        changed[i] = static_cast<std::uint8_t>(changed[i] ^ flip);
        try {
          (void)decode_image(changed, "file");
        } catch (const IoError&) {
        }
      }
    }
  }
}

TEST(Jpeg, ImpossibleSizesAreRefused) {
  EXPECT_THAT(decode_error(with_size(small_jpeg(), 60000, 60000)), HasSubstr("too large"));
  EXPECT_THAT(decode_error(with_size(small_jpeg(), 65535, 65535)), HasSubstr("too large"));
  EXPECT_THAT(decode_error(with_size(small_jpeg(), 0, 40)), HasSubstr("has no pixels"));
  EXPECT_THAT(decode_error(with_size(small_jpeg(), 24, 0)), HasSubstr("has no pixels"));
}

TEST(Jpeg, BytesAfterTheEndAreIgnored) {
  auto bytes = small_jpeg();
  const Image image = decode_image(bytes, "file");
  bytes.insert(bytes.end(), 100, 0xAB);
  EXPECT_EQ(decode_image(bytes, "file"), image);
}

}  // namespace
}  // namespace medley
