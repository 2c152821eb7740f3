#include "cli/nn/accuracy_curves.h"

#include <array>

#include "medley/report/chart.h"

namespace medley::cli {
namespace {

LinePanel panel_of(const AccuracyPanel& accuracy, std::int64_t first) {
  constexpr std::array<Rgb, 8> kColours = {Rgb{90, 90, 90},   Rgb{31, 96, 176}, Rgb{214, 98, 20},
                                           Rgb{44, 140, 60},  Rgb{190, 40, 60}, Rgb{120, 70, 170},
                                           Rgb{150, 110, 40}, Rgb{20, 150, 160}};
  LinePanel panel{accuracy.title, {}};
  for (const auto& [method, values] : accuracy.methods) {
    Curve curve{method, kColours[panel.curves.size() % kColours.size()], {}};
    for (const auto& [epoch, test_top1] : values) {
      if (epoch >= first) curve.points.push_back({static_cast<double>(epoch), test_top1});
    }
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

}  // namespace

Image draw_accuracy(const std::vector<AccuracyPanel>& panels, const std::string& caption,
                    std::int64_t first) {
  LineFigure figure{"Test accuracy while training", caption, "epoch", "percent", {}, true};
  for (const AccuracyPanel& panel : panels) figure.panels.push_back(panel_of(panel, first));
  return draw_figure(figure);
}

}  // namespace medley::cli
