#include "kernels/lower.h"

#include <limits>
#include <variant>

#include <fmt/format.h>

#include "core/check.h"
#include "plan/validate_mask.h"

namespace medley {
namespace {

Weights weights_of(double own) noexcept {
  return {static_cast<float>(own), static_cast<float>(1 - own)};
}

struct LowerMask {
  LoweredEntry& e;
  ImageSize size;
  std::size_t number;

  void operator()(const FlatMask& m) const {
    e.kind = MaskKind::flat;
    e.outside = weights_of(m.value);
  }
  void operator()(const BoxMask& m) const {
    e.kind = MaskKind::box;
    // A box may start one past the end if it is empty.
    e.top = m.top % size.height;
    e.left = m.left % size.width;
    e.height = m.width > 0 ? m.height : 0;
    e.width = m.height > 0 ? m.width : 0;
    e.inside = weights_of(m.inside);
    e.outside = weights_of(m.outside);
  }
  void operator()(const GaussianMask& m) const {
    e.kind = MaskKind::gaussian;
    e.top = m.cy;
    e.left = m.cx;
    e.peak_own = m.peak == Peak::own ? 1 : 0;
    e.gaussian_scale = gaussian_scale(m.tau, static_cast<double>(size.pixels()));
  }
  void operator()(const FieldMask& m) const {
    e.kind = MaskKind::field;
    e.field = m.offset;
  }
  void operator()(const GridMask& m) const {
    e.kind = MaskKind::grid;
    e.field = m.offset;
    e.top = m.interpolation == GridInterpolation::bilinear ? 1 : 0;
    e.height = m.rows;
    e.width = m.columns;
  }
  void operator()(const OpenMask& /*m*/) const { fail_open(number); }
};

struct LowerTermMask {
  LoweredTerm& term;

  void operator()(std::monostate /*m*/) const {}
  void operator()(const FieldMask& m) const {
    term.kind = MaskKind::field;
    term.grid.values = m.offset;
  }
  void operator()(const GridMask& m) const {
    term.kind = MaskKind::grid;
    term.grid = {m.offset, m.rows, m.columns,
                 m.interpolation == GridInterpolation::bilinear ? 1 : 0};
  }
};

/// `begins`: where each map begins among the lowered ones.
void lower_tiles(const MixPlan& plan, std::vector<std::int32_t>& tiles,
                 std::vector<std::int32_t>& begins) {
  tiles.clear();
  begins.clear();
  for (const TileMap& map : plan.tile_maps) {
    constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
    if (map.tiles.size() > kMost - kTilesHead - tiles.size()) {
      fail_argument("the tile maps of a plan must have fewer than 2^31 tiles in all");
    }
    begins.push_back(static_cast<std::int32_t>(tiles.size()));
    tiles.insert(tiles.end(),
                 {plan.size.height / map.rows, plan.size.width / map.columns, map.columns});
    for (const std::int32_t tile : map.tiles) {
      tiles.push_back(tile / map.columns << 16 | tile % map.columns);
    }
  }
}

}  // namespace

LoweredPlan lower(const MixPlan& plan, std::int64_t images) {
  LoweredPlan lowered;
  lower(plan, images, lowered);
  return lowered;
}

void lower(const MixPlan& plan, std::int64_t images, LoweredPlan& lowered) {
  lower_tiles(plan, lowered.tiles, lowered.tile_begins);
  // Written where it stays: copying what was written a moment ago stalls.
  const auto lower_source = [&](const Source& source, std::size_t entry, LoweredSource& to) {
    const std::int64_t image = source.index - plan.base;
    if (image < 0 || image >= images) {
      fail_argument(fmt::format("entry {} of the plan uses image {}, but the input has {} images",
                                entry, image, images));
    }
    to.image = image;
    to.dy = source.dy;
    to.dx = source.dx;
    to.flip = source.flip ? 1 : 0;
    if (source.tiles >= 0) to.tiles = lowered.tile_begins[static_cast<std::size_t>(source.tiles)];
  };
  lowered.size = plan.size;
  lowered.fields = plan.fields.data();
  lowered.entries.assign(plan.entries.size(), LoweredEntry{});
  lowered.terms.assign(plan.terms.size(), LoweredTerm{});
  for (std::size_t i = 0; i < plan.entries.size(); ++i) {
    const MixEntry& entry = plan.entries[i];
    LoweredEntry& e = lowered.entries[i];
    lower_source(entry.own, i, e.own);
    lower_source(entry.partner, i, e.partner);
    e.resample = entry.resample;
    std::visit(LowerMask{e, plan.size, i}, entry.mask);
    e.term_begin = entry.term_begin;
    e.term_count = entry.term_count;
    for (std::int32_t k = 0; k < entry.term_count; ++k) {
      const auto at = static_cast<std::size_t>(entry.term_begin + k);
      lower_source(plan.terms[at].source, i, lowered.terms[at].source);
      LoweredTerm& term = lowered.terms[at];
      term.weight = static_cast<float>(plan.terms[at].weight);
      std::visit(LowerTermMask{term}, plan.terms[at].mask);
      if (term.kind != MaskKind::flat) e.masked = 1;
    }
  }
}

}  // namespace medley
