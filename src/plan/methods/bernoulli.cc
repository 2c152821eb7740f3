#include "plan/method.h"

namespace medley {
namespace {

constexpr double kAlpha = 1;

/// Every pixel (or feature) comes from the own sample with probability lam, independently.
class Bernoulli final : public MaskLaw {
 public:
  explicit Bernoulli(const MixPolicy& policy) : lam_(policy, kAlpha) {}

  MaskDraw draw(const UnitRandom& random, std::span<float> field,
                std::span<double> /*weights*/) const override {
    const double lam = lam_.draw(random);
    RandomStream stream = random.stream(Purpose::mask);
    const double threshold = lam * 0x1p32;
    std::int64_t ones = 0;
    for (float& value : field) {
      const bool own = stream.next_u32() < threshold;
      value = own ? 1 : 0;
      ones += own ? 1 : 0;
    }
    const double mean = static_cast<double>(ones) / static_cast<double>(field.size());
    return {lam, FieldMask{}, mean, Resample::none};
  }
  bool makes_field() const override { return true; }

 private:
  LamLaw lam_;
};

}  // namespace

const MethodEntry registry::kBernoulli{
    {.name = "bernoulli",
     .summary = "takes each pixel or feature from one of the two samples at random",
     .source = "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022",
     .default_alpha = kAlpha,
     .options = {{"alpha", "1"}, {"beta", "alpha"}}},
    [](const MixPolicy& policy, ImageSize) -> std::unique_ptr<MaskLaw> {
      return std::make_unique<Bernoulli>(policy);
    }};

}  // namespace medley
