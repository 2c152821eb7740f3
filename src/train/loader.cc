#include "medley/train/loader.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/parallel.h"
#include "medley/random.h"
#include "train/decode_queue.h"

namespace medley::train {
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

data::RandomCrop crop_of(const Recipe& recipe) {
  return {recipe.crop_area.least, recipe.crop_aspect, recipe.crop_area.most};
}

/// Batches that are decoded ahead, the current one included.
constexpr int kAhead = 3;

ImageBatchView view_of(std::span<const std::uint8_t> rgb, std::int64_t count, ImageSize size) {
  return medley::view_of(rgb, {count, 3, size.height, size.width}, Layout::nhwc);
}

}  // namespace

MixPlan unmixed_plan(std::span<const std::int64_t> numbers, ImageSize size) {
  MixPlan plan;
  plan.method = "none";
  plan.size = size;
  for (const std::int64_t number : numbers) {
    MixEntry entry;
    entry.own.index = entry.partner.index = number;
    entry.mask = FlatMask{1};
    plan.entries.push_back(entry);
  }
  return plan;
}

BatchLoader::BatchLoader(const data::ImageSet& images, const Recipe& recipe, std::uint64_t seed,
                         int threads)
    : images_(images),
      seed_(seed),
      batch_(std::min(recipe.batch, std::max<std::int64_t>(images.count(), 1))),
      size_(images.files ? ImageSize{recipe.image_size, recipe.image_size} : images.shape.size()),
      test_resize_(recipe.test_resize),
      exif_(recipe.exif),
      sampler_(policy_of(recipe), size_, seed) {
  if (images.count() == 0) fail_argument("the training set has no images");
  options_.threads = threads;
  options_.normalize = {per_channel(recipe.mean, images.shape.channels, "mean"),
                        per_channel(recipe.std, images.shape.channels, "std")};
  options_.stores = Stores::cached;  // the network reads the batch next
  if (images.files) {
    queue_ = std::make_unique<DecodeQueue>(*images.files, recipe.exif, crop_of(recipe), size_, seed,
                                           threads, kAhead);
  }
}

BatchLoader::~BatchLoader() = default;

std::int64_t BatchLoader::steps() const noexcept { return (images_.count() + batch_ - 1) / batch_; }

std::int64_t BatchLoader::batch_size(std::int64_t step) const noexcept {
  return std::min(batch_, images_.count() - step * batch_);
}

BatchShape BatchLoader::shape(std::int64_t count) const noexcept {
  return {count, images_.shape.channels, size_.height, size_.width};
}

std::vector<std::int64_t> BatchLoader::order(std::uint64_t epoch) const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(images_.count()));
  std::iota(order.begin(), order.end(), 0);
  RandomStream random(seed_, epoch, 0, Purpose::shuffle);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below64(i)]);
  return order;
}

MixPlan BatchLoader::plan(std::uint64_t epoch, std::int64_t step,
                          std::span<const std::int64_t> order) const {
  PlanRequest request;
  request.batch = batch_;
  request.first = step * batch_;
  request.count = batch_size(step);
  request.epoch = epoch;
  request.dataset_size = images_.count();
  request.order = order;
  request.labels = images_.labels;
  request.threads = options_.threads;
  return sampler_.plan(request);
}

BatchSources BatchLoader::sources(std::uint64_t epoch, std::int64_t step,
                                  std::span<const std::int64_t> order) {
  if (!queue_) {
    MixPlan whole = plan(epoch, step, order);
    MixedLabels labels = mix_labels(whole, images_.labels);
    return {std::move(whole), data::view_of(images_), std::move(labels), nullptr};
  }
  const auto batch = queue_->take(
      epoch, step, steps(), [&](std::uint64_t e, std::int64_t s) { return plan(e, s, order); });
  std::vector<std::int64_t> labels;
  for (const std::int64_t file : batch->files) {
    labels.push_back(images_.labels[static_cast<std::size_t>(file)]);
  }
  return {batch->plan, view_of(batch->pixels, std::ssize(batch->files), size_),
          mix_labels(batch->plan, labels), batch};
}

MixedLabels BatchLoader::load(std::uint64_t epoch, std::int64_t step,
                              std::span<const std::int64_t> order,
                              const MutableImageBatchView& out) {
  BatchSources batch = sources(epoch, step, order);
  mix(batch.plan, batch.images, out, options_);
  return std::move(batch.labels);
}

std::vector<std::int64_t> BatchLoader::load_plain(const data::ImageSet& images,
                                                  std::span<const std::int64_t> numbers,
                                                  const MutableImageBatchView& out) const {
  std::vector<std::int64_t> labels;
  for (const std::int64_t number : numbers) {
    labels.push_back(images.labels[static_cast<std::size_t>(number)]);
  }
  if (!images.files) {
    mix(unmixed_plan(numbers, images.shape.size()), data::view_of(images), out, options_);
    return labels;
  }
  const auto values = static_cast<std::size_t>(3 * size_.pixels());
  std::vector<std::uint8_t> pixels(numbers.size() * values);
  std::vector<std::exception_ptr> problems(numbers.size());
  parallel_for(std::ssize(numbers), options_.threads, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    try {
      const auto choose = [&](ImageSize whole) {
        return data::central_box(whole, size_.width, test_resize_);
      };
      if (!images.files->read(numbers[at], choose, size_,
                              std::span(pixels).subspan(at * values, values), exif_)) {
        labels[at] = -1;
      }
    } catch (...) {
      problems[at] = std::current_exception();
    }
  });
  for (const std::exception_ptr& problem : problems) {
    if (problem) std::rethrow_exception(problem);
  }
  std::vector<std::int64_t> slots(numbers.size());
  std::iota(slots.begin(), slots.end(), 0);
  mix(unmixed_plan(slots, size_), view_of(pixels, std::ssize(numbers), size_), out, options_);
  return labels;
}

}  // namespace medley::train
