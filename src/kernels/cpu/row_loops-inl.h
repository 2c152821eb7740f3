// Where mixed values come from and where they go, a row or a run of rows at a time: what the
// operations of row_ops.cc are made of. Included once per target.

#if defined(MEDLEY_KERNELS_CPU_ROW_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MEDLEY_KERNELS_CPU_ROW_LOOPS_INL_H_
#undef MEDLEY_KERNELS_CPU_ROW_LOOPS_INL_H_
#else
#define MEDLEY_KERNELS_CPU_ROW_LOOPS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <hwy/highway.h>

#include "kernels/cpu/cache_line.h"
#include "kernels/cpu/row_ops.h"
#include "kernels/cpu/simd_pixel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

// ---- sources: mixed values before normalisation ----
// Each gives a vector at(i), the same for fewer values than a vector has in tail(n), and asks for
// what at(i) will read later in touch(i).

template <typename In>
struct ConvertSource {
  using Input = In;
  const In* a;
  std::int64_t ahead;

  HWY_INLINE Float at(std::int64_t i) const { return load_floats(a + i); }
  HWY_INLINE Float tail(std::int64_t n) const { return load_floats(TailBuffer<In>(a, n).values); }
  HWY_INLINE void touch(std::int64_t i) const { prefetch(a + i, ahead); }
};

/// A stretch of rows that a box cuts: too short for processors to see what comes next.
template <typename In>
struct StretchSource : ConvertSource<In> {
  std::int64_t far;

  HWY_INLINE void touch(std::int64_t i) const {
    ConvertSource<In>::touch(i);
    if (far != 0) prefetch_far(this->a + i, far);
  }
};

template <typename In>
HWY_INLINE Float weighted_sum(const In* a, const In* b, Weights weights) {
  const Floats d;
  return hn::Add(hn::Mul(load_floats(a), hn::Set(d, weights.own)),
                 hn::Mul(load_floats(b), hn::Set(d, weights.partner)));
}

template <typename In>
struct FlatSource {
  using Input = In;
  const In* a;
  const In* b;
  Weights weights;
  std::int64_t ahead;

  HWY_INLINE Float at(std::int64_t i) const { return weighted_sum(a + i, b + i, weights); }
  HWY_INLINE Float tail(std::int64_t n) const {
    return weighted_sum(TailBuffer<In>(a, n).values, TailBuffer<In>(b, n).values, weights);
  }
  HWY_INLINE void touch(std::int64_t i) const {
    prefetch(a + i, ahead);
    prefetch(b + i, ahead);
  }
};

template <typename In>
HWY_INLINE Float masked_sum(const In* pa, const In* pb, Float m) {
  const Floats d;
  const Float rest = hn::Sub(hn::Set(d, 1.0f), m);
  const Float a = load_floats(pa);
  const Float b = load_floats(pb);
  const Float sum = hn::Add(hn::Mul(a, m), hn::Mul(b, rest));
  // Finite, positive values times 0 add nothing, not even a sign.
  if constexpr (std::is_same_v<In, std::uint8_t>) return sum;
  const Float with_b = hn::IfThenElse(hn::Eq(m, hn::Zero(d)), b, sum);
  return hn::IfThenElse(hn::Eq(rest, hn::Zero(d)), a, with_b);
}

/// Masks are prefetched this many bytes ahead.
inline constexpr std::int64_t kFieldAhead = 2048;

template <typename In>
struct MaskSource {
  using Input = In;
  const In* a;
  const In* b;
  const float* m;
  std::int64_t ahead;

  HWY_INLINE Float at(std::int64_t i) const { return masked_sum(a + i, b + i, load_floats(m + i)); }
  HWY_INLINE Float tail(std::int64_t n) const {
    return masked_sum(TailBuffer<In>(a, n).values, TailBuffer<In>(b, n).values,
                      load_floats(TailBuffer<float>(m, n).values));
  }
  HWY_INLINE void touch(std::int64_t i) const {
    prefetch(a + i, ahead);
    prefetch(b + i, ahead);
    for (std::int64_t j = 0; j < kLineValues<In>; j += kLineValues<float>) {
      prefetch(m + i + j, kFieldAhead);
    }
  }
};

/// A row of a separable mask: factor * column[i].
///
/// Products too small for a normal number are very slow (kNormal: there are none). Such masks do
/// not change b, unless b is tiny itself or a is huge: only then are they computed.
template <typename In, bool kNormal>
struct SeparableSource {
  using Input = In;
  const In* a;
  const In* b;
  const float* column;
  float factor;
  float smallest;  // column values below this give such products
  std::int64_t ahead;

  SeparableSource(const In* in_a, const In* in_b, const float* in_column, float in_factor,
                  std::int64_t in_ahead)
      : a(in_a),
        b(in_b),
        column(in_column),
        factor(in_factor),
        smallest(kNormal ? 0 : 0x1p-120f / in_factor),
        ahead(in_ahead) {}

  HWY_INLINE Float mixed(const In* pa, const In* pb, const float* pm) const {
    const Floats d;
    Float m = load_floats(pm);
    if constexpr (!kNormal) {
      const auto small = hn::Lt(m, hn::Set(d, smallest));
      if (HWY_UNLIKELY(!hn::AllFalse(d, small))) {
        const auto safe = hn::And(hn::Ge(hn::Abs(load_floats(pb)), hn::Set(d, 0x1p-40f)),
                                  hn::Le(hn::Abs(load_floats(pa)), hn::Set(d, 0x1p40f)));
        if (hn::AllTrue(d, hn::Or(hn::Not(small), safe))) m = hn::IfThenZeroElse(small, m);
      }
    }
    return masked_sum(pa, pb, hn::Mul(hn::Set(d, factor), m));
  }
  HWY_INLINE Float at(std::int64_t i) const { return mixed(a + i, b + i, column + i); }
  HWY_INLINE Float tail(std::int64_t n) const {
    return mixed(TailBuffer<In>(a, n).values, TailBuffer<In>(b, n).values,
                 TailBuffer<float>(column, n).values);
  }
  HWY_INLINE void touch(std::int64_t i) const {
    prefetch(a + i, ahead);
    prefetch(b + i, ahead);
  }
};

/// kCount terms; if that is 0, any number of them, added to `base` if it is not null.
template <typename In, int kCount>
struct SumSource {
  using Input = In;
  const In* const* sources;
  const float* weights;
  std::int32_t count;
  const float* base;
  std::int64_t ahead;

  template <typename Load>
  HWY_INLINE Float summed(const Load& load, const float* start) const {
    const Floats d;
    const auto term = [&](std::int32_t k)
                          HWY_ATTR { return hn::Mul(hn::Set(d, weights[k]), load(sources[k])); };
    const bool has_start = kCount == 0 && start != nullptr;
    Float sum = has_start ? load_floats(start) : term(0);
    for (std::int32_t k = has_start ? 0 : 1; k < (kCount > 0 ? kCount : count); ++k) {
      sum = hn::Add(sum, term(k));
    }
    return sum;
  }
  HWY_INLINE Float at(std::int64_t i) const {
    return summed([i](const In* p) HWY_ATTR { return load_floats(p + i); },
                  base != nullptr ? base + i : nullptr);
  }
  HWY_INLINE Float tail(std::int64_t n) const {
    const TailBuffer<float> start =
        base != nullptr ? TailBuffer<float>(base, n) : TailBuffer<float>();
    return summed([n](const In* p) HWY_ATTR { return load_floats(TailBuffer<In>(p, n).values); },
                  base != nullptr ? start.values : nullptr);
  }
  HWY_INLINE void touch(std::int64_t i) const {
    for (std::int32_t k = 0; k < (kCount > 0 ? kCount : count); ++k) {
      prefetch(sources[k] + i, ahead);
    }
  }
};

// ---- loops ----

/// Where mixed values go: normalised, then stored, past the caches if `stream`. How is decided at
/// run time: the branches are always taken the same way, and there is one loop instead of five. For
/// the commonest ways see stream_loop.
struct Target {
  float* out;
  RowAffine affine;
  bool stream;

  explicit Target(const RowStyle& style, float* to)
      : out(to), affine(style.affine), stream(style.stream) {}
  Target(float* to, RowAffine normalisation, bool past_caches)
      : out(to), affine(normalisation), stream(past_caches) {}

  /// The same from value i on.
  HWY_INLINE Target from(std::int64_t i) const { return {out + i, affine.from(i), stream}; }

  HWY_INLINE Float normalised(Float v, std::int64_t i) const {
    if (affine.scale == nullptr) return v;
    const Floats d;
    if (affine.uniform) {
      return hn::Add(hn::Mul(v, hn::Set(d, affine.scale[0])), hn::Set(d, affine.bias[0]));
    }
    return hn::Add(hn::Mul(v, load_floats(affine.scale + i)), load_floats(affine.bias + i));
  }
  HWY_INLINE void put(Float v, std::int64_t i) const {
    const Float value = normalised(v, i);
    if (stream) {
      hn::Stream(value, Floats(), out + i);
    } else {
      store_floats(value, out + i);
    }
  }
  /// All there is: fewer values than a vector has.
  HWY_INLINE void put_tail(Float v, std::int64_t n) const {
    if (affine.scale == nullptr || affine.uniform) return store_tail(normalised(v, 0), out, n);
    const TailBuffer<float> scales(affine.scale, n);
    const TailBuffer<float> biases(affine.bias, n);
    const Target padded(out, {scales.values, biases.values, false}, false);
    store_tail(padded.normalised(v, 0), out, n);
  }
};

/// Whole vectors past the caches, normalised alike or not at all: the usual case of large batches,
/// without the branches of a Target.
template <bool kAffine, typename Source>
HWY_INLINE void stream_loop(const Source& source, const Target& target, std::int64_t n) {
  using In = typename Source::Input;
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Float scale = hn::Set(d, kAffine ? target.affine.scale[0] : 1.0f);
  const Float bias = hn::Set(d, kAffine ? target.affine.bias[0] : 0.0f);
  float* const out = target.out;
  const auto put = [&](std::int64_t i) HWY_ATTR {
    const Float v = source.at(i);
    hn::Stream(kAffine ? hn::Add(hn::Mul(v, scale), bias) : v, d, out + i);
  };
  // Lines of input and four vectors at a time.
  constexpr std::int64_t kBlock =
      std::max<std::int64_t>(kLineValues<In>, 4 * static_cast<std::int64_t>(hn::MaxLanes(d)));
  std::int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    for (std::int64_t j = 0; j < kBlock; j += kLineValues<In>) source.touch(i + j);
    for (std::int64_t j = 0; j < kBlock; j += lanes) put(i + j);
  }
  for (std::int64_t j = i; j < n; j += kLineValues<In>) source.touch(j);
  for (; i < n; i += lanes) put(i);
}

/// All n values. What is left after whole vectors is covered by a last vector that overlaps them;
/// it is made first, since the target may be an input.
template <typename Source>
HWY_INLINE void run_loop(const Source& source, const Target& target, std::int64_t n) {
  // A line of input at a time, or a few vectors.
  constexpr std::int64_t kBlock =
      std::min<std::int64_t>(kLineValues<typename Source::Input>, 4 * hn::MaxLanes(Floats()));
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  if (n < lanes) {
    if (n > 0) target.put_tail(source.tail(n), n);
    return;
  }
  const std::int64_t end = n - lanes;
  const bool overlap = n % lanes != 0;
  using In = typename Source::Input;
  if constexpr (std::is_same_v<In, float> || std::is_same_v<In, std::uint8_t>) {
    if (target.stream && !overlap) {
      if (target.affine.scale == nullptr) return stream_loop<false>(source, target, n);
      if (target.affine.uniform) return stream_loop<true>(source, target, n);
    }
  }
  const Float last = overlap ? target.normalised(source.at(end), end) : hn::Zero(Floats());
  std::int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    source.touch(i);
    for (std::int64_t j = i; j < i + kBlock; j += lanes) target.put(source.at(j), j);
  }
  if (i < n) source.touch(i);
  for (; i <= end; i += lanes) target.put(source.at(i), i);
  if (overlap) store_floats(last, target.out + end);
}

/// One image as it is; nothing to do where it is the output.
template <typename Source>
HWY_INLINE void copy_loop(const Source& source, const Target& target, std::int64_t n) {
  if constexpr (std::is_same_v<typename Source::Input, float>) {
    if (source.a == target.out && target.affine.scale == nullptr) return;
  }
  run_loop(source, target, n);
}

}  // namespace
}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MEDLEY_KERNELS_CPU_ROW_LOOPS_INL_H_
