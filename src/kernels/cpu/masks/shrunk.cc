#include <algorithm>

#include "kernels/cpu/masks/mask_rows.h"
#include "kernels/cpu/shrink.h"

namespace medley {
namespace {

/// Rows of an output with a shrunk partner are mixed together, this many.
constexpr std::int64_t kRowsTogether = 4;

Shrinker::Channels channels_of(const CpuCall& call) {
  if (!call.in_nhwc || call.channels == 1) return Shrinker::Channels::one;
  return call.out_nhwc ? Shrinker::Channels::interleaved : Shrinker::Channels::planes;
}

class ShrunkRows final : public MaskRows {
 public:
  ShrunkRows(const CpuCall& call, Scratch& scratch)
      : MaskRows(call),
        by_plane_(call.in_nhwc && !call.out_nhwc),
        shrinker_(call.job, call.lines, call.windows, call.plan.size, channels_of(call), scratch),
        shrunk_(scratch.take<float>(call.row)),
        own_(scratch.take<float>(call.row)) {}

  /// Pasted rows of whole lines only.
  [[nodiscard]] bool streams(bool inside) const override {
    if (pastes_rows_ || (inside && shrinker_.pastes())) return call_.whole_lines;
    return !inside;
  }

  /// While a channel is mixed, what the next one reads of its partner is asked for.
  void start_channel(std::int32_t c) override {
    looks_ahead_ = !call_.in_nhwc;
    if (!looks_ahead_) return;
    const bool last = c + 1 == call_.channels;
    const LoweredEntry* later = last ? part_->next : &entry();
    if (later == nullptr) return shrinker_.look_nowhere();
    // Along a chain every partner becomes the image itself.
    const bool chained = part_->next != nullptr && part_->next->own.image == entry().partner.image;
    shrinker_.look_ahead(*later, call_.image(later->partner), last ? 0 : c + 1, chained);
  }
  void start_rows(std::int32_t y, std::int32_t rows) override {
    if (looks_ahead_ && !pastes_rows_) shrinker_.touch(y, rows);
  }

 protected:
  Region prepare() override {
    const LoweredEntry& e = entry();
    looks_ahead_ = false;
    shrinker_.start(e, part_->partner, part_->y0, part_->y1);
    pastes_rows_ = part_->contiguous && shrinker_.pastes_rows();
    Region box;
    box.top = e.top;
    box.height = e.height;
    box.outside = e.outside;
    const bool shows_outside = e.width < call_.width;
    box.needs_own = (shows_outside && e.outside.own != 0) || e.inside.own != 0;
    box.needs_partner = shows_outside && e.outside.partner != 0;
    if (!pastes_rows_) box.most_rows = by_plane_ ? 1 : kRowsTogether;
    if (call_.job.streaming && !streams(true)) {
      box.most_rows = std::min(box.most_rows, call_.group);
    }
    return box;
  }

  void mix_outside(const Slice& slice, const RowStyle& how, float* out) override {
    if (pastes_rows_) return mix_inside(slice, how, out);
    MaskRows::mix_outside(slice, how, out);
  }

  void mix_inside(const Slice& slice, const RowStyle& how, float* out) override {
    if (pastes_rows_) {
      return shrinker_.paste_rows(slice.c, slice.y, static_cast<std::int32_t>(slice.rows),
                                  slice.own, how, out);
    }
    const std::int64_t row_bytes = call_.row * call_.in_size;
    for (std::int32_t r = 0; r < slice.rows; ++r) {
      // From nhwc to nchw the row of all channels is there after the first.
      if (!by_plane_ || slice.c == 0) shrinker_.make_row(slice.c, slice.y + r);
      const std::byte* own = slice.own + r * row_bytes;
      float* to = out + r * call_.row;
      if (shrinker_.pastes()) {
        shrinker_.paste(slice.c, own, how, to, call_.row);
      } else {
        mix_row(slice.c, own, slice.partner + r * row_bytes, how, to);
      }
    }
  }

 private:
  /// A row of a box that does not paste.
  void mix_row(std::int32_t c, const std::byte* own, const std::byte* partner,
               const RowStyle& row_style, float* out) {
    const LoweredEntry& e = entry();
    const auto style_from = [&](std::int64_t begin) {
      RowStyle how = row_style;
      how.affine = row_style.affine.from(begin);
      return how;
    };
    const auto outside = [&](std::int64_t begin, std::int64_t end) {
      mix_flat(e.outside, own + begin * call_.in_size, partner + begin * call_.in_size,
               style_from(begin), out + begin, end - begin);
    };
    const auto inside = [&](std::int64_t begin, std::int64_t end, bool wrapped) {
      const std::int64_t n = end - begin;
      const RowStyle how = style_from(begin);
      const std::byte* a = own + begin * call_.in_size;
      if (e.inside.partner == 0) return call_.ops.convert(a, how, out + begin, n);
      shrinker_.write(c, wrapped, n / call_.unit, shrunk_);
      if (e.inside.own == 0) return call_.f32_ops.convert(shrunk_, how, out + begin, n);
      call_.ops.convert(a, {}, own_, n);
      call_.f32_ops.blend_flat(own_, shrunk_, e.inside, how, out + begin, n);
    };
    const std::int64_t left = e.left * call_.unit;
    const std::int64_t right = left + e.width * call_.unit;
    if (right <= call_.row) {
      outside(0, left);
      inside(left, right, false);
      outside(right, call_.row);
    } else {
      inside(0, right - call_.row, true);
      outside(right - call_.row, left);
      inside(left, call_.row, false);
    }
  }

  bool by_plane_;  // from nhwc to nchw
  Shrinker shrinker_;
  bool pastes_rows_ = false;  // into rows of the image, many at a time
  bool looks_ahead_ = false;
  float* shrunk_;
  float* own_;
};

}  // namespace

MaskRows& shrunk_rows(const CpuCall& call, Scratch& scratch) {
  return scratch.make<ShrunkRows>(call, scratch);
}

}  // namespace medley
