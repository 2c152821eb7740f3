#include "data/resample_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/resample_rows.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace medley::data::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kRowSlack>;
using Ints = hn::RebindToSigned<Floats>;
using Bytes = hn::Rebind<std::uint8_t, Floats>;

void simd_blend_rows(const std::uint8_t* HWY_RESTRICT rows, std::size_t stride,
                     const float* HWY_RESTRICT weights, std::size_t taps, std::size_t count,
                     float* HWY_RESTRICT to) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < taps; ++k) {
      const auto values =
          hn::ConvertTo(d, hn::PromoteTo(Ints(), hn::LoadU(Bytes(), rows + k * stride + i)));
      sum = hn::Add(sum, hn::Mul(hn::Set(d, weights[k]), values));
    }
    hn::StoreU(sum, d, to + i);
  }
  for (; i < count; ++i) {
    float sum = 0;
    for (std::size_t k = 0; k < taps; ++k) {
      sum += weights[k] * static_cast<float>(rows[k * stride + i]);
    }
    to[i] = sum;
  }
}

void simd_blend_columns(const float* HWY_RESTRICT from, const Tap* HWY_RESTRICT taps,
                        std::size_t width, float* HWY_RESTRICT to) {
  const hn::CappedTag<float, 4> d;  // three channels and one that the next pixel overwrites
  for (std::size_t x = 0; x < width; ++x) {
    const Tap& tap = taps[x];
    const float* in = from + std::size_t{3} * static_cast<std::size_t>(tap.first);
    if (hn::Lanes(d) == 4) {
      auto sum = hn::Zero(d);
      for (std::int32_t k = 0; k < tap.count; ++k, in += 3) {
        sum = hn::Add(sum, hn::Mul(hn::Set(d, tap.weights[k]), hn::LoadU(d, in)));
      }
      hn::StoreU(sum, d, to + 3 * x);
    } else {
      float sum[3] = {};
      for (std::int32_t k = 0; k < tap.count; ++k, in += 3) {
        for (std::size_t c = 0; c < 3; ++c) sum[c] += tap.weights[k] * in[c];
      }
      for (std::size_t c = 0; c < 3; ++c) to[3 * x + c] = sum[c];
    }
  }
}

void simd_round_to_bytes(const float* HWY_RESTRICT from, std::size_t count,
                         std::uint8_t* HWY_RESTRICT to) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto rounded = hn::ConvertTo(Ints(), hn::Add(hn::LoadU(d, from + i), hn::Set(d, 0.5f)));
    hn::StoreU(hn::DemoteTo(Bytes(), rounded), Bytes(), to + i);  // saturates
  }
  for (; i < count; ++i) {
    const float value = from[i] + 0.5f;
    to[i] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

}  // namespace
}  // namespace medley::data::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace medley::data {

HWY_EXPORT(simd_blend_rows);
HWY_EXPORT(simd_blend_columns);
HWY_EXPORT(simd_round_to_bytes);

void blend_rows(const std::uint8_t* rows, std::size_t stride, const float* weights,
                std::size_t taps, std::size_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(simd_blend_rows)(rows, stride, weights, taps, count, to);
}

void blend_columns(const float* from, const Tap* taps, std::size_t width, float* to) {
  HWY_DYNAMIC_DISPATCH(simd_blend_columns)(from, taps, width, to);
}

void round_to_bytes(const float* from, std::size_t count, std::uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(simd_round_to_bytes)(from, count, to);
}

}  // namespace medley::data

#endif  // HWY_ONCE
