#include "theory/enumeration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/gaussian.h"
#include "theory/options.h"

namespace medley::test {
namespace {

struct Stretch {
  double probability;
  std::vector<int> covered;  // 0 or 1 per pixel
};

int side_of(int n, double area) {
  int s = 0;
  while (s < n && (s + 1.0) * (s + 1.0) <= area * n * n * (1 + 1e-12)) ++s;
  return s;
}

std::vector<Stretch> stretches(int n, int side, Placement placement) {
  std::vector<Stretch> list;
  const int places = placement == Placement::inside ? n - side + 1 : n;
  for (int u = 0; u < places; ++u) {
    std::vector<int> covered(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      const bool in = placement == Placement::inside ? i >= u && i < u + side
                      : placement == Placement::wrap ? (i - u + n) % n < side
                      : n == 1                       ? side == 1
                                                     : i >= u - side / 2 && i < u + side / 2;
      covered[static_cast<std::size_t>(i)] = in ? 1 : 0;
    }
    list.push_back({1.0 / places, covered});
  }
  return list;
}

void finish(WeightedMask& mask) {
  mask.realized =
      std::accumulate(mask.n.begin(), mask.n.end(), 0.0) / static_cast<double>(mask.n.size());
}

/// Of one row the box is a segment of the long axis.
int side_of(const MixPolicy& policy, int n, ImageSize size) {
  const double share = 1 - *lam_of(policy);
  const auto ratio = option_of<double>(policy, "ratio", 1);
  if (size.one_row()) {
    return n < size.pixels() ? 1 : static_cast<int>(n * share * ratio * (1 + 1e-12));
  }
  if (ratio == 1) return side_of(n, share);
  return static_cast<int>(n * (std::sqrt(share) * std::sqrt(ratio)));
}

void add_boxes(const MixPolicy& policy, ImageSize size, double weight,
               std::vector<WeightedMask>& masks) {
  const double lam = *lam_of(policy);
  const auto placement = option_of<Placement>(policy, "placement");
  for (const Stretch& rows :
       stretches(size.height, side_of(policy, size.height, size), placement)) {
    for (const Stretch& columns :
         stretches(size.width, side_of(policy, size.width, size), placement)) {
      const double covered = std::accumulate(rows.covered.begin(), rows.covered.end(), 0.0) *
                             std::accumulate(columns.covered.begin(), columns.covered.end(), 0.0);
      const auto pixels = static_cast<double>(size.pixels());
      double outside = 1;
      if (policy.method == "hmix") {
        const double rest = 1 - (1 - lam) * option_of<double>(policy, "ratio");
        outside = option_of<Form>(policy, "form") == Form::paper ? (rest > 1e-15 ? lam / rest : 1)
                  : covered < pixels                             ? lam * pixels / (pixels - covered)
                                                                 : 0;
      }
      WeightedMask mask{weight * rows.probability * columns.probability, {}, 0};
      for (const int row : rows.covered) {
        for (const int column : columns.covered) {
          mask.n.push_back(row * column > 0 ? 1 : 1 - outside);
        }
      }
      finish(mask);
      masks.push_back(mask);
    }
  }
}

void add_gaussians(const MixPolicy& policy, ImageSize size, std::vector<WeightedMask>& masks) {
  constexpr double kPi = 3.14159265358979323846;
  const double lam = *lam_of(policy);
  const auto pixels = static_cast<double>(size.pixels());
  const auto form = option_of<Form>(policy, "form");
  for (std::int32_t cy = 0; cy < size.height; ++cy) {
    for (std::int32_t cx = 0; cx < size.width; ++cx) {
      const bool own = form == Form::code && lam < 0.5;
      const double share = form == Form::paper ? 2 * (1 - lam) : std::min(lam, 1 - lam);
      const double tau = form != Form::calibrated ? size.one_row() ? share * share * pixels : share
                         : size.pixels() == 1     ? 1
                                                  : calibrate_tau(cy, cx, size, 1 - lam);
      WeightedMask mask{1 / pixels, {}, 0};
      for (std::int32_t y = 0; y < size.height; ++y) {
        for (std::int32_t x = 0; x < size.width; ++x) {
          const double d2 = (y - cy) * (y - cy) + (x - cx) * (x - cx);
          double k = std::exp(-kPi * d2 / (tau * pixels));
          if (form == Form::calibrated && size.pixels() == 1) k = 1 - lam;
          mask.n.push_back(own ? 1 - k : k);
        }
      }
      finish(mask);
      masks.push_back(mask);
    }
  }
}

void add_bernoulli(double lam, ImageSize size, std::vector<WeightedMask>& masks) {
  const auto pixels = static_cast<unsigned>(size.pixels());
  for (unsigned bits = 0; bits < 1u << pixels; ++bits) {
    WeightedMask mask{1, {}, 0};
    for (unsigned i = 0; i < pixels; ++i) {
      const bool partner = (bits >> i & 1u) != 0;
      mask.n.push_back(partner ? 1 : 0);
      mask.probability *= partner ? 1 - lam : lam;
    }
    finish(mask);
    masks.push_back(mask);
  }
}

}  // namespace

std::vector<WeightedMask> all_masks(const MixPolicy& policy, ImageSize size) {
  std::vector<WeightedMask> masks;
  const double lam = *lam_of(policy);
  const auto pixels = static_cast<std::size_t>(size.pixels());
  const auto flat = [&](double weight) {
    masks.push_back({weight, std::vector<double>(pixels, 1 - lam), 1 - lam});
  };
  if (policy.method == "mixup") flat(1);
  const auto q_mix = option_of<double>(policy, "q_mix");
  if (policy.method == "stochastic") flat(q_mix);
  if (policy.method == "cutmix") add_boxes(policy, size, 1, masks);
  if (policy.method == "stochastic") add_boxes(policy, size, 1 - q_mix, masks);
  if (policy.method == "hmix") add_boxes(policy, size, 1, masks);
  if (policy.method == "gmix") add_gaussians(policy, size, masks);
  if (policy.method == "bernoulli") add_bernoulli(lam, size, masks);
  return masks;
}

std::vector<double> Moments::map() const {
  std::vector<double> map;
  for (std::int32_t dy = 0; dy < size.height; ++dy) {
    for (std::int32_t dx = 0; dx < size.width; ++dx) {
      double sum = 0;
      for (std::int32_t y = 0; y + dy < size.height; ++y) {
        for (std::int32_t x = 0; x + dx < size.width; ++x) {
          const std::int64_t j = std::int64_t{y} * size.width + x;
          const std::int64_t k = std::int64_t{y + dy} * size.width + x + dx;
          sum += second[static_cast<std::size_t>(j * size.pixels() + k)];
        }
      }
      map.push_back(sum / ((size.height - dy) * (size.width - dx)));
    }
  }
  return map;
}

Moments plain_moments(const std::vector<WeightedMask>& masks, ImageSize size) {
  const auto pixels = static_cast<std::size_t>(size.pixels());
  Moments result{size, std::vector<double>(pixels), std::vector<double>(pixels * pixels)};
  for (const WeightedMask& mask : masks) {
    for (std::size_t j = 0; j < pixels; ++j) {
      result.mean[j] += mask.probability * mask.n[j];
      for (std::size_t k = 0; k < pixels; ++k) {
        result.second[j * pixels + k] += mask.probability * mask.n[j] * mask.n[k];
      }
    }
  }
  return result;
}

Moments effective_moments(const std::vector<WeightedMask>& masks, ImageSize size, double share) {
  // The effective mask keeps N with the probability of the own label and is 1 - N otherwise.
  std::vector<WeightedMask> effective;
  for (const WeightedMask& mask : masks) {
    const double q = share < 0 ? mask.realized : share;
    effective.push_back({mask.probability * (1 - q), mask.n, 0});
    WeightedMask swapped{mask.probability * q, mask.n, 0};
    for (double& n : swapped.n) n = 1 - n;
    effective.push_back(swapped);
  }
  return plain_moments(effective, size);
}

}  // namespace medley::test
