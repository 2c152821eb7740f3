#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "methods/own_method.h"
#include "moments/lam_family.h"
#include "moments/mask_list.h"
#include "moments/moment_form.h"

namespace medley {
namespace {

/// Every pixel (or feature) comes from the own sample with probability lam, independently.
struct Bernoulli {
  static constexpr std::string_view name = "bernoulli";
  static constexpr std::string_view summary =
      "takes each pixel or feature from one of the two samples at random";
  static constexpr std::string_view source =
      "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022";

  LambdaDistribution lambda;

  static std::vector<OptionSpec> options() {
    return OptionTable<Bernoulli>().with(&Bernoulli::lambda, LambdaDistribution::options());
  }

  double draw(const UnitRandom& random, ImageSize /*size*/, std::span<float> field) const {
    const double lam = lambda.draw(random);
    RandomStream stream = random.stream(Purpose::mask);
    const double threshold = lam * 0x1p32;
    for (float& value : field) value = stream.next_u32() < threshold ? 1 : 0;
    return lam;
  }

  void add_moments(theory::MomentForm& form, bool effective, LabelRule label) const {
    using theory::LabelMoments;
    const theory::LamFamily lam(lambda, effective, label);
    const auto [m0, m1, m2] = lam.moments(0, 1);
    const double share = m0 - m1;
    const double spread = m1 - m2;  // E[lam (1 - lam)], the variance of a pixel
    form.add_flat({share, 0, share - spread, 0, 0, share, share - spread, 0},
                  lam.label_moments(LabelMoments::fixed));
    form.add_pixel_noise(spread, lam.label_moments(LabelMoments::mean));
  }

  void list_masks(theory::MaskList& list, LabelRule label) const {
    constexpr std::int64_t kMostPixels = 20;
    if (list.size().pixels() > kMostPixels) {
      fail_argument(fmt::format("{} has 2^pixels masks and takes at most {} pixels, got {}x{}",
                                name, kMostPixels, list.size().height, list.size().width));
    }
    const theory::LamFamily family(lambda, false, label);
    const auto pixels = static_cast<int>(list.size().pixels());
    for (std::uint32_t bits = 0; bits < 1u << pixels; ++bits) {
      std::vector<double> own;
      int k = 0;
      for (int i = 0; i < pixels; ++i) {
        own.push_back((bits >> i & 1u) != 0 ? 1 : 0);
        k += own.back() > 0 ? 1 : 0;
      }
      // The mean lam of those that give this mask.
      const double lam =
          family.fixed ? *family.fixed : (family.alpha + k) / (family.alpha + family.beta + pixels);
      list.add(probability_of(family, k, pixels - k), std::move(own),
               theory::drawn_label(label, lam));
    }
  }

 private:
  /// E[lam^own (1 - lam)^partner]. The factors of the Gamma functions' quotient, since differences
  /// of their logarithms lose digits for large alpha; at most one per pixel.
  static double probability_of(const theory::LamFamily& lam, int own, int partner) {
    if (lam.fixed) return std::pow(*lam.fixed, own) * std::pow(1 - *lam.fixed, partner);
    const double sum = lam.alpha + lam.beta;
    double probability = 1;
    for (int i = 0; i < own; ++i) probability *= (lam.alpha + i) / (sum + i);
    for (int i = 0; i < partner; ++i) probability *= (lam.beta + i) / (sum + own + i);
    return probability;
  }
};

}  // namespace

std::shared_ptr<const MethodBase> bernoulli_method() { return make_method<Bernoulli>(); }

}  // namespace medley
