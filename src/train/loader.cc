#include "medley/train/loader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/rng.h"

namespace medley {
namespace {

/// One number per channel, in units of u8.
std::vector<float> per_channel(const std::vector<double>& values, std::int32_t channels,
                               const char* name) {
  if (values.size() != 1 && std::ssize(values) != channels &&
      !(channels == 1 && values.size() == 3)) {
    fail_argument(
        fmt::format("{} has {} numbers for images of {} channels", name, values.size(), channels));
  }
  std::vector<float> result;
  for (std::int32_t c = 0; c < channels; ++c) {
    const std::size_t at = values.size() == 1 ? 0 : static_cast<std::size_t>(c);
    result.push_back(static_cast<float>(values[at] * 255));
  }
  return result;
}

}  // namespace

BatchLoader::BatchLoader(const ImageSet& images, const Recipe& recipe, std::uint64_t seed,
                         int threads)
    : images_(images),
      seed_(seed),
      batch_(std::min(recipe.batch, std::max<std::int64_t>(images.count(), 1))),
      sampler_(policy_of(recipe), images.shape.size(), seed) {
  if (images.count() == 0) fail_argument("the training set has no images");
  options_.threads = threads;
  options_.normalise = {per_channel(recipe.mean, images.shape.channels, "mean"),
                        per_channel(recipe.stddev, images.shape.channels, "stddev")};
  options_.stores = Stores::cached;  // the network reads the batch next
}

std::int64_t BatchLoader::steps() const noexcept { return (images_.count() + batch_ - 1) / batch_; }

std::int64_t BatchLoader::batch_size(std::int64_t step) const noexcept {
  return std::min(batch_, images_.count() - step * batch_);
}

std::vector<std::int64_t> BatchLoader::order(std::uint64_t epoch) const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(images_.count()));
  std::iota(order.begin(), order.end(), 0);
  RandomStream random(seed_, epoch, 0, Purpose::shuffle);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below64(i)]);
  return order;
}

MixedLabels BatchLoader::load(std::uint64_t epoch, std::int64_t step,
                              std::span<const std::int64_t> order,
                              const MutableImageBatchView& out) const {
  PlanRequest request;
  request.batch = batch_;
  request.first = step * batch_;
  request.count = batch_size(step);
  request.epoch = epoch;
  request.dataset_size = images_.count();
  request.order = order;
  request.labels = images_.labels;
  request.threads = options_.threads;
  const MixPlan plan = sampler_.plan(request);
  mix(plan, view_of(images_), out, options_);
  return mix_labels(plan, images_.labels);
}

void BatchLoader::load_plain(const ImageSet& images, std::int64_t first,
                             const MutableImageBatchView& out) const {
  MixPlan plan;
  plan.method = "none";
  plan.size = images.shape.size();
  plan.entries.resize(static_cast<std::size_t>(out.shape.count));
  for (std::int64_t i = 0; i < out.shape.count; ++i) {
    MixEntry& entry = plan.entries[static_cast<std::size_t>(i)];
    entry.own.index = entry.partner.index = first + i;
    entry.mask = FlatMask{1};
  }
  mix(plan, view_of(images), out, options_);
}

}  // namespace medley
