#pragma once

#include <cstdint>
#include <vector>

namespace medley::test {

/// A 16-bit floating-point format, computed slowly and exactly from its definition: sign, exponent
/// field, mantissa field.
class HalfFormat {
 public:
  explicit HalfFormat(int mantissa_bits);

  /// Value of a finite pattern; infinite and NaN patterns give infinity and NaN.
  [[nodiscard]] double value(std::uint16_t bits) const;
  /// The pattern nearest to a float that is not NaN; a tie goes to the even one, and what would
  /// round to the next power of two after the largest becomes infinite.
  [[nodiscard]] std::uint16_t nearest(float value) const;
  [[nodiscard]] bool is_nan(std::uint16_t bits) const { return (bits & 0x7FFFu) > infinity_; }

  /// Floats around every rounding decision: each value, each midpoint between neighbors, and the
  /// floats next to those, of both signs.
  [[nodiscard]] std::vector<float> decisions() const;

 private:
  std::uint16_t infinity_;
  std::vector<double>
      positive_;  // values of patterns 0 to infinity_, the last as if it were finite
};

[[nodiscard]] const HalfFormat& f16_format();
[[nodiscard]] const HalfFormat& bf16_format();

}  // namespace medley::test
