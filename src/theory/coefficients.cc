#include "medley/theory/coefficients.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/sampler.h"
#include "moments/box_moments.h"
#include "moments/moment_form.h"
#include "moments/with_these_options.h"
#include "theory/effective_mask.h"

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

MaskMoments build(const MixPolicy& policy, ImageSize size, bool effective) {
  (void)Sampler(policy, size, 0);  // checks
  if (!has_closed_form(policy, effective)) {
    const auto has = [=](const MethodBase& method) { return method.has_moments(effective); };
    fail_argument(fmt::format(
        "the {}moments of {} masks{} have no closed form; estimate them with monte_carlo",
        effective ? "effective " : "", policy.method.name(),
        with_these_options(policy.method, has)));
  }
  auto form = std::make_shared<MomentForm>();
  form->size = size;
  policy.method.base().add_moments(*form, effective, policy.label);
  form->scale(policy.prob);
  return MaskMoments(std::move(form));
}

}  // namespace

void check_has_effective_mask(const MixPolicy& policy) {
  if (policy.method.sources() <= 2) return;
  fail_argument(
      fmt::format("{} is for more than two images and has no effective mask; the regularizers of "
                  "Dirichlet weights are a function of their own (nmixup_moments)",
                  policy.method.name()));
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
  return policy.method.base().has_moments(effective);
}

MaskMoments coefficients(const MixPolicy& policy, ImageSize size) {
  if (policy.method.uses("lam") && policy.method.get("lam").empty()) {
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
  add_box(*form, {box.height, box.width}, box.outside, box.placement);
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
