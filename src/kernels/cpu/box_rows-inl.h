// Rows with a box: which image has which weight changes at its edges. Included once per target.

#if defined(MEDLEY_KERNELS_CPU_BOX_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MEDLEY_KERNELS_CPU_BOX_ROWS_INL_H_
#undef MEDLEY_KERNELS_CPU_BOX_ROWS_INL_H_
#else
#define MEDLEY_KERNELS_CPU_BOX_ROWS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstdint>

#include <hwy/highway.h>

#include "kernels/cpu/row_loops-inl.h"
#include "kernels/cpu/sources-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

using FloatMask = hn::Mask<Floats>;

template <typename In>
HWY_INLINE Float weighted(const In* a, const In* b, Weights weights) {
  if (weights.partner == 0) return load_floats(a);
  if (weights.own == 0) return load_floats(b);
  return weighted_sum(a, b, weights);
}

/// Any vector of the rows, wherever edges are in it.
template <typename In>
struct BoxSource {
  using Input = In;
  const In* a;
  const In* b;
  const BoxRows& box;

  HWY_INLINE bool in_box(std::int64_t row) const {
    const std::int64_t y = row % box.height;
    return y >= box.top && y < box.bottom;
  }
  /// Which lanes are in the box, of the vector from column x of a row on. It may begin in the row
  /// before and end in the row after; the flags say which of the three rows are in the box.
  HWY_INLINE FloatMask lanes_in_box(std::int64_t x, bool before, bool here, bool after) const {
    const Floats d;
    const hn::RebindToSigned<Floats> di;
    const auto column = hn::Add(hn::Iota(di, 0), hn::Set(di, static_cast<std::int32_t>(x)));
    const auto between = [&](std::int64_t shift) HWY_ATTR {
      const auto begin = hn::Set(di, static_cast<std::int32_t>(box.begin + shift));
      const auto end = hn::Set(di, static_cast<std::int32_t>(box.end + shift));
      return hn::AndNot(hn::Lt(column, begin), hn::Lt(column, end));
    };
    auto lanes = hn::MaskFromVec(hn::Zero(di));
    if (here) lanes = between(0);
    if (before && x < 0) lanes = hn::Or(lanes, between(-box.n));
    if (after && x + vector_values() > box.n) lanes = hn::Or(lanes, between(box.n));
    return hn::RebindMask(d, lanes);
  }
  HWY_INLINE Float chosen(std::int64_t i, FloatMask lanes) const {
    return hn::IfThenElse(lanes, weighted(a + i, b + i, box.inside),
                          weighted(a + i, b + i, box.outside));
  }
  /// For the ends of runs only: a call costs less than the many places where it would stand.
  HWY_NOINLINE Float at(std::int64_t i) const {
    const std::int64_t row = i / box.n;
    const std::int64_t x = i - row * box.n;
    return chosen(
        i, lanes_in_box(x, false, in_box(row), x + vector_values() > box.n && in_box(row + 1)));
  }
  /// A row of fewer values than a vector has.
  HWY_INLINE Float tail(std::int64_t row) const {
    const TailBuffer<In> own(a + row * box.n, box.n);
    const TailBuffer<In> partner(b + row * box.n, box.n);
    const BoxSource padded{own.values, partner.values, box};
    return padded.chosen(0, lanes_in_box(0, false, in_box(row), false));
  }
};

/// What a vector takes from each image, for lanes in and out of a box: rows so narrow that there is
/// no room for a loop between two edges compute both and choose.
template <typename In>
struct CopyBoth {
  const In* in;
  const In* out;
  HWY_INLINE Float at(std::int64_t i, FloatMask lanes) const {
    return hn::IfThenElse(lanes, load_floats(in + i), load_floats(out + i));
  }
};
template <typename In>
struct CopyOne {  // in the box, or out of it
  const In* copied;
  const In* a;
  const In* b;
  Weights weights;
  bool copies_inside;
  HWY_INLINE Float at(std::int64_t i, FloatMask lanes) const {
    const Float copy = load_floats(copied + i);
    const Float sum = weighted_sum(a + i, b + i, weights);
    return copies_inside ? hn::IfThenElse(lanes, copy, sum) : hn::IfThenElse(lanes, sum, copy);
  }
};
template <typename In>
struct BlendBoth {
  const In* a;
  const In* b;
  Weights inside;
  Weights outside;
  HWY_INLINE Float at(std::int64_t i, FloatMask lanes) const {
    const Floats d;
    const Float own = hn::IfThenElse(lanes, hn::Set(d, inside.own), hn::Set(d, outside.own));
    const Float partner =
        hn::IfThenElse(lanes, hn::Set(d, inside.partner), hn::Set(d, outside.partner));
    return hn::Add(hn::Mul(load_floats(a + i), own), hn::Mul(load_floats(b + i), partner));
  }
};

/// Mixes rows with a box from front to back, a stretch between two edges at a time.
template <typename In, bool kStream, typename To>
class BoxWalk {
 public:
  HWY_INLINE BoxWalk(const BoxSource<In>& source, const RowStyle& style, const To& sink,
                     const Cut& cut)
      : source_(source),
        box_(source.box),
        style_(style),
        sink_(sink),
        full_height_(box_.top == 0 && box_.bottom == box_.height),
        at_(cut.head),
        end_(cut.body) {}

  HWY_INLINE void walk(std::int64_t rows) {
    const std::int64_t lanes = vector_values();
    [[maybe_unused]] const bool narrow = box_.n % lanes == 0 && box_.n / lanes <= kNarrowVectors;
    for (std::int64_t plane = 0; plane < rows; plane += box_.height) {
      top_ = plane + box_.top;
      bottom_ = plane + box_.bottom;
      if constexpr (kOwnLoops<In>) {
        if (narrow) {
          walk_narrow();
          continue;
        }
      }
      for (std::int64_t row = top_; row < bottom_; ++row) {
        go_to(row * box_.n + box_.begin, row, box_.outside);
        go_to(row * box_.n + box_.end, row, box_.inside);
      }
    }
    stretch(end_, box_.outside);
  }

 private:
  /// Up to an edge in `row`, and past the vector that it cuts.
  HWY_INLINE void go_to(std::int64_t edge, std::int64_t row, Weights weights) {
    if (edge <= at_) return;
    const std::int64_t lanes = vector_values();
    stretch(std::min(at_ + (edge - at_) / lanes * lanes, end_), weights);
    if (at_ < edge && at_ < end_) put_edge(row);
  }

  /// A vector with values of `row`, which is in the box, and maybe of its neighbors.
  HWY_INLINE void put_edge(std::int64_t row) {
    if (style_.ahead != 0) {
      prefetch(source_.a + at_, style_.ahead);
      prefetch(source_.b + at_, style_.ahead);
      if (style_.far != 0) {
        prefetch_far(source_.a + at_, style_.far);
        prefetch_far(source_.b + at_, style_.far);
      }
    }
    const FloatMask lanes = source_.lanes_in_box(at_ - row * box_.n, row > top_ || full_height_,
                                                 true, row + 1 < bottom_ || full_height_);
    sink_.template put<kStream>(source_.chosen(at_, lanes), at_);
    at_ += vector_values();
  }

  /// Whole vectors, without an edge.
  HWY_INLINE void stretch(std::int64_t end, Weights weights) {
    if (at_ >= end) return;
    if (weights.own != 0 && weights.partner != 0) {
      vector_loop<kStream>(FlatSource<In>{source_.a, source_.b, weights, style_.ahead}, sink_, at_,
                           end);
    } else {
      const In* from = weights.partner == 0 ? source_.a : source_.b;
      if (!is_output(from)) {
        vector_loop<kStream>(StretchSource<In>{{from, style_.ahead}, style_.far}, sink_, at_, end);
      }
    }
    at_ = end;
  }

  /// Whether the image is already where it goes.
  HWY_INLINE bool is_output(const In* from) const {
    return static_cast<const void*>(from) == sink_.out && sink_.affine.scale == nullptr;
  }

  /// Vectors begin at the same columns of every row; the last one of a row may end in the next.
  HWY_INLINE void walk_narrow() {
    if (box_.begin == box_.end) return;
    const std::int64_t lanes = vector_values();
    const std::int64_t shift = at_ % lanes;
    const std::int64_t first = top_ * box_.n;
    stretch(std::min(shift > 0 ? first + shift - lanes : first, end_), box_.outside);
    if (at_ < std::min(first, end_)) put_edge(top_);
    narrow_rows(shift > 0 ? bottom_ - 1 : bottom_);
    while (at_ < std::min(bottom_ * box_.n, end_)) put_edge(bottom_ - 1);
  }

  HWY_INLINE void narrow_rows(std::int64_t bottom) {
    const Weights in = box_.inside;
    const Weights out = box_.outside;
    const bool copies_in = in.own == 0 || in.partner == 0;
    const bool copies_out = out.own == 0 || out.partner == 0;
    const In* copied_in = in.partner == 0 ? source_.a : source_.b;
    const In* copied_out = out.partner == 0 ? source_.a : source_.b;
    if (copies_in && copies_out) {
      choose_rows(CopyBoth<In>{copied_in, copied_out}, bottom);
    } else if (copies_in || copies_out) {
      choose_rows(CopyOne<In>{copies_in ? copied_in : copied_out, source_.a, source_.b,
                              copies_in ? out : in, copies_in},
                  bottom);
    } else {
      choose_rows(BlendBoth<In>{source_.a, source_.b, in, out}, bottom);
    }
  }

  /// Rows up to `bottom`, all in the box, from the first vector that begins in a row on.
  template <typename Chooser>
  HWY_INLINE void choose_rows(const Chooser& chooser, std::int64_t bottom) {
    const std::int64_t lanes = vector_values();
    const std::int64_t count = box_.n / lanes;
    const std::int64_t rows_end = std::min(bottom * box_.n + at_ % lanes, end_);
    if (at_ + box_.n > rows_end) return;
    const std::int64_t row = at_ / box_.n;
    FloatMask masks[kNarrowVectors];
    for (std::int64_t k = 0; k < count; ++k) {
      masks[k] = source_.lanes_in_box(at_ + k * lanes - row * box_.n, false, true, true);
    }
    for (; at_ + box_.n <= rows_end; at_ += box_.n) {
      if (style_.ahead != 0) {
        for (std::int64_t i = 0; i < box_.n; i += kLineValues<In>) {
          prefetch(source_.a + at_ + i, style_.ahead);
          prefetch(source_.b + at_ + i, style_.ahead);
        }
      }
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t i = at_ + k * lanes;
        sink_.template put<kStream>(chooser.at(i, masks[k]), i);
      }
    }
  }

  const BoxSource<In>& source_;
  const BoxRows& box_;
  const RowStyle& style_;
  const To& sink_;
  bool full_height_;  // the rows before and after a plane are in the box of their planes
  std::int64_t at_;
  std::int64_t end_;
  std::int64_t top_ = 0;  // rows of the box in a plane
  std::int64_t bottom_ = 0;
};

template <typename In>
struct BoxJob {
  BoxSource<In> source;
  const RowStyle& style;
  std::int64_t rows;

  template <bool kStream, typename To>
  HWY_INLINE void run(const To& sink) const {
    const BoxRows& box = source.box;
    const std::int64_t n = rows * box.n;
    const Cut cut = cut_run<kStream>(sink.out, n);
    const RunEnds<kStream, BoxSource<In>, To> ends(source, sink, cut, n);
    BoxWalk<In, kStream, To>(source, style, sink, cut).walk(rows);
    ends.store();
  }
};

}  // namespace
}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MEDLEY_KERNELS_CPU_BOX_ROWS_INL_H_
