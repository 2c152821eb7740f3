#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "medley/data/dataset.h"
#include "medley/mix.h"
#include "medley/plan.h"
#include "medley/report/charts.h"
#include "medley/sampler.h"
#include "medley/theory/coefficients.h"
#include "report/theory_figures.h"

namespace medley::report {
namespace {

constexpr ImageSize kFigure{64, 64};
constexpr std::int32_t kTile = 128;
constexpr std::uint64_t kSeed = 6;  // shows whole boxes

struct FigureMethod {
  const char* title;
  const char* note;
  MixPolicy policy;
  const char* note_over_lam = nullptr;  ///< of effective coefficients, instead of `note`
};

/// The methods of the paper's figure.
std::vector<FigureMethod> figure_methods() {
  const auto inside = Placement::inside;
  return {{"Mixup", "M = λ everywhere", {.method = "mixup"}},
          {"CutMix", "box inside the image", {.method = {"cutmix", {{"placement", inside}}}}},
          {"Stochastic",
           "Mixup or CutMix inside, half each",
           {.method = {"stochastic", {{"placement", inside}}}}},
          {"HMix",
           "r = 0.7, box inside",
           {.method = {"hmix", {{"placement", inside}, {"ratio", 0.7}}}}},
          {"GMix (paper)", "Gaussian, τ = 2(1-λ)", {.method = {"gmix", {{"form", Form::paper}}}}},
          {"GMix (code)",
           "as published, λ ≥ 1/2 branch",
           {.method = "gmix"},
           "as published, both branches"}};
}

data::Image mixed_picture(const MixPolicy& policy, std::span<const data::Image> sources,
                          data::Image* mask) {
  const Sampler sampler(policy, {kTile, kTile}, kSeed);
  MixPlan plan = sampler.plan({.batch = 2, .count = 1});
  plan.entries[0].own = {};
  plan.entries[0].partner = {};
  plan.entries[0].partner.index = 1;
  plan.entries[0].own.index = 0;
  plan.base = 0;
  std::vector<std::uint8_t> batch;
  for (const data::Image& image : sources) {
    batch.insert(batch.end(), image.rgb.begin(), image.rgb.end());
  }
  data::Image out{{kTile, kTile}, std::vector<std::uint8_t>(sources[0].rgb.size())};
  const BatchShape in_shape{2, 3, kTile, kTile};
  const BatchShape out_shape{1, 3, kTile, kTile};
  mix(plan, view_of(batch, in_shape, Layout::nhwc),
      mutable_view_of(out.rgb, out_shape, Layout::nhwc));
  if (mask != nullptr) {
    std::vector<double> values(static_cast<std::size_t>(plan.size.pixels()));
    mask_values(plan, plan.entries[0], values);
    mask->size = plan.size;
    mask->rgb.clear();
    for (const double value : values) {
      const auto gray = static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
      mask->rgb.insert(mask->rgb.end(), 3, gray);
    }
  }
  return out;
}

data::Image flat_picture(std::uint8_t gray) {
  constexpr std::size_t kValues = std::size_t{3} * kTile * kTile;
  return {{kTile, kTile}, std::vector<std::uint8_t>(kValues, gray)};
}

std::vector<data::Image> sources() {
  // Those of the contact sheet.
  return {data::synthetic_image(1, 9, 0, {kTile, kTile}),
          data::synthetic_image(1, 26, 2, {kTile, kTile})};
}

}  // namespace

data::Image coefficient_figure(bool effective) {
  HeatMapFigure figure;
  figure.title = effective ? "Effective coefficients: λ ~ Beta(1, 1), labels by the mask's mean"
                           : "Coefficients E[(1-M_j)(1-M_k)] at λ = 1/2";
  figure.value_label = effective ? "mean of ã" : "mean of a";
  figure.caption =
      effective
          ? "What multiplies gradients and Hessians in the mixed loss, by the displacement of the "
            "two pixels (64×64), for the placement below each title; every label is realized, the "
            "mean of its mask. The pair enters once per label, the second time with the mask "
            "swapped: so CutMix also ties pixels near opposite borders, which are both outside the "
            "box. With boxes clipped at the border, as published, few pairs are tied that way."
          : "Average over all pairs of pixels (dy, dx) apart on a 64×64 grid of the chance, or "
            "weight, with which both come from the partner; boxes lie inside the image. One λ "
            "shows "
            "one branch only; the effective coefficients of the loss are another figure.";
  std::vector<FigureMethod> methods = figure_methods();
  if (effective) {
    const char* const note = "box clipped, as published";
    methods.insert(methods.begin() + 2, {"CutMix", note, {.method = "cutmix"}});
    methods.insert(methods.begin() + 5,
                   {"HMix", "r = 0.7, box clipped", {.method = {"hmix", {{"ratio", 0.7}}}}});
    figure.columns = 4;
  }
  for (FigureMethod method : methods) {
    theory::MaskMoments moments = [&] {
      if (effective) {
        method.policy.method.set("alpha", 1);
        return theory::effective_coefficients(method.policy, kFigure);
      }
      method.policy.method.set("lam", 0.5);
      return theory::coefficients(method.policy, kFigure);
    }();
    std::string note = method.note;
    if (effective && method.note_over_lam != nullptr) note = method.note_over_lam;
    figure.panels.push_back({method.title, note, kFigure, moments.map()});
  }
  return draw_figure(figure);
}

data::Image sample_figure() {
  PictureFigure figure;
  figure.title = "One draw of each method at λ = 0.65";
  figure.caption =
      "Upper row: the mask (white: own image, black: partner). Lower row: the mixed picture. HMix "
      "has "
      "r = 0.5; boxes lie inside the image. ";
  const std::vector<data::Image> images = sources();
  PictureRow masks{"mask", "", {}};
  PictureRow mixed{"mixed", "", {}};
  figure.columns.emplace_back("own image");
  masks.pictures.push_back(flat_picture(255));
  mixed.pictures.push_back(images[0]);
  for (FigureMethod method : figure_methods()) {
    if (method.policy.method.info().mixture) continue;
    method.policy.method.set("lam", 0.65);
    method.policy.method.set_if_used("ratio", 0.5);
    data::Image mask;
    mixed.pictures.push_back(mixed_picture(method.policy, images, &mask));
    masks.pictures.push_back(mask);
    figure.columns.emplace_back(method.title);
  }
  figure.columns.emplace_back("partner");
  masks.pictures.push_back(flat_picture(0));
  mixed.pictures.push_back(images[1]);
  figure.rows = {masks, mixed};
  return draw_figure(figure);
}

data::Image two_moons_figure(const std::string& method) {
  constexpr std::int64_t kSteps = 100;
  const theory::TwoMoons task(method);
  return two_moons_figure(method, descend(task, theory::Objective::exact, kSteps),
                          descend(task, theory::Objective::approximate, kSteps));
}

data::Image negative_lam_figure() {
  PictureFigure figure;
  figure.title = "Mixup beyond [0, 1]";
  figure.caption =
      "λ·own + (1-λ)·partner. Outside [0, 1] one picture is subtracted from the other: the "
      "expansion of "
      "the loss holds there too, with (1-λ)² above 1 for negative λ.";
  const std::vector<data::Image> images = sources();
  PictureRow row;
  for (const double lam : {-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5}) {
    figure.columns.push_back(fmt::format("λ = {}", lam));
    row.pictures.push_back(mixed_picture({.method = {"mixup", {{"lam", lam}}}}, images, nullptr));
  }

  figure.rows = {row};
  return draw_figure(figure);
}

std::vector<NamedFigure> theory_figures() {
  std::vector<NamedFigure> figures;
  figures.push_back({"coefficients", coefficient_figure(false)});
  figures.push_back({"effective_coefficients", coefficient_figure(true)});
  figures.push_back({"samples", sample_figure()});
  figures.push_back({"two_moons_mixup", two_moons_figure("mixup")});
  figures.push_back({"two_moons_bernoulli", two_moons_figure("bernoulli")});
  figures.push_back({"negative_lam", negative_lam_figure()});
  return figures;
}

}  // namespace medley::report
