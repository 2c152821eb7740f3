#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace medley {

/// Smallest even number >= n whose prime factors are 2, 3 and 5, so that its transform is quick.
[[nodiscard]] std::int32_t transform_length(std::int32_t n);

/// to[j] = (1/n) sum over k of from[k] exp(2 pi i j k / n), quick for every n.
class InverseTransform {
 public:
  explicit InverseTransform(std::int32_t n);

  /// Both of n values, not the same ones.
  void operator()(std::span<const std::complex<double>> from,
                  std::span<std::complex<double>> to) const;

 private:
  std::int32_t n_;
  // If n has a large prime factor, the sum is a convolution with a chirp (Bluestein 1970):
  // j k = (j^2 + k^2 - (j - k)^2) / 2.
  std::vector<std::complex<double>> chirp_;     // exp(pi i k^2 / n)
  std::vector<std::complex<double>> response_;  // transform of the conjugate chirp, padded
};

}  // namespace medley
