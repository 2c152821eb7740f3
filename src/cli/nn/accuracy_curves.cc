#include "cli/nn/accuracy_curves.h"

#include <algorithm>
#include <array>

#include "medley/report/charts.h"

namespace medley::cli {
namespace {

/// The methods of all charts, so that one has the same color in each.
std::vector<std::string> methods_of(const std::vector<AccuracyPanel>& panels) {
  std::vector<std::string> all;
  for (const AccuracyPanel& panel : panels) {
    for (const auto& [method, values] : panel.methods) {
      if (std::ranges::find(all, method) == all.end()) all.push_back(method);
    }
  }
  return all;
}

report::LinePanel panel_of(const AccuracyPanel& accuracy, const std::vector<std::string>& methods,
                           std::int64_t first) {
  constexpr std::array<report::Rgb, 8> kColors = {
      report::Rgb{90, 90, 90},   report::Rgb{31, 96, 176}, report::Rgb{214, 98, 20},
      report::Rgb{44, 140, 60},  report::Rgb{190, 40, 60}, report::Rgb{120, 70, 170},
      report::Rgb{150, 110, 40}, report::Rgb{20, 150, 160}};
  report::LinePanel panel{accuracy.title, {}};
  for (const auto& [method, values] : accuracy.methods) {
    const auto i = static_cast<std::size_t>(std::ranges::find(methods, method) - methods.begin());
    report::Curve curve{method, kColors[i % kColors.size()], {}};
    for (const auto& [epoch, test_top1] : values) {
      if (epoch >= first) curve.points.push_back({static_cast<double>(epoch), test_top1});
    }
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

}  // namespace

data::Image draw_accuracy(const std::vector<AccuracyPanel>& panels, const std::string& caption,
                          std::int64_t first) {
  report::LineFigure figure{"Test accuracy while training", caption, "epoch", "percent", {}, true};
  const std::vector<std::string> methods = methods_of(panels);
  for (const AccuracyPanel& panel : panels) {
    figure.panels.push_back(panel_of(panel, methods, first));
  }
  return report::draw_figure(figure);
}

}  // namespace medley::cli
