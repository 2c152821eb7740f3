#include "kernels/halves.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace medley::test {

HalfFormat::HalfFormat(int mantissa_bits)
    : infinity_(static_cast<std::uint16_t>(0x7FFF >> mantissa_bits << mantissa_bits)) {
  const int exponent_bits = 15 - mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  for (int bits = 0; bits <= infinity_; ++bits) {
    const int exponent = bits >> mantissa_bits;
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    positive_.push_back(exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                      : std::ldexp((1 << mantissa_bits) + mantissa,
                                                   exponent - bias - mantissa_bits));
  }
}

double HalfFormat::value(std::uint16_t bits) const {
  const std::uint16_t rest = bits & 0x7FFFu;
  const double sign = bits & 0x8000u ? -1 : 1;
  if (rest > infinity_) return std::numeric_limits<double>::quiet_NaN();
  if (rest == infinity_) return sign * std::numeric_limits<double>::infinity();
  return sign * positive_[rest];
}

std::uint16_t HalfFormat::nearest(float value) const {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000u : 0);
  const double magnitude = std::abs(static_cast<double>(value));
  const auto above = std::ranges::lower_bound(positive_, magnitude);
  if (above == positive_.end()) return sign | infinity_;
  auto bits = static_cast<std::uint16_t>(above - positive_.begin());
  if (bits > 0 && *above != magnitude) {
    const double up = *above - magnitude, down = magnitude - *(above - 1);  // exact
    if (down < up || (down == up && (bits & 1u) != 0)) --bits;
  }
  return sign | bits;
}

std::vector<float> HalfFormat::decisions() const {
  std::vector<float> floats;
  const auto add = [&](double v) {
    const auto f = static_cast<float>(v);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (const float near : {std::nextafter(f, -kInfinity), f, std::nextafter(f, kInfinity)}) {
      floats.push_back(near);
      floats.push_back(-near);
    }
  };
  for (std::size_t i = 0; i + 1 < positive_.size(); ++i) {
    add(positive_[i]);
    add((positive_[i] + positive_[i + 1]) / 2);
  }
  add(positive_.back());
  return floats;
}

const HalfFormat& f16_format() {
  static const HalfFormat format(10);
  return format;
}

const HalfFormat& bf16_format() {
  static const HalfFormat format(7);
  return format;
}

}  // namespace medley::test
