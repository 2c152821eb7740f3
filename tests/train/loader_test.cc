#include "medley/train/loader.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace medley {
namespace {

/// Image i is filled with the value i.
ImageSet numbered_images(std::int64_t count) {
  ImageSet set;
  set.shape = {count, 1, 4, 4};
  for (std::int64_t i = 0; i < count; ++i) {
    set.pixels.insert(set.pixels.end(), 16, static_cast<std::uint8_t>(i));
    set.labels.push_back(i % 3);
  }
  return set;
}

Recipe plain_recipe(std::int64_t batch) {
  Recipe recipe;
  recipe.batch = batch;
  recipe.flip = 0;
  recipe.mean = {0};
  recipe.stddev = {1.0 / 255};  // values stay as they are
  return recipe;
}

std::vector<float> load_all(const BatchLoader& loader, const ImageSet& set, std::uint64_t epoch) {
  std::vector<float> all;
  const std::vector<std::int64_t> order = loader.order(epoch);
  for (std::int64_t step = 0; step < loader.steps(); ++step) {
    const BatchShape shape{loader.batch_size(step), set.shape.channels, set.shape.height,
                           set.shape.width};
    std::vector<float> batch(static_cast<std::size_t>(shape.values()));
    (void)loader.load(epoch, step, order, mutable_view_of(std::span(batch), shape));
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

TEST(BatchLoader, ShowsEveryImageOncePerEpoch) {
  const ImageSet set = numbered_images(10);
  const BatchLoader loader(set, plain_recipe(4), 7, 1);
  EXPECT_EQ(loader.steps(), 3);
  EXPECT_EQ(loader.batch_size(2), 2);
  const std::vector<float> all = load_all(loader, set, 0);
  std::multiset<float> shown;
  for (std::size_t i = 0; i < all.size(); i += 16) shown.insert(all[i]);
  EXPECT_EQ(shown, (std::multiset<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(BatchLoader, DependsOnSeedAndEpochAlone) {
  const ImageSet set = numbered_images(30);
  Recipe recipe = plain_recipe(7);
  recipe.mix.method = "hmix";
  recipe.pad = 1;
  recipe.flip = 0.5;
  const BatchLoader one(set, recipe, 7, 1);
  const BatchLoader two(set, recipe, 7, 2);
  EXPECT_EQ(load_all(one, set, 3), load_all(two, set, 3));
  EXPECT_NE(load_all(one, set, 3), load_all(one, set, 4));
  EXPECT_NE(load_all(one, set, 3), load_all(BatchLoader(set, recipe, 8, 1), set, 3));
}

TEST(BatchLoader, PlainImagesAreOnlyNormalised) {
  const ImageSet set = numbered_images(5);
  Recipe recipe = plain_recipe(5);
  recipe.mean = {0.5};
  recipe.stddev = {0.25};
  const BatchLoader loader(set, recipe, 0, 1);
  std::vector<float> batch(2 * 16);
  loader.load_plain(set, 3, mutable_view_of(std::span(batch), {2, 1, 4, 4}));
  EXPECT_NEAR(batch[0], (3 / 255.0 - 0.5) / 0.25, 1e-6);
  EXPECT_NEAR(batch[16], (4 / 255.0 - 0.5) / 0.25, 1e-6);
}

TEST(BatchLoader, LabelsBelongToTheImages) {
  const ImageSet set = numbered_images(12);
  Recipe recipe = plain_recipe(12);
  recipe.mix.method = "mixup";
  const BatchLoader loader(set, recipe, 1, 1);
  const std::vector<std::int64_t> order = loader.order(0);
  std::vector<float> batch(12 * 16);
  const MixedLabels labels =
      loader.load(0, 0, order, mutable_view_of(std::span(batch), {12, 1, 4, 4}));
  for (std::int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(labels.y_a(i), order[static_cast<std::size_t>(i)] % 3);
  }
}

}  // namespace
}  // namespace medley
