// Masks of your own for batches of a data set, normalized floats out, as training wants them.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "medley/data/dataset.h"
#include "medley/medley.h"

namespace {

constexpr medley::ImageSize kSize = {32, 32};
constexpr std::int64_t kImages = 10, kBatch = 4;

/// Two masks: weight 1 for the own image on the left, or at the top.
std::shared_ptr<const medley::MaskSet> half_masks() {
  auto masks = std::make_shared<medley::MaskSet>();
  masks->size = kSize;
  for (std::int64_t i = 0; i < 2 * kSize.pixels(); ++i) {
    const std::int64_t y = i / kSize.width;  // counts on into the second mask
    const bool own = y < kSize.height ? i % kSize.width < 16 : y < kSize.height + 16;
    masks->values.push_back(own ? 1.0F : 0.0F);
  }
  return masks;
}

void run() {
  std::vector<std::uint8_t> images;  // the data set: u8, NHWC
  for (std::int32_t i = 0; i < kImages; ++i) {
    const medley::data::Image image = medley::data::synthetic_image(1, i, i, kSize);
    images.insert(images.end(), image.rgb.begin(), image.rgb.end());
  }

  medley::MixPolicy policy;
  policy.method = "custom";
  policy.method.set("masks", half_masks());
  policy.pairing = medley::Pairing::dataset;
  policy.no_self = true;
  policy.prob = 0.75;         // a quarter of the samples stays as it is
  policy.augment = {4, 0.5};  // pad 4, crop, flip every other image: in the same pass
  const medley::Sampler sampler(policy, kSize, /*seed=*/1);

  medley::MixOptions options;
  options.normalize = medley::Normalize::of_unit_range(std::vector<float>{0.5F, 0.5F, 0.5F},
                                                       std::vector<float>{0.25F, 0.25F, 0.25F});
  std::vector<float> batch(kBatch * 3 * kSize.pixels());  // f32, NCHW
  for (std::int64_t first = 0; first < kImages; first += kBatch) {
    medley::PlanRequest request;
    request.batch = kBatch;
    request.first = first;
    request.count = std::min(kBatch, kImages - first);
    request.dataset_size = kImages;
    const medley::MixPlan plan = sampler.plan(request);
    medley::mix(plan, medley::view_of(images, {kImages, 3, 32, 32}, medley::Layout::nhwc),
                medley::mutable_view_of(std::span(batch).first(request.count * 3 * kSize.pixels()),
                                        {request.count, 3, 32, 32}),
                options);
    for (const medley::MixEntry& entry : plan.entries) {
      std::printf("%lld + %lld  weight %.2f\n", static_cast<long long>(entry.own.index),
                  static_cast<long long>(entry.partner.index), entry.label_weight);
    }
  }
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "error: %s\n", problem.what());
    return 1;
  }
}
