// Rows with masks of their own, and sums of sources with a mask each. Included once per target.

#if defined(MEDLEY_KERNELS_CPU_FIELD_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MEDLEY_KERNELS_CPU_FIELD_ROWS_INL_H_
#undef MEDLEY_KERNELS_CPU_FIELD_ROWS_INL_H_
#else
#define MEDLEY_KERNELS_CPU_FIELD_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include <hwy/highway.h>

#include "kernels/cpu/row_loops-inl.h"
#include "kernels/cpu/sources-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

/// A row whose value i has the weight mask[i - first], which is in a near cache.
template <typename In>
struct MaskRowSource {
  using Input = In;
  const In* a;
  const In* b;
  const float* mask;
  std::int64_t first;
  std::int64_t ahead;

  HWY_INLINE Float at(std::int64_t i) const {
    return masked_sum(a + i, b + i, load_floats(mask + (i - first)));
  }
  HWY_INLINE void touch(std::int64_t i) const {
    prefetch(a + i, ahead);
    prefetch(b + i, ahead);
  }
};

/// Any vector of rows of n values. It may end in the row after the one in which it begins.
template <typename In>
struct MaskRowsSource {
  using Input = In;
  const In* a;
  const In* b;
  const float* const* masks;
  std::int64_t ahead;
  std::int64_t n;

  /// At the ends of rows and runs only: a call costs less than the many places where it would
  /// stand.
  HWY_NOINLINE Float at(std::int64_t i, std::int64_t row) const {
    const Floats d;
    const std::int64_t x = i - row * n;
    const std::int64_t here = n - x;
    Float m = load_floats(masks[row] + x);
    if (here < vector_values()) {
      m = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(here)), m,
                         load_floats(masks[row + 1] - here));
    }
    return masked_sum(a + i, b + i, m);
  }
  HWY_INLINE Float at(std::int64_t i) const { return at(i, i / n); }
};

template <typename In>
struct MaskRowsJob {
  MaskRowsSource<In> source;
  std::int64_t rows;

  template <bool kStream, typename To>
  HWY_INLINE void run(const To& sink) const {
    const std::int64_t n = source.n;
    const std::int64_t total = rows * n;
    const std::int64_t lanes = vector_values();
    const Cut cut = cut_run<kStream>(anchor_of<kStream>(source.a, source.b, sink.out), total);
    const RunEnds<kStream, MaskRowsSource<In>, To> ends(source, sink, cut, total);
    std::int64_t at = cut.head;
    for (std::int64_t row = at / n; at < cut.body; ++row) {
      const std::int64_t row_end = (row + 1) * n;
      const std::int64_t end = std::min(at + (row_end - at) / lanes * lanes, cut.body);
      vector_loop<kStream>(
          MaskRowSource<In>{source.a, source.b, source.masks[row], row * n, source.ahead}, sink, at,
          end);
      at = end;
      if (at < std::min(row_end, cut.body)) {
        sink.template put<kStream>(source.at(at, row), at);
        at += lanes;
      }
    }
    ends.store();
  }
};

/// Sums of sources with masks. -0 is where a sum begins: adding to it changes nothing.
template <typename In>
struct MaskedSumSource {
  using Input = In;
  const In* const* sources;
  const float* const* masks;
  std::int32_t count;
  std::int64_t ahead;

  template <typename Load, typename LoadMask>
  HWY_INLINE Float summed(const Load& load, const LoadMask& load_mask) const {
    const Floats d;
    Float sum = hn::Set(d, -0.0f);
    auto none = hn::Eq(sum, sum);
    for (std::int32_t k = 0; k < count; ++k) {
      const Float m = load_mask(masks[k]);
      const auto absent = hn::Eq(m, hn::Zero(d));
      sum = hn::IfThenElse(absent, sum, hn::Add(sum, hn::Mul(m, load(sources[k]))));
      none = hn::And(none, absent);
    }
    return hn::IfThenZeroElse(none, sum);
  }
  HWY_INLINE Float at(std::int64_t i) const {
    return summed([i](const In* p) HWY_ATTR { return load_floats(p + i); },
                  [i](const float* p) HWY_ATTR { return load_floats(p + i); });
  }
  HWY_INLINE Float tail(std::int64_t n) const {
    return summed([n](const In* p) HWY_ATTR { return load_floats(TailBuffer<In>(p, n).values); },
                  [n](const float* p)
                      HWY_ATTR { return load_floats(TailBuffer<float>(p, n).values); });
  }
  HWY_INLINE void touch(std::int64_t i) const {
    for (std::int32_t k = 0; k < count; ++k) prefetch(sources[k] + i, ahead);
  }
  template <bool kStream>
  HWY_INLINE const float* anchor(const float* out) const {
    return out;
  }
};

}  // namespace
}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MEDLEY_KERNELS_CPU_FIELD_ROWS_INL_H_
