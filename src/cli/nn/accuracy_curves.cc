#include "cli/nn/accuracy_curves.h"

#include <array>

#include "medley/report/charts.h"

namespace medley::cli {
namespace {

report::LinePanel panel_of(const AccuracyPanel& accuracy, std::int64_t first) {
  constexpr std::array<report::Rgb, 8> kColors = {
      report::Rgb{90, 90, 90},   report::Rgb{31, 96, 176}, report::Rgb{214, 98, 20},
      report::Rgb{44, 140, 60},  report::Rgb{190, 40, 60}, report::Rgb{120, 70, 170},
      report::Rgb{150, 110, 40}, report::Rgb{20, 150, 160}};
  report::LinePanel panel{accuracy.title, {}};
  for (const auto& [method, values] : accuracy.methods) {
    report::Curve curve{method, kColors[panel.curves.size() % kColors.size()], {}};
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
  for (const AccuracyPanel& panel : panels) figure.panels.push_back(panel_of(panel, first));
  return report::draw_figure(figure);
}

}  // namespace medley::cli
