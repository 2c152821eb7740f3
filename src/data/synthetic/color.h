#pragma once

#include <cstdint>

namespace medley::data::synthetic {

/// Linear-light RGB, each in [0, 1] once it is on the picture.
struct Color {
  double r = 0;
  double g = 0;
  double b = 0;
};

constexpr Color operator+(Color a, Color b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
constexpr Color operator*(Color a, double s) { return {a.r * s, a.g * s, a.b * s}; }
constexpr Color mix(Color a, Color b, double t) { return a * (1 - t) + b * t; }

inline constexpr Color kWhite = {1, 1, 1};
inline constexpr Color kBlack = {0, 0, 0};

/// The color of Oklab lightness L in [0, 1], chroma C (0.2 is vivid) and hue in turns (Ottosson,
/// "A perceptual color space for image processing"). Chroma is reduced until it fits into sRGB.
[[nodiscard]] Color oklch(double lightness, double chroma, double hue);

/// One linear value as an 8-bit sRGB value; out of range is clamped.
[[nodiscard]] std::uint8_t encode_srgb(double linear);

}  // namespace medley::data::synthetic
