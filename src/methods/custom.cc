#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "methods/own_method.h"

namespace medley {
namespace {

/// One of the caller's masks, chosen uniformly; lam is its mean.
struct Custom {
  static constexpr std::string_view name = "custom";
  static constexpr std::string_view summary = "masks of your own, one chosen at random per draw";

  std::shared_ptr<const MaskSet> masks = {};

  static std::vector<OptionSpec> options() {
    return OptionTable<Custom>().add(&Custom::masks, "masks",
                                     "masks of the images' size, one chosen per draw: weights of "
                                     "the own image, white in pictures",
                                     {.required = true});
  }

  std::unique_ptr<MaskSampler> bind(ImageSize size, LabelRule label) const;
};

class CustomMasks final : public MaskSampler {
 public:
  CustomMasks(std::shared_ptr<const MaskSet> masks, ImageSize size)
      : masks_(std::move(masks)), size_(size) {
    for (std::int64_t i = 0; i < masks_->count(); ++i) means_.push_back(field_mean(values(i)));
  }

  MaskDraw draw(const UnitRandom& random, std::span<float> field,
                std::span<double> /*weights*/) const override {
    RandomStream stream = random.stream(Purpose::mask);
    const auto chosen =
        static_cast<std::int64_t>(stream.below64(static_cast<std::uint64_t>(masks_->count())));
    std::ranges::copy(values(chosen), field.begin());
    const double mean = means_[static_cast<std::size_t>(chosen)];
    return {mean, FieldMask{}, mean};
  }
  bool makes_field() const override { return true; }

 private:
  [[nodiscard]] std::span<const float> values(std::int64_t i) const {
    const auto pixels = static_cast<std::size_t>(size_.pixels());
    return std::span(masks_->values).subspan(static_cast<std::size_t>(i) * pixels, pixels);
  }

  std::shared_ptr<const MaskSet> masks_;
  ImageSize size_;
  std::vector<double> means_;
};

std::unique_ptr<MaskSampler> Custom::bind(ImageSize size, LabelRule /*label*/) const {
  if (!masks || masks->count() < 1) {
    fail_argument("method custom needs at least one mask, got none");
  }
  if (!(masks->size == size)) {
    fail_argument(fmt::format("masks must have the size of the images, {}x{}, got {}x{}",
                              size.height, size.width, masks->size.height, masks->size.width));
  }
  if (std::ssize(masks->values) != masks->count() * size.pixels()) {
    fail_argument(fmt::format("a set of {}x{} masks must hold a multiple of {} values, got {}",
                              size.height, size.width, size.pixels(), masks->values.size()));
  }
  if (!std::ranges::all_of(masks->values, [](float v) { return std::isfinite(v); })) {
    fail_argument("mask values must be finite");
  }
  return std::make_unique<CustomMasks>(masks, size);
}

}  // namespace

std::shared_ptr<const MethodBase> custom_method() { return make_method<Custom>(); }

}  // namespace medley
