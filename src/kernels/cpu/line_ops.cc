#include "kernels/cpu/line_ops.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/line_ops.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/line_writer-inl.h"
#include "kernels/cpu/simd_pixel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

using Bytes = hn::CappedTag<std::uint8_t, 32>;

// ---- coarse masks ----

void resample(const float* values, const RowTaps& taps, float* out, std::int64_t n) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < n; i += lanes) {
    Float v = hn::GatherIndex(d, values, hn::LoadU(di, taps.first + i));
    if (taps.fractions != nullptr) {
      const Float second = hn::GatherIndex(d, values, hn::LoadU(di, taps.second + i));
      const Float fraction = load_floats(taps.fractions + i);
      const Float rest = hn::Sub(hn::Set(d, 1.0f), fraction);
      const Float sum = hn::Add(hn::Mul(v, rest), hn::Mul(second, fraction));
      const Float later = hn::IfThenElse(hn::Eq(rest, hn::Zero(d)), second, sum);
      v = hn::IfThenElse(hn::Eq(fraction, hn::Zero(d)), v, later);
    }
    store_floats(v, out + i);
  }
}

void between(const float* first, const float* second, float fraction, float* out, std::int64_t n) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Float share = hn::Set(d, fraction);
  const Float rest = hn::Set(d, 1.0f - fraction);
  for (std::int64_t i = 0; i < n; i += lanes) {
    store_floats(
        hn::Add(hn::Mul(load_floats(first + i), rest), hn::Mul(load_floats(second + i), share)),
        out + i);
  }
}

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

// ---- past the caches ----

void copy_bytes(const void* source, void* target, std::int64_t n, bool stream) {
  const auto* from = static_cast<const std::uint8_t*>(source);
  auto* to = static_cast<std::uint8_t*>(target);
  const std::int64_t past =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kLineBytes);
  const std::int64_t head = (kLineBytes - past) % kLineBytes;
  const std::int64_t lines = n > head && stream ? (n - head) / kLineBytes : 0;
  if (lines == 0) {
    std::memcpy(to, from, static_cast<std::size_t>(n));
    return;
  }
  const std::int64_t body = head + lines * kLineBytes;
  std::memcpy(to, from, static_cast<std::size_t>(head));
  stream_lines(from + head, to + head, lines);
  std::memcpy(to + body, from + body, static_cast<std::size_t>(n - body));
}

void stream_fence() { hwy::FlushStream(); }

// ---- masks ----

void repeat(const float* m, std::int64_t channels, float* out, std::int64_t n) {
  std::int64_t i = 0;
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (channels == 2) {
    for (; i + lanes <= n; i += lanes) {
      const Float v = load_floats(m + i);
      hn::StoreInterleaved2(v, v, d, out + 2 * i);
    }
  }
  if (channels == 3) {
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

/// gaussian_factor_f32 of core/gaussian_factor.h, lane by lane.
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

// ---- rounding ----

template <typename Out>
HWY_INLINE void round_all(const float* values, Out* out, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store_floats(load_floats(values + i), out + i);
  if (i < n) store_tail(load_floats(TailBuffer<float>(values + i, n - i).values), out + i, n - i);
}

template <typename Out>
void round(const float* values, void* out, std::int64_t n, bool stream) {
  if (std::is_same_v<Out, float>) {
    return copy_bytes(values, out, n * static_cast<std::int64_t>(sizeof(float)), stream);
  }
  put_items(n, sizeof(Out), out, stream,
            [values](std::int64_t first, std::int64_t count, std::uint8_t* to)
                HWY_ATTR { round_all(values + first, reinterpret_cast<Out*>(to), count); });
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
void interleave_as(const Planes& planes, T* out, bool stream) {
  const auto* from = static_cast<const T*>(planes.from);
  const std::int64_t channels = planes.channels;
  const std::int64_t stride = planes.stride;
  const auto some = [=](std::int64_t first, std::int64_t n, std::uint8_t* place) HWY_ATTR {
    const T* in = from + first;
    T* to = reinterpret_cast<T*>(place);
    std::int64_t i = 0;
    if (channels == 3) {
      const hn::ScalableTag<T> d;
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
      for (; i + lanes <= n; i += lanes) {
        hn::StoreInterleaved3(hn::LoadU(d, in + i), hn::LoadU(d, in + stride + i),
                              hn::LoadU(d, in + 2 * stride + i), d, to + 3 * i);
      }
    }
    for (; i < n; ++i) {
      for (std::int64_t c = 0; c < channels; ++c) to[i * channels + c] = in[c * stride + i];
    }
  };
  put_items(planes.n, channels * static_cast<std::int64_t>(sizeof(T)), out, stream, some);
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

void interleave(const Planes& planes, void* out, bool stream) {
  if (planes.size == 1) {
    interleave_as(planes, static_cast<std::uint8_t*>(out), stream);
  } else if (planes.size == 2) {
    interleave_as(planes, static_cast<std::uint16_t*>(out), stream);
  } else {
    interleave_as(planes, static_cast<std::uint32_t*>(out), stream);
  }
}

constexpr LineOps kOps = {
    copy,       mirror,           deinterleave,
    interleave, repeat,           resample,
    between,    gaussian_factors, {round<std::uint8_t>, round<F16>, round<BF16>, round<float>},
    copy_bytes, stream_fence,
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
