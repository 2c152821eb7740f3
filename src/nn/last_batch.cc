#include "nn/last_batch.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "nn/model.h"

namespace medley::nn {
namespace {

/// The nearest sizes of batches, below and above, that leave no single image.
std::vector<std::int64_t> other_batches(std::int64_t images, std::int64_t batch) {
  const auto leaves_one = [&](std::int64_t size) { return size == 1 || images % size == 1; };
  std::vector<std::int64_t> sizes;
  std::int64_t below = batch - 1;
  while (below > 1 && leaves_one(below)) --below;
  if (below > 1) sizes.push_back(below);
  std::int64_t above = batch + 1;
  while (leaves_one(above)) ++above;  // all images at once at the latest
  sizes.push_back(above);
  return sizes;
}

}  // namespace

void check_last_batch(const data::ImageData& data, const train::Recipe& recipe,
                      const train::BatchLoader& loader) {
  if (loader.batch_size(loader.steps() - 1) > 1) return;
  const auto model = make_model(recipe.model, data.num_classes(), data.train.shape.channels,
                                /*seed=*/0);
  model->train();
  const auto takes = [&](std::int64_t count) {
    const torch::NoGradGuard no_grad;
    const BatchShape s = loader.shape(count);
    try {
      (void)model->forward(torch::zeros({s.count, s.channels, s.height, s.width}));
      return true;
    } catch (const c10::Error&) {
      return false;
    }
  };
  if (takes(1) || !takes(2)) return;
  const std::int64_t images = data.train.count();
  if (images == 1) fail_argument(fmt::format("{} cannot be trained on one image", recipe.model));
  const BatchShape s = loader.shape(1);
  fail_argument(fmt::format(
      "batches of {} leave one of {} training images over, and {} cannot be trained on one image "
      "of {} x {} at a time: use --batch {}",
      recipe.batch, images, recipe.model, s.height, s.width,
      fmt::join(other_batches(images, recipe.batch), " or ")));
}

}  // namespace medley::nn
