#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/check.h"
#include "core/rng.h"
#include "medley/plan.h"
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
};

}  // namespace

void validate_mask(const MixPlan& plan, const Mask& mask) {
  std::visit(MaskCheck{plan, std::nullopt}, mask);
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
    if (entry.term_count == 0) continue;
    check.in_range("the number of sources", entry.term_count, 2, 1024);
    check.in_range("the first source", entry.term_begin, 0,
                   std::ssize(plan.terms) - entry.term_count);
    for (std::int32_t k = 0; k < entry.term_count; ++k) {
      const MixTerm& term = plan.terms[static_cast<std::size_t>(entry.term_begin + k)];
      check.source(term.source);
      check.finite("a weight", term.weight);
    }
  }
}

}  // namespace medley
