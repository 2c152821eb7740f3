#include "medley/train/loader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>
#include <zlib.h>

#include "medley/data/dataset.h"
#include "medley/data/image.h"
#include "medley/error.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;

/// Image i is filled with the value i.
data::ImageSet numbered_images(std::int64_t count) {
  data::ImageSet set;
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
  recipe.std = {1.0 / 255};  // values stay as they are
  return recipe;
}

std::vector<float> load_all(BatchLoader& loader, std::uint64_t epoch) {
  std::vector<float> all;
  const std::vector<std::int64_t> order = loader.order(epoch);
  for (std::int64_t step = 0; step < loader.steps(); ++step) {
    const BatchShape shape = loader.shape(loader.batch_size(step));
    std::vector<float> batch(static_cast<std::size_t>(shape.values()));
    (void)loader.load(epoch, step, order, mutable_view_of(std::span(batch), shape));
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

TEST(BatchLoader, ShowsEveryImageOncePerEpoch) {
  const data::ImageSet set = numbered_images(10);
  BatchLoader loader(set, plain_recipe(4), 7, 1);
  EXPECT_EQ(loader.steps(), 3);
  EXPECT_EQ(loader.batch_size(2), 2);
  const std::vector<float> all = load_all(loader, 0);
  std::multiset<float> shown;
  for (std::size_t i = 0; i < all.size(); i += 16) shown.insert(all[i]);
  EXPECT_EQ(shown, (std::multiset<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(BatchLoader, DependsOnSeedAndEpochAlone) {
  const data::ImageSet set = numbered_images(30);
  Recipe recipe = plain_recipe(7);
  recipe.mix.method = "hmix";
  recipe.pad = 1;
  recipe.flip = 0.5;
  BatchLoader one(set, recipe, 7, 1);
  BatchLoader two(set, recipe, 7, 2);
  EXPECT_EQ(load_all(one, 3), load_all(two, 3));
  EXPECT_NE(load_all(one, 3), load_all(one, 4));
  BatchLoader other_seed(set, recipe, 8, 1);
  EXPECT_NE(load_all(one, 3), load_all(other_seed, 3));
}

TEST(BatchLoader, PlainImagesAreOnlyNormalized) {
  const data::ImageSet set = numbered_images(5);
  Recipe recipe = plain_recipe(5);
  recipe.mean = {0.5};
  recipe.std = {0.25};
  BatchLoader loader(set, recipe, 0, 1);
  std::vector<float> batch(2 * 16);
  const std::vector<std::int64_t> numbers = {3, 4};
  const std::vector<std::int64_t> labels =
      loader.load_plain(set, numbers, mutable_view_of(std::span(batch), {2, 1, 4, 4}));
  EXPECT_EQ(labels, (std::vector<std::int64_t>{0, 1}));
  EXPECT_NEAR(batch[0], (3 / 255.0 - 0.5) / 0.25, 1e-6);
  EXPECT_NEAR(batch[16], (4 / 255.0 - 0.5) / 0.25, 1e-6);
}

TEST(BatchLoader, LabelsBelongToTheImages) {
  const data::ImageSet set = numbered_images(12);
  Recipe recipe = plain_recipe(12);
  recipe.mix.method = "mixup";
  BatchLoader loader(set, recipe, 1, 1);
  const std::vector<std::int64_t> order = loader.order(0);
  std::vector<float> batch(12 * 16);
  const MixedLabels labels =
      loader.load(0, 0, order, mutable_view_of(std::span(batch), {12, 1, 4, 4}));
  for (std::int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(labels.y_a(i), order[static_cast<std::size_t>(i)] % 3);
  }
}

TEST(BatchLoader, KeepsRulesOfClasses) {
  const data::ImageSet set = numbered_images(24);
  for (const ClassRule rule : {ClassRule::same, ClassRule::other}) {
    Recipe recipe = plain_recipe(12);
    recipe.mix.method = "cutmix";
    recipe.mix.classes = rule;
    BatchLoader loader(set, recipe, 1, 1);
    const std::vector<std::int64_t> order = loader.order(0);
    std::int64_t mixed = 0;
    for (const MixEntry& entry : loader.plan(0, 1, order).entries) {
      if (entry.own.index == entry.partner.index) continue;
      const bool same = entry.own.index % 3 == entry.partner.index % 3;
      EXPECT_EQ(same, rule == ClassRule::same);
      ++mixed;
    }
    EXPECT_GT(mixed, 6);
  }
}

TEST(BatchLoader, MixesByMasksOfOnesOwn) {
  const data::ImageSet set = numbered_images(8);
  MaskSet masks{{4, 4}, std::vector<float>(16, 0)};
  masks.values[5] = 1;  // one pixel of the own image
  Recipe recipe = plain_recipe(8);
  recipe.mix.method = {"custom", {{"masks", std::make_shared<const MaskSet>(masks)}}};
  BatchLoader loader(set, recipe, 1, 1);
  const std::vector<std::int64_t> order = loader.order(0);
  const std::vector<float> batch = load_all(loader, 0);
  const MixPlan plan = loader.plan(0, 0, order);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(batch[16 * i + 5], static_cast<float>(plan.entries[i].own.index));
    EXPECT_EQ(batch[16 * i], static_cast<float>(plan.entries[i].partner.index));
  }
  const data::ImageSet other = [] {
    data::ImageSet wide = numbered_images(4);
    wide.shape = {8, 1, 4, 2};
    wide.labels.resize(8);
    return wide;
  }();
  EXPECT_THAT([&] { BatchLoader(other, recipe, 1, 1); },
              testing::ThrowsMessage<InvalidArgument>(
                  testing::HasSubstr("masks must have the size of the images, 4x2, got 4x4")));
}

/// Twelve pictures of 16x16 in files, and the same in memory.
class FileLoader : public testing::Test {
 protected:
  FileLoader()
      : folder_(fs::temp_directory_path() / ("medley-loader-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    memory_.shape = {12, 3, 16, 16};
    memory_.layout = Layout::nhwc;
    for (std::int64_t i = 0; i < 12; ++i) {
      const data::Image image =
          data::synthetic_image(1, i, static_cast<std::int32_t>(i % 3), {16, 16});
      paths_.push_back(folder_ / (std::to_string(i) + ".png"));
      data::write_png(paths_.back(), image);
      memory_.pixels.insert(memory_.pixels.end(), image.rgb.begin(), image.rgb.end());
      memory_.labels.push_back(i % 3);
    }
    recipe_.batch = 5;
    recipe_.image_size = 16;
    recipe_.test_resize = 16;
    recipe_.crop_area.least = recipe_.crop_aspect = 1;  // the whole picture
    recipe_.flip = 0.5;
    recipe_.mix.method = "hmix";
  }
  ~FileLoader() override { fs::remove_all(folder_); }

  [[nodiscard]] data::ImageSet files(
      data::ImageFiles::Broken broken = data::ImageFiles::Broken::refuse) const {
    data::ImageSet set;
    set.shape = {12, 3, 0, 0};
    set.labels = memory_.labels;
    set.files = std::make_shared<data::ImageFiles>(paths_, broken);
    return set;
  }

  fs::path folder_;
  std::vector<fs::path> paths_;
  data::ImageSet memory_;
  Recipe recipe_;
};

TEST_F(FileLoader, GivesWhatMemoryGives) {
  const data::ImageSet set = files();
  for (const char* method : {"none", "hmix", "nmixup"}) {
    for (const Pairing pairing : {Pairing::batch, Pairing::dataset}) {
      recipe_.mix.method = method;
      recipe_.mix.pairing = pairing;
      BatchLoader from_files(set, recipe_, 3, 2);
      BatchLoader from_memory(memory_, recipe_, 3, 1);
      EXPECT_EQ(load_all(from_files, 4), load_all(from_memory, 4)) << method;
      const std::vector<std::int64_t> order = from_files.order(4);
      EXPECT_EQ(from_files.sources(4, 1, order).labels.classes,
                from_memory.sources(4, 1, order).labels.classes);
    }
  }
}

TEST_F(FileLoader, DependsOnSeedEpochAndStepAlone) {
  recipe_.crop_area.least = 0.3;
  recipe_.crop_aspect = 1.5;
  const data::ImageSet set = files();
  BatchLoader loader(set, recipe_, 3, 3);
  const std::vector<float> all = load_all(loader, 1);
  EXPECT_NE(load_all(loader, 2), all);
  BatchLoader other(set, recipe_, 3, 1);
  const std::vector<std::int64_t> order = other.order(1);
  for (const std::int64_t step : {2, 0, 1}) {
    const BatchShape shape = other.shape(other.batch_size(step));
    std::vector<float> batch(static_cast<std::size_t>(shape.values()));
    (void)other.load(1, step, order, mutable_view_of(std::span(batch), shape));
    EXPECT_TRUE(std::equal(batch.begin(), batch.end(), all.begin() + step * 5 * 768)) << step;
  }
}

TEST_F(FileLoader, PutsTheNextImageInPlaceOfABrokenOne) {
  recipe_.mix.method = "none";
  std::ofstream(paths_[4]) << "broken";
  std::ofstream(paths_[11]) << "broken";
  const data::ImageSet set = files(data::ImageFiles::Broken::skip);
  BatchLoader loader(set, recipe_, 3, 2);
  const std::vector<std::int64_t> order = loader.order(0);
  std::vector<std::int64_t> shown;
  for (std::int64_t step = 0; step < loader.steps(); ++step) {
    const BatchSources batch = loader.sources(0, step, order);
    for (std::int64_t i = 0; i < batch.labels.count; ++i) shown.push_back(batch.labels.y_a(i));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t meant = order[i] == 4 ? 5 : order[i] == 11 ? 0 : order[i];
    EXPECT_EQ(shown[i], meant % 3);
  }
  EXPECT_EQ(set.files->broken_count(), 2);
  std::vector<float> plain(3 * 768);
  const std::vector<std::int64_t> numbers = {3, 4, 5};
  EXPECT_EQ(loader.load_plain(set, numbers, mutable_view_of(std::span(plain), loader.shape(3))),
            (std::vector<std::int64_t>{0, -1, 2}));
}

TEST_F(FileLoader, StopsAtABrokenImageUnlessToldOtherwise) {
  std::ofstream(paths_[4]) << "broken";
  const data::ImageSet set = files();
  BatchLoader loader(set, recipe_, 3, 2);
  EXPECT_THROW(load_all(loader, 0), IoError);
  EXPECT_THROW(load_all(loader, 0), IoError);  // and again: it is as good as new
  std::vector<float> plain(768);
  const std::vector<std::int64_t> numbers = {4};
  EXPECT_THROW(
      (void)loader.load_plain(set, numbers, mutable_view_of(std::span(plain), loader.shape(1))),
      IoError);
}

/// While it lives, threads ask for a stack of that size.
class StackSize {
 public:
  explicit StackSize(std::size_t bytes) {
    pthread_getattr_default_np(&before_);
    pthread_attr_t large{};
    pthread_getattr_default_np(&large);
    EXPECT_EQ(pthread_attr_setstacksize(&large, bytes), 0);
    EXPECT_EQ(pthread_setattr_default_np(&large), 0);
    pthread_attr_destroy(&large);
  }
  ~StackSize() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  StackSize(const StackSize&) = delete;
  StackSize& operator=(const StackSize&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST_F(FileLoader, WorksWithFewerThreadsWhereTheSystemGivesNoMore) {
  if (MEDLEY_SANITIZED != 0) GTEST_SKIP() << "sanitizers have a say in how threads start";
  BatchLoader from_memory(memory_, recipe_, 3, 1);
  const std::vector<float> expected = load_all(from_memory, 4);
  const data::ImageSet set = files();
  {
    const StackSize none(std::size_t{1} << 47);  // more than there are addresses
    EXPECT_THROW(std::thread([] {}).join(), std::system_error);
    BatchLoader alone(set, recipe_, 3, 4);
    EXPECT_EQ(load_all(alone, 4), expected);
    EXPECT_EQ(load_all(alone, 4), expected);
  }
  const StackSize few(std::size_t{1} << 45);  // two or three
  BatchLoader loader(set, recipe_, 3, 8);
  EXPECT_EQ(load_all(loader, 4), expected);
}

/// A PNG with an Exif chunk that says how it is turned.
std::vector<std::uint8_t> png_turned(const data::Image& image, std::uint8_t orientation) {
  std::vector<std::uint8_t> chunk = {'e', 'X', 'I',         'f', 'I',  'I', 42, 0, 8, 0,
                                     0,   0,   1,           0,   0x12, 1,   3,  0, 1, 0,
                                     0,   0,   orientation, 0,   0,    0,   0,  0, 0, 0};
  const auto put = [](std::vector<std::uint8_t>& bytes, std::uint32_t number) {
    for (const int shift : {24, 16, 8, 0}) {
      bytes.push_back(static_cast<std::uint8_t>(number >> shift));
    }
  };
  std::vector<std::uint8_t> whole;
  put(whole, static_cast<std::uint32_t>(chunk.size() - 4));
  whole.insert(whole.end(), chunk.begin(), chunk.end());
  put(whole, static_cast<std::uint32_t>(crc32(0, chunk.data(), static_cast<uInt>(chunk.size()))));
  std::vector<std::uint8_t> png = data::encode_png(image);
  png.insert(png.begin() + 33, whole.begin(), whole.end());  // after the header
  return png;
}

TEST_F(FileLoader, TurnsPicturesOnRequestAlone) {
  constexpr std::uint8_t kUpsideDown = 3;
  const std::int64_t bytes = 3 * 16 * 16;
  data::ImageSet upright = memory_;
  for (std::int64_t i = 0; i < 12; ++i) {
    const auto first = upright.pixels.begin() + i * bytes;
    const std::vector<std::uint8_t> png =
        png_turned({{16, 16}, {first, first + bytes}}, kUpsideDown);
    std::ofstream(paths_[static_cast<std::size_t>(i)], std::ios::binary)
        .write(reinterpret_cast<const char*>(png.data()), std::ssize(png));
    std::reverse(first, first + bytes);
    for (auto pixel = first; pixel != first + bytes; pixel += 3) std::swap(pixel[0], pixel[2]);
  }
  const data::ImageSet set = files();
  for (const bool exif : {false, true}) {
    recipe_.exif = exif;
    const data::ImageSet& expected = exif ? upright : memory_;
    BatchLoader from_files(set, recipe_, 3, 2);
    BatchLoader from_memory(expected, recipe_, 3, 1);
    EXPECT_EQ(load_all(from_files, 4), load_all(from_memory, 4)) << exif;
    const std::vector<std::int64_t> numbers = {5, 2};
    std::vector<float> a(2 * 768);
    std::vector<float> b(2 * 768);
    (void)from_files.load_plain(set, numbers, mutable_view_of(std::span(a), from_files.shape(2)));
    (void)from_memory.load_plain(expected, numbers,
                                 mutable_view_of(std::span(b), from_files.shape(2)));
    EXPECT_EQ(a, b) << exif;
  }
}

}  // namespace
}  // namespace medley::train
