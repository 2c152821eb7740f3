#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "core/gaussian_factor.h"
#include "core/interpolation.h"
#include "medley/method.h"
#include "medley/plan.h"
#include "plan/box.h"
#include "plan/gaussian.h"
#include "plan/validate_mask.h"

namespace medley {
namespace {

std::span<const float> field_of(const MixPlan& plan, const FieldMask& mask) {
  return std::span(plan.fields)
      .subspan(static_cast<std::size_t>(mask.offset), static_cast<std::size_t>(plan.size.pixels()));
}

struct WriteValues {
  const MixPlan& plan;
  std::span<double> values;

  void operator()(const FlatMask& mask) const { std::ranges::fill(values, mask.value); }

  void operator()(const BoxMask& mask) const {
    std::ranges::fill(values, mask.outside);
    for (std::int32_t i = 0; i < mask.height; ++i) {
      for (std::int32_t j = 0; j < mask.width; ++j) {
        const std::int64_t y = (mask.top + i) % plan.size.height;
        const std::int64_t x = (mask.left + j) % plan.size.width;
        values[static_cast<std::size_t>(y * plan.size.width + x)] = mask.inside;
      }
    }
  }

  void operator()(const GaussianMask& mask) const {
    const double scale = gaussian_scale(mask.tau, static_cast<double>(plan.size.pixels()));
    std::size_t at = 0;
    for (std::int32_t y = 0; y < plan.size.height; ++y) {
      const double row = gaussian_factor(scale, y - mask.cy);
      for (std::int32_t x = 0; x < plan.size.width; ++x, ++at) {
        const double k = row * gaussian_factor(scale, x - mask.cx);
        values[at] = mask.peak == Peak::own ? k : 1 - k;
      }
    }
  }

  void operator()(const FieldMask& mask) const {
    std::ranges::copy(field_of(plan, mask), values.begin());
  }

  void operator()(const GridMask& mask) const {
    const bool bilinear = mask.interpolation == GridInterpolation::bilinear;
    const float* grid = plan.fields.data() + mask.offset;
    const auto [height, width] = plan.size;
    std::vector<Tap> columns;
    for (std::int32_t x = 0; x < width; ++x) {
      columns.push_back(grid_tap(bilinear, x, width, mask.columns));
    }
    auto value = values.begin();
    for (std::int32_t y = 0; y < height; ++y) {
      const Tap row = grid_tap(bilinear, y, height, mask.rows);
      for (const Tap& column : columns) *value++ = grid_value(grid, mask.columns, row, column);
    }
  }

  void operator()(const OpenMask& /*mask*/) const { fail_open(); }
};

struct Mean {
  const MixPlan& plan;

  double operator()(const FlatMask& mask) const { return mask.value; }
  double operator()(const BoxMask& mask) const { return box_mean(mask, plan.size); }
  double operator()(const GaussianMask& mask) const {
    const double mean = gaussian_kernel_mean(mask, plan.size);
    return mask.peak == Peak::own ? mean : 1 - mean;
  }
  double operator()(const FieldMask& mask) const { return field_mean(field_of(plan, mask)); }
  double operator()(const GridMask& mask) const {
    std::vector<double> values(static_cast<std::size_t>(plan.size.pixels()));
    WriteValues{plan, values}(mask);
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  double operator()(const OpenMask& /*mask*/) const { fail_open(); }
};

/// The weights of a term's pixels.
Mask as_mask(const MixTerm& term) {
  if (const auto* field = std::get_if<FieldMask>(&term.mask)) return *field;
  if (const auto* grid = std::get_if<GridMask>(&term.mask)) return *grid;
  return FlatMask{term.weight};
}

void write_values(const MixPlan& plan, const Mask& mask, std::span<double> values) {
  if (std::ssize(values) != plan.size.pixels()) {
    fail_argument(fmt::format("a {}x{} mask has {} values, got room for {}", plan.size.height,
                              plan.size.width, plan.size.pixels(), values.size()));
  }
  validate_mask(plan, mask);
  std::visit(WriteValues{plan, values}, mask);
}

}  // namespace

void mask_values(const MixPlan& plan, const MixEntry& entry, std::span<double> values) {
  write_values(plan, entry.mask, values);
}

void mask_values(const MixPlan& plan, const MixTerm& term, std::span<double> values) {
  write_values(plan, as_mask(term), values);
}

double mask_mean(const MixPlan& plan, const MixEntry& entry) {
  validate_mask(plan, entry.mask);
  return std::visit(Mean{plan}, entry.mask);
}

double mask_mean(const MixPlan& plan, const MixTerm& term) {
  const Mask mask = as_mask(term);
  validate_mask(plan, mask);
  return std::visit(Mean{plan}, mask);
}

}  // namespace medley
