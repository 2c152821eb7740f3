#include "report/sheet_cell.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "medley/error.h"
#include "medley/mix.h"
#include "medley/plan_edit.h"
#include "medley/sampler.h"

namespace medley::report {
namespace {

/// A disc with a soft edge around the middle; `radius` in units of half the shorter side.
std::vector<float> soft_disc(ImageSize size, double radius) {
  constexpr double kSoftness = 0.12;
  const double unit = 2.0 / std::min(size.height, size.width);
  std::vector<float> mask;
  mask.reserve(static_cast<std::size_t>(size.pixels()));
  for (std::int32_t y = 0; y < size.height; ++y) {
    for (std::int32_t x = 0; x < size.width; ++x) {
      const double distance =
          std::hypot((x + 0.5 - size.width / 2.0) * unit, (y + 0.5 - size.height / 2.0) * unit);
      const double t = std::clamp((radius - distance) / kSoftness + 0.5, 0.0, 1.0);
      mask.push_back(static_cast<float>(t * t * (3 - 2 * t)));
    }
  }
  return mask;
}

/// The soft disc whose mean is lam, by bisection of its radius.
std::shared_ptr<const MaskSet> demo_mask(ImageSize size, double lam) {
  double low = -0.2;
  double high = 0.2 + 2.0 * std::hypot(size.height, size.width) / std::min(size.height, size.width);
  std::vector<float> mask;
  for (int step = 0; step < 24; ++step) {
    const double radius = (low + high) / 2;
    mask = soft_disc(size, radius);
    double sum = 0;
    for (const float value : mask) sum += value;
    (sum < lam * static_cast<double>(size.pixels()) ? low : high) = radius;
  }
  return std::make_shared<MaskSet>(MaskSet{size, std::move(mask)});
}

/// "0.70 + 0.30", or "1.06 − 0.06" for weights beyond 0 and 1.
std::string label_text(const MixPlan& plan) {
  const MixEntry& entry = plan.entries.front();
  std::vector<double> weights = {entry.label_weight, 1 - entry.label_weight};
  if (entry.term_count > 0) {
    weights.clear();
    for (std::int32_t i = 0; i < entry.term_count; ++i) {
      weights.push_back(plan.terms[static_cast<std::size_t>(entry.term_begin + i)].weight);
    }
  }
  std::string text;
  for (const double weight : weights) {
    const bool negative = weight <= -0.005;
    if (text.empty()) {
      text = fmt::format("{}{:.2f}", negative ? "−" : "", std::abs(weight));
    } else {
      text += fmt::format(" {} {:.2f}", negative ? "−" : "+", std::abs(weight));
    }
  }
  return text;
}

}  // namespace

std::int64_t source_count(const MixPolicy& policy) {
  constexpr std::int32_t kMostSources = 16;
  const std::int32_t sources = policy.method.sources();
  if (sources > kMostSources) {
    throw InvalidArgument(
        fmt::format("n must be in [2, {}] on a sheet, got {}", kMostSources, sources));
  }
  return std::max(sources, 2);
}

bool ignores_lam(const SheetRow& row) { return row.policy.method.sources() == 1; }

SheetCell mix_cell(const SheetRow& row, double lam, std::span<const data::Image> sources,
                   std::uint64_t seed, std::uint64_t column) {
  const ImageSize size = sources.front().size;
  const std::int64_t count = source_count(row.policy);
  MixPolicy policy = row.policy;
  policy.pairing = Pairing::roll;  // the first image meets the second, then the third
  policy.mode = Mode::sample;
  policy.classes = ClassRule::any;
  for (const OptionSpec& option : policy.method.info().options) {
    if (option.type == OptionType::masks && to_text(policy.method.get(option.name)).empty()) {
      policy.method.set(option.name, demo_mask(size, lam));
    }
  }
  policy.method.set_if_used("lam", lam);

  const Sampler sampler(policy, size, seed);
  PlanRequest request;
  request.batch = count;
  request.epoch = row.redraw ? column : 0;
  const MixPlan plan = slice(sampler.plan(request), 0, 1);

  std::vector<std::uint8_t> batch;
  for (const data::Image& source : sources.first(static_cast<std::size_t>(count))) {
    batch.insert(batch.end(), source.rgb.begin(), source.rgb.end());
  }
  const auto shape = [&](std::int64_t images) {
    return BatchShape{images, 3, size.height, size.width};
  };
  SheetCell cell;
  cell.mixed = {size, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * size.pixels()))};
  mix(plan, view_of(batch, shape(count), Layout::nhwc),
      mutable_view_of(cell.mixed.rgb, shape(1), Layout::nhwc));

  std::vector<double> weights(static_cast<std::size_t>(size.pixels()));
  mask_values(plan, plan.entries.front(), weights);
  cell.mask.reserve(weights.size());
  for (const double weight : weights) {
    cell.mask.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(weight, 0.0, 1.0))));
  }
  cell.label = label_text(plan);
  return cell;
}

}  // namespace medley::report
