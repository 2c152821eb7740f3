#include "medley/theory/likely_masks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/check.h"
#include "core/gaussian_profile.h"
#include "medley/sampler.h"
#include "medley/theory/beta_law.h"
#include "plan/box.h"
#include "plan/gaussian.h"
#include "theory/families.h"

namespace medley::theory {
namespace {

constexpr int kSmoothNodes = 64;
constexpr std::int64_t kMostBernoulliPixels = 20;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Lists masks of one policy.
class Lister {
 public:
  Lister(const MixPolicy& policy, ImageSize size, std::int64_t most)
      : policy_(policy), form_(form_of(policy)), size_(size), most_(most) {
    alpha_ = policy.alpha.value_or(get_method(policy.method).default_alpha);
    beta_ = policy.beta.value_or(alpha_);
  }

  std::vector<LikelyMask> list() {
    if (policy_.method == "none") add(1, ones(), 1);
    if (policy_.method == "mixup") flat(1);
    if (policy_.method == "bernoulli") bernoulli();
    if (policy_.method == "cutmix") boxes(1);
    if (policy_.method == "stochastic") {
      flat(policy_.q_mix);
      boxes(1 - policy_.q_mix);
    }
    if (policy_.method == "hmix") boxes(1);
    if (policy_.method == "gmix") bumps();
    if (masks_.empty()) {
      fail_argument(fmt::format("the masks of {} cannot be listed", policy_.method));
    }
    for (LikelyMask& mask : masks_) mask.chance *= policy_.prob;
    if (policy_.prob < 1) add(1 - policy_.prob, ones(), 1);
    return std::move(masks_);
  }

 private:
  [[nodiscard]] std::vector<double> ones() const {
    std::vector<double> mask(static_cast<std::size_t>(size_.pixels()), 1.0);
    return mask;
  }

  void add(double chance, std::vector<double> own, double label_weight) {
    if (!(chance > 0)) return;
    if (std::ssize(masks_) >= most_) {
      fail_argument(fmt::format(
          "the law of {} on {}x{} has more than {} masks; use Monte Carlo or a smaller image",
          policy_.method, size_.height, size_.width, most_));
    }
    masks_.push_back({chance, std::move(own), label_weight});
  }

  [[nodiscard]] double label(double lam, double realised) const {
    return policy_.label == LabelRule::drawn ? lam : realised;
  }

  [[nodiscard]] std::vector<Node> smooth_nodes() const {
    if (policy_.lam) return {{*policy_.lam, 1}};
    return beta_nodes(alpha_, beta_, kSmoothNodes);
  }

  void flat(double weight) {
    for (const Node& node : smooth_nodes()) {
      add(weight * node.weight,
          std::vector<double>(static_cast<std::size_t>(size_.pixels()), node.x), node.x);
    }
  }

  /// E[lam^own (1 - lam)^partner]. The factors of the Gamma functions' quotient, since differences
  /// of their logarithms lose digits for large alpha; at most one per pixel.
  [[nodiscard]] double chance_of_bits(int own, int partner) const {
    if (policy_.lam) return std::pow(*policy_.lam, own) * std::pow(1 - *policy_.lam, partner);
    const double sum = alpha_ + beta_;
    double chance = 1;
    for (int i = 0; i < own; ++i) chance *= (alpha_ + i) / (sum + i);
    for (int i = 0; i < partner; ++i) chance *= (beta_ + i) / (sum + own + i);
    return chance;
  }

  void bernoulli() {
    if (size_.pixels() > kMostBernoulliPixels) {
      fail_argument(
          fmt::format("bernoulli has 2^pixels masks and takes at most {} pixels, got {}x{}",
                      kMostBernoulliPixels, size_.height, size_.width));
    }
    const auto pixels = static_cast<int>(size_.pixels());
    for (std::uint32_t bits = 0; bits < 1u << pixels; ++bits) {
      std::vector<double> own;
      int k = 0;
      for (int i = 0; i < pixels; ++i) {
        own.push_back((bits >> i & 1u) != 0 ? 1 : 0);
        k += own.back() > 0 ? 1 : 0;
      }
      const double chance = chance_of_bits(k, pixels - k);
      // The mean lam of those that give this mask.
      const double lam = policy_.lam ? *policy_.lam : (alpha_ + k) / (alpha_ + beta_ + pixels);
      add(chance, std::move(own), label(lam, static_cast<double>(k) / pixels));
    }
  }

  /// Boxes of relative area (1 - lam) * ratio; cells of lam over which the sides are constant.
  void boxes(double weight) {
    const bool hmix = policy_.method == "hmix";
    if (hmix && policy_.gamma) fail_argument("hmix with a drawn ratio cannot be listed");
    const double ratio = hmix ? policy_.ratio : 1;
    if (policy_.lam) return place(weight, *policy_.lam, ratio);
    for (const auto& [from, to] : equal_boxes(size_, ratio, area_tolerance(alpha_, beta_))) {
      const double lo = 1 - to;
      const double hi = 1 - from;
      if (hmix) {
        const LamFamily lam{.fixed = {}, .alpha = alpha_, .beta = beta_};
        for (const Node& node :
             form_ == Form::paper ? paper_nodes(lam, lo, hi, ratio) : lam.nodes(lo, hi)) {
          place(weight * node.weight, node.x, ratio);
        }
        continue;
      }
      // The mask is the same for the whole cell and the label affine: one lam stands for all.
      const double mass = beta_cell_moment(alpha_, beta_, lo, hi, 0);
      if (!(mass > 0)) continue;
      const double lam = beta_cell_moment(alpha_, beta_, lo, hi, 1) / mass;
      place(weight * mass, std::clamp(lam, lo, hi), ratio);
    }
  }

  /// Every box for one lam. The lam of a cell's end belongs to the sides of its inner part.
  void place(double weight, double lam, double ratio) {
    const auto [rows, columns] = hmix_sides(size_, 1 - lam, ratio);
    const auto places = [&](std::int32_t n, std::int32_t side) {
      return policy_.placement == Placement::inside ? n - side + 1 : n;
    };
    const std::int32_t tops = places(size_.height, rows);
    const std::int32_t lefts = places(size_.width, columns);
    const double chance = weight / tops / lefts;
    for (std::int32_t top = 0; top < tops; ++top) {
      for (std::int32_t left = 0; left < lefts; ++left) {
        add_box(chance, lam, ratio, {top, rows}, {left, columns});
      }
    }
  }

  struct Interval {
    std::int32_t at;
    std::int32_t side;
  };

  [[nodiscard]] bool covers(Interval s, std::int32_t i, std::int32_t n) const {
    if (policy_.placement == Placement::clipped && n > 1)
      return i >= s.at - s.side / 2 && i < s.at + s.side / 2;
    return (i - s.at + n) % n < s.side;
  }

  void add_box(double chance, double lam, double ratio, Interval rows, Interval columns) {
    std::vector<double> own = ones();
    double area = 0;
    std::size_t at = 0;
    for (std::int32_t y = 0; y < size_.height; ++y) {
      for (std::int32_t x = 0; x < size_.width; ++x, ++at) {
        if (!covers(rows, y, size_.height) || !covers(columns, x, size_.width)) continue;
        own[at] = 0;
        ++area;
      }
    }
    if (policy_.method == "hmix") {
      const auto pixels = static_cast<double>(size_.pixels());
      const double rest = lam * ratio + (1 - ratio);
      const double outside = form_ == Form::paper ? (rest > 0 ? lam / rest : 1)
                             : area < pixels      ? std::min(1.0, lam * pixels / (pixels - area))
                                                  : 0;
      for (double& value : own) value *= outside;
      const double realised = form_ == Form::paper ? mean_of(own) : lam;
      return add(chance, std::move(own), label(lam, realised));
    }
    const double realised = mean_of(own);
    add(chance, std::move(own), label(lam, realised));
  }

  void bumps() {
    const LamFamily lam{.fixed = policy_.lam, .alpha = alpha_, .beta = beta_};
    for (const Node& node : gmix_nodes(lam, form_, size_)) {
      for (std::int32_t cy = 0; cy < size_.height; ++cy) {
        for (std::int32_t cx = 0; cx < size_.width; ++cx) add_bump(node, cy, cx);
      }
    }
  }

  void add_bump(const Node& node, std::int32_t cy, std::int32_t cx) {
    const double lam = node.x;
    const auto pixels = static_cast<double>(size_.pixels());
    const bool own_peak = form_ == Form::code && lam < 0.5;
    double tau = gaussian_tau(form_ == Form::paper ? 2 * (1 - lam) : std::min(lam, 1 - lam), size_);
    if (form_ == Form::calibrated) {
      const std::optional<double> calibrated = calibrated_tau(cy, cx, size_, lam);
      if (!calibrated) {
        return add(node.weight / pixels, std::vector<double>(ones().size(), lam), lam);
      }
      tau = *calibrated;
    }
    std::vector<double> own;
    for (std::int32_t y = 0; y < size_.height; ++y) {
      for (std::int32_t x = 0; x < size_.width; ++x) {
        const double scale = gaussian_scale(tau > 0 ? tau : 1e-300, pixels);
        double k = gaussian_factor(scale, y - cy) * gaussian_factor(scale, x - cx);
        if (!(tau > 0)) k = 0;
        own.push_back(own_peak ? k : 1 - k);
      }
    }
    const double realised = mean_of(own);
    add(node.weight / pixels, std::move(own), label(lam, realised));
  }

  const MixPolicy& policy_;
  Form form_;
  ImageSize size_;
  std::int64_t most_;
  double alpha_ = 1;
  double beta_ = 1;
  std::vector<LikelyMask> masks_;
};

}  // namespace

std::vector<LikelyMask> likely_masks(const MixPolicy& policy, ImageSize size, std::int64_t most) {
  (void)Sampler(policy, size, 0);  // checks
  return Lister(policy, size, most).list();
}

}  // namespace medley::theory
