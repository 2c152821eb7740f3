#include "plan/method.h"

namespace medley {
namespace {

class None final : public MaskLaw {
 public:
  MaskDraw draw(const UnitRandom& /*random*/, std::span<float> /*field*/,
                std::span<double> /*weights*/) const override {
    return {};
  }
};

}  // namespace

const MethodEntry registry::kNone{{.name = "none",
                                   .summary = "leaves every image as it is",
                                   .source = "",
                                   .uses_lam = false,
                                   .options = {}},
                                  [](const MixPolicy&, ImageSize) -> std::unique_ptr<MaskLaw> {
                                    return std::make_unique<None>();
                                  }};

}  // namespace medley
