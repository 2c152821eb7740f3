#include "data/synthetic/color.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/portable_math.h"
#include "data/synthetic/geometry.h"

namespace medley::data::synthetic {
namespace {

Color oklab_to_linear(double lightness, double a, double b) {
  const double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
  const double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
  const double s = lightness - 0.0894841775 * a - 1.2914855480 * b;
  const double l3 = l * l * l;
  const double m3 = m * m * m;
  const double s3 = s * s * s;
  return {4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3,
          -1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3,
          -0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3};
}

bool displayable(const Color& c) {
  constexpr double kSlack = 1e-3;
  return std::min({c.r, c.g, c.b}) >= -kSlack && std::max({c.r, c.g, c.b}) <= 1 + kSlack;
}

constexpr int kSteps = 8192;

std::array<std::uint8_t, kSteps + 1> srgb_table() {
  std::array<std::uint8_t, kSteps + 1> table{};
  for (int i = 1; i <= kSteps; ++i) {
    const double x = static_cast<double>(i) / kSteps;
    const double y =
        x <= 0.0031308 ? 12.92 * x : 1.055 * exp_nonpositive(log_positive(x) / 2.4) - 0.055;
    table[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(std::floor(255 * y + 0.5));
  }
  return table;
}

}  // namespace

Color oklch(double lightness, double chroma, double hue) {
  const Vec towards = direction(hue);
  Color color = oklab_to_linear(lightness, chroma * towards.x, chroma * towards.y);
  while (chroma > 0 && !displayable(color)) {
    chroma = std::max(chroma - 0.004, 0.0);
    color = oklab_to_linear(lightness, chroma * towards.x, chroma * towards.y);
  }
  return {clamp01(color.r), clamp01(color.g), clamp01(color.b)};
}

std::uint8_t encode_srgb(double linear) {
  static const std::array<std::uint8_t, kSteps + 1> kTable = srgb_table();
  return kTable[static_cast<std::size_t>(std::floor(clamp01(linear) * kSteps + 0.5))];
}

}  // namespace medley::data::synthetic
