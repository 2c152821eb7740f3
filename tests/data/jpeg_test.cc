#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <numeric>
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
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A smooth picture at quality 95 comes back within this, color subsampling included.
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

constexpr std::uint8_t kStartOfScan[] = {0xFF, 0xDA};

TEST(Jpeg, ColorComesBackWithinTheLossOfTheFormat) {
  for (const bool progressive : {false, true}) {
    const Image image = decode_image(small_jpeg(progressive), "file");
    const Image wanted = test::gradient_image({24, 40});
    ASSERT_EQ(image.size, wanted.size);
    for (std::size_t i = 0; i < image.rgb.size(); ++i) {
      EXPECT_LE(std::abs(image.rgb[i] - wanted.rgb[i]), kTolerance);
    }
  }
}

TEST(Jpeg, GrayComesBackAsEqualChannels) {
  std::vector<std::uint8_t> gray(135);
  std::iota(gray.begin(), gray.end(), std::uint8_t{0});
  const Image image = decode_image(test::jpeg_file({.components = 1}, {15, 9}, gray), "file");
  ASSERT_EQ(image.size, (ImageSize{15, 9}));
  for (std::size_t i = 0; i < gray.size(); ++i) {
    EXPECT_LE(std::abs(image.rgb[3 * i] - gray[i]), kTolerance);
    EXPECT_EQ(image.rgb[3 * i], image.rgb[3 * i + 1]);
    EXPECT_EQ(image.rgb[3 * i], image.rgb[3 * i + 2]);
  }
}

TEST(Jpeg, OnePixelIsAPicture) {
  const std::vector<std::uint8_t> white = {255, 255, 255};
  EXPECT_EQ(decode_image(test::jpeg_file({}, {1, 1}, white), "file").rgb, white);
}

/// Pillow's conversion of CMYK, from Convert.c, after the inversion that it does for every JPEG.
std::uint8_t pillow_value(int stored, int stored_black) {
  const int ink = 255 - stored;
  const int nk = 255 - (255 - stored_black);
  const int scaled = ink * nk + 128;
  return static_cast<std::uint8_t>(std::clamp(nk - (((scaled >> 8) + scaled) >> 8), 0, 255));
}

/// Every channel takes many values, black too.
std::vector<std::uint8_t> four_channels(ImageSize size) {
  std::vector<std::uint8_t> values;
  for (std::int32_t y = 0; y < size.height; ++y) {
    for (std::int32_t x = 0; x < size.width; ++x) {
      for (const std::int32_t value :
           {255 * x / size.width, 255 * y / size.height, 90 + x, 255 - 200 * x / size.width}) {
        values.push_back(static_cast<std::uint8_t>(value));
      }
    }
  }
  return values;
}

const test::JpegKind kFourChannels[] = {{.components = 4},
                                        {.components = 4, .ycck = true},
                                        {.components = 4, .no_adobe = true},
                                        {.components = 4, .progressive = true}};

TEST(Jpeg, CmykIsConvertedAsPillowDoes) {
  constexpr ImageSize kSize{24, 40};
  for (const test::JpegKind& kind : kFourChannels) {
    const auto bytes = test::jpeg_file(kind, kSize, four_channels(kSize));
    const std::vector<std::uint8_t> cmyk = test::cmyk_values(bytes);
    const Image image = decode_image(bytes, "print.jpg");
    ASSERT_EQ(image.size, kSize);
    for (std::size_t i = 0; i < image.rgb.size(); ++i) {
      const std::size_t pixel = 4 * (i / 3);
      ASSERT_EQ(image.rgb[i], pillow_value(cmyk[pixel + i % 3], cmyk[pixel + 3])) << i;
    }
  }
}

TEST(Jpeg, WhitePaperIsWhiteAndBlackInkBlack) {
  const auto color = [](std::vector<std::uint8_t> stored) {
    return decode_image(test::jpeg_file({.components = 4}, {1, 1}, stored), "file").rgb;
  };
  EXPECT_EQ(color({255, 255, 255, 255}), (std::vector<std::uint8_t>{255, 255, 255}));
  EXPECT_EQ(color({255, 255, 255, 0}), (std::vector<std::uint8_t>{0, 0, 0}));
}

TEST(Jpeg, PartsOfCmykAreThoseOfTheWhole) {
  constexpr ImageSize kSize{64, 96};
  for (const test::JpegKind& kind : kFourChannels) {
    const auto bytes = test::jpeg_file(kind, kSize, four_channels(kSize));
    const Image whole = decode_image(bytes, "file");
    std::vector<std::uint8_t> part(std::size_t{3} * 20 * 30);
    decode_part(
        bytes, "file",
        [](ImageSize) {
          return PixelBox{17, 40, 20, 30};
        },
        {20, 30}, part);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::size_t at = ((17 + i / 90) * 96 + 40) * 3 + i % 90;
      ASSERT_NEAR(part[i], whole.rgb[at], kTolerance) << i;
    }
  }
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

TEST(Jpeg, AMarkerInTheMiddleIsNotedAndTheRestIsFilled) {
  // It ends the entropy-coded data too early; other decoders go on.
  const auto good = small_jpeg();
  auto bytes = good;
  bytes[bytes.size() - 30] = 0xFF;
  bytes[bytes.size() - 29] = 0xD9;
  std::vector<std::string> notes;
  const auto note = [&](const std::string& text) { notes.push_back(text); };
  const Image image = decode_image(bytes, "cat.jpg", {.note = note});
  EXPECT_THAT(notes, testing::ElementsAre("cat.jpg is damaged, but was decoded: Corrupt JPEG data: "
                                          "premature end of data segment"));
  const Image whole = decode_image(good, "cat.jpg", {.note = note});
  EXPECT_EQ(notes.size(), 1u) << "a whole picture has no note";
  EXPECT_TRUE(std::equal(whole.rgb.begin(), whole.rgb.begin() + 3 * 40 * 8, image.rgb.begin()));
  std::vector<std::uint8_t> rgb(std::size_t{3} * 4 * 4);
  decode_part(bytes, "cat.jpg",
              [](ImageSize size) {
                return PixelBox{0, 0, size.height, size.width};
              },
              {4, 4}, rgb, {.note = note});
  EXPECT_EQ(notes.size(), 2u);
}

TEST(Jpeg, OtherDamageIsAnError) {
  auto bytes = small_jpeg(/*progressive=*/true);
  const auto last =
      std::find_end(bytes.begin(), bytes.end(), std::begin(kStartOfScan), std::end(kStartOfScan));
  last[6] = 70;  // a frequency that there is not
  EXPECT_THAT(decode_error(bytes, "cat.jpg"), StartsWith("cat.jpg is a broken JPEG: "));
}

TEST(Jpeg, LargePicturesMayHaveFewerScans) {
  const auto gray_jpeg = [](std::int32_t side) {
    const std::vector<std::uint8_t> gray(static_cast<std::size_t>(side) *
                                         static_cast<std::size_t>(side));
    return test::jpeg_file({.components = 1, .many_scans = true}, {side, side}, gray);
  };
  EXPECT_EQ(decode_error(gray_jpeg(16)), "");
  EXPECT_EQ(decode_error(gray_jpeg(3000), "cat.jpg"),
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
}  // namespace medley::data
