// Rows of a separable mask. Included once per target.

#if defined(MEDLEY_KERNELS_CPU_GAUSSIAN_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MEDLEY_KERNELS_CPU_GAUSSIAN_ROWS_INL_H_
#undef MEDLEY_KERNELS_CPU_GAUSSIAN_ROWS_INL_H_
#else
#define MEDLEY_KERNELS_CPU_GAUSSIAN_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <hwy/highway.h>

#include "kernels/cpu/row_loops-inl.h"
#include "kernels/cpu/sources-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

/// Masks below this are products that may be too small for a normal number.
inline constexpr float kSmallMask = 0x1p-120f;

/// a * m + b * (1 - m) where m = factor * column[i - first] has no special value: neither 0 nor 1,
/// nor too small for a normal number.
template <typename In>
struct PlainGaussian {
  using Input = In;
  const In* a;
  const In* b;
  const float* column;
  std::int64_t first;
  float factor;
  std::int64_t ahead;

  HWY_INLINE Float at(std::int64_t i) const {
    const Floats d;
    const Float m = hn::Mul(hn::Set(d, factor), load_floats(column + (i - first)));
    const Float rest = hn::Sub(hn::Set(d, 1.0f), m);
    return hn::Add(hn::Mul(load_floats(a + i), m), hn::Mul(load_floats(b + i), rest));
  }
  HWY_INLINE void touch(std::int64_t i) const {
    prefetch(a + i, ahead);
    prefetch(b + i, ahead);
  }
};

/// The same for every factor; where the column is below `smallest` the product is too small for a
/// normal number. Such products are very slow. They do not change b, unless b is tiny itself or a
/// is huge: only then are they computed.
template <typename In>
HWY_INLINE Float gaussian_sum(const In* a, const In* b, Float column, Float factor,
                              Float smallest) {
  const Floats d;
  const auto small = hn::Lt(column, smallest);
  if (HWY_UNLIKELY(!hn::AllFalse(d, small))) {
    const auto safe = hn::And(hn::Ge(hn::Abs(load_floats(b)), hn::Set(d, 0x1p-40f)),
                              hn::Le(hn::Abs(load_floats(a)), hn::Set(d, 0x1p40f)));
    if (hn::AllTrue(d, hn::Or(hn::Not(small), safe))) column = hn::IfThenZeroElse(small, column);
  }
  return masked_sum(a, b, hn::Mul(factor, column));
}

/// Column values below this, times the factor, are too small.
HWY_INLINE float smallest_column(float factor) { return 0x1p-120f / factor; }

/// A row of any factor.
template <typename In>
struct AnyGaussian : PlainGaussian<In> {
  float smallest = smallest_column(this->factor);

  HWY_INLINE Float at(std::int64_t i) const {
    const Floats d;
    return gaussian_sum(this->a + i, this->b + i, load_floats(this->column + (i - this->first)),
                        hn::Set(d, this->factor), hn::Set(d, smallest));
  }
};

/// Any vector of the rows. It may end in the row after the one in which it begins.
template <typename In>
struct GaussianSource {
  using Input = In;
  const In* a;
  const In* b;
  const GaussianRows& mask;
  std::int64_t ahead;
  std::int64_t n;

  /// At the ends of rows and runs only: a call costs less than the many places where it would
  /// stand.
  HWY_NOINLINE Float at(std::int64_t i, std::int64_t row) const {
    const Floats d;
    const std::int64_t x = i - row * n;
    const std::int64_t here = n - x;
    const float factor = mask.row_factors[row];
    Float column = load_floats(mask.column + x);
    Float factors = hn::Set(d, factor);
    Float smallest = hn::Set(d, smallest_column(factor));
    if (here < vector_values()) {
      const float next = mask.row_factors[row + 1];
      const auto lanes = hn::FirstN(d, static_cast<std::size_t>(here));
      column = hn::IfThenElse(lanes, column, load_floats(mask.column - here));
      factors = hn::IfThenElse(lanes, factors, hn::Set(d, next));
      smallest = hn::IfThenElse(lanes, smallest, hn::Set(d, smallest_column(next)));
    }
    return gaussian_sum(a + i, b + i, column, factors, smallest);
  }
  HWY_INLINE Float at(std::int64_t i) const { return at(i, i / n); }
  /// A row of fewer values than a vector has.
  HWY_INLINE Float tail(std::int64_t row) const {
    const Floats d;
    const float factor = mask.row_factors[row];
    return gaussian_sum(TailBuffer<In>(a + row * n, n).values,
                        TailBuffer<In>(b + row * n, n).values,
                        load_floats(TailBuffer<float>(mask.column, n).values), hn::Set(d, factor),
                        hn::Set(d, smallest_column(factor)));
  }
};

template <typename In>
struct GaussianJob {
  GaussianSource<In> source;
  std::int64_t rows;

  template <bool kStream, typename To>
  HWY_INLINE void run(const To& sink) const {
    const std::int64_t total = rows * source.n;
    const Cut cut = cut_run<kStream>(anchor_of<kStream>(source.a, source.b, sink.out), total);
    const RunEnds<kStream, GaussianSource<In>, To> ends(source, sink, cut, total);
    mix_rows<kStream>(sink, cut);
    ends.store();
  }

  /// Whole vectors, from front to back.
  template <bool kStream, typename To>
  HWY_INLINE void mix_rows(const To& sink, const Cut& cut) const {
    const std::int64_t lanes = vector_values();
    const bool narrow = source.n % lanes == 0 && source.n / lanes <= kNarrowVectors;
    std::int64_t at = cut.head;
    for (std::int64_t row = at / source.n; at < cut.body; ++row) {
      if (kOwnLoops<In> && narrow) {
        row += mix_narrow<kStream>(sink, row, at, cut.body);
        at = std::max(at, row * source.n + cut.head % lanes);
        if (at >= cut.body) break;
      }
      const std::int64_t row_end = (row + 1) * source.n;
      const std::int64_t end = std::min(at + (row_end - at) / lanes * lanes, cut.body);
      mix_row<kStream>(sink, row, at, end);
      at = end;
      if (at < std::min(row_end, cut.body)) {
        sink.template put<kStream>(source.at(at, row), at);
        at += lanes;
      }
    }
  }

  /// No weight of the row is special.
  [[nodiscard]] HWY_INLINE bool is_plain(float factor) const {
    const GaussianRows& mask = source.mask;
    return (factor < 1 && factor * mask.smallest >= kSmallMask) ||
           (std::is_same_v<In, std::uint8_t> && mask.normal);
  }
  /// Nor has the mask no say anywhere in it.
  [[nodiscard]] HWY_INLINE bool is_plain_row(std::int64_t row) const {
    const GaussianRows& mask = source.mask;
    const std::int64_t reach = mask.reach[row];
    return reach >= mask.center_begin && reach >= source.n - mask.center_end &&
           is_plain(mask.row_factors[row]);
  }

  /// Plain rows as narrow as a few vectors, from the first vector at `at` that begins in `row` on:
  /// vectors begin at the same columns of each, the last one may end in the next row. Returns how
  /// many rows were mixed.
  template <bool kStream, typename To>
  HWY_INLINE std::int64_t mix_narrow(const To& sink, std::int64_t row, std::int64_t at,
                                     std::int64_t end) const {
    const Floats d;
    const GaussianRows& mask = source.mask;
    const std::int64_t n = source.n;
    const std::int64_t lanes = vector_values();
    const std::int64_t count = n / lanes;
    const std::int64_t shift = at - row * n;
    const std::int64_t next = shift > 0 ? 1 : 0;  // whether vectors end there
    if (!kOwnLoops<In> || shift >= lanes || at + n > end || !is_plain_row(row)) return 0;
    const auto here = hn::FirstN(d, static_cast<std::size_t>(lanes - shift));
    Float columns[kNarrowVectors];
    for (std::int64_t k = 0; k < count; ++k) {
      columns[k] = load_floats(mask.column + shift + k * lanes);
    }
    columns[count - 1] =
        hn::IfThenElse(here, columns[count - 1], load_floats(mask.column + shift - lanes));
    const Float one = hn::Set(d, 1.0f);
    std::int64_t mixed = 0;
    for (; at + n <= end && is_plain_row(row + next); at += n, ++row, ++mixed) {
      if (source.ahead != 0) {
        for (std::int64_t i = at; i < at + n; i += kLineValues<In>) {
          prefetch(source.a + i, source.ahead);
          prefetch(source.b + i, source.ahead);
        }
      }
      Float factor = hn::Set(d, mask.row_factors[row]);
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t i = at + k * lanes;
        if (k + 1 == count) {
          factor = hn::IfThenElse(here, factor, hn::Set(d, mask.row_factors[row + next]));
        }
        const Float m = hn::Mul(factor, columns[k]);
        sink.template put<kStream>(hn::Add(hn::Mul(load_floats(source.a + i), m),
                                           hn::Mul(load_floats(source.b + i), hn::Sub(one, m))),
                                   i);
      }
    }
    return mixed;
  }

  /// Whole vectors of a row. What the mask has no say in is copied.
  template <bool kStream, typename To>
  HWY_INLINE void mix_row(const To& sink, std::int64_t row, std::int64_t begin,
                          std::int64_t end) const {
    const GaussianRows& mask = source.mask;
    const ConvertSource<In> other{source.b, source.ahead};
    const bool copies =
        static_cast<const void*>(source.b) != sink.out || sink.affine.scale != nullptr;
    const std::int64_t first = row * source.n;
    const std::int64_t lanes = vector_values();
    const std::int64_t reach = mask.reach[row];
    std::int64_t left = end;
    std::int64_t right = end;
    if (reach >= 0) {
      const std::int64_t from = std::max<std::int64_t>(first + mask.center_begin - reach, begin);
      const std::int64_t to = std::min(first + mask.center_end + reach, end);
      left = std::min(begin + (from - begin) / lanes * lanes, end);
      right = std::clamp(begin + (to - begin + lanes - 1) / lanes * lanes, left, end);
    }
    if (copies) vector_loop<kStream>(other, sink, begin, left);
    const float factor = mask.row_factors[row];
    const PlainGaussian<In> plain{source.a, source.b, mask.column, first, factor, source.ahead};
    if (is_plain(factor)) {
      vector_loop<kStream>(plain, sink, left, right);
    } else {
      vector_loop<kStream>(AnyGaussian<In>{plain}, sink, left, right);
    }
    if (copies) vector_loop<kStream>(other, sink, right, end);
  }
};

}  // namespace
}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MEDLEY_KERNELS_CPU_GAUSSIAN_ROWS_INL_H_
