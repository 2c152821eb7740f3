#include "cli/plan_table.h"

#include <type_traits>
#include <variant>

#include <fmt/format.h>

namespace medley::cli {
namespace {

std::string source_text(const Source& source) {
  std::string text = fmt::format("{}", source.index);
  if (source.dy != 0 || source.dx != 0) text += fmt::format(" {:+}{:+}", source.dy, source.dx);
  if (source.flip) text += " flipped";
  return text;
}

std::string pair_line(const MixEntry& entry) {
  const char* resized = entry.resample == Resample::none ? "" : ", partner shrunk into it";
  return fmt::format("{:>12}  {:>12}  {:>8.5f}  {:>12.5f}  {}{}\n", source_text(entry.own),
                     source_text(entry.partner), entry.lam, entry.label_weight,
                     mask_text(entry.mask), resized);
}

std::string terms_line(const MixPlan& plan, const MixEntry& entry) {
  std::string line = fmt::format("{:>12} ", source_text(entry.own));
  for (std::int64_t k = 0; k < entry.term_count; ++k) {
    const MixTerm& term = plan.terms[static_cast<std::size_t>(entry.term_begin + k)];
    line +=
        fmt::format(" {} {:.5f} x {}", k == 0 ? "=" : "+", term.weight, source_text(term.source));
  }
  return line + '\n';
}

}  // namespace

std::string samples_text(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "sample" : "samples");
}

std::string mask_text(const Mask& mask) {
  return std::visit(
      [](const auto& m) -> std::string {
        using Kind = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<Kind, FlatMask>) {
          return fmt::format("flat {:.5g}", m.value);
        } else if constexpr (std::is_same_v<Kind, BoxMask>) {
          return fmt::format("box {}x{} at ({}, {}): {:.5g} inside, {:.5g} outside", m.height,
                             m.width, m.top, m.left, m.inside, m.outside);
        } else if constexpr (std::is_same_v<Kind, GaussianMask>) {
          return fmt::format("gaussian at ({}, {}), tau {:.5g}, peak {}", m.cy, m.cx, m.tau,
                             m.peak == Peak::own ? "own" : "partner");
        } else if constexpr (std::is_same_v<Kind, GridMask>) {
          return fmt::format(
              "grid {}x{}, {}", m.rows, m.columns,
              m.interpolation == GridInterpolation::bilinear ? "bilinear" : "constant");
        } else {
          return std::is_same_v<Kind, OpenMask> ? "open" : "field";
        }
      },
      mask);
}

std::string plan_table(const MixPlan& plan) {
  std::string text = fmt::format("{}: {} of {}x{} (height x width), seed {}, epoch {}\n",
                                 plan.method, samples_text(plan.entries.size()), plan.size.height,
                                 plan.size.width, plan.seed, plan.epoch);
  const bool lists_terms = !plan.entries.empty() && plan.entries.front().term_count > 0;
  text += lists_terms ? fmt::format("{:>12}  weight x source\n", "own")
                      : fmt::format("{:>12}  {:>12}  {:>8}  {:>12}  {}\n", "own", "partner", "lam",
                                    "label_weight", "mask (weight of the own image)");
  for (const MixEntry& entry : plan.entries) {
    text += entry.term_count > 0 ? terms_line(plan, entry) : pair_line(entry);
  }
  return text;
}

}  // namespace medley::cli
