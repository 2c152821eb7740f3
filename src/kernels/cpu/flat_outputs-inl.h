// Values with the same weights that go straight to outputs of another type or order of axes.
// Included once per target.

#if defined(MEDLEY_KERNELS_CPU_FLAT_OUTPUTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MEDLEY_KERNELS_CPU_FLAT_OUTPUTS_INL_H_
#undef MEDLEY_KERNELS_CPU_FLAT_OUTPUTS_INL_H_
#else
#define MEDLEY_KERNELS_CPU_FLAT_OUTPUTS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "kernels/cpu/line_writer-inl.h"
#include "kernels/cpu/row_loops-inl.h"
#include "kernels/cpu/sources-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

// ---- other types ----

/// The same for all values, or none.
struct UniformAffine {
  Float scale;
  Float bias;
  bool any;

  explicit UniformAffine(const RowAffine& affine) : any(affine.scale != nullptr) {
    scale = hn::Set(Floats(), any ? affine.scale[0] : 1.0f);
    bias = hn::Set(Floats(), any ? affine.bias[0] : 0.0f);
  }
  HWY_INLINE Float of(Float v) const { return any ? hn::Add(hn::Mul(v, scale), bias) : v; }
};

// Lambdas copy what they use: stores to the output could change what they refer to, for all that
// compilers know.

template <typename Source, typename Out>
HWY_INLINE void round_source(const Source& source, const RowStyle& style, Out* out,
                             std::int64_t n) {
  constexpr std::int64_t kLine = kLineValues<typename Source::Input>;
  const std::int64_t lanes = vector_values();
  const UniformAffine affine(style.affine);
  if (n <= 0) return;
  if (n < lanes) return store_tail(affine.of(source.tail(n)), out, n);
  const auto round_some = [source, affine, lanes](std::int64_t first, std::int64_t count,
                                                  std::uint8_t* place) HWY_ATTR {
    auto* to = reinterpret_cast<Out*>(place);
    std::int64_t i = 0;
    for (; i + kLine <= count; i += kLine) {
      if (source.ahead != 0) source.touch(first + i);
      for (std::int64_t k = i; k < i + kLine; k += lanes) {
        store_floats(affine.of(source.at(first + k)), to + k);
      }
    }
    for (; i + lanes <= count; i += lanes) {
      store_floats(affine.of(source.at(first + i)), to + i);
    }
    if (i >= count) return;
    // The last lanes of a vector that begins before the rest.
    TailBuffer<Out> buffer;
    store_floats(affine.of(source.at(first + count - lanes)), buffer.values);
    std::memcpy(to + i, buffer.values + (lanes - (count - i)),
                static_cast<std::size_t>(count - i) * sizeof(Out));
  };
  put_items(n, sizeof(Out), out, style.stream, round_some);
}

template <typename In, typename Out>
void flat_rounded(const void* own, const void* partner, Weights weights, const RowStyle& style,
                  void* target, std::int64_t n) {
  const auto* a = static_cast<const In*>(own);
  const auto* b = static_cast<const In*>(partner);
  auto* out = static_cast<Out*>(target);
  if (weights.own != 0 && weights.partner != 0) {
    return round_source(FlatSource<In>{a, b, weights, style.ahead}, style, out, n);
  }
  const In* from = weights.partner == 0 ? a : b;
  round_source(ConvertSource<In>{from, style.ahead}, style, out, n);
}

// ---- three channels, interleaved ----

template <typename In, bool kBlend>
struct ChannelSource {
  const In* a;
  const In* b;
  Weights weights;
  UniformAffine affine;

  ChannelSource(const ThreePlanes& planes, int c, Weights w)
      : a(static_cast<const In*>(kBlend || w.partner == 0 ? planes.a[c] : planes.b[c])),
        b(static_cast<const In*>(planes.b[c])),
        weights(w),
        affine(planes.affine[c]) {}
  HWY_INLINE Float mixed(const In* pa, const In* pb) const {
    return affine.of(kBlend ? weighted_sum(pa, pb, weights) : load_floats(pa));
  }
  HWY_INLINE Float at(std::int64_t i) const { return mixed(a + i, b + i); }
  HWY_INLINE Float tail(std::int64_t i, std::int64_t n) const {
    return mixed(TailBuffer<In>(a + i, n).values, TailBuffer<In>(kBlend ? b + i : a + i, n).values);
  }
  HWY_INLINE void touch(std::int64_t i, std::int64_t ahead) const {
    prefetch(a + i, ahead);
    if (kBlend) prefetch(b + i, ahead);
  }
};

template <typename In, bool kBlend>
HWY_INLINE void interleave_channels(const ThreePlanes& planes, Weights weights,
                                    const RowStyle& style, std::int64_t n) {
  const ChannelSource<In, kBlend> red(planes, 0, weights);
  const ChannelSource<In, kBlend> green(planes, 1, weights);
  const ChannelSource<In, kBlend> blue(planes, 2, weights);
  const auto interleave_some = [red, green, blue, ahead = style.ahead](
                                   std::int64_t first, std::int64_t count,
                                   std::uint8_t* place) HWY_ATTR {
    const Floats d;
    const std::int64_t lanes = vector_values();
    auto* to = reinterpret_cast<float*>(place);
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      const std::int64_t k = first + i;
      if (ahead != 0 && i % kLineValues<In> == 0) {
        red.touch(k, ahead);
        green.touch(k, ahead);
        blue.touch(k, ahead);
      }
      hn::StoreInterleaved3(red.at(k), green.at(k), blue.at(k), d, to + 3 * i);
    }
    const std::int64_t left = count - i;
    if (left <= 0) return;
    const std::int64_t k = first + i;
    float values[3 * (HWY_MAX_BYTES / sizeof(float))];
    hn::StoreInterleaved3(red.tail(k, left), green.tail(k, left), blue.tail(k, left), d, values);
    std::memcpy(to + 3 * i, values, static_cast<std::size_t>(3 * left) * sizeof(float));
  };
  put_items(n, 3 * sizeof(float), planes.out[0], style.stream, interleave_some);
}

template <typename In>
void flat_interleaved(const ThreePlanes& planes, Weights weights, const RowStyle& style,
                      std::int64_t n) {
  if (weights.own != 0 && weights.partner != 0) {
    return interleave_channels<In, true>(planes, weights, style, n);
  }
  interleave_channels<In, false>(planes, weights, style, n);
}

}  // namespace
}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MEDLEY_KERNELS_CPU_FLAT_OUTPUTS_INL_H_
