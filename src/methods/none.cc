#include "methods/own_method.h"
#include "moments/mask_list.h"
#include "moments/moment_form.h"

namespace medley {
namespace {

/// Leaves every image as it is.
struct None {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view title = "NoMix";
  static constexpr std::string_view summary = "leaves every image as it is";
  static constexpr bool flat = true;

  static std::vector<OptionSpec> options() { return {}; }

  std::int32_t sources() const { return 1; }

  class Masks final : public MaskSampler {
   public:
    MaskDraw draw(const UnitRandom& /*random*/, std::span<float> /*field*/,
                  std::span<double> /*weights*/) const override {
      return {.realized = 1};
    }
    std::int32_t sources() const override { return 1; }
  };
  std::unique_ptr<MaskSampler> bind(ImageSize /*size*/, LabelRule /*label*/) const {
    return std::make_unique<Masks>();
  }

  // N = 0 adds nothing.
  void add_moments(theory::MomentForm& /*form*/, bool /*effective*/, LabelRule /*label*/) const {}
  void list_masks(theory::MaskList& list, LabelRule /*label*/) const { list.add_flat(1, 1, 1); }
};

}  // namespace

std::shared_ptr<const MethodBase> none_method() { return make_method<None>(); }

}  // namespace medley
