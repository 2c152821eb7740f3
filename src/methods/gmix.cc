#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "methods/own_method.h"
#include "moments/gaussian_moments.h"
#include "moments/lam_family.h"
#include "moments/mask_list.h"
#include "moments/moment_form.h"
#include "plan/gaussian.h"

namespace medley {
namespace {

/// A Gaussian around a uniform pixel; see GaussianMask for the kernel K.
///   code        K of width min(lam, 1-lam), for the image with the smaller share
///   paper       the partner's weight is K of width 2 (1-lam)
///   calibrated  the partner's weight is K, its width solved so that its mean is 1-lam
/// Of one row the width is that of a kernel along it: its mean is the same share of the pixels.
struct GMix {
  static constexpr std::string_view name = "gmix";
  static constexpr std::string_view title = "GMix";
  static constexpr std::string_view summary =
      "fades the partner in around a point, with a Gaussian edge";
  static constexpr std::string_view source =
      "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022";

  LambdaDistribution lambda = {.alpha = 0.5};
  Form form = Form::code;

  static std::vector<OptionSpec> options() {
    return OptionTable<GMix>()
        .with(&GMix::lambda, LambdaDistribution::options())
        .add(&GMix::form, "form",
             "width of the Gaussian: of the published code, of the paper, or calibrated so that "
             "the mean of the mask is lam");
  }

  std::unique_ptr<MaskSampler> bind(ImageSize size, LabelRule label) const;

  /// Width and peak of the Gaussian around (cy, cx). None where all pixels have the weight lam
  /// instead, as calibrated masks near both ends; tau is 0 where one image is alone.
  [[nodiscard]] std::optional<GaussianMask> mask(std::int32_t cy, std::int32_t cx, ImageSize size,
                                                 double lam) const {
    switch (form) {
      case Form::calibrated: {
        const std::optional<double> tau = calibrated_tau(cy, cx, size, lam);
        if (!tau) return std::nullopt;
        return GaussianMask{cy, cx, *tau, Peak::partner};
      }
      case Form::paper:
        return GaussianMask{cy, cx, gaussian_tau(2 * (1 - lam), size), Peak::partner};
      case Form::code:
        break;
    }
    return GaussianMask{cy, cx, gaussian_tau(std::min(lam, 1 - lam), size),
                        lam < 0.5 ? Peak::own : Peak::partner};
  }

  void add_moments(theory::MomentForm& moments, bool effective, LabelRule label) const;
  void list_masks(theory::MaskList& list, LabelRule label) const;

 private:
  [[nodiscard]] std::vector<theory::Node> nodes(const theory::LamFamily& lam, ImageSize size) const;
};

class GMixMasks final : public MaskSampler {
 public:
  GMixMasks(const GMix& options, ImageSize size, LabelRule label)
      : options_(options), label_rule_(label), size_(size) {}

  MaskDraw draw(const UnitRandom& random, std::span<float> /*field*/,
                std::span<double> /*weights*/) const override {
    const double lam = options_.lambda.draw(random);
    RandomStream stream = random.stream(Purpose::mask);
    const auto cy =
        static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(size_.height)));
    const auto cx =
        static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(size_.width)));
    const std::optional<GaussianMask> drawn = options_.mask(cy, cx, size_, lam);
    if (!drawn) return flat(lam, lam);
    const GaussianMask& mask = *drawn;
    if (options_.form == Form::calibrated) {
      return {lam, mask, std::min(lam, 1 - 1.0 / static_cast<double>(size_.pixels()))};
    }
    if (!(mask.tau > 0)) return flat(lam, mask.peak == Peak::own ? 0 : 1);
    const double mean = label_rule_ == LabelRule::realized ? gaussian_kernel_mean(mask, size_) : 0;
    return {lam, mask, mask.peak == Peak::own ? mean : 1 - mean};
  }
  // A mean or a width over the pixels of a row and of a column takes about a microsecond.
  std::int64_t draws_per_thread() const override { return 128; }

 private:
  static MaskDraw flat(double lam, double value) { return {lam, FlatMask{value}, value}; }

  GMix options_;
  LabelRule label_rule_;
  ImageSize size_;
};

std::unique_ptr<MaskSampler> GMix::bind(ImageSize size, LabelRule label) const {
  return std::make_unique<GMixMasks>(*this, size, label);
}

/// Nodes between all lambdas where masks jump or bend.
std::vector<theory::Node> GMix::nodes(const theory::LamFamily& lam, ImageSize size) const {
  if (lam.fixed) return lam.nodes(0, 1);
  const auto pixels = static_cast<double>(size.pixels());
  if (form == Form::paper) return theory::graded_nodes(lam, 0, 1, false, pixels);
  if (form == Form::code) {
    // The published code changes sides at lam = 1/2, where the coefficients jump.
    return theory::joined(theory::graded_nodes(lam, 0, 0.5, true, pixels),
                          theory::graded_nodes(lam, 0.5, 1, false, pixels));
  }
  if (size.pixels() == 1) return lam.nodes(0, 1);  // no Gaussian: the mask is lam
  const double narrowest = 1 - 1 / pixels;         // from here on the Gaussian is one pixel
  return theory::joined(theory::graded_nodes(lam, 0, narrowest, false, pixels),
                        theory::one_pixel_nodes(lam, narrowest));
}

void check_calibrated_cost(ImageSize size, std::size_t nodes) {
  constexpr double kMostWork = 4e11;  // multiplications of the map: some minutes
  const auto pixels = static_cast<double>(size.pixels());
  const double work = pixels * pixels / 4 * static_cast<double>(nodes);
  if (work > kMostWork) {
    fail_argument(
        fmt::format("calibrated gmix has a width per center and takes (height*width)^2/4 steps "
                    "per lam, at most {:.0e} in all, got {:.1e} for {}x{}; use form paper or code, "
                    "or estimate with monte_carlo",
                    kMostWork, work, size.height, size.width));
  }
}

void GMix::add_moments(theory::MomentForm& moments, bool effective, LabelRule label) const {
  using theory::LabelMoments;
  const ImageSize size = moments.size;
  const theory::LamFamily family(lambda, effective, label);
  const std::vector<theory::Node> lambdas = nodes(family, size);
  if (form == Form::calibrated) check_calibrated_cost(size, lambdas.size());
  // The label of a calibrated mask is lam; where the mask cannot follow lam, its mean is within
  // 1/pixels of it.
  const LabelMoments share = family.label_moments(LabelMoments::mean);
  theory::GaussianFamily gaussians(moments, share);
  for (const auto& node : lambdas) {
    const double lam = node.x;
    const std::optional<GaussianMask> at_corner = mask(0, 0, size, lam);
    if (!at_corner) {
      moments.add_flat(theory::fixed_scalars(node.weight, 1 - lam, 0, 1 - lam), share);
    } else if (form == Form::calibrated) {
      gaussians.add_by_center(
          lam,
          [&](std::int32_t cy, std::int32_t cx) { return mask(cy, cx, size, lam).value().tau; },
          node.weight);
    } else {
      gaussians.add(lam, at_corner->tau, at_corner->peak, node.weight);
    }
  }
}

void GMix::list_masks(theory::MaskList& list, LabelRule label) const {
  for (const auto& [lam, weight] : nodes(theory::LamFamily(lambda, false, label), list.size())) {
    const double probability = weight / list.pixels();
    for (std::int32_t cy = 0; cy < list.size().height; ++cy) {
      for (std::int32_t cx = 0; cx < list.size().width; ++cx) {
        if (const std::optional<GaussianMask> gaussian = mask(cy, cx, list.size(), lam)) {
          list.add_gaussian(probability, *gaussian, theory::drawn_label(label, lam));
        } else {
          list.add_flat(probability, lam, lam);
        }
      }
    }
  }
}

}  // namespace

std::shared_ptr<const MethodBase> gmix_method() { return make_method<GMix>(); }

}  // namespace medley
