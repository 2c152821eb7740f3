#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/rng.h"
#include "medley/plan.h"
#include "medley/policy.h"

namespace medley {

/// The random numbers of one draw unit (a sample, a pair or a batch), by purpose.
class UnitRandom {
 public:
  UnitRandom(std::uint64_t seed, std::uint64_t epoch, std::uint64_t ordinal) noexcept
      : seed_(seed), epoch_(epoch), ordinal_(ordinal) {}
  [[nodiscard]] RandomStream stream(Purpose purpose) const noexcept {
    return {seed_, epoch_, ordinal_, purpose};
  }

 private:
  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::uint64_t ordinal_;
};

/// What a draw decides: lam and mask, shared by the samples of the unit.
struct MaskDraw {
  double lam = 1;
  Mask mask = FlatMask{1};
  double realised = 1;  ///< mean of the mask
  Resample resample = Resample::none;
};

/// A method bound to its hyper-parameters and an image size: draws masks. Immutable.
class MaskLaw {
 public:
  virtual ~MaskLaw() = default;

  /// `field` has height*width elements if `makes_field()`, else none; a law that fills it returns a
  /// FieldMask (whose offset the caller sets). `weights` has `sources()` elements if that is not 2,
  /// else none, and gets the weight of every source.
  [[nodiscard]] virtual MaskDraw draw(const UnitRandom& random, std::span<float> field,
                                      std::span<double> weights) const = 0;
  [[nodiscard]] virtual bool makes_field() const { return false; }
  /// Draws that take longer than waking a thread for them: parametric masks take a tenth of a
  /// microsecond each, fields many.
  [[nodiscard]] virtual std::int64_t draws_per_thread() const { return makes_field() ? 1 : 1024; }
  /// Images per output. More than two, or `nmixup`, are listed as terms of the plan.
  [[nodiscard]] virtual bool lists_terms() const { return false; }
  [[nodiscard]] virtual std::int32_t sources() const { return 2; }
};

/// A method in the registry: what it is called, and how to bind it. `make` may rely on the checks
/// that are common to all methods and throws InvalidArgument for its own.
struct MethodEntry {
  MethodInfo info;
  std::unique_ptr<MaskLaw> (*make)(const MixPolicy& policy, ImageSize size);
};

[[nodiscard]] const MethodEntry& method_entry(const MixPolicy& policy);

/// The registry's entries, one per file in methods/.
namespace registry {
extern const MethodEntry kNone, kMixup, kCutmix, kStochastic, kHmix, kGmix, kBernoulli, kNmixup,
    kFmix, kResizemix, kGaussianField, kCustom;
}  // namespace registry

/// How lam comes about: fixed, or a draw from Beta(alpha, beta).
class LamLaw {
 public:
  LamLaw(const MixPolicy& policy, double default_alpha);
  [[nodiscard]] double draw(const UnitRandom& random) const noexcept;

 private:
  std::optional<double> fixed_;
  double alpha_;
  double beta_;
};

/// Mean of a field.
[[nodiscard]] double field_mean(std::span<const float> field) noexcept;

}  // namespace medley
