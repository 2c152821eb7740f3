#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/picture_files.h"
#include "medley/data/image.h"
#include "medley/error.h"

namespace medley::data {
namespace {

Image cut(const Image& image, const PixelBox& box) {
  Image part{{box.height, box.width}, {}};
  for (std::int32_t y = 0; y < box.height; ++y) {
    const auto row = image.rgb.begin() + 3L * ((box.top + y) * image.size.width + box.left);
    part.rgb.insert(part.rgb.end(), row, row + 3L * box.width);
  }
  return part;
}

Image part_of(const std::vector<std::uint8_t>& bytes, const PixelBox& box, ImageSize size) {
  Image part{size, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * size.pixels()))};
  decode_part(
      bytes, "file", [&](ImageSize) { return box; }, size, part.rgb);
  return part;
}

int greatest_difference(const Image& a, const Image& b) {
  int greatest = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) {
    greatest = std::max(greatest, std::abs(a.rgb[i] - b.rgb[i]));
  }
  return greatest;
}

TEST(DecodePart, OfAPngIsCropAndResize) {
  const Image image = test::gradient_image({40, 56});
  const std::vector<std::uint8_t> file = encode_png(image);
  for (const PixelBox box :
       {PixelBox{0, 0, 40, 56}, PixelBox{7, 9, 20, 31}, PixelBox{39, 55, 1, 1}}) {
    for (const ImageSize size : {ImageSize{8, 8}, ImageSize{33, 17}}) {
      EXPECT_EQ(part_of(file, box, size), resize(cut(image, box), size));
    }
  }
}

TEST(DecodePart, OfAJpegIsNearCropAndResizeAtEveryScale) {
  const Image image = test::gradient_image({375, 500});
  for (const bool progressive : {false, true}) {
    const std::vector<std::uint8_t> file =
        test::jpeg_file({.components = 3, .progressive = progressive}, image.size, image.rgb);
    const Image whole = decode_image(file, "file");
    for (const PixelBox box :
         {PixelBox{0, 0, 375, 500}, PixelBox{101, 203, 150, 250}, PixelBox{370, 3, 5, 480},
          PixelBox{1, 499, 300, 1}, PixelBox{17, 33, 97, 65}}) {
      for (const std::int32_t side : {200, 90, 40, 8}) {
        const Image part = part_of(file, box, {side, side});
        EXPECT_LE(greatest_difference(part, resize(cut(whole, box), {side, side})), 9)
            << box.top << ' ' << box.left << ' ' << side;
      }
    }
  }
}

TEST(DecodePart, SeesThatAFileIsTruncatedWhereverThePartIs) {
  const Image image = test::gradient_image({64, 64});
  std::vector<std::uint8_t> file = test::jpeg_file({.components = 3}, image.size, image.rgb);
  file.resize(file.size() - 20);
  std::vector<std::uint8_t> rgb(48);
  EXPECT_THROW(decode_part(
                   file, "f",
                   [](ImageSize) {
                     return PixelBox{0, 0, 8, 8};
                   },
                   {4, 4}, rgb),
               IoError);
}

TEST(DecodePart, RefusesBoxesThatDoNotFit) {
  const std::vector<std::uint8_t> file = encode_png(test::gradient_image({8, 8}));
  for (const PixelBox box : {PixelBox{0, 0, 0, 4}, PixelBox{5, 0, 4, 4}, PixelBox{-1, 0, 4, 4},
                             PixelBox{0, 2147483647, 4, 4}}) {
    EXPECT_THROW(part_of(file, box, {4, 4}), InvalidArgument);
  }
}

}  // namespace
}  // namespace medley::data
