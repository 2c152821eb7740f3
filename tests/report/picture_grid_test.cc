#include "medley/report/pictures.h"

#include <gtest/gtest.h>

namespace medley::report {
namespace {

GridPicture gray(std::int32_t height, std::int32_t width, std::vector<std::string> lines = {}) {
  const ImageSize size{height, width};
  return {{size, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * size.pixels()), 128)},
          std::move(lines)};
}

bool has_ink(const data::Image& image, std::int32_t row) {
  const std::size_t begin = static_cast<std::size_t>(3 * row) * image.size.width;
  for (std::size_t i = begin; i < begin + 3 * static_cast<std::size_t>(image.size.width); ++i) {
    if (image.rgb[i] < 120) return true;
  }
  return false;
}

TEST(PictureGrid, WordsStandBelowEnlargedPictures) {
  const data::Image image = draw_grid({gray(10, 10, {"coat 62 %"}), gray(10, 10)});
  EXPECT_EQ(image.size, (ImageSize{90 + 14 + 16, 2 * 98 + 8}));
  EXPECT_EQ(image.rgb[static_cast<std::size_t>(3 * (50 * image.size.width + 50))], 128);
  bool text = false;
  for (std::int32_t row = 98; row < 112; ++row) text = text || has_ink(image, row);
  EXPECT_TRUE(text);
}

TEST(PictureGrid, LongWordsStayBelowTheirPicture) {
  const std::string word(100, 'm');
  const data::Image image = draw_grid({gray(88, 88, {word}), gray(88, 88)});
  for (std::int32_t y = 98; y < 112; ++y) {
    for (std::int32_t x = 97; x < image.size.width; ++x) {
      EXPECT_EQ(image.rgb[static_cast<std::size_t>(3 * (y * image.size.width + x))], 255);
    }
  }
}

TEST(PictureGrid, HasAsManyPicturesAsThereIsRoomFor) {
  const auto size = [](std::size_t count, std::int32_t height, std::int32_t width) {
    return draw_grid(std::vector<GridPicture>(count, gray(height, width))).size;
  };
  EXPECT_EQ(size(3, 5, 6), (ImageSize{21, 50}));
  EXPECT_EQ(size(20, 5, 6), (ImageSize{3 * 13 + 8, 8 * 14 + 8}));
  EXPECT_EQ(size(4, 2, 20000), (ImageSize{4 * 10 + 8, 20008 + 8}));
  EXPECT_EQ(size(4, 20000, 2), (ImageSize{20016, 4 * 10 + 8}));
  EXPECT_EQ(size(1, 1, 70000).pixels(), 0);
  EXPECT_EQ(draw_grid({}).size.pixels(), 0);
}

}  // namespace
}  // namespace medley::report
