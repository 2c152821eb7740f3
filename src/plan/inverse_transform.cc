#include "plan/inverse_transform.h"

#include <algorithm>
#include <numbers>

#include <unsupported/Eigen/FFT>

namespace medley {
namespace {

using Complex = std::complex<double>;

/// From here on a prime factor costs more than three transforms of twice the length.
constexpr std::int32_t kLargePrime = 64;

/// Knows the factors of every length that the thread has met.
Eigen::FFT<double>& transforms() {
  thread_local Eigen::FFT<double> fft;
  return fft;
}

std::int32_t largest_prime_factor(std::int32_t n) {
  std::int32_t largest = 1;
  for (std::int32_t p = 2; n > 1; ++p) {
    if (p > n / p) p = n;
    for (; n % p == 0; n /= p) largest = p;
  }
  return largest;
}

}  // namespace

std::int32_t transform_length(std::int32_t n) {
  for (std::int32_t length = n + n % 2;; length += 2) {
    std::int32_t rest = length;
    for (const std::int32_t prime : {2, 3, 5}) {
      while (rest % prime == 0) rest /= prime;
    }
    if (rest == 1 && length >= 2) return length;
  }
}

InverseTransform::InverseTransform(std::int32_t n) : n_(n) {
  if (largest_prime_factor(n) < kLargePrime) return;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto turns = static_cast<double>(k * k % (2 * std::int64_t{n})) / n;
    chirp_.push_back(std::polar(1.0, std::numbers::pi * turns));
  }
  const std::int32_t length = transform_length(2 * n - 1);
  std::vector<Complex> padded(static_cast<std::size_t>(length));
  for (std::size_t k = 0; k < chirp_.size(); ++k) {
    padded[k] = std::conj(chirp_[k]);
    if (k > 0) padded[padded.size() - k] = padded[k];
  }
  response_.resize(padded.size());
  transforms().fwd(response_.data(), padded.data(), length);
}

void InverseTransform::operator()(std::span<const Complex> from, std::span<Complex> to) const {
  if (n_ == 1) {  // Eigen's transform does not take a single value
    to[0] = from[0];
    return;
  }
  Eigen::FFT<double>& fft = transforms();
  if (chirp_.empty()) {
    fft.inv(to.data(), from.data(), n_);
    return;
  }
  const auto length = static_cast<Eigen::Index>(response_.size());
  std::vector<Complex> padded(response_.size());
  std::vector<Complex> spectrum(response_.size());
  for (std::size_t k = 0; k < chirp_.size(); ++k) padded[k] = from[k] * chirp_[k];
  fft.fwd(spectrum.data(), padded.data(), length);
  for (std::size_t k = 0; k < spectrum.size(); ++k) spectrum[k] *= response_[k];
  fft.inv(padded.data(), spectrum.data(), length);
  for (std::size_t j = 0; j < chirp_.size(); ++j) to[j] = padded[j] * chirp_[j] / double(n_);
}

}  // namespace medley
