#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/plan.h"
#include "medley/random.h"
#include "plan/check_policy.h"
#include "plan/enums.h"
#include "plan/validate_mask.h"

namespace medley {
namespace {

constexpr std::int32_t kMaxShift = 1 << 20;

struct MaskCheck {
  const MixPlan& plan;
  std::optional<std::size_t> entry;

  [[noreturn]] void fail(const std::string& reason) const {
    if (!entry) fail_argument(fmt::format("the entry does not fit the plan: {}", reason));
    fail_argument(fmt::format("entry {} of the plan: {}", *entry, reason));
  }
  void finite(const char* name, double value) const {
    if (!std::isfinite(value)) fail(fmt::format("{} must be finite, got {}", name, value));
  }
  void in_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) const {
    if (value < low || value > high) {
      fail(fmt::format("{} must be in [{}, {}], got {}", name, low, high, value));
    }
  }
  void source(const Source& s) const {
    in_range("a source index", s.index, 0, static_cast<std::int64_t>(kMaxOrdinal));
    in_range("dy", s.dy, -kMaxShift, kMaxShift);
    in_range("dx", s.dx, -kMaxShift, kMaxShift);
    in_range("a source's tiles", s.tiles, -1, std::ssize(plan.tile_maps) - 1);
  }

  void operator()(const FlatMask& m) const { finite("the mask value", m.value); }
  void operator()(const BoxMask& m) const {
    in_range("the box's top", m.top, 0, plan.size.height);
    in_range("the box's left", m.left, 0, plan.size.width);
    in_range("the box's height", m.height, 0, plan.size.height);
    in_range("the box's width", m.width, 0, plan.size.width);
    finite("the inside value", m.inside);
    finite("the outside value", m.outside);
  }
  void operator()(const GaussianMask& m) const {
    in_range("cy", m.cy, 0, plan.size.height - 1);
    in_range("cx", m.cx, 0, plan.size.width - 1);
    finite("tau", m.tau);
    if (!(m.tau > 0)) fail(fmt::format("tau must be > 0, got {}", m.tau));
    require_enumerator("peak", kPeaks, m.peak);
  }
  void operator()(const FieldMask& m) const {
    in_range("the field's offset", m.offset, 0, std::ssize(plan.fields) - plan.size.pixels());
  }
  void operator()(const GridMask& m) const {
    in_range("the grid's rows", m.rows, 1, plan.size.height);
    in_range("the grid's columns", m.columns, 1, plan.size.width);
    in_range("the grid's offset", m.offset, 0,
             std::ssize(plan.fields) - std::int64_t{m.rows} * m.columns);
    require_enumerator("interpolation", kGridInterpolations, m.interpolation);
  }
  void operator()(const OpenMask& /*m*/) const {}
  void operator()(std::monostate /*m*/) const {}
};

void validate_tiles(const MixPlan& plan, std::size_t i) {
  const TileMap& map = plan.tile_maps[i];
  const auto [height, width] = plan.size;
  if (map.rows < 1 || map.columns < 1 || height % map.rows != 0 || width % map.columns != 0) {
    fail_argument(
        fmt::format("tile map {} of the plan must cut outputs of {}x{} into tiles of one size, got "
                    "{}x{} tiles",
                    i, height, width, map.rows, map.columns));
  }
  const std::int64_t count = std::int64_t{map.rows} * map.columns;
  if (std::ssize(map.tiles) != count) {
    fail_argument(fmt::format("tile map {} of the plan must have {} tiles for {}x{}, got {}", i,
                              count, map.rows, map.columns, map.tiles.size()));
  }
  for (const std::int32_t tile : map.tiles) {
    if (tile >= 0 && tile < count) continue;
    fail_argument(
        fmt::format("tiles of tile map {} of the plan must be in [0, {}), got {}", i, count, tile));
  }
}

}  // namespace

void validate_mask(const MixPlan& plan, const Mask& mask) {
  std::visit(MaskCheck{plan, std::nullopt}, mask);
}

void validate_mask(const MixPlan& plan, const TermMask& mask) {
  std::visit(MaskCheck{plan, std::nullopt}, mask);
}

void fail_open(std::optional<std::size_t> b) {
  constexpr const char* kSolve = "is open: its mask is still to be decided; solve the plan first";
  if (!b) fail_argument(fmt::format("the entry {}", kSolve));
  fail_argument(fmt::format("entry {} of the plan {}", *b, kSolve));
}

void require_solved(const MixPlan& plan) {
  for (std::size_t i = 0; i < plan.entries.size(); ++i) {
    if (std::holds_alternative<OpenMask>(plan.entries[i].mask)) fail_open(i);
  }
}

bool is_open(const MixPlan& plan) {
  return std::ranges::any_of(plan.entries, [](const MixEntry& entry) {
    return std::holds_alternative<OpenMask>(entry.mask);
  });
}

void validate(const MixPlan& plan) {
  if (plan.size.height < 1 || plan.size.width < 1 || plan.size.height > kMaxSide ||
      plan.size.width > kMaxSide) {
    fail_argument(fmt::format("height and width of a plan must be in [1, {}], got {}x{}", kMaxSide,
                              plan.size.height, plan.size.width));
  }
  if (plan.draws < 1) {
    fail_argument(fmt::format("draws of a plan must be >= 1, got {}", plan.draws));
  }
  if (plan.first < 0 || plan.base < 0) {
    fail_argument(
        fmt::format("first and base of a plan must be >= 0, got {} and {}", plan.first, plan.base));
  }
  for (std::size_t i = 0; i < plan.tile_maps.size(); ++i) validate_tiles(plan, i);
  for (std::size_t i = 0; i < plan.entries.size(); ++i) {
    const MixEntry& entry = plan.entries[i];
    const MaskCheck check{plan, i};
    check.source(entry.own);
    check.source(entry.partner);
    check.finite("lam", entry.lam);
    check.finite("label_weight", entry.label_weight);
    std::visit(check, entry.mask);
    require_enumerator("resample", kResamples, entry.resample);
    if (entry.resample != Resample::none && !std::holds_alternative<BoxMask>(entry.mask)) {
      check.fail("a resampled partner needs a box mask");
    }
    if (entry.resample != Resample::none && entry.partner.tiles >= 0) {
      check.fail("the tiles of a resampled partner cannot be moved");
    }
    if (entry.term_count == 0) continue;
    check.in_range("the number of sources", entry.term_count, 2, 1024);
    check.in_range("the first source", entry.term_begin, 0,
                   std::ssize(plan.terms) - entry.term_count);
    for (std::int32_t k = 0; k < entry.term_count; ++k) {
      const MixTerm& term = plan.terms[static_cast<std::size_t>(entry.term_begin + k)];
      check.source(term.source);
      check.finite("a weight", term.weight);
      std::visit(check, term.mask);
    }
  }
}

}  // namespace medley
