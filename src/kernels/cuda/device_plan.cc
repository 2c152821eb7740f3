#include "kernels/cuda/device_plan.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"

namespace medley::cuda {
namespace {

/// Appends a lowered plan to the tables of all steps.
struct Tables {
  std::vector<DeviceEntry> entries;
  std::vector<LoweredTerm> terms;
  std::vector<float> fields;
  PlanNeeds needs;

  explicit Tables(std::size_t count) { entries.reserve(count); }

  void append(const MixPlan& plan, std::int64_t images) {
    validate(plan);
    const LoweredPlan lowered = lower(plan, images);
    for (const LoweredEntry& from : lowered.entries) {
      LoweredEntry& entry = entries.emplace_back(DeviceEntry{from}).entry;
      entry.term_begin += std::ssize(terms);
      entry.field += std::ssize(fields);
      needs.families[static_cast<std::size_t>(family_of(entry))] = true;
      needs.windows |= !entry.own.whole() || !entry.partner.whole();
      needs.resampled_outside |= entry.resample != Resample::none && entry.outside.partner != 0;
    }
    for (const LoweredTerm& term : lowered.terms) needs.windows |= !term.source.whole();
    terms.insert(terms.end(), lowered.terms.begin(), lowered.terms.end());
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

/// Checks the steps, and fills `p` with them.
void upload(std::span<const MixPlan> steps, std::int64_t images, Allocation from,
            DevicePlan::Impl& p) {
  if (steps.empty()) fail_argument("a device plan needs at least one step, got none");
  p.steps = std::ssize(steps);
  p.batch = std::ssize(steps[0].entries);
  p.images = images;
  p.size = steps[0].size;
  if (p.batch == 0) fail_argument("a device plan needs at least one entry, got none");
  Tables tables(steps.size() * steps[0].entries.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::ssize(steps[i].entries) != p.batch || !(steps[i].size == p.size)) {
      fail_argument(fmt::format(
          "all steps of a device plan must have {} entries of {}x{}, but step {} has {} of {}x{}",
          p.batch, p.size.height, p.size.width, i, steps[i].entries.size(), steps[i].size.height,
          steps[i].size.width));
    }
    for (const MixEntry& entry : steps[i].entries) {
      p.label_terms = std::max(p.label_terms, entry.term_count);
    }
    tables.append(steps[i], images);
  }
  p.needs = tables.needs;
  p.entries = DeviceArray<DeviceEntry>(std::span<const DeviceEntry>(tables.entries), from);
  p.terms = DeviceArray<LoweredTerm>(std::span<const LoweredTerm>(tables.terms), from);
  p.fields = DeviceArray<float>(std::span<const float>(tables.fields), from);
  const std::vector<LabelTerm> labels = label_terms_of(steps, p.label_terms);
  p.label_weights = DeviceArray<LabelTerm>(std::span<const LabelTerm>(labels), from);
}

}  // namespace

DevicePlan::DevicePlan(std::span<const MixPlan> steps, std::int64_t images)
    : impl_(std::make_unique<Impl>()) {
  upload(steps, images, {}, *impl_);
}

DevicePlan::DevicePlan(const MixPlan& plan, std::int64_t images, Stream stream)
    : impl_(std::make_unique<Impl>()) {
  upload(std::span(&plan, 1), images, {true, stream}, *impl_);
}

DevicePlan::DevicePlan(const MixPlan& plan, std::int64_t images)
    : DevicePlan(std::span(&plan, 1), images) {}

DevicePlan::~DevicePlan() = default;
DevicePlan::DevicePlan(DevicePlan&&) noexcept = default;
DevicePlan& DevicePlan::operator=(DevicePlan&&) noexcept = default;

std::int64_t DevicePlan::steps() const noexcept { return impl_->steps; }
std::int64_t DevicePlan::batch() const noexcept { return impl_->batch; }
std::int64_t DevicePlan::images() const noexcept { return impl_->images; }
ImageSize DevicePlan::size() const noexcept { return impl_->size; }
std::int32_t DevicePlan::label_terms() const noexcept { return impl_->label_terms; }

}  // namespace medley::cuda
