#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/gaussian_profile.h"
#include "core/parallel.h"
#include "medley/gaussian_design.h"
#include "plan/gaussian.h"
#include "theory/families.h"

namespace medley::theory {
namespace {

constexpr std::size_t kLawsPerBlock = 2048;
/// Multiplications that the map of calibrated masks may take: some minutes.
constexpr double kMostWork = 4e11;

/// Adds kernels of one width, gaussian_tau(share), around a uniform pixel, for the partner (N = K)
/// or the own image (N = 1 - K).
void add_kernel(MomentForm& form, double lam, double share, Peak peak, double weight,
                LabelMoments label) {
  const double partner = peak == Peak::partner ? 1 : 0;
  const double tau = gaussian_tau(share, form.size);
  if (!(tau > 0)) {  // no bump: one image alone
    form.add_flat(fixed_scalars(weight, 1 - partner, 0, 1 - lam), label);
    return;
  }
  if (form.blocks.empty() || form.blocks.back().rows.size() >= kLawsPerBlock) {
    form.blocks.emplace_back();
  }
  MomentForm::Block& block = form.blocks.back();
  const double scale = gaussian_scale(tau, static_cast<double>(form.size.pixels()));
  const auto at = static_cast<std::int32_t>(block.rows.size());
  block.rows.push_back(AxisLaw::gaussian(form.size.height, scale));
  block.columns.push_back(AxisLaw::gaussian(form.size.width, scale));
  form.add(block, at, at, fixed_scalars(weight, 1 - partner, partner > 0 ? 1 : -1, 1 - lam), label);
}

std::vector<Node> joined(std::vector<Node> nodes, const std::vector<Node>& more) {
  nodes.insert(nodes.end(), more.begin(), more.end());
  return nodes;
}

/// Nodes on [from, 1], where a kernel is one pixel. Labels are affine in lam, so one lam stands for
/// all; those that the sampler rounds to 1 have no kernel.
std::vector<Node> one_pixel_nodes(const LamFamily& family, double from) {
  const double rounded = beta_cdf(family.beta, family.alpha, kRounded);
  const double none = rounded < kRare ? 0 : rounded;
  const double mass = family.moment(from, 1, 0) - none;
  if (!(mass > 0)) return {{1, none}};
  const double mean = (family.moment(from, 1, 1) - none) / mass;
  return {{std::clamp(mean, from, 1 - kRounded), mass}, {1, none}};
}

/// Nodes on [0, to], likewise; lams that the sampler cannot tell from 0 have no kernel.
std::vector<Node> one_own_pixel_nodes(const LamFamily& family, double to) {
  const double least = std::exp(-708);  // below, exp is 0 in draw_beta
  const double rounded = beta_cdf(family.alpha, family.beta, least);
  const double none = rounded < kRare ? 0 : rounded;
  const double mass = family.moment(0, to, 0) - none;
  if (!(mass > 0)) return {{0, none}};
  return {{std::clamp(family.moment(0, to, 1) / mass, least, to), mass}, {0, none}};
}

/// Nodes on [lo, hi], in panels that shrink towards the lam where the kernel's width goes to 0:
/// there everything depends on the logarithm of the width.
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

/// Centres that mirror images of each other have the same width.
std::vector<std::int32_t> mirrored_centres(std::int32_t n, std::int32_t c) {
  return n - 1 - c == c ? std::vector{c} : std::vector{c, n - 1 - c};
}

void add_calibrated(MomentForm& form, double lam, double weight, LabelMoments label) {
  const auto pixels = static_cast<double>(form.size.pixels());
  if (!calibrated_tau(0, 0, form.size, lam)) {
    form.add_flat(fixed_scalars(weight, 1 - lam, 0, 1 - lam), label);
    return;
  }
  const std::int32_t rows = (form.size.height + 1) / 2;
  const std::int32_t columns = (form.size.width + 1) / 2;
  std::vector<double> scales(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  parallel_for(rows, 0, [&](std::int64_t row) {
    for (std::int32_t column = 0; column < columns; ++column) {
      const auto cy = static_cast<std::int32_t>(row);
      const double tau = *calibrated_tau(cy, column, form.size, lam);
      scales[static_cast<std::size_t>(row * columns + column)] = gaussian_scale(tau, pixels);
    }
  });
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t column = 0; column < columns; ++column) {
      if (form.blocks.empty() || form.blocks.back().rows.size() >= kLawsPerBlock) {
        form.blocks.emplace_back();
      }
      MomentForm::Block& block = form.blocks.back();
      const double scale = scales[static_cast<std::size_t>(std::int64_t{row} * columns + column)];
      const auto at = static_cast<std::int32_t>(block.rows.size());
      auto cy = mirrored_centres(form.size.height, row);
      auto cx = mirrored_centres(form.size.width, column);
      const double chance = static_cast<double>(cy.size() * cx.size()) / pixels;
      block.rows.push_back(AxisLaw::gaussian(form.size.height, scale, std::move(cy)));
      block.columns.push_back(AxisLaw::gaussian(form.size.width, scale, std::move(cx)));
      form.add(block, at, at, fixed_scalars(weight * chance, 0, 1, 1 - lam), label);
    }
  }
}

void check_calibrated_cost(ImageSize size, std::size_t nodes) {
  const auto pixels = static_cast<double>(size.pixels());
  const double work = pixels * pixels / 4 * static_cast<double>(nodes);
  if (work > kMostWork) {
    fail_argument(
        fmt::format("calibrated gmix has a width per centre and takes (height*width)^2/4 steps "
                    "per lam, at most {:.0e} in all, got {:.1e} for {}x{}; use form paper or code, "
                    "or estimate with monte_carlo",
                    kMostWork, work, size.height, size.width));
  }
}

}  // namespace

std::vector<Node> gmix_nodes(const LamFamily& lam, Form form, ImageSize size) {
  if (lam.fixed) return lam.nodes(0, 1);
  const auto pixels = static_cast<double>(size.pixels());
  if (form == Form::paper) return graded_nodes(lam, 0, 1, false, pixels);
  if (form == Form::code) {
    // The published code changes sides at lam = 1/2, where the coefficients jump.
    return joined(graded_nodes(lam, 0, 0.5, true, pixels),
                  graded_nodes(lam, 0.5, 1, false, pixels));
  }
  if (size.pixels() == 1) return lam.nodes(0, 1);  // no kernel: the mask is lam
  const double narrowest = 1 - 1 / pixels;  // from here on the calibrated kernel is one pixel
  return joined(graded_nodes(lam, 0, narrowest, false, pixels), one_pixel_nodes(lam, narrowest));
}

void add_gmix(MomentForm& form, const LamFamily& lam, Form kind) {
  const std::vector<Node> nodes = gmix_nodes(lam, kind, form.size);
  if (kind == Form::calibrated) check_calibrated_cost(form.size, nodes.size());
  // The label of a calibrated mask is lam; where the mask cannot follow lam, its mean is within
  // 1/pixels of it.
  const LabelMoments label = lam.label_moments(LabelMoments::mean);
  for (const auto& [x, weight] : nodes) {
    if (kind == Form::calibrated) {
      add_calibrated(form, x, weight, label);
    } else if (kind == Form::paper) {
      add_kernel(form, x, 2 * (1 - x), Peak::partner, weight, label);
    } else {
      add_kernel(form, x, std::min(x, 1 - x), x < 0.5 ? Peak::own : Peak::partner, weight, label);
    }
  }
}

void add_gaussian_field(MomentForm& form, const LamFamily& lam, const MixPolicy& policy) {
  MomentForm::Block& block = form.blocks.emplace_back();
  block.rows.push_back(
      AxisLaw::noise(form.size.height, smooth_correlation(form.size.height, policy.length)));
  block.columns.push_back(
      AxisLaw::noise(form.size.width, smooth_correlation(form.size.width, policy.length)));
  const LabelMoments label = lam.label_moments(LabelMoments::mean);
  const double m0 = lam.moment(0, 1, 0);
  const double m1 = lam.moment(0, 1, 1);
  const double m2 = lam.moment(0, 1, 2);
  const double share = m0 - m1;
  const double share2 = m0 - 2 * m1 + m2;
  const double sigma = policy.sigma;
  form.add(
      block, 0, 0,
      {share, sigma * m0, share2, sigma * share, sigma * sigma * m0, share, share2, sigma * share},
      label);
}

}  // namespace medley::theory
