#include <algorithm>

#include "kernels/cpu/masks/grid_weights.h"
#include "kernels/cpu/masks/mask_rows.h"

namespace medley {
namespace {

/// Weights of the terms of a run, in floats, that shall stay in a near cache.
constexpr std::int64_t kRunWeights = 1 << 15;

class MaskedTermRows final : public MaskRows {
 public:
  MaskedTermRows(const CpuCall& call, const SourceRows& sources, Scratch& scratch)
      : MaskRows(call), sources_(sources), columns_(call, scratch) {
    std::int64_t expanded = 0;
    std::int64_t most = 1;
    for (const LoweredEntry& e : call.plan.entries) {
      if (e.masked == 0) continue;
      std::int64_t values = 0;
      for_each_term(e, [&](const LoweredTerm& term) {
        if (term.kind == MaskKind::grid) values += GridRows::values(call, term.grid);
      });
      expanded = std::max(expanded, values);
      most = std::max<std::int64_t>(most, e.term_count);
    }
    expanded_ = scratch.take<float>(expanded);
    grids_ = scratch.take<GridRows>(most);
    images_ = scratch.take<const void*>(most);
    masks_ = scratch.take<const float*>(most);
    // At least a row, at most what a run of one term has.
    weights_ = scratch.take<float>(std::max(kRunWeights, most * call.row));
  }

 protected:
  Region prepare() override {
    std::int32_t k = 0;
    float* memory = expanded_;
    for_each_term(entry(), [&](const LoweredTerm& term) {
      if (term.kind == MaskKind::grid) {
        grids_[k] = GridRows(call_, term.grid);
        grids_[k].expand(columns_, part_->y0, part_->y1, memory);
        memory += GridRows::values(call_, term.grid);
      }
      ++k;
    });
    Region all;
    all.height = call_.height;
    // The sources are those of the terms.
    all.needs_own = all.needs_partner = false;
    all.most_rows = std::max<std::int64_t>(1, kRunWeights / (k * call_.row));
    return all;
  }

  void mix_inside(const Slice& slice, const RowStyle& how, float* out) override {
    const std::int64_t n = slice.rows * call_.row;
    std::int32_t count = 0;
    std::int32_t k = 0;
    for_each_term(entry(), [&](const LoweredTerm& term) {
      float* weights = weights_ + count * n;
      if (write_weights(term, grids_[k++], slice, weights)) {
        masks_[count] = weights;
        images_[count] = rows_of(term.source, slice, count);
        ++count;
      }
    });
    call_.ops.masked_sum(images_, masks_, count, how, out, n);
  }

 private:
  template <typename Visit>
  void for_each_term(const LoweredEntry& e, const Visit& visit) const {
    for (std::int32_t k = 0; k < e.term_count; ++k) {
      visit(call_.plan.terms[static_cast<std::size_t>(e.term_begin + k)]);
    }
  }

  /// False if they are all 0.
  bool write_weights(const LoweredTerm& term, const GridRows& grid, const Slice& slice,
                     float* weights) const {
    const std::int64_t row = call_.row;
    if (term.kind == MaskKind::flat) {
      std::fill_n(weights, slice.rows * row, term.weight);
      return term.weight != 0;
    }
    if (term.kind == MaskKind::field) {
      const float* field =
          call_.plan.fields + term.grid.values + std::int64_t{slice.y} * call_.width;
      if (call_.unit > 1) {
        call_.lines.repeat(field, call_.unit, weights, slice.rows * call_.width);
      } else {
        std::copy_n(field, slice.rows * row, weights);
      }
      return true;
    }
    if (grid.is_zero(slice.y, slice.rows)) return false;
    for (std::int32_t r = 0; r < slice.rows; ++r) {
      float* room = weights + r * row;
      const float* made = grid.row(slice.y + r, room);
      if (made != room) std::copy_n(made, row, room);
    }
    return true;
  }

  [[nodiscard]] const std::byte* rows_of(const LoweredSource& source, const Slice& slice,
                                         std::int32_t room) const {
    return sources_.term(call_.image(source), source, slice.c, slice.y, slice.rows, room);
  }

  const SourceRows& sources_;
  GridColumns columns_;
  float* expanded_;
  GridRows* grids_;
  const void** images_;
  const float** masks_;
  float* weights_;
};

}  // namespace

MaskRows& masked_term_rows(const CpuCall& call, const SourceRows& sources, Scratch& scratch) {
  return scratch.make<MaskedTermRows>(call, sources, scratch);
}

}  // namespace medley
