#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "report/canvas.h"
#include "report/font.h"

namespace medley::report {
namespace {

constexpr Font kFonts[] = {Font::small, Font::normal, Font::bold, Font::title};

/// The columns or rows that hold ink: first and one past the last.
struct Bounds {
  std::int32_t left, top, right, bottom;
};

Bounds bounds(const Canvas& canvas) {
  const auto [height, width] = canvas.size();
  Bounds b{width, height, 0, 0};
  for (std::int32_t y = 0; y < height; ++y) {
    for (std::int32_t x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(3 * (std::int64_t{y} * width + x));
      if (canvas.image().rgb[at] > 200) continue;
      b = {std::min(b.left, x), std::min(b.top, y), std::max(b.right, x + 1),
           std::max(b.bottom, y + 1)};
    }
  }
  return b;
}

TEST(Font, HasTheCharactersOfFigures) {
  std::string_view text = " !\"#$%&'()*+,-./09:;<=>?@AZ[]^_`az{|}~λ×−·αβγμνσηδεπτ½≤≥°±ã…–→≈²";
  while (!text.empty()) {
    const char32_t code = next_character(text);
    for (const Font font : kFonts) {
      EXPECT_EQ(glyph_of(font, code).code, code) << "U+" << std::hex << static_cast<int>(code);
    }
  }
}

TEST(Font, DecodesUtf8AndReplacesWhatIsNot) {
  const auto codes = [](std::string_view text) {
    std::u32string result;
    while (!text.empty()) result += next_character(text);
    return result;
  };
  EXPECT_EQ(codes("aλ≤\xF0\x9F\x98\x80"), U"aλ≤\U0001F600");
  EXPECT_EQ(codes("\xFF"), U"\uFFFD");
  EXPECT_EQ(codes("\xCE"), U"\uFFFD");
  EXPECT_EQ(codes("\xC0\x80"), U"\uFFFD\uFFFD");
  EXPECT_EQ(codes("\xE2\x89x"), U"\uFFFD\uFFFDx");
}

TEST(MeasureText, IsTheSumOfItsParts) {
  for (const Font font : kFonts) {
    EXPECT_EQ(measure_text("", font).width, 0);
    EXPECT_EQ(measure_text("λ = 0.5", font).width,
              measure_text("λ = ", font).width + measure_text("0.5", font).width);
    EXPECT_GT(measure_text("W", font).width, measure_text("i", font).width);
  }
  EXPECT_GT(measure_text("x", Font::title).height, measure_text("x", Font::small).height);
}

TEST(MeasureText, DigitsHaveEqualWidths) {
  for (const Font font : kFonts) {
    for (const char digit : std::string_view("123456789")) {
      EXPECT_EQ(measure_text(std::string(1, digit), font).width, measure_text("0", font).width);
    }
  }
}

TEST(Text, StandsOnItsBaseline) {
  Canvas canvas({40, 60});
  canvas.text(5, 30, "HE", {.font = Font::title, .color = {0, 0, 0}});
  const Bounds b = bounds(canvas);
  EXPECT_EQ(b.bottom, 30);
  EXPECT_EQ(b.top, 30 - face_of(Font::title).capitals);
  EXPECT_GE(b.left, 5);
}

TEST(Text, AlignsHorizontally) {
  const std::int32_t width = measure_text("HHHH", Font::bold).width;
  Canvas left({20, 200});
  Canvas center({20, 200});
  Canvas right({20, 200});
  left.text(100, 15, "HHHH", {.font = Font::bold});
  center.text(100, 15, "HHHH", {.font = Font::bold, .align = Align::center});
  right.text(100, 15, "HHHH", {.font = Font::bold, .align = Align::right});
  EXPECT_EQ(bounds(left).left - bounds(center).left, width / 2);
  EXPECT_EQ(bounds(left).left - bounds(right).left, width);
  EXPECT_LE(bounds(right).right, 100);
}

TEST(Text, AlignsVertically) {
  Canvas top({60, 60});
  top.text(5, 20, "ÄH", {.font = Font::title, .vertical = VerticalAlign::top});
  EXPECT_GE(bounds(top).top, 20);
  EXPECT_LE(bounds(top).bottom, 20 + measure_text("", Font::title).height);
  Canvas middle({60, 60});
  middle.text(5, 30, "H", {.font = Font::title, .vertical = VerticalAlign::middle});
  EXPECT_NEAR(bounds(middle).top + bounds(middle).bottom, 2 * 30, 1);
}

TEST(Text, TurnsUpwards) {
  Canvas across({80, 80});
  Canvas upwards({80, 80});
  across.text(10, 40, "HEL", {.font = Font::normal});
  upwards.text(40, 70, "HEL", {.font = Font::normal, .upwards = true});
  const Bounds a = bounds(across);
  const Bounds u = bounds(upwards);
  EXPECT_EQ(u.bottom - u.top, a.right - a.left);
  EXPECT_EQ(u.right - u.left, a.bottom - a.top);
  EXPECT_EQ(u.right, 40);
  EXPECT_LE(u.bottom, 70);
}

TEST(Text, IsAntiAliased) {
  Canvas canvas({30, 60});
  canvas.text(5, 20, "Soft", {.font = Font::title, .color = {0, 0, 0}});
  const auto& rgb = canvas.image().rgb;
  EXPECT_GT(std::count_if(rgb.begin(), rgb.end(), [](int v) { return v > 40 && v < 215; }), 30);
}

}  // namespace
}  // namespace medley::report
