#include "moments/gaussian_moments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/gaussian_factor.h"
#include "core/parallel.h"

namespace medley::theory {
namespace {

constexpr std::size_t kLawsPerBlock = 2048;

/// Nodes on [0, to], as one_pixel_nodes on the other side; lambdas that the sampler cannot tell
/// from 0 have no kernel.
std::vector<Node> one_own_pixel_nodes(const LamFamily& family, double to) {
  const double least = std::exp(-708);  // below, exp is 0 in draw_beta
  const double rounded = beta_cdf(family.alpha, family.beta, least);
  const double none = rounded < kNegligible ? 0 : rounded;
  const double mass = family.moment(0, to, 0) - none;
  if (!(mass > 0)) return {{0, none}};
  return {{std::clamp(family.moment(0, to, 1) / mass, least, to), mass}, {0, none}};
}

/// Centers that mirror images of each other have the same width.
std::vector<std::int32_t> mirrored_centers(std::int32_t n, std::int32_t c) {
  return n - 1 - c == c ? std::vector{c} : std::vector{c, n - 1 - c};
}

}  // namespace

std::vector<Node> one_pixel_nodes(const LamFamily& family, double from) {
  const double rounded = beta_cdf(family.beta, family.alpha, kRounded);
  const double none = rounded < kNegligible ? 0 : rounded;
  const double mass = family.moment(from, 1, 0) - none;
  if (!(mass > 0)) return {{1, none}};
  const double mean = (family.moment(from, 1, 1) - none) / mass;
  return {{std::clamp(mean, from, 1 - kRounded), mass}, {1, none}};
}

std::vector<Node> graded_nodes(const LamFamily& family, double lo, double hi, bool narrow_at_low,
                               double pixels) {
  constexpr double kFactor = 6;
  std::vector<Node> nodes;
  double width = hi - lo;
  const auto add = [&](double from, double to) {
    const double a = narrow_at_low ? lo + from : hi - to;
    const double b = narrow_at_low ? lo + to : hi - from;
    for (const Node& node : family.nodes(a, b)) nodes.push_back(node);
  };
  // Below this width the kernel is one pixel to double precision.
  const double pixel = 0.04 / pixels;
  while (width > pixel) {
    add(width / kFactor, width);
    width /= kFactor;
  }
  if (hi >= 1) return joined(std::move(nodes), one_pixel_nodes(family, 1 - width));
  if (narrow_at_low && lo <= 0) return joined(std::move(nodes), one_own_pixel_nodes(family, width));
  add(0, width);
  return nodes;
}

MomentForm::Block& GaussianFamily::block() {
  if (!started_ || form_.blocks.back().rows.size() >= kLawsPerBlock) form_.blocks.emplace_back();
  started_ = true;
  return form_.blocks.back();
}

void GaussianFamily::add_law(AxisLaw rows, AxisLaw columns, const ScalarMoments& m) {
  MomentForm::Block& to = block();
  const auto at = static_cast<std::int32_t>(to.rows.size());
  to.rows.push_back(std::move(rows));
  to.columns.push_back(std::move(columns));
  form_.add(to, at, at, m, label_);
}

void GaussianFamily::add(double lam, double tau, Peak peak, double probability) {
  const double partner = peak == Peak::partner ? 1 : 0;
  if (!(tau > 0)) {  // one image alone
    form_.add_flat(fixed_scalars(probability, 1 - partner, 0, 1 - lam), label_);
    return;
  }
  const double scale = gaussian_scale(tau, static_cast<double>(form_.size.pixels()));
  add_law(AxisLaw::gaussian(form_.size.height, scale), AxisLaw::gaussian(form_.size.width, scale),
          fixed_scalars(probability, 1 - partner, partner > 0 ? 1 : -1, 1 - lam));
}

void GaussianFamily::add_by_center(
    double lam, const std::function<double(std::int32_t cy, std::int32_t cx)>& tau,
    double probability) {
  const ImageSize size = form_.size;
  const auto pixels = static_cast<double>(size.pixels());
  const std::int32_t rows = (size.height + 1) / 2;
  const std::int32_t columns = (size.width + 1) / 2;
  std::vector<double> scales(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  parallel_for(rows, 0, [&](std::int64_t row) {
    for (std::int32_t column = 0; column < columns; ++column) {
      scales[static_cast<std::size_t>(row * columns + column)] =
          gaussian_scale(tau(static_cast<std::int32_t>(row), column), pixels);
    }
  });
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t column = 0; column < columns; ++column) {
      const double scale = scales[static_cast<std::size_t>(std::int64_t{row} * columns + column)];
      auto cy = mirrored_centers(size.height, row);
      auto cx = mirrored_centers(size.width, column);
      const double share = static_cast<double>(cy.size() * cx.size()) / pixels;
      add_law(AxisLaw::gaussian(size.height, scale, std::move(cy)),
              AxisLaw::gaussian(size.width, scale, std::move(cx)),
              fixed_scalars(probability * share, 0, 1, 1 - lam));
    }
  }
}

}  // namespace medley::theory
