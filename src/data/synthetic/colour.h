#pragma once

#include <cstdint>

namespace medley::data::synthetic {

/// Linear-light RGB, each in [0, 1] once it is on the picture.
struct Colour {
  double r = 0;
  double g = 0;
  double b = 0;
};

constexpr Colour operator+(Colour a, Colour b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
constexpr Colour operator*(Colour a, double s) { return {a.r * s, a.g * s, a.b * s}; }
constexpr Colour mix(Colour a, Colour b, double t) { return a * (1 - t) + b * t; }

inline constexpr Colour kWhite = {1, 1, 1};
inline constexpr Colour kBlack = {0, 0, 0};

/// The colour of Oklab lightness L in [0, 1], chroma C (0.2 is vivid) and hue in turns (Ottosson,
/// "A perceptual color space for image processing"). Chroma is reduced until it fits into sRGB.
[[nodiscard]] Colour oklch(double lightness, double chroma, double hue);

/// One linear value as an 8-bit sRGB value; out of range is clamped.
[[nodiscard]] std::uint8_t encode_srgb(double linear);

}  // namespace medley::data::synthetic
