#include "theory/errata/numbers.h"

#include <cmath>
#include <numeric>

#include "medley/random.h"

namespace medley::theory {

bool ErratumNumbers::holds(double stated) const noexcept {
  switch (claim) {
    case Claim::equal:
      return std::abs(stated - truth) <= tolerance;
    case Claim::at_least:
      return truth >= stated - tolerance;
    case Claim::at_most:
      return truth <= stated + tolerance;
  }
  return false;
}

namespace errata_numbers {

MixPolicy inside(const char* method, double lam) {
  return {.method = {method, {{"lam", lam}, {"placement", Placement::inside}}}};
}

MixPolicy inside_drawn(const char* method) {
  return {.method = {method, {{"alpha", 1}, {"placement", Placement::inside}}},
          .label = LabelRule::drawn};
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> normals(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed, 0, 0, Purpose::picture);
  std::vector<double> values(count);
  for (double& value : values) value = random.normal();
  return values;
}

}  // namespace errata_numbers
}  // namespace medley::theory
