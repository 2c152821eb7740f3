#include "kernels/cpu/line_ops.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/line_ops.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/simd_pixel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

using Bytes = hn::CappedTag<std::uint8_t, 32>;

// ---- copies ----

void copy(const PixelBlock& block) {
  const Bytes d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t n = block.pixels * block.size;
  const auto* from = static_cast<const std::uint8_t*>(block.from);
  auto* to = static_cast<std::uint8_t*>(block.to);
  for (std::int64_t row = 0; row < block.rows; ++row) {
    if (n < lanes) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
    } else {
      for (std::int64_t i = 0; i < n - lanes; i += lanes)
        hn::StoreU(hn::LoadU(d, from + i), d, to + i);
      hn::StoreU(hn::LoadU(d, from + n - lanes), d, to + n - lanes);
    }
    from += block.from_stride;
    to += block.to_stride;
  }
}

/// Pixels of kSize bytes, one by one.
template <std::size_t kSize>
HWY_INLINE void mirror_pixels(const std::uint8_t* from, std::uint8_t* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * static_cast<std::int64_t>(kSize),
                from + (n - 1 - i) * static_cast<std::int64_t>(kSize), kSize);
  }
}

using Block = hn::CappedTag<std::uint8_t, 16>;

/// Blocks of 16 bytes with pixels of kSize bytes; the last block overlaps the one before.
template <std::size_t kSize>
HWY_INLINE void mirror_row(const std::uint8_t* from, std::uint8_t* to, std::int64_t n) {
#if HWY_TARGET == HWY_SCALAR
  mirror_pixels<kSize>(from, to, n);
#else
  constexpr std::int64_t kPixels = 16 / kSize;
  constexpr auto kBytes = static_cast<std::int64_t>(kSize);
  if (n < kPixels) return mirror_pixels<kSize>(from, to, n);
  const Block d;
  alignas(16) std::uint8_t order[16];
  for (std::size_t i = 0; i < 16; ++i) {
    order[i] = static_cast<std::uint8_t>((15 - i) / kSize * kSize + i % kSize);
  }
  const auto indices = hn::Load(d, order);
  const auto flip = [&](std::int64_t i) {
    const auto v = hn::LoadU(d, from + (n - kPixels - i) * kBytes);
    hn::StoreU(hn::TableLookupBytes(v, indices), d, to + i * kBytes);
  };
  for (std::int64_t i = 0; i < n - kPixels; i += kPixels) flip(i);
  flip(n - kPixels);
#endif
}

template <typename MirrorRow>
HWY_INLINE void for_rows(const PixelBlock& block, const MirrorRow& mirror_one) {
  for (std::int64_t row = 0; row < block.rows; ++row) {
    mirror_one(static_cast<const std::uint8_t*>(block.from) + row * block.from_stride,
               static_cast<std::uint8_t*>(block.to) + row * block.to_stride, block.pixels);
  }
}

void mirror(const PixelBlock& block) {
  switch (block.size) {
    case 1:
      return for_rows(block, mirror_row<1>);
    case 2:
      return for_rows(block, mirror_row<2>);
    case 3:
      return for_rows(block, mirror_pixels<3>);
    case 4:
      return for_rows(block, mirror_row<4>);
    case 6:
      return for_rows(block, mirror_pixels<6>);
    case 12:
      return for_rows(block, mirror_pixels<12>);
    default:
      break;
  }
  for_rows(block, [&](const std::uint8_t* from, std::uint8_t* to, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * block.size, from + (n - 1 - i) * block.size,
                  static_cast<std::size_t>(block.size));
    }
  });
}

void stream_lines(const void* from, void* to, std::int64_t lines) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto* source = static_cast<const std::uint8_t*>(from);
  auto* target = static_cast<std::uint8_t*>(to);
  for (std::int64_t i = 0; i < lines * 64; i += lanes) {
    hn::Stream(hn::Load(d, source + i), d, target + i);
  }
}

void stream_fence() { hwy::FlushStream(); }

// ---- masks ----

void repeat(const float* m, std::int64_t channels, float* out, std::int64_t n) {
  std::int64_t i = 0;
  if (channels == 3) {
    const Floats d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + lanes <= n; i += lanes) {
      const Float v = load_floats(m + i);
      hn::StoreInterleaved3(v, v, v, d, out + 3 * i);
    }
  }
  for (; i < n; ++i) {
    for (std::int64_t c = 0; c < channels; ++c) out[i * channels + c] = m[i];
  }
}

/// exp_nonpositive of core/portable_math.h, lane by lane.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_nonpositive_lanes(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V lowest = hn::Set(d, -708.0);
  const V round = hn::Set(d, 6755399441055744.0);
  const V clamped = hn::IfThenElse(hn::Lt(x, lowest), lowest, x);
  const V shifted = hn::Add(hn::Mul(clamped, hn::Set(d, 1.4426950408889634074)), round);
  const V n = hn::Sub(shifted, round);
  const V r = hn::Sub(hn::Sub(clamped, hn::Mul(n, hn::Set(d, 6.93147180369123816490e-01))),
                      hn::Mul(n, hn::Set(d, 1.90821492927058770002e-10)));
  constexpr double kSeries[] = {1.0 / 479001600.0,
                                1.0 / 39916800.0,
                                1.0 / 3628800.0,
                                1.0 / 362880.0,
                                1.0 / 40320.0,
                                1.0 / 5040.0,
                                1.0 / 720.0,
                                1.0 / 120.0,
                                1.0 / 24.0,
                                1.0 / 6.0,
                                0.5,
                                1.0,
                                1.0};
  V p = hn::Set(d, 1.0 / 6227020800.0);
  for (const double coefficient : kSeries) p = hn::Add(hn::Mul(p, r), hn::Set(d, coefficient));
  const auto exponent = hn::Add(hn::BitCast(du, shifted), hn::Set(du, 1023));
  const V scale = hn::BitCast(d, hn::ShiftLeft<52>(exponent));
  return hn::IfThenElseZero(hn::Ge(x, lowest), hn::Mul(p, scale));
}

/// gaussian_factor_f32 of core/gaussian_profile.h, lane by lane.
void gaussian_factors(double scale, float* factors, std::int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto negative = hn::Set(d, -scale);
  for (std::int64_t i = 0; i < n; i += lanes) {
    const auto distance = hn::Add(hn::Iota(d, 0), hn::Set(d, static_cast<double>(i)));
    const auto exponent = hn::Mul(negative, hn::Mul(distance, distance));
    hn::StoreU(hn::DemoteTo(df, exp_nonpositive_lanes(d, exponent)), df, factors + i);
  }
}

// ---- resampling ----

template <typename In, typename Value>
HWY_INLINE void row_loop(const In* a, const In* b, std::int64_t ahead, float* out, std::int64_t n,
                         const Value& value) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  const auto touch = [&](const In* p)
                         HWY_ATTR { hwy::Prefetch(reinterpret_cast<const char*>(p) + ahead); };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    if (i % (64 / static_cast<std::int64_t>(sizeof(In))) == 0) {
      touch(a + i);
      touch(b + i);
    }
    store_floats(value(load_floats(a + i), load_floats(b + i)), out + i);
  }
  if (i < n) {
    store_tail(value(load_floats(TailBuffer<In>(a + i, n - i).values),
                     load_floats(TailBuffer<In>(b + i, n - i).values)),
               out + i, n - i);
  }
}

template <typename In>
void interpolate_rows(const void* row_a, const void* row_b, float fraction, std::int64_t ahead,
                      float* out, std::int64_t n) {
  const auto* a = static_cast<const In*>(row_a);
  const auto* b = static_cast<const In*>(row_b);
  const float rest = 1.0f - fraction;
  const auto first = [](Float v, Float) HWY_ATTR { return v; };
  if (fraction == 0) return row_loop(a, a, ahead, out, n, first);
  if (rest == 0) return row_loop(b, b, ahead, out, n, first);
  const Float wa = hn::Set(Floats(), rest);
  const Float wb = hn::Set(Floats(), fraction);
  row_loop(a, b, ahead, out, n,
           [&](Float va, Float vb) HWY_ATTR { return hn::Add(hn::Mul(va, wa), hn::Mul(vb, wb)); });
}

HWY_INLINE Float interpolate(Float first, Float second, Float fraction) {
  const Floats d;
  const Float rest = hn::Sub(hn::Set(d, 1.0f), fraction);
  const Float sum = hn::Add(hn::Mul(first, rest), hn::Mul(second, fraction));
  const Float with_second = hn::IfThenElse(hn::Eq(rest, hn::Zero(d)), second, sum);
  return hn::IfThenElse(hn::Eq(fraction, hn::Zero(d)), first, with_second);
}

/// Values at some positions, and next to them on the right.
struct Neighbours {
  Float left;
  Float right;
};

/// At a vector of increasing positions, by permuting up to kMost vectors of `a`; false if they lie
/// further apart. Reads up to a vector beyond the last.
HWY_INLINE bool permute_neighbours([[maybe_unused]] const float* a,
                                   [[maybe_unused]] const std::int32_t* at,
                                   [[maybe_unused]] Neighbours& result) {
#if HWY_TARGET == HWY_SCALAR
  return false;
#else
  constexpr std::int64_t kMost = 5;
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int32_t base = at[0];
  const std::int64_t span = at[lanes - 1] + 2 - base;
  if (lanes < 8 || span > kMost * lanes) return false;
  const auto low = hn::Set(di, static_cast<std::int32_t>(lanes - 1));
  const auto left = hn::Sub(hn::LoadU(di, at), hn::Set(di, base));
  const auto right = hn::Add(left, hn::Set(di, 1));
  const auto left_lane = hn::IndicesFromVec(d, hn::And(left, low));
  const auto right_lane = hn::IndicesFromVec(d, hn::And(right, low));
  const Float table = load_floats(a + base);
  result.left = hn::TableLookupLanes(table, left_lane);
  result.right = hn::TableLookupLanes(table, right_lane);
  for (std::int64_t first = lanes; first < span; first += lanes) {
    const Float next = load_floats(a + base + first);
    const auto before = hn::Set(di, static_cast<std::int32_t>(first - 1));
    result.left = hn::IfThenElse(hn::RebindMask(d, hn::Gt(left, before)),
                                 hn::TableLookupLanes(next, left_lane), result.left);
    result.right = hn::IfThenElse(hn::RebindMask(d, hn::Gt(right, before)),
                                  hn::TableLookupLanes(next, right_lane), result.right);
  }
  return true;
#endif
}

/// One by one, which is faster than gather instructions.
HWY_INLINE Neighbours load_neighbours(const float* a, const std::int32_t* at, std::int64_t n) {
  const hn::CappedTag<float, 2> pair;
  HWY_ALIGN float pairs[std::size_t{2} * HWY_MAX_BYTES / sizeof(float)] = {};
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (hn::MaxLanes(pair) == 2) {
      hn::StoreU(hn::LoadU(pair, a + at[i]), pair, pairs + 2 * i);
    } else {
      pairs[2 * i] = a[at[i]];
      pairs[2 * i + 1] = a[at[i] + 1];
    }
  }
  Neighbours result;
  hn::LoadInterleaved2(Floats(), pairs, result.left, result.right);
  return result;
}

template <typename Finish>
HWY_INLINE void columns_loop(const float* a, const std::int32_t* first, const float* fraction,
                             float* out, std::int64_t n, const Finish& finish) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    Neighbours at;
    if (!permute_neighbours(a, first + i, at)) at = load_neighbours(a, first + i, lanes);
    store_floats(finish(interpolate(at.left, at.right, load_floats(fraction + i))), out + i);
  }
  if (i < n) {
    const Neighbours at = load_neighbours(a, first + i, n - i);
    const Float f = load_floats(TailBuffer<float>(fraction + i, n - i).values);
    store_tail(finish(interpolate(at.left, at.right, f)), out + i, n - i);
  }
}

void interpolate_columns(const float* a, const std::int32_t* first, const float* fraction,
                         const Affine* affine, float* out, std::int64_t n) {
  if (affine == nullptr) {
    return columns_loop(a, first, fraction, out, n, [](Float v) HWY_ATTR { return v; });
  }
  const Float scale = hn::Set(Floats(), affine->scale);
  const Float bias = hn::Set(Floats(), affine->bias);
  columns_loop(a, first, fraction, out, n,
               [&](Float v) HWY_ATTR { return hn::Add(hn::Mul(v, scale), bias); });
}

// ---- rounding ----

template <typename Out>
void round(const float* values, void* target, std::int64_t n) {
  auto* out = static_cast<Out*>(target);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store_floats(load_floats(values + i), out + i);
  if (i < n) store_tail(load_floats(TailBuffer<float>(values + i, n - i).values), out + i, n - i);
}

// ---- changes of layout ----

template <typename T>
void deinterleave_as(const T* in, std::int64_t channels, T* out, std::int64_t n) {
  std::int64_t i = 0;
  if (channels == 3) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + lanes <= n; i += lanes) {
      hn::Vec<decltype(d)> r, g, b;
      hn::LoadInterleaved3(d, in + 3 * i, r, g, b);
      hn::StoreU(r, d, out + i);
      hn::StoreU(g, d, out + n + i);
      hn::StoreU(b, d, out + 2 * n + i);
    }
  }
  for (; i < n; ++i) {
    for (std::int64_t c = 0; c < channels; ++c) out[c * n + i] = in[i * channels + c];
  }
}

template <typename T>
void interleave_as(const T* in, std::int64_t channels, T* out, std::int64_t n) {
  std::int64_t i = 0;
  if (channels == 3) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + lanes <= n; i += lanes) {
      hn::StoreInterleaved3(hn::LoadU(d, in + i), hn::LoadU(d, in + n + i),
                            hn::LoadU(d, in + 2 * n + i), d, out + 3 * i);
    }
  }
  for (; i < n; ++i) {
    for (std::int64_t c = 0; c < channels; ++c) out[i * channels + c] = in[c * n + i];
  }
}

void deinterleave(const void* in, std::int64_t size, std::int64_t channels, void* out,
                  std::int64_t n) {
  if (size == 1) {
    deinterleave_as(static_cast<const std::uint8_t*>(in), channels, static_cast<std::uint8_t*>(out),
                    n);
  } else if (size == 2) {
    deinterleave_as(static_cast<const std::uint16_t*>(in), channels,
                    static_cast<std::uint16_t*>(out), n);
  } else {
    deinterleave_as(static_cast<const std::uint32_t*>(in), channels,
                    static_cast<std::uint32_t*>(out), n);
  }
}

void interleave(const void* in, std::int64_t size, std::int64_t channels, void* out,
                std::int64_t n) {
  if (size == 1) {
    interleave_as(static_cast<const std::uint8_t*>(in), channels, static_cast<std::uint8_t*>(out),
                  n);
  } else if (size == 2) {
    interleave_as(static_cast<const std::uint16_t*>(in), channels, static_cast<std::uint16_t*>(out),
                  n);
  } else {
    interleave_as(static_cast<const std::uint32_t*>(in), channels, static_cast<std::uint32_t*>(out),
                  n);
  }
}

constexpr LineOps kOps = {
    copy,
    mirror,
    deinterleave,
    interleave,
    repeat,
    gaussian_factors,
    {interpolate_rows<std::uint8_t>, interpolate_rows<F16>, interpolate_rows<BF16>,
     interpolate_rows<float>},
    interpolate_columns,
    {round<std::uint8_t>, round<F16>, round<BF16>, round<float>},
    stream_lines,
    stream_fence,
};

}  // namespace

const LineOps* get_line_ops() { return &kOps; }

}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace medley {

HWY_EXPORT(get_line_ops);

const LineOps& line_ops() { return *HWY_DYNAMIC_DISPATCH(get_line_ops)(); }

}  // namespace medley

#endif  // HWY_ONCE
