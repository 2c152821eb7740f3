#include "plan/gaussian.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/gaussian_profile.h"

namespace medley {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Sums over one axis around the centre, or over the distances on one side of it: of K and of K
/// times the squared distance.
struct KernelSums {
  double value = 0;
  double moment = 0;
};

constexpr std::int32_t kBlock = 16;  // distances handled together
constexpr std::int32_t kBatch = 8;   // blocks whose exponentials are computed side by side

/// Running sums over the distances of a block: four of each kind, so that additions do not wait for
/// each other.
struct BlockSums {
  double values[4] = {};
  double moments[4] = {};

  template <bool kMoments>
  void add(std::int32_t b, double k, double distance) noexcept {
    values[b & 3] += k;
    if constexpr (kMoments) moments[b & 3] += k * (distance * distance);
  }
  [[nodiscard]] KernelSums after(KernelSums before) const noexcept {
    return {before.value + ((values[0] + values[1]) + (values[2] + values[3])),
            before.moment + ((moments[0] + moments[1]) + (moments[2] + moments[3]))};
  }
};

template <bool kMoments>
KernelSums add_block(KernelSums before, const double (&k)[kBlock], double begin) noexcept {
  BlockSums sums;
  for (std::int32_t b = 0; b < kBlock; ++b) sums.add<kMoments>(b, k[b], begin + b);
  return sums.after(before);
}

template <bool kMoments>
KernelSums add_part(KernelSums before, const double (&k)[kBlock], double begin,
                    std::int32_t n) noexcept {
  BlockSums sums;
  for (std::int32_t b = 0; b < n; ++b) sums.add<kMoments>(b, k[b], begin + b);
  return sums.after(before);
}

/// Sums over the distances 0 … reach[i], for each i, with moments only if asked for. Distance d =
/// begin + b of a block has d^2 = begin^2 + 2 begin b + b^2: a block needs two exponentials,
/// besides those of b^2.
template <bool kMoments>
void sum_to(double scale, const std::int32_t (&reach)[4], KernelSums (&sums)[4]) noexcept {
  double first[kBlock];
  for (std::int32_t b = 0; b < kBlock; ++b) first[b] = gaussian_factor(scale, b);
  const std::int32_t furthest = *std::max_element(std::begin(reach), std::end(reach));
  KernelSums before;
  for (std::int32_t start = 0; start <= furthest; start += kBatch * kBlock) {
    double base[kBatch];
    double ratio[kBatch];
    for (std::int32_t a = 0; a < kBatch; ++a) {
      const double begin = start + a * kBlock;
      base[a] = exp_nonpositive(-scale * (begin * begin));
      ratio[a] = exp_nonpositive(-scale * (2 * begin));
    }
    for (std::int32_t a = 0; a < kBatch; ++a) {
      const std::int32_t begin = start + a * kBlock;
      // What is left counts for nothing beside K = 1 at the centre.
      if (begin > furthest || base[a] < 0x1p-80) return;
      const double p = ratio[a];
      const double p4 = (p * p) * (p * p);
      double powers[kBlock] = {base[a], base[a] * p, base[a] * (p * p), base[a] * (p * (p * p))};
      for (std::int32_t b = 4; b < kBlock; ++b) powers[b] = powers[b - 4] * p4;
      double k[kBlock];
      for (std::int32_t b = 0; b < kBlock; ++b) k[b] = powers[b] * first[b];
      const KernelSums after = add_block<kMoments>(before, k, begin);
      for (int i = 0; i < 4; ++i) {
        const std::int32_t n = reach[i] + 1 - begin;
        if (n > 0) sums[i] = n < kBlock ? add_part<kMoments>(before, k, begin, n) : after;
      }
      before = after;
    }
  }
}

struct ImageSums {
  KernelSums rows;
  KernelSums columns;
};

template <bool kMoments>
ImageSums image_sums(double scale, std::int32_t cy, std::int32_t cx, ImageSize size) noexcept {
  KernelSums sums[4];
  sum_to<kMoments>(scale, {cy, size.height - 1 - cy, cx, size.width - 1 - cx}, sums);
  // Both sides count the centre.
  return {{sums[0].value + sums[1].value - 1, sums[0].moment + sums[1].moment},
          {sums[2].value + sums[3].value - 1, sums[2].moment + sums[3].moment}};
}

double exp_of(double t) noexcept { return t < 0 ? exp_nonpositive(t) : 1.0 / exp_nonpositive(-t); }

/// log(sum of K over the image) and its derivative by log(scale).
struct LogSum {
  double value;
  double slope;
};

/// Integrals of K instead of sums, with the first correction for that: cheap, and close for wide
/// kernels.
LogSum integrated(double scale, std::int32_t cy, std::int32_t cx, ImageSize size) noexcept {
  const double sides[4] = {cy + 0.5, size.height - cy - 0.5, cx + 0.5, size.width - cx - 0.5};
  const double root = std::sqrt(scale);
  double erfs[4];
  double edges[4];
  for (int i = 0; i < 4; ++i) {
    const double x = root * sides[i];
    const double e = exp_nonpositive(-x * x);
    // erf by Abramowitz and Stegun 7.1.26, within 1.5e-7.
    const double t = 1.0 / (1.0 + 0.3275911 * x);
    const double p =
        t * (0.254829592 +
             t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    erfs[i] = 1.0 - p * e;
    edges[i] = sides[i] * e;
  }
  const double half_width = 0.5 * std::sqrt(kPi / scale);
  const double row_edges = edges[0] + edges[1];
  const double column_edges = edges[2] + edges[3];
  const double rows = half_width * (erfs[0] + erfs[1]) + scale / 12 * row_edges;
  const double columns = half_width * (erfs[2] + erfs[3]) + scale / 12 * column_edges;
  return {log_positive(rows * columns), 0.5 * (row_edges / rows + column_edges / columns) - 1};
}

/// About where the mean of K is `mean`, as log(scale).
double calibrated_guess(std::int32_t cy, std::int32_t cx, ImageSize size, double mean, double low,
                        double high) noexcept {
  const double target = log_positive(mean * static_cast<double>(size.pixels()));
  double t = log_positive(kPi) - target;
  for (int i = 0; i < 12; ++i) {
    t = std::clamp(t, low, high);
    const LogSum sum = integrated(exp_of(t), cy, cx, size);
    const double step = (target - sum.value) / std::min(sum.slope, -1e-3);
    t += std::clamp(step, -2.0, 2.0);
    if (std::abs(step) < 1e-3) break;
  }
  return t;
}

}  // namespace

double gaussian_kernel_mean(const GaussianMask& mask, ImageSize size) {
  const auto pixels = static_cast<double>(size.pixels());
  const ImageSums sums =
      image_sums<false>(gaussian_scale(mask.tau, pixels), mask.cy, mask.cx, size);
  return sums.rows.value * sums.columns.value / pixels;
}

double calibrate_tau(std::int32_t cy, std::int32_t cx, ImageSize size, double mean) {
  const auto pixels = static_cast<double>(size.pixels());
  const double target = log_positive(mean);
  // Newton on log(mean) as a function of t = log(scale), which falls in t; bisection keeps it safe.
  double low = -60;  // scale e^-60: the kernel is flat
  double high = log_positive(1e4);
  double t = calibrated_guess(cy, cx, size, mean, low, high);
  for (int i = 0; i < 100; ++i) {
    t = std::clamp(t, low, high);
    const double scale = exp_of(t);
    const auto [rows, columns] = image_sums<true>(scale, cy, cx, size);
    const double error = log_positive(rows.value * columns.value / pixels) - target;
    if (std::abs(error) < 1e-15) break;
    (error > 0 ? low : high) = t;
    const double slope = -scale * (rows.moment / rows.value + columns.moment / columns.value);
    const double newton = t - error / slope;
    const bool safe = newton > low && newton < high;
    const double next = safe ? newton : 0.5 * (low + high);
    const double step = std::abs(next - t);
    t = next;
    // The error of a Newton step is about the square of its length.
    if (step == 0 || (safe && step < 1e-6)) break;
  }
  return kPi / (exp_of(t) * pixels);
}

}  // namespace medley
