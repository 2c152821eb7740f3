// reference METHOD SEED TYPE: mixes a fixed batch with the C++ library and writes the bytes of
// pixels, classes and weights to standard output, for the Python tests to compare with.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "medley/medley.h"

namespace {

constexpr medley::BatchShape kShape{6, 3, 32, 32};

/// The value of element i in [0, 1): 24 bits of a multiplicative hash.
float value(std::size_t i) {
  const auto hash = static_cast<std::uint32_t>(i * 2654435761U);
  return static_cast<float>(hash >> 8U) * 0x1p-24F;
}

template <typename T>
void write(std::span<const T> values) {
  std::fwrite(values.data(), sizeof(T), values.size(), stdout);
}

template <typename T>
void run(const medley::MixPlan& plan, std::vector<T> images) {
  std::vector<T> mixed(images.size());
  medley::mix(plan, medley::view_of(std::span<const T>(images), kShape),
              medley::mutable_view_of(std::span<T>(mixed), kShape));
  write(std::span<const T>(mixed));
}

std::shared_ptr<const medley::MaskSet> masks() {
  auto set = std::make_shared<medley::MaskSet>();
  set->size = kShape.size();
  const auto pixels = static_cast<std::size_t>(kShape.size().pixels());
  for (std::size_t i = 0; i < 2 * pixels; ++i) set->values.push_back(value(i));
  return set;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  medley::MixPolicy policy{.method = argv[1]};
  policy.method.set_if_used("masks", masks());
  const medley::Sampler sampler(policy, kShape.size(), std::stoull(argv[2]));
  const medley::MixPlan plan = sampler.plan({.batch = kShape.count, .first = 12, .epoch = 3});

  const auto count = static_cast<std::size_t>(kShape.values());
  if (std::string(argv[3]) == "u8") {
    std::vector<std::uint8_t> images(count);
    for (std::size_t i = 0; i < count; ++i) {
      images[i] = static_cast<std::uint8_t>(value(i) * 256.0F);
    }
    run(plan, images);
  } else {
    std::vector<float> images(count);
    for (std::size_t i = 0; i < count; ++i) images[i] = value(i);
    run(plan, images);
  }
  const std::vector<std::int64_t> labels{3, 1, 4, 1, 5, 9};
  const medley::MixedLabels mixed = medley::mix_labels(plan, labels);
  write(std::span<const std::int64_t>(mixed.classes));
  write(std::span<const double>(mixed.weights));
  std::vector<float> rows(static_cast<std::size_t>(kShape.count) * 10);
  medley::soft_labels(mixed, 10, rows, 0.1);
  write(std::span<const float>(rows));
  return 0;
}
