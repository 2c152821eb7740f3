#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "medley/theory/coefficients.h"
#include "moments/beta_law.h"
#include "theory/errata/numbers.h"

namespace medley::theory::errata_numbers {
namespace {

constexpr double kRounding = 1e-9;
constexpr double kSharesEqual = 1e-4;

/// Averages along one axis over the places of something, by plain sums.
struct Axis {
  std::size_t n;
  std::vector<double> pair = std::vector<double>(n * n);  ///< of w_j w_k
  std::vector<double> sized = std::vector<double>(n);     ///< of w_j times the sum of w
  double size = 0;                                        ///< of the sum of w

  explicit Axis(int length) : n(static_cast<std::size_t>(length)) {}

  void add(double probability, const std::vector<double>& w) {
    double sum = 0;
    for (const double value : w) sum += value;
    size += probability * sum;
    for (std::size_t j = 0; j < n; ++j) {
      sized[j] += probability * w[j] * sum;
      for (std::size_t k = 0; k < n; ++k) pair[j * n + k] += probability * w[j] * w[k];
    }
  }
  /// The average of w_j w_(j + d) over the pixels.
  [[nodiscard]] double apart(std::size_t d) const {
    double sum = 0;
    for (std::size_t j = 0; j + d < n; ++j) sum += pair[j * n + j + d];
    return sum / static_cast<double>(n - d);
  }
  /// The average of w_j over the pixels that have another one d further; the axes are symmetric.
  [[nodiscard]] double one_of(std::size_t d) const {
    double sum = 0;
    for (std::size_t j = 0; j + d < n; ++j) sum += pair[j * n + j];  // covered or not: w^2 = w
    return sum / static_cast<double>(n - d);
  }
};

/// Rows that a box covers.
Axis box_axis(int n, int side, bool clipped) {
  Axis axis(n);
  const int places = clipped ? n : n - side + 1;
  for (int place = 0; place < places; ++place) {
    const int from = clipped ? std::max(place - side / 2, 0) : place;
    const int to = clipped ? std::min(place + side / 2, n) : place + side;
    std::vector<double> covered(axis.n);
    for (int i = from; i < to; ++i) covered[static_cast<std::size_t>(i)] = 1;
    axis.add(1.0 / places, covered);
  }
  return axis;
}

/// Weights of a Gaussian kernel centered on any of the rows.
Axis kernel_axis(int n, double tau) {
  Axis axis(n);
  for (int center = 0; center < n; ++center) {
    std::vector<double> weights;
    for (int i = 0; i < n; ++i) {
      weights.push_back(std::exp(-std::numbers::pi * (i - center) * (i - center) / (tau * n * n)));
    }
    axis.add(1.0 / n, weights);
  }
  return axis;
}

/// Effective coefficients of CutMix, lam uniform: `published` has centers anywhere and labels by
/// the clipped area, otherwise boxes lie inside and labels are drawn. The side is s where (s / n)^2
/// <= 1 - lam < ((s + 1) / n)^2.
std::vector<double> cutmix_by_sums(int n, bool published) {
  const auto rows = static_cast<std::size_t>(n);
  const std::size_t pixels = rows * rows;
  const auto area = static_cast<double>(pixels);
  std::vector<double> sum(pixels * pixels);
  for (int side = 0; side < n; ++side) {
    const Axis axis = box_axis(n, side, published);
    const double from = side * side / area, to = (side + 1) * (side + 1) / area;
    const double probability = to - from;
    // The partner's share of the label, and its product with "covers j".
    const double share = published ? axis.size * axis.size / area : (from + to) / 2;
    const auto share_at = [&](std::size_t j) {
      const std::size_t row = j / rows, column = j % rows;
      return published ? axis.sized[row] * axis.sized[column] / area
                       : share * axis.pair[row * rows + row] * axis.pair[column * rows + column];
    };
    for (std::size_t j = 0; j < pixels; ++j) {
      for (std::size_t k = 0; k < pixels; ++k) {
        const double both =
            axis.pair[j / rows * rows + k / rows] * axis.pair[j % rows * rows + k % rows];
        sum[j * pixels + k] += probability * (both + share - share_at(j) - share_at(k));
      }
    }
  }
  return sum;
}

/// A map by displacement from a function of (dy, dx).
template <typename Function>
std::vector<double> map_of(std::size_t n, const Function& f) {
  std::vector<double> map;
  for (std::size_t dy = 0; dy < n; ++dy) {
    for (std::size_t dx = 0; dx < n; ++dx) map.push_back(f(dy, dx));
  }
  return map;
}

std::vector<double> product_map(const Axis& axis) {
  return map_of(axis.n,
                [&](std::size_t dy, std::size_t dx) { return axis.apart(dy) * axis.apart(dx); });
}

}  // namespace

Numbers distant_pairs() {
  constexpr int kN = 32, kFar = 16;
  const double mixup = kept_label_moments(1, 1).partner_squared;
  const auto share_above = [&](const std::vector<double>& a) {
    std::int64_t pairs = 0, above = 0;
    for (int j = 0; j < kN * kN; ++j) {
      for (int k = j + 1; k < kN * kN; ++k) {
        const int dy = k / kN - j / kN, dx = k % kN - j % kN;
        if (dy * dy + dx * dx < kFar * kFar) continue;
        ++pairs;
        above += a[static_cast<std::size_t>(j * kN * kN + k)] > mixup + kRounding ? 1 : 0;
      }
    }
    return static_cast<double>(above) / static_cast<double>(pairs);
  };
  const auto entry = [&](const char* quantity, const MixPolicy& policy, bool published) {
    return ErratumNumbers{
        .quantity = quantity,
        .printed = 0,
        .corrected = share_above(effective_coefficients(policy, {kN, kN}).matrix()),
        .truth = share_above(cutmix_by_sums(kN, published)),
        .tolerance = kSharesEqual};
  };
  return {entry("share of the pairs ≥ 16 apart with ã above Mixup's ⅙, 32×32: CutMix with clipped "
                "boxes and realized labels",
                {.method = {"cutmix", {{"alpha", 1}}}}, true),
          entry("with boxes inside and drawn labels", inside_drawn("cutmix"), false)};
}

Numbers intermediate_pairs() {
  constexpr int kN = 64;  // the paper's figure
  constexpr ImageSize kSize{kN, kN};
  constexpr double kMixup = 0.25;
  // Each displacement counts as many pairs as lie it apart, in either diagonal direction.
  const auto share_between = [&](const std::vector<double>& map,
                                 const std::vector<double>& cutmix) {
    double pairs = 0, between = 0;
    for (std::size_t i = 1; i < map.size(); ++i) {
      const std::size_t dy = i / kN, dx = i % kN;
      const double count = static_cast<double>((kN - dy) * (kN - dx)) * (dy > 0 && dx > 0 ? 2 : 1);
      const auto [low, high] = std::minmax(kMixup, cutmix[i]);
      pairs += count;
      between += map[i] >= low - kRounding && map[i] <= high + kRounding ? count : 0;
    }
    return between / pairs;
  };
  const std::vector<double> cutmix = coefficients(inside("cutmix", 0.5), kSize).map();
  const std::vector<double> cutmix_sums = product_map(box_axis(kN, 45, false));  // 64 √½ is 45.3

  constexpr double kRatio = 0.7;
  constexpr int kSide = 37;  // 64 √0.35 is 37.9
  MixPolicy hmix = inside("hmix", 0.5);
  hmix.method.set("ratio", kRatio);
  const Axis box = box_axis(kN, kSide, false);
  const double o = 0.5 * kN * kN / (kN * kN - kSide * kSide);
  const std::vector<double> hmix_sums = map_of(kN, [&](std::size_t dy, std::size_t dx) {
    return (1 - o) * (1 - o) + 2 * o * (1 - o) * box.one_of(dy) * box.one_of(dx) +
           o * o * box.apart(dy) * box.apart(dx);
  });
  const std::vector<double> plane = map_of(kN, [&](std::size_t dy, std::size_t dx) {
    return gmix_plane(Form::paper, 0.5, kSize, static_cast<double>(dy), static_cast<double>(dx));
  });
  const std::vector<double> plane_written_out = map_of(kN, [](std::size_t dy, std::size_t dx) {
    return 0.5 *
           std::exp(-std::numbers::pi * static_cast<double>(dy * dy + dx * dx) / (2 * kN * kN));
  });
  const auto entry = [&](const char* quantity, const std::vector<double>& by_library,
                         const std::vector<double>& by_sums) {
    return ErratumNumbers{.quantity = quantity,
                          .printed = 1,
                          .corrected = share_between(by_library, cutmix),
                          .truth = share_between(by_sums, cutmix_sums),
                          .tolerance = kSharesEqual};
  };
  const auto map = [&](const MixPolicy& policy) { return coefficients(policy, kSize).map(); };
  return {entry("share of the pairs whose a, averaged by displacement, is between Mixup and CutMix "
                "inside, 64×64, λ = ½: HMix, r = 0.7",
                map(hmix), hmix_sums),
          entry("GMix", map({.method = {"gmix", {{"lam", 0.5}, {"form", Form::paper}}}}),
                product_map(kernel_axis(kN, 1))),
          entry("its printed formula", plane, plane_written_out),
          entry("published GMix", map({.method = {"gmix", {{"lam", 0.5}}}}),
                product_map(kernel_axis(kN, 0.5)))};
}

}  // namespace medley::theory::errata_numbers
