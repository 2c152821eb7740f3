#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "plan/method.h"

namespace medley {
namespace {

/// One of the caller's masks, chosen uniformly; lam is its mean.
class Custom final : public MaskLaw {
 public:
  Custom(const MixPolicy& policy, ImageSize size) : masks_(policy.masks), size_(size) {
    for (std::int64_t i = 0; i < masks_->count(); ++i) means_.push_back(field_mean(values(i)));
  }

  MaskDraw draw(const UnitRandom& random, std::span<float> field,
                std::span<double> /*weights*/) const override {
    RandomStream stream = random.stream(Purpose::mask);
    const auto chosen =
        static_cast<std::int64_t>(stream.below64(static_cast<std::uint64_t>(masks_->count())));
    std::ranges::copy(values(chosen), field.begin());
    const double mean = means_[static_cast<std::size_t>(chosen)];
    return {mean, FieldMask{}, mean, Resample::none};
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

std::unique_ptr<MaskLaw> make_custom(const MixPolicy& policy, ImageSize size) {
  if (!policy.masks || policy.masks->count() < 1) {
    fail_argument("method custom needs at least one mask, got none");
  }
  const MaskSet& masks = *policy.masks;
  if (!(masks.size == size)) {
    fail_argument(fmt::format("masks must have the size of the images, {}x{}, got {}x{}",
                              size.height, size.width, masks.size.height, masks.size.width));
  }
  if (std::ssize(masks.values) != masks.count() * size.pixels()) {
    fail_argument(fmt::format("a set of {}x{} masks must hold a multiple of {} values, got {}",
                              size.height, size.width, size.pixels(), masks.values.size()));
  }
  if (!std::ranges::all_of(masks.values, [](float v) { return std::isfinite(v); })) {
    fail_argument("mask values must be finite");
  }
  return std::make_unique<Custom>(policy, size);
}

}  // namespace

const MethodEntry registry::kCustom{{.name = "custom",
                                     .summary = "masks of your own, one chosen at random per draw",
                                     .source = "",
                                     .uses_lam = false,
                                     .options = {{"masks", ""}}},
                                    make_custom};

}  // namespace medley
