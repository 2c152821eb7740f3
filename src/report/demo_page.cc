#include "report/demo_page.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/demo_settings.h"
#include "report/html.h"

namespace medley::report {
namespace {

constexpr std::string_view kWithout = "none";

/// "1,000": thousands apart.
std::string grouped(std::int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

bool is_drawn(const DemoTraining& training) { return training.data == "synthetic"; }

const DemoRun* run_without(const DemoTraining& training) {
  const auto run = std::ranges::find(training.runs, kWithout, &DemoRun::method);
  return run == training.runs.end() ? nullptr : &*run;
}

std::string pictures_of(const DemoTraining& training) {
  const char* kind = is_drawn(training)                 ? "drawn pictures"
                     : training.data == "fashion-mnist" ? "photographs of clothes (Fashion-MNIST)"
                                                        : "images";
  return fmt::format("{} {}, {} of each of {} classes", grouped(training.train), kind,
                     training.train / std::max<std::int64_t>(training.classes, 1),
                     training.classes);
}

/// How many of the methods that mix are above training without.
std::string verdict(const DemoTraining& training) {
  const DemoRun* without = run_without(training);
  if (without == nullptr) return "";
  std::int64_t above = 0;
  std::string below;
  for (const DemoRun& run : training.runs) {
    if (run.method == kWithout) continue;
    if (run.test_top1 > without->test_top1) {
      ++above;
    } else {
      below +=
          fmt::format("{}<code>{}</code>", below.empty() ? "" : ", ", html::escaped(run.method));
    }
  }
  const std::int64_t mixed = std::ssize(training.runs) - 1;
  if (below.empty()) {
    return fmt::format("Here each of the {} methods is above training without mixing.", mixed);
  }
  return fmt::format("Here {} of {} methods are above training without mixing; {} not.", above,
                     mixed, below);
}

std::string results_table(const DemoTraining& training) {
  const DemoRun* without = run_without(training);
  std::vector<std::vector<std::string>> rows;
  for (const DemoRun& run : training.runs) {
    const bool compared = without != nullptr && &run != without;
    rows.push_back({fmt::format("<code>{}</code>", html::escaped(run.method)),
                    fmt::format("{:.1f}", run.test_top1),
                    compared ? fmt::format("{:+.1f}", run.test_top1 - without->test_top1) : "",
                    fmt::format("{:.1f}", run.clean_train_top1)});
  }
  return html::table({"method", "test accuracy, %", "against none", "training images, unmixed, %"},
                     rows);
}

std::string accuracy_bars(const DemoTraining& training) {
  std::vector<html::BarGroup> groups;
  for (const DemoRun& run : training.runs) {
    groups.push_back({run.method, {{"train", run.clean_train_top1}, {"test", run.test_top1}}});
  }
  return html::bars(groups, {{"train", "its training images, unmixed, % right"},
                             {"test", "images it has not seen, % right"}});
}

std::string training_section(const DemoTraining& training) {
  if (training.runs.empty()) {
    return html::section("What mixing is for",
                         html::paragraph("The networks are not trained yet: when "
                                         "<code>make demo</code> has ended, their results are "
                                         "here."));
  }
  return html::section(
      "What mixing is for",
      html::paragraph(fmt::format(
          "<code>{}</code>, trained {} epochs on {}, scored on {} others; seed {}, one run a "
          "method. {} Without mixing the network learns its few images by heart; a mixed one sees "
          "each image only together with others.",
          html::escaped(training.model), training.epochs, pictures_of(training),
          grouped(training.test), training.seed, verdict(training))) +
          results_table(training) + accuracy_bars(training) +
          (is_drawn(training)
               ? html::paragraph("The pictures are drawn because Fashion-MNIST is not installed "
                                 "here (package <code>dataset-fashion-mnist</code>).")
               : "") +
          html::paragraph("The setting was chosen to show what mixing is for: few images, many "
                          "epochs. <a href=\"#settings\">With more images or fewer steps it helps "
                          "less, or not at all.</a>"));
}

std::string gallery_section(const DemoPage& page) {
  const DemoComparison& comparison = *page.comparison;
  return html::section(
      "Images that only the mixed network gets right",
      html::paragraph(fmt::format(
          "Of {} test images, {} are right only with <code>{}</code>, and {} only without mixing. "
          "Some of the former, with their class and what the plain network took them for:",
          grouped(comparison.images), grouped(comparison.only_mixed),
          html::escaped(comparison.method), grouped(comparison.only_plain))) +
          html::picture(page.gallery, "Right with mixing, wrong without"));
}

/// The table of results/demo/settings.json; what is below training without mixing is marked.
std::string settings_section() {
  const auto file = nlohmann::json::parse(kDemoSettings);
  std::vector<std::string> head = {"setting"};
  for (const std::string method : file.at("methods")) {
    head.push_back(fmt::format("<code>{}</code>", method));
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& setting : file.at("settings")) {
    const std::vector<double> top1 = setting.at("top1");
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(html::escaped(setting.at("setting").get<std::string>()));
    for (const double value : top1) {
      row.push_back(value < top1.front()
                        ? fmt::format("<span class=\"below\">{:.1f} ↓</span>", value)
                        : fmt::format("{:.1f}", value));
    }
  }
  return "<h2 id=\"settings\">Where mixing helps, and where it does not</h2>\n" +
         html::paragraph(html::escaped(file.at("about").get<std::string>()) +
                         " ↓ is below training without mixing.") +
         html::table(head, rows) +
         html::paragraph(
             "CutMix loses on the drawn pictures in every setting: their objects lie among pieces "
             "of other objects, so a pasted piece looks like the clutter that the task asks to "
             "ignore.");
}

}  // namespace

std::string demo_page(const DemoPage& page) {
  std::string body = html::paragraph(
      "Mixed sample data augmentation: a network is trained on images made of two others, with "
      "labels made of both of theirs.");
  if (!page.contact_sheet.empty()) {
    body += html::section("Every method at five mixing ratios",
                          html::picture(page.contact_sheet,
                                        "Each mixed picture with its mask: white is the own image, "
                                        "black the partner"));
  }
  if (!page.theory.empty()) {
    body += html::section(
        "What a method regularizes",
        html::paragraph("Training on mixed images adds a penalty to the loss: products of the "
                        "network's gradients at two pixels. How strongly two pixels are tied "
                        "depends on the method, and on how far apart they are.") +
            html::picture(page.theory, "Weight of two pixels by their distance, at one λ"));
  }
  body += training_section(page.training);
  if (!page.first_batch.empty()) {
    body += html::section(
        "The first batch, as the network sees it",
        html::picture(page.first_batch, "Mixed images with their labels", html::Height::scrolled));
  }
  if (page.comparison && !page.gallery.empty()) body += gallery_section(page);
  return html::page("Medley: the demo", body + settings_section());
}

}  // namespace medley::report
