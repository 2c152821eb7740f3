// Where mixed values come from, before normalization: what the operations of row_ops.cc are made
// of. Included once per target.

#if defined(MEDLEY_KERNELS_CPU_SOURCES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MEDLEY_KERNELS_CPU_SOURCES_INL_H_
#undef MEDLEY_KERNELS_CPU_SOURCES_INL_H_
#else
#define MEDLEY_KERNELS_CPU_SOURCES_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include <hwy/highway.h>

#include "kernels/cpu/cache_line.h"
#include "kernels/cpu/row_ops.h"
#include "kernels/cpu/simd_pixel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

// Each gives a vector at(i), the same for fewer values than a vector has in tail(n), asks for what
// at(i) will read later in touch(i), and says in anchor(out) where vectors begin if they are stored
// through the caches.

/// Where vectors of both inputs begin if that is possible, as two loads weigh more than a store,
/// else where those of the output do.
template <bool kStream, typename In>
HWY_INLINE const float* anchor_of(const In* a, const In* b, const float* out) {
  if constexpr (std::is_same_v<In, float>) {
    const std::uintptr_t apart =
        reinterpret_cast<std::uintptr_t>(a) ^ reinterpret_cast<std::uintptr_t>(b);
    if (!kStream && apart % static_cast<std::uintptr_t>(kLineBytes) == 0) return a;
  }
  return out;
}

template <typename In>
struct ConvertSource {
  using Input = In;
  const In* a;
  std::int64_t ahead;

  HWY_INLINE Float at(std::int64_t i) const { return load_floats(a + i); }
  HWY_INLINE Float tail(std::int64_t n) const { return load_floats(TailBuffer<In>(a, n).values); }
  HWY_INLINE void touch(std::int64_t i) const { prefetch(a + i, ahead); }
  template <bool kStream>
  HWY_INLINE const float* anchor(const float* out) const {
    return out;
  }
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
  template <bool kStream>
  HWY_INLINE const float* anchor(const float* out) const {
    return anchor_of<kStream>(a, b, out);
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
  template <bool kStream>
  HWY_INLINE const float* anchor(const float* out) const {
    return anchor_of<kStream>(a, b, out);
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
  template <bool kStream>
  HWY_INLINE const float* anchor(const float* out) const {
    return out;
  }
};

}  // namespace
}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MEDLEY_KERNELS_CPU_SOURCES_INL_H_
