#include "python/timm_boxes.h"

#include <algorithm>
#include <cstdint>
#include <variant>

#include <pybind11/stl.h>

#include "medley/error.h"
#include "medley/random.h"
#include "plan/box.h"
#include "plan/enums.h"

namespace medley::python {
namespace {

struct Interval {
  std::int32_t begin;
  std::int32_t length;
};

std::int32_t draw(RandomStream& random, std::int32_t count) noexcept {
  return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(count)));
}

Interval around_center(RandomStream& random, std::int32_t n, std::int32_t side) noexcept {
  const std::int32_t center = draw(random, n);
  const std::int32_t begin = std::max(center - side / 2, 0);
  return {begin, std::min(center + (side + 1) / 2, n) - begin};
}

std::int32_t draw_side(RandomStream& random, std::int32_t n,
                       const std::pair<double, double>& shares) noexcept {
  if (n == 1) return 1;
  const auto least = static_cast<std::int32_t>(n * shares.first);
  const auto end = std::max(static_cast<std::int32_t>(n * shares.second), least + 1);
  return least + draw(random, end - least);
}

std::int32_t draw_begin(RandomStream& random, std::int32_t n, std::int32_t side,
                        bool border) noexcept {
  return draw(random, std::max(n - side + (border ? 1 : 0), 1));
}

BoxMask draw_timm_box(RandomStream& random, ImageSize size, double lam, const TimmBoxes& rule) {
  BoxMask box{.inside = 0, .outside = 1};
  if (rule.minmax) {
    box.height = draw_side(random, size.height, *rule.minmax);
    box.width = draw_side(random, size.width, *rule.minmax);
    box.top = draw_begin(random, size.height, box.height, rule.current);
    box.left = draw_begin(random, size.width, box.width, rule.current);
    return box;
  }
  const Interval rows = around_center(random, size.height, box_side(size.height, 1 - lam));
  const Interval columns = around_center(random, size.width, box_side(size.width, 1 - lam));
  box.top = rows.begin;
  box.height = rows.length;
  box.left = columns.begin;
  box.width = columns.length;
  return box;
}

Mode parse_mode(const std::string& word) {
  const auto* const found = std::ranges::find(kModes, word);
  if (found == kModes.end()) throw InvalidArgument("mode must be sample, batch or pair");
  return static_cast<Mode>(found - kModes.begin());
}

std::int64_t first_of_unit(Mode mode, std::int64_t position, std::int64_t count) noexcept {
  if (mode == Mode::batch) return 0;
  return mode == Mode::pair ? std::min(position, count - 1 - position) : position;
}

}  // namespace

std::shared_ptr<Plan> timm_boxes(const Plan& plan, const TimmBoxes& rule) {
  MixPlan result = plan.plan();
  const auto count = std::ssize(result.entries);
  for (std::int64_t i = 0; i < count; ++i) {
    MixEntry& entry = result.entries[static_cast<std::size_t>(i)];
    if (!std::holds_alternative<BoxMask>(entry.mask) || (result.size.one_row() && !rule.minmax))
      continue;
    const std::int64_t unit = result.first + first_of_unit(rule.mode, i, count);
    RandomStream random(result.seed, result.epoch, static_cast<std::uint64_t>(unit), Purpose::mask);
    const BoxMask box = draw_timm_box(random, result.size, entry.lam, rule);
    const double realized = box_mean(box, result.size);
    entry.mask = box;
    if (rule.minmax) entry.lam = realized;
    if (rule.correct || rule.minmax) entry.label_weight = realized;
  }
  return std::make_shared<Plan>(std::move(result));
}

void bind_timm_boxes(py::module_& module) {
  module.def(
      "timm_boxes",
      [](const Plan& plan, const std::string& mode, bool current, bool correct,
         std::optional<std::pair<double, double>> minmax) {
        const py::gil_scoped_release release;
        return timm_boxes(plan, {parse_mode(mode), current, correct, minmax});
      },
      py::arg("plan"), py::arg("mode"), py::arg("current"), py::arg("correct"),
      py::arg("minmax") = py::none(), "The plan with boxes as timm draws them.");
}

}  // namespace medley::python
