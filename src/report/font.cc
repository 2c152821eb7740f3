#include "report/font.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace medley::report {
namespace {

#include "report/font_data.inc"

constexpr char32_t kReplacement = 0xFFFD;
constexpr int kLevels = 63;

/// Where each glyph's pixels begin in kCoverage.
constexpr auto kOffsets = [] {
  std::array<std::uint32_t, std::size(kGlyphs)> offsets{};
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = at;
    at += std::uint32_t{kGlyphs[i].width} * kGlyphs[i].height;
  }
  return offsets;
}();

constexpr int level_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  if (c >= 'a' && c <= 'z') return c - 'a' + 36;
  return c == '+' ? 62 : 63;
}

}  // namespace

const Face& face_of(Font font) noexcept { return kFaces[static_cast<std::size_t>(font)]; }

const Glyph& glyph_of(Font font, char32_t code) noexcept {
  const Glyph* const begin = kGlyphs + static_cast<std::size_t>(font) * kGlyphsPerFace;
  const Glyph* const end = begin + kGlyphsPerFace;
  const auto find = [&](char32_t wanted) {
    return std::lower_bound(begin, end, wanted,
                            [](const Glyph& glyph, char32_t c) { return glyph.code < c; });
  };
  const Glyph* const found = find(code);
  return found != end && found->code == code ? *found : *find(kReplacement);
}

double coverage_of(const Glyph& glyph, std::int32_t x, std::int32_t y) noexcept {
  const auto pixel = static_cast<std::uint32_t>(y * glyph.width + x);
  return level_of(kCoverage[kOffsets[static_cast<std::size_t>(&glyph - kGlyphs)] + pixel]) /
         double{kLevels};
}

char32_t next_character(std::string_view& text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  char32_t code = length < 2 ? lead : lead & (0x7Fu >> length);
  bool valid = length > 0 && length <= text.size();
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xC0) == 0x80;
    code = code << 6 | (byte(i) & 0x3F);
  }
  text.remove_prefix(valid ? length : 1);
  return valid ? code : kReplacement;
}

TextExtent measure_text(std::string_view text, Font font) {
  const Face& face = face_of(font);
  TextExtent extent{0, face.ascent, face.ascent + face.descent};
  while (!text.empty()) extent.width += glyph_of(font, next_character(text)).advance;
  return extent;
}

}  // namespace medley::report
