#include <cmath>

#include <medley/theory/coefficients.h>
#include <medley/theory/loss.h>

// E[N_j] = 1 - lam, and so for two pixels of Mixup.
int main() {
  const medley::MixPolicy policy{.method = {"mixup", {{"lam", 0.75}}}};
  const auto moments = medley::theory::coefficients(policy, {4, 4});
  return std::abs(moments.second({0, 0}, {3, 3}) - 0.0625) < 1e-12 ? 0 : 1;
}
