#include "report/theory_figures.h"

#include <string>

#include <fmt/format.h>

#include "medley/report/charts.h"

namespace medley::report {
namespace {

constexpr Rgb kBlue = {31, 96, 173};
constexpr Rgb kOrange = {214, 96, 20};

Curve curve_of(const char* name, Rgb color, const std::vector<theory::TrainingStep>& trace,
               double theory::TrainingStep::*loss) {
  Curve curve{name, color, {}};
  for (const theory::TrainingStep& step : trace) {
    curve.points.push_back({static_cast<double>(step.step), step.*loss});
  }
  return curve;
}

LinePanel panel_of(const std::string& title, const std::vector<theory::TrainingStep>& trace) {
  return {title,
          {curve_of("exact mixed loss", kBlue, trace, &theory::TrainingStep::exact),
           curve_of("approximate loss", kOrange, trace, &theory::TrainingStep::approximate)}};
}

}  // namespace

data::Image map_figure(const std::string& title, const std::string& note,
                       const std::vector<double>& map, ImageSize size) {
  HeatMapFigure figure;
  figure.title = "Coefficients by displacement";
  figure.value_label = "mean coefficient";
  figure.caption =
      "Average, over all pairs of pixels that lie (dy, dx) apart, of how often both come from the "
      "partner: the weight that the product of their gradients gets.";
  figure.panels.push_back({title, note, size, map});
  return draw_figure(figure);
}

data::Image two_moons_figure(const std::string& method,
                             const std::vector<theory::TrainingStep>& on_exact,
                             const std::vector<theory::TrainingStep>& on_approximate) {
  LineFigure figure;
  figure.title = fmt::format("Two moons, {}: the mixed loss and its expansion", method);
  figure.x_label = "step of gradient descent";
  figure.y_label = "loss";
  figure.panels.push_back(panel_of("trained on the exact mixed loss", on_exact));
  figure.panels.push_back(panel_of("trained on the approximate loss", on_approximate));
  const theory::TrainingStep& last = on_approximate.back();
  figure.caption = fmt::format(
      "Logistic regression on 100 points, λ uniform, step 1 from 0. The curves agree while the "
      "slopes are small and part as they grow: after {} steps on the approximate loss it is {:.4f} "
      "where the exact mixed loss is {:.4f}.",
      last.step, last.approximate, last.exact);
  return draw_figure(figure);
}

}  // namespace medley::report
