#include "medley/theory/coefficients.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.h"
#include "core/gaussian_factor.h"
#include "core/parallel.h"
#include "medley/sampler.h"
#include "theory/effective_mask.h"
#include "theory/mask_sums.h"

namespace medley::theory {
namespace {

constexpr std::int64_t kGroups = 32;
constexpr std::int64_t kFieldValues = 1 << 22;  // of a plan at a time: 16 MiB
constexpr std::int64_t kPlanEntries = 1024;

/// 1 - M at one pixel.
double partner_weight(const MixPlan& plan, const MixEntry& entry, Pixel pixel, bool clip) {
  double own = 1;
  if (const auto* flat = std::get_if<FlatMask>(&entry.mask)) {
    own = flat->value;
  } else if (const auto* box = std::get_if<BoxMask>(&entry.mask)) {
    const auto [height, width] = plan.size;
    const bool in = (pixel.row - box->top + height) % height < box->height &&
                    (pixel.column - box->left + width) % width < box->width;
    own = in ? box->inside : box->outside;
  } else if (const auto* gaussian = std::get_if<GaussianMask>(&entry.mask)) {
    const double scale = gaussian_scale(gaussian->tau, static_cast<double>(plan.size.pixels()));
    const double k = gaussian_factor(scale, pixel.row - gaussian->cy) *
                     gaussian_factor(scale, pixel.column - gaussian->cx);
    own = gaussian->peak == Peak::own ? k : 1 - k;
  } else {
    const std::int64_t begin = std::get<FieldMask>(entry.mask).offset;
    own = plan.fields[static_cast<std::size_t>(begin + std::int64_t{pixel.row} * plan.size.width +
                                               pixel.column)];
  }
  return 1 - (clip ? std::clamp(own, 0.0, 1.0) : own);
}

struct Group {
  MaskSums::Result sums;
  std::vector<double> points;
};

/// The plan with fields in place of grids, which it refuses if they are open.
MixPlan with_fields(MixPlan plan) {
  std::vector<double> values(static_cast<std::size_t>(plan.size.pixels()));
  for (MixEntry& entry : plan.entries) {
    const bool known = !std::holds_alternative<GridMask>(entry.mask) &&
                       !std::holds_alternative<OpenMask>(entry.mask);
    if (known) continue;
    mask_values(plan, entry, values);
    entry.mask = FieldMask{std::ssize(plan.fields)};
    plan.fields.insert(plan.fields.end(), values.begin(), values.end());
  }
  return plan;
}

Group draw_group(const Sampler& sampler, std::int64_t group, const MonteCarloOptions& options) {
  const std::int64_t first = options.draws * group / kGroups;
  const std::int64_t last = options.draws * (group + 1) / kGroups;
  const std::int64_t step =
      std::clamp<std::int64_t>(kFieldValues / sampler.size().pixels(), 1, kPlanEntries);
  MaskSums sums(sampler.size(), options.effective);
  Group result;
  result.points.resize(options.points.size());
  for (std::int64_t begin = first; begin < last; begin += step) {
    PlanRequest request;
    request.count = std::min(step, last - begin);
    request.batch = request.count;
    request.first = begin;
    request.dataset_size = options.draws;
    request.threads = 1;
    const MixPlan plan = with_fields(sampler.plan(request));
    for (const MixEntry& entry : plan.entries) {
      sums.add(plan, entry, options.clip);
      const double share = 1 - entry.label_weight;
      for (std::size_t i = 0; i < options.points.size(); ++i) {
        const double j = partner_weight(plan, entry, options.points[i].first, options.clip);
        const double k = partner_weight(plan, entry, options.points[i].second, options.clip);
        result.points[i] += options.effective ? j * k + share * (1 - j - k) : j * k;
      }
    }
  }
  for (double& value : result.points) value /= static_cast<double>(last - first);
  result.sums = sums.finish();
  return result;
}

/// Mean over the groups and its standard error.
std::vector<Estimate> combine(const std::vector<Group>& groups,
                              const std::function<const std::vector<double>&(const Group&)>& of) {
  std::vector<Estimate> estimates(of(groups.front()).size());
  const auto count = static_cast<double>(groups.size());
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    double sum = 0;
    for (const Group& group : groups) sum += of(group)[i];
    const double mean = sum / count;
    double squares = 0;
    for (const Group& group : groups) squares += (of(group)[i] - mean) * (of(group)[i] - mean);
    estimates[i] = {mean, std::sqrt(squares / (count - 1) / count)};
  }
  return estimates;
}

}  // namespace

MonteCarloMoments monte_carlo(const MixPolicy& policy, ImageSize size,
                              const MonteCarloOptions& options) {
  check_threads(options.threads);
  if (options.draws < 2 * kGroups) {
    fail_argument(fmt::format("a Monte Carlo estimate needs at least {} draws, got {}", 2 * kGroups,
                              options.draws));
  }
  if (options.effective) check_has_effective_mask(policy);
  MixPolicy own = policy;
  own.mode = Mode::sample;         // every draw its own
  own.pairing = Pairing::dataset;  // so that groups may be cut anywhere
  own.classes = ClassRule::any;
  own.no_self = false;
  own.augment = {};
  const Sampler sampler(std::move(own), size, options.seed);
  for (const auto& [j, k] : options.points) {
    for (const Pixel p : {j, k}) {
      if (p.row < 0 || p.row >= size.height || p.column < 0 || p.column >= size.width) {
        fail_argument(
            fmt::format("a pixel of a {}x{} image must have row 0 to {} and column 0 to "
                        "{}, got {},{}",
                        size.height, size.width, size.height - 1, size.width - 1, p.row, p.column));
      }
    }
  }
  std::vector<Group> groups(kGroups);
  parallel_for(kGroups, options.threads, [&](std::int64_t i) {
    groups[static_cast<std::size_t>(i)] = draw_group(sampler, i, options);
  });
  MonteCarloMoments result;
  result.size = size;
  result.draws = options.draws;
  result.map = combine(
      groups, [](const Group& g) -> const auto& { return g.sums.map; });
  result.means = combine(
      groups, [](const Group& g) -> const auto& { return g.sums.means; });
  result.points = combine(
      groups, [](const Group& g) -> const auto& { return g.points; });
  return result;
}

}  // namespace medley::theory
