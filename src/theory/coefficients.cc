#include "medley/theory/coefficients.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/sampler.h"
#include "theory/families.h"

namespace medley::theory {
namespace {

constexpr std::int64_t kMaxMatrixPixels = 4096;

void check_pixel(Pixel pixel, ImageSize size) {
  if (pixel.row < 0 || pixel.row >= size.height || pixel.column < 0 || pixel.column >= size.width) {
    fail_argument(fmt::format(
        "a pixel of a {}x{} image must have row 0 to {} and column 0 to {}, "
        "got {},{}",
        size.height, size.width, size.height - 1, size.width - 1, pixel.row, pixel.column));
  }
}

/// Adds the masks of a static method.
void add_method(MomentForm& form, const MixPolicy& policy, const LamFamily& lam) {
  const std::string& method = policy.method;
  if (method == "none") return;
  if (method == "mixup" || method == "nmixup") return add_mixup(form, lam, 1);
  if (method == "bernoulli") return add_bernoulli(form, lam);
  if (method == "cutmix" || method == "resizemix") {
    return add_cutmix(form, lam, policy.placement, 1);
  }
  if (method == "stochastic") {
    add_mixup(form, lam, policy.q_mix);
    return add_cutmix(form, lam, policy.placement, 1 - policy.q_mix);
  }
  if (method == "hmix") return add_hmix(form, lam, policy);
  if (method == "gmix") return add_gmix(form, lam, form_of(policy));
  return add_gaussian_field(form, lam, policy);
}

MaskMoments build(const MixPolicy& policy, ImageSize size, bool effective) {
  (void)Sampler(policy, size, 0);  // checks
  if (!has_closed_form(policy, effective)) {
    fail_argument(
        fmt::format("the {}moments of {} masks have no closed form; estimate them with monte_carlo",
                    effective ? "effective " : "",
                    policy.method == "gaussian-field" ? "designed" : policy.method));
  }
  const double alpha = policy.alpha.value_or(get_method(policy.method).default_alpha);
  LamFamily lam{policy.lam, alpha, policy.beta.value_or(alpha), effective, policy.label};
  auto form = std::make_shared<MomentForm>();
  form->size = size;
  add_method(*form, policy, lam);
  form->scale(policy.prob);
  return MaskMoments(std::move(form));
}

}  // namespace

double LamFamily::moment(double lo, double hi, int power) const {
  if (!fixed) return beta_cell_moment(alpha, beta, lo, hi, power);
  // A fixed lam may lie outside [0, 1]; then it belongs to the whole range.
  const bool whole = lo <= 0 && hi >= 1;
  const bool within = *fixed >= lo && (*fixed < hi || hi >= 1);
  return whole || within ? std::pow(*fixed, power) : 0;
}

std::vector<Node> LamFamily::nodes(double lo, double hi) const {
  if (fixed) return {{*fixed, moment(lo, hi, 0)}};
  return beta_nodes_between(alpha, beta, lo, hi);
}

void check_has_effective_mask(const MixPolicy& policy) {
  if (policy.method != "nmixup") return;
  fail_argument(
      "nmixup is for more than two images and has no effective mask; its regularisers are a "
      "function of "
      "their own (nmixup_moments)");
}

LabelMoments LamFamily::label_moments(LabelMoments realised) const {
  if (!effective) return LabelMoments::none;
  return label == LabelRule::drawn ? LabelMoments::fixed : realised;
}

void add_mixup(MomentForm& form, const LamFamily& lam, double weight) {
  const double m0 = weight * lam.moment(0, 1, 0);
  const double m1 = weight * lam.moment(0, 1, 1);
  const double m2 = weight * lam.moment(0, 1, 2);
  const double share = m0 - m1;
  const double share2 = m0 - 2 * m1 + m2;
  form.add_flat({share, 0, share2, 0, 0, share, share2, 0}, lam.label_moments(LabelMoments::fixed));
}

void add_bernoulli(MomentForm& form, const LamFamily& lam) {
  const double m1 = lam.moment(0, 1, 1);
  const double m2 = lam.moment(0, 1, 2);
  const double share = lam.moment(0, 1, 0) - m1;
  const double spread = m1 - m2;  // E[lam (1 - lam)], the variance of a pixel
  form.add_flat({share, 0, share - spread, 0, 0, share, share - spread, 0},
                lam.label_moments(LabelMoments::fixed));
  form.diagonal += spread;
  // The mean of the mask moves with each pixel: E[q N_j] grows by spread / pixels.
  if (lam.label_moments(LabelMoments::mean) == LabelMoments::mean) {
    const double shift = 2 * spread / static_cast<double>(form.size.pixels());
    form.constant -= shift;
    form.mean_constant -= shift;
  }
}

MaskMoments::MaskMoments(std::shared_ptr<const MomentForm> form) : form_(std::move(form)) {}

ImageSize MaskMoments::size() const noexcept { return form_->size; }

double MaskMoments::mean(Pixel j) const {
  check_pixel(j, form_->size);
  double sum = form_->mean_constant;
  for (const MomentForm::Block& block : form_->blocks) {
    for (const MomentForm::Part& part : block.parts) {
      const AxisLaw& row = block.rows[static_cast<std::size_t>(part.row)];
      const AxisLaw& column = block.columns[static_cast<std::size_t>(part.column)];
      if (part.mean != 0) sum += part.mean * row.mean(j.row) * column.mean(j.column);
      if (part.mean_cross != 0) {
        sum += part.mean_cross * row.cross(j.row) * column.cross(j.column);
      }
    }
  }
  return sum;
}

double MaskMoments::second(Pixel j, Pixel k) const {
  check_pixel(j, form_->size);
  check_pixel(k, form_->size);
  double sum = form_->constant;
  if (j.row == k.row && j.column == k.column) sum += form_->diagonal;
  for (const MomentForm::Block& block : form_->blocks) {
    for (const MomentForm::Part& part : block.parts) {
      const AxisLaw& row = block.rows[static_cast<std::size_t>(part.row)];
      const AxisLaw& column = block.columns[static_cast<std::size_t>(part.column)];
      if (part.quadratic != 0) {
        sum += part.quadratic * row.joint(j.row, k.row) * column.joint(j.column, k.column);
      }
      if (part.linear != 0) {
        sum += part.linear *
               (row.mean(j.row) * column.mean(j.column) + row.mean(k.row) * column.mean(k.column));
      }
      if (part.cross != 0) {
        sum += part.cross * (row.cross(j.row) * column.cross(j.column) +
                             row.cross(k.row) * column.cross(k.column));
      }
    }
  }
  return sum;
}

std::vector<double> MaskMoments::means() const { return form_->means(); }

std::vector<double> MaskMoments::map() const { return form_->map(); }

double MaskMoments::quadratic(std::span<const double> v) const {
  if (std::ssize(v) != form_->size.pixels()) {
    fail_argument(fmt::format("an image of {}x{} has {} values, got {}", form_->size.height,
                              form_->size.width, form_->size.pixels(), v.size()));
  }
  return form_->quadratic(v);
}

std::vector<double> MaskMoments::matrix() const {
  if (form_->size.pixels() > kMaxMatrixPixels) {
    fail_argument(fmt::format(
        "the matrix of all pairs of pixels takes pixels^2 numbers and at most {} pixels, got "
        "{}x{}; use the displacement map or single pairs",
        kMaxMatrixPixels, form_->size.height, form_->size.width));
  }
  return form_->matrix();
}

bool has_closed_form(const MixPolicy& policy, bool effective) {
  if (effective) check_has_effective_mask(policy);
  const std::string& method = policy.method;
  if (method == "fmix" || method == "custom") return false;
  if (method == "gaussian-field") return policy.design == nullptr;
  return method != "resizemix" || !effective || policy.lam.has_value();
}

MaskMoments coefficients(const MixPolicy& policy, ImageSize size) {
  if (!policy.lam && policy.method != "none") {
    fail_argument(
        "coefficients are for one lam: fix lam, or ask for the effective ones, over all lam");
  }
  return build(policy, size, false);
}

MaskMoments effective_coefficients(const MixPolicy& policy, ImageSize size) {
  return build(policy, size, true);
}

MaskMoments box_coefficients(const BoxLaw& box, ImageSize size) {
  if (size.height < 1 || size.width < 1 || box.height < 0 || box.width < 0 ||
      box.height > size.height || box.width > size.width) {
    fail_argument(fmt::format("a box must fit the image, got {}x{} in {}x{}", box.height, box.width,
                              size.height, size.width));
  }
  require_finite("the outside weight", box.outside);
  auto form = std::make_shared<MomentForm>();
  form->size = size;
  add_box(*form, box.height, box.width, box.outside, box.placement);
  return MaskMoments(std::move(form));
}

double gmix_plane(Form form, double lam, ImageSize size, double dy, double dx) {
  constexpr double kPi = 3.14159265358979323846;
  const double share = 1 - lam;
  if (share == 0) return 0;  // the limit
  const double d2 = (dy * dy + dx * dx) / static_cast<double>(size.pixels());
  return form == Form::paper ? share * std::exp(-kPi * d2 / (4 * share))
                             : share / 2 * std::exp(-kPi * d2 / (2 * share));
}

}  // namespace medley::theory
