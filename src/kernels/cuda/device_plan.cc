#include "kernels/cuda/device_plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"

namespace medley::cuda {
namespace {

/// The order in which blocks take a plan's outputs: each followed by the one whose own image is its
/// partner, where the plan has that, so that images are read again soon after they were read.
std::vector<std::int32_t> device_order(const LoweredPlan& plan, std::int64_t images) {
  const auto count = static_cast<std::int32_t>(plan.entries.size());
  std::vector<std::int32_t> order(plan.entries.size());
  std::iota(order.begin(), order.end(), 0);
  // Partners from a whole data set are in no batch.
  if (images > 4 * std::int64_t{count}) return order;
  std::vector<std::int32_t> output_of(static_cast<std::size_t>(images), -1);
  for (const std::int32_t i : order) {
    output_of[static_cast<std::size_t>(plan.entries[static_cast<std::size_t>(i)].own.image)] = i;
  }
  std::vector<bool> taken(plan.entries.size());
  auto place = order.begin();
  for (std::int32_t first = 0; first < count; ++first) {
    for (std::int32_t i = first; i >= 0 && !taken[static_cast<std::size_t>(i)];) {
      taken[static_cast<std::size_t>(i)] = true;
      *place++ = i;
      i = output_of[static_cast<std::size_t>(
          plan.entries[static_cast<std::size_t>(i)].partner.image)];
    }
  }
  return order;
}

bool is_large(Weights weights) {
  constexpr float kMost = 0x1p100f;
  return !(weights.own >= 0 && weights.own <= kMost && weights.partner >= 0 &&
           weights.partner <= kMost);
}

/// Appends a lowered plan to the tables of all steps.
struct Tables {
  std::vector<DeviceEntry> entries;
  std::vector<LoweredTerm> terms;
  std::vector<std::int32_t> tiles;
  std::vector<float> fields;
  PlanNeeds needs;

  explicit Tables(std::size_t count) { entries.reserve(count); }

  void append(const MixPlan& plan, std::int64_t images) {
    validate(plan);
    const LoweredPlan lowered = lower(plan, images);
    const auto move_tiles = [&](LoweredSource& source) {
      if (source.tiles >= 0) source.tiles += static_cast<std::int32_t>(tiles.size());
    };
    for (const std::int32_t i : device_order(lowered, images)) {
      const LoweredEntry& from = lowered.entries[static_cast<std::size_t>(i)];
      LoweredEntry& entry = entries.emplace_back(DeviceEntry{from, i}).entry;
      move_tiles(entry.own);
      move_tiles(entry.partner);
      entry.term_begin += std::ssize(terms);
      entry.field += std::ssize(fields);
      needs.families[static_cast<std::size_t>(family_of(entry))] = true;
      needs.terms = std::max(needs.terms, entry.term_count);
      needs.windows |= !entry.own.whole() || !entry.partner.whole();
      needs.large_weights |= is_large(entry.inside) || is_large(entry.outside);
      needs.resampled_outside |= entry.resample != Resample::none && entry.outside.partner != 0;
    }
    for (const LoweredTerm& from : lowered.terms) {
      LoweredTerm& term = terms.emplace_back(from);
      move_tiles(term.source);
      term.grid.values += std::ssize(fields);
      needs.windows |= !term.source.whole();
    }
    constexpr std::size_t kMostTiles = std::numeric_limits<std::int32_t>::max();
    if (lowered.tiles.size() > kMostTiles - tiles.size()) {
      fail_argument("the tile maps of a device plan must have fewer than 2^31 tiles in all");
    }
    tiles.insert(tiles.end(), lowered.tiles.begin(), lowered.tiles.end());
    fields.insert(fields.end(), plan.fields.begin(), plan.fields.end());
  }
};

std::vector<LabelTerm> label_terms_of(std::span<const MixPlan> steps, std::int32_t terms) {
  std::vector<LabelTerm> all;
  all.reserve(steps.size() * steps[0].entries.size() * static_cast<std::size_t>(terms));
  for (const MixPlan& plan : steps) {
    for (const MixEntry& entry : plan.entries) {
      const std::size_t end = all.size() + static_cast<std::size_t>(terms);
      if (entry.term_count == 0) {
        all.push_back({entry.own.index - plan.base, entry.label_weight});
        all.push_back({entry.partner.index - plan.base, 1 - entry.label_weight});
      }
      for (std::int32_t k = 0; k < entry.term_count; ++k) {
        const MixTerm& term = plan.terms[static_cast<std::size_t>(entry.term_begin + k)];
        all.push_back({term.source.index - plan.base, term.weight});
      }
      all.resize(end, {entry.own.index - plan.base, 0});
    }
  }
  return all;
}

/// Steps as they will lie on the device.
struct HostPlan {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  ImageSize size;
  std::int32_t label_terms = 2;
  Tables tables;
  std::vector<LabelTerm> labels;
};

/// Checks the steps and lowers them.
HostPlan lower_steps(std::span<const MixPlan> steps, std::int64_t images) {
  if (steps.empty()) fail_argument("a device plan needs at least one step, got none");
  const std::int64_t batch = std::ssize(steps[0].entries);
  if (batch == 0) fail_argument("a device plan needs at least one entry, got none");
  HostPlan host{std::ssize(steps),
                batch,
                steps[0].size,
                2,
                Tables(steps.size() * steps[0].entries.size()),
                {}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::ssize(steps[i].entries) != batch || !(steps[i].size == host.size)) {
      fail_argument(fmt::format(
          "all steps of a device plan must have {} entries of {}x{}, but step {} has {} of {}x{}",
          batch, host.size.height, host.size.width, i, steps[i].entries.size(),
          steps[i].size.height, steps[i].size.width));
    }
    for (const MixEntry& entry : steps[i].entries) {
      host.label_terms = std::max(host.label_terms, entry.term_count);
    }
    host.tables.append(steps[i], images);
  }
  host.labels = label_terms_of(steps, host.label_terms);
  return host;
}

/// The tables in the order in which they lie in memory.
std::array<std::span<const std::byte>, 5> parts_of(const HostPlan& host) {
  return {std::as_bytes(std::span(host.tables.entries)), std::as_bytes(std::span(host.labels)),
          std::as_bytes(std::span(host.tables.terms)), std::as_bytes(std::span(host.tables.tiles)),
          std::as_bytes(std::span(host.tables.fields))};
}

/// Room and kernels that a plan has beyond what its steps need.
struct Spare {
  PlanNeeds needs;
  std::size_t term_bytes = 0;
  std::size_t tile_bytes = 0;
  std::size_t field_bytes = 0;
};

Spare spare_of(const DevicePlan::Impl& p) {
  return {p.needs, p.tiles_begin - p.terms_begin, p.fields_begin - p.tiles_begin,
          p.end - p.fields_begin};
}

PlanNeeds both(PlanNeeds a, const PlanNeeds& b) {
  for (std::int32_t i = 0; i < kFamilies; ++i) a.families[i] |= b.families[i];
  a.terms = std::max(a.terms, b.terms);
  a.windows |= b.windows;
  a.resampled_outside |= b.resampled_outside;
  a.large_weights |= b.large_weights;
  return a;
}

/// Each table where kernels expect it.
void copy_tables(const HostPlan& host, const DevicePlan::Impl& p, Stream stream) {
  const auto parts = parts_of(host);
  copy_parts(std::span(parts).first(3), p.memory.get(), stream);
  copy_parts(std::span(parts).subspan(3, 1), p.memory.get() + p.tiles_begin, stream);
  copy_parts(std::span(parts).last(1), p.memory.get() + p.fields_begin, stream);
}

void upload(const HostPlan& host, std::int64_t images, Allocation from, DevicePlan::Impl& p,
            const Spare& spare = {}) {
  p.steps = host.steps;
  p.batch = host.batch;
  p.images = images;
  p.size = host.size;
  p.label_terms = host.label_terms;
  p.needs = both(host.tables.needs, spare.needs);
  const auto parts = parts_of(host);
  p.label_begin = padded(parts[0].size());
  p.terms_begin = p.label_begin + padded(parts[1].size());
  p.tiles_begin = p.terms_begin + std::max(padded(parts[2].size()), spare.term_bytes);
  p.fields_begin = p.tiles_begin + std::max(padded(parts[3].size()), spare.tile_bytes);
  p.end = p.fields_begin + std::max(padded(parts[4].size()), spare.field_bytes);
  p.memory = DeviceArray<std::byte>(p.end, from);
  copy_tables(host, p, from.stream);
  if (!from.ordered) MEDLEY_CUDA_CHECK(cudaStreamSynchronize(from.stream));
}

/// Whether kernels and memory that were chosen for `p` serve for `host` as well.
bool serves(const DevicePlan::Impl& p, const HostPlan& host) {
  const PlanNeeds& needs = host.tables.needs;
  const auto parts = parts_of(host);
  bool kernels = p.needs.windows || !needs.windows;
  kernels = kernels && p.needs.terms >= needs.terms;
  kernels = kernels && (p.needs.resampled_outside || !needs.resampled_outside);
  kernels = kernels && (p.needs.large_weights || !needs.large_weights);
  for (std::int32_t i = 0; i < kFamilies; ++i) {
    kernels = kernels && (p.needs.families[i] || !needs.families[i]);
  }
  return kernels && p.steps == host.steps && p.batch == host.batch && p.size == host.size &&
         p.label_terms == host.label_terms &&
         padded(parts[2].size()) <= p.tiles_begin - p.terms_begin &&
         padded(parts[3].size()) <= p.fields_begin - p.tiles_begin &&
         padded(parts[4].size()) <= p.end - p.fields_begin;
}

}  // namespace

DevicePlan::DevicePlan(std::span<const MixPlan> steps, std::int64_t images)
    : impl_(std::make_unique<Impl>()) {
  upload(lower_steps(steps, images), images, {}, *impl_);
}

DevicePlan::DevicePlan(const MixPlan& plan, std::int64_t images, Stream stream)
    : impl_(std::make_unique<Impl>()) {
  upload(lower_steps(std::span(&plan, 1), images), images, {true, stream}, *impl_);
}

DevicePlan::DevicePlan(const MixPlan& plan, std::int64_t images)
    : DevicePlan(std::span(&plan, 1), images) {}

DevicePlan::~DevicePlan() = default;
DevicePlan::DevicePlan(DevicePlan&&) noexcept = default;
DevicePlan& DevicePlan::operator=(DevicePlan&&) noexcept = default;

bool DevicePlan::update(std::span<const MixPlan> steps, Stream stream) {
  const HostPlan host = lower_steps(steps, impl_->images);
  if (!serves(*impl_, host)) return false;
  copy_tables(host, *impl_, stream);
  return true;
}

void DevicePlan::extend(std::span<const MixPlan> steps) {
  const HostPlan host = lower_steps(steps, impl_->images);
  auto extended = std::make_unique<Impl>();
  upload(host, impl_->images, {}, *extended, spare_of(*impl_));
  impl_ = std::move(extended);
}

std::int64_t DevicePlan::steps() const noexcept { return impl_->steps; }
std::int64_t DevicePlan::batch() const noexcept { return impl_->batch; }
std::int64_t DevicePlan::images() const noexcept { return impl_->images; }
ImageSize DevicePlan::size() const noexcept { return impl_->size; }
std::int32_t DevicePlan::label_terms() const noexcept { return impl_->label_terms; }

}  // namespace medley::cuda
