#include "plan/gaussian.h"

#include <algorithm>
#include <cmath>

#include "core/gaussian_factor.h"
#include "plan/gaussian_sums.h"

namespace medley {
namespace {

constexpr double kPi = 3.14159265358979323846;

double exp_of(double t) noexcept { return t < 0 ? exp_nonpositive(t) : 1.0 / exp_nonpositive(-t); }

// For a first guess few digits are enough: the same as above, within 1e-8, with short chains of
// operations that wait for each other.

/// e^x for x <= 0; below -700 as at -700.
double rough_exp(double x) noexcept {
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double shifted = (x < -700.0 ? -700.0 : x) * 1.4426950408889634074 + kRound;
  const double r = (x < -700.0 ? -700.0 : x) - (shifted - kRound) * 6.93147180559945309417e-01;
  const double r2 = r * r;
  const double low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
  const double high = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
  return (low + (r2 * r2) * high) * bits_to_double((double_to_bits(shifted) + 1023) << 52);
}

/// Logarithm of a positive normal number.
double rough_log(double x) noexcept {
  const std::uint64_t bits = double_to_bits(x);
  // Mantissa in [1/sqrt(2), sqrt(2)).
  const std::uint64_t shifted = bits + (0x3FF0000000000000ull - 0x3FE6A09E667F3BCDull);
  const auto exponent = static_cast<double>(static_cast<std::int64_t>(shifted >> 52) - 1023);
  const double m = bits_to_double(bits - (((shifted >> 52) - 1023) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  const double z2 = z * z;
  const double series =
      (2.0 + z * (2.0 / 3.0)) + z2 * ((2.0 / 5.0 + z * (2.0 / 7.0)) + z2 * (2.0 / 9.0));
  return exponent * 6.93147180559945309417e-01 + s * series;
}

/// log(sum of K over the image), its first and its second derivative by log(scale).
struct LogSum {
  double value;
  double slope;
  double bend;
};

/// Integrals of K instead of sums, with the first correction for that: cheap, and close for wide
/// kernels.
LogSum integrated(double scale, std::int32_t cy, std::int32_t cx, ImageSize size) noexcept {
  const double sides[4] = {cy + 0.5, size.height - cy - 0.5, cx + 0.5, size.width - cx - 0.5};
  const double root = std::sqrt(scale);
  double erfs[4];
  double edges[4];
  double edge_moments[4];
  for (int i = 0; i < 4; ++i) {
    const double x = root * sides[i];
    const double e = rough_exp(-x * x);
    // erf by Abramowitz and Stegun 7.1.26, within 1.5e-7.
    const double t = 1.0 / (1.0 + 0.3275911 * x);
    const double t2 = t * t;
    const double p = t * ((0.254829592 - 0.284496736 * t) +
                          t2 * ((1.421413741 - 1.453152027 * t) + t2 * 1.061405429));
    erfs[i] = 1.0 - p * e;
    edges[i] = sides[i] * e;
    edge_moments[i] = (x * x) * edges[i];
  }
  const double half_width = 0.88622692545275801365 / root;  // sqrt(pi) / 2
  const double row_edges = edges[0] + edges[1];
  const double column_edges = edges[2] + edges[3];
  const double rows = half_width * (erfs[0] + erfs[1]) + scale / 12 * row_edges;
  const double columns = half_width * (erfs[2] + erfs[3]) + scale / 12 * column_edges;
  const double row_share = row_edges / rows;
  const double column_share = column_edges / columns;
  const auto bend_of = [](double share, double moments, double sum) {
    return -0.5 * (moments / sum + 0.5 * share * (share - 1));
  };
  return {rough_log(rows * columns), 0.5 * (row_share + column_share) - 1,
          bend_of(row_share, edge_moments[0] + edge_moments[1], rows) +
              bend_of(column_share, edge_moments[2] + edge_moments[3], columns)};
}

/// From a point where a function has this error, slope and bend to where its parabola is 0.
double step_to_zero(double error, double slope, double bend) noexcept {
  const double newton = -error / slope;
  return -error / std::min(slope + 0.5 * bend * newton, 0.25 * slope);
}

/// About where the mean of K is `mean`, as log(scale), and the bend of log(mean) there.
struct Guess {
  double t;
  double bend;
};

/// Where to start, as log(scale). A small kernel rarely meets the edges of the image: its sum is pi
/// / scale. The mean of a wide one is 1 - scale times the mean squared distance, to begin with; how
/// it goes on is fitted, within a tenth.
double first_guess(std::int32_t cy, std::int32_t cx, ImageSize size, double mean) noexcept {
  if (mean < 0.1) return rough_log(kPi / (mean * static_cast<double>(size.pixels())));
  const auto mean_square = [](double before, double after) {
    return (before * before - before * after + after * after) * (1.0 / 3.0);
  };
  const double distance2 =
      mean_square(cy + 0.5, size.height - cy - 0.5) + mean_square(cx + 0.5, size.width - cx - 0.5);
  return rough_log((1 - mean) * (0.8 + 0.2 * mean) / (mean * distance2));
}

Guess calibrated_guess(std::int32_t cy, std::int32_t cx, ImageSize size, double mean, double low,
                       double high) noexcept {
  const double target = rough_log(mean * static_cast<double>(size.pixels()));
  Guess guess{first_guess(cy, cx, size, mean), 0};
  for (int i = 0; i < 12; ++i) {
    guess.t = std::clamp(guess.t, low, high);
    const double scale = guess.t < 0 ? rough_exp(guess.t) : 1.0 / rough_exp(-guess.t);
    const LogSum sum = integrated(scale, cy, cx, size);
    const double step = step_to_zero(sum.value - target, std::min(sum.slope, -1e-3), sum.bend);
    guess.bend = sum.bend;
    guess.t += std::clamp(step, -2.0, 2.0);
    // The error of a step is about the cube of its length.
    if (std::abs(step) < 0.02) break;
  }
  return guess;
}

}  // namespace

double gaussian_kernel_mean(const GaussianMask& mask, ImageSize size) {
  const auto pixels = static_cast<double>(size.pixels());
  const ImageSums sums =
      gaussian_image_sums(gaussian_scale(mask.tau, pixels), mask.cy, mask.cx, size, false);
  return sums.rows.value * sums.columns.value / pixels;
}

double calibrate_tau(std::int32_t cy, std::int32_t cx, ImageSize size, double mean) {
  const auto pixels = static_cast<double>(size.pixels());
  const double target = log_positive(mean);
  // Newton on log(mean) as a function of t = log(scale), which falls in t; bisection keeps it safe.
  double low = -60;   // scale e^-60: the kernel is flat
  double high = 9.3;  // it is 1 at the center and 0 elsewhere
  const Guess guess = calibrated_guess(cy, cx, size, mean, low, high);
  double t = guess.t;
  for (int i = 0; i < 100; ++i) {
    t = std::clamp(t, low, high);
    const double scale = exp_of(t);
    const auto [rows, columns] = gaussian_image_sums(scale, cy, cx, size, true);
    const double error = log_positive(rows.value * columns.value / pixels) - target;
    if (std::abs(error) < 1e-15) break;
    (error > 0 ? low : high) = t;
    const double slope = -scale * (rows.moment / rows.value + columns.moment / columns.value);
    // Integrals have the bend of sums if the kernel is wide, and the guess was good.
    const bool bend_known = i == 0 && scale < 0.1;
    const double better =
        t + (bend_known ? step_to_zero(error, slope, guess.bend) : -error / slope);
    const bool safe = better > low && better < high;
    const double next = safe ? better : 0.5 * (low + high);
    const double step = std::abs(next - t);
    t = next;
    // The error of a step is about the square of its length, less if the bend is known; the mean
    // feels it by the slope.
    const bool small = step < 3e-4 && step * step * -slope < (bend_known ? 1.6e-10 : 1e-12);
    if (step == 0 || (safe && small)) break;
  }
  return kPi / (exp_of(t) * pixels);
}

std::optional<double> calibrated_tau(std::int32_t cy, std::int32_t cx, ImageSize size, double lam) {
  constexpr double kWidest = 1e-9;  // of lam: no kernel covers everything
  if (lam < kWidest || lam >= 1 || size.pixels() == 1) return std::nullopt;
  constexpr double kOnePixel = 1e-9;
  if ((1 - lam) * static_cast<double>(size.pixels()) <= 1 + 1e-9) return kOnePixel;
  return calibrate_tau(cy, cx, size, 1 - lam);
}

}  // namespace medley
