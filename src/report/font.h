#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "report/canvas.h"

namespace medley::report {

/// One character of a face. `left` and `top` place its box relative to the pen on the baseline.
struct Glyph {
  char32_t code = 0;
  std::uint8_t width = 0;
  std::uint8_t height = 0;
  std::int8_t left = 0;
  std::int8_t top = 0;
  std::uint8_t advance = 0;
};

struct Face {
  std::int32_t size = 0;
  std::int32_t ascent = 0;
  std::int32_t descent = 0;
  std::int32_t capitals = 0;  ///< height of H
};

[[nodiscard]] const Face& face_of(Font font) noexcept;

/// The glyph of a character, or of the replacement sign.
[[nodiscard]] const Glyph& glyph_of(Font font, char32_t code) noexcept;

/// How much of pixel (x, y) of the glyph's box is ink, in [0, 1].
[[nodiscard]] double coverage_of(const Glyph& glyph, std::int32_t x, std::int32_t y) noexcept;

/// Takes the first character off `text`, which is not empty. A byte that is not UTF-8 gives U+FFFD.
[[nodiscard]] char32_t next_character(std::string_view& text) noexcept;

}  // namespace medley::report
