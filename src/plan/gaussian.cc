#include "plan/gaussian.h"

#include <algorithm>
#include <cmath>

#include "core/gaussian_profile.h"

namespace medley {
namespace {

/// Sums over one axis of n pixels around centre c: of K and of K times the squared distance.
struct AxisSums {
  double value = 0;
  double moment = 0;
};

AxisSums axis_sums(double scale, std::int32_t c, std::int32_t n) noexcept {
  // Distances come in blocks whose factors are computed side by side; four running sums keep the
  // additions from waiting for each other.
  constexpr std::int32_t kBlock = 32;
  const std::int32_t far = std::max(c, n - 1 - c);
  const std::int32_t near = std::min(c, n - 1 - c);  // both sides of the centre up to here
  double value[4] = {};
  double moment[4] = {};
  for (std::int32_t begin = 0; begin <= far; begin += kBlock) {
    double k[kBlock];
    for (std::int32_t i = 0; i < kBlock; ++i) k[i] = gaussian_factor(scale, begin + i);
    if (k[0] == 0 && begin > 0) break;
    const std::int32_t end = std::min(kBlock, far - begin + 1);
    for (std::int32_t i = 0; i < end; ++i) {
      const std::int32_t d = begin + i;
      const double times = d == 0 ? 1 : d <= near ? 2 : 1;
      const double distance = d;
      value[i & 3] += times * k[i];
      moment[i & 3] += times * k[i] * (distance * distance);
    }
  }
  return {(value[0] + value[1]) + (value[2] + value[3]),
          (moment[0] + moment[1]) + (moment[2] + moment[3])};
}

}  // namespace

double gaussian_kernel_mean(const GaussianMask& mask, ImageSize size) {
  const auto pixels = static_cast<double>(size.pixels());
  const double scale = gaussian_scale(mask.tau, pixels);
  return axis_sums(scale, mask.cy, size.height).value *
         axis_sums(scale, mask.cx, size.width).value / pixels;
}

double calibrate_tau(std::int32_t cy, std::int32_t cx, ImageSize size, double mean) {
  const auto pixels = static_cast<double>(size.pixels());
  const double target = log_positive(mean);
  // Newton on log(mean) as a function of t = log(scale), which falls in t; bisection keeps it safe.
  double low = -60;  // scale e^-60: the kernel is flat
  double high = log_positive(1e4);
  double t = log_positive(3.14159265358979323846 / (mean * pixels));
  for (int i = 0; i < 100; ++i) {
    t = std::clamp(t, low, high);
    const double scale = t < 0 ? exp_nonpositive(t) : 1.0 / exp_nonpositive(-t);
    const AxisSums rows = axis_sums(scale, cy, size.height);
    const AxisSums columns = axis_sums(scale, cx, size.width);
    const double error = log_positive(rows.value * columns.value / pixels) - target;
    if (std::abs(error) < 1e-15) break;
    (error > 0 ? low : high) = t;
    const double slope = -scale * (rows.moment / rows.value + columns.moment / columns.value);
    double next = t - error / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (next == t) break;
    t = next;
  }
  const double scale = t < 0 ? exp_nonpositive(t) : 1.0 / exp_nonpositive(-t);
  return 3.14159265358979323846 / (scale * pixels);
}

}  // namespace medley
