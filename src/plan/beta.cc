#include "plan/beta.h"

#include <algorithm>
#include <cmath>

#include "core/portable_math.h"

namespace medley {
namespace {

/// Logarithm of a Gamma(a, 1) draw (Marsaglia and Tsang 2000; shapes below 1 through a + 1). The
/// logarithm keeps draws for tiny a apart that would all underflow to 0.
double draw_log_gamma(RandomStream& random, double a) noexcept {
  constexpr double kSmallest = 1e-306;  // log(2^-53) divided by less is infinite
  a = std::max(a, kSmallest);
  double boost = 0;
  if (a < 1) {
    boost = log_positive(random.uniform_positive()) / a;
    a += 1;
  }
  const double d = a - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = random.normal();
    const double t = 1.0 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double log_v = 3.0 * log_positive(t);
    const double log_u = log_positive(random.uniform_positive());
    if (log_u < 0.5 * x * x + d - d * v + d * log_v) return boost + log_positive(d) + log_v;
  }
}

}  // namespace

double draw_beta(RandomStream& random, double a, double b) noexcept {
  if (a == 1 && b == 1) return random.uniform();
  const double log_x = draw_log_gamma(random, a);
  const double log_y = draw_log_gamma(random, b);
  // x / (x + y), from the side where nothing cancels.
  if (log_x < log_y) {
    const double e = exp_nonpositive(log_x - log_y);
    return e / (1.0 + e);
  }
  return 1.0 / (1.0 + exp_nonpositive(log_y - log_x));
}

void draw_dirichlet(RandomStream& random, double a, std::span<double> weights) noexcept {
  for (double& w : weights) w = draw_log_gamma(random, a);
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& w : weights) {
    w = exp_nonpositive(w - largest);
    sum += w;
  }
  for (double& w : weights) w /= sum;
}

}  // namespace medley
