#include "kernels/cpu/row_ops.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/row_ops.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/box_rows-inl.h"
#include "kernels/cpu/field_rows-inl.h"
#include "kernels/cpu/flat_outputs-inl.h"
#include "kernels/cpu/gaussian_rows-inl.h"
#include "kernels/cpu/row_loops-inl.h"
#include "kernels/cpu/sources-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

// ---- operations on one kind of pixel ----

/// Whether there is nothing to do: the image is its own output.
template <typename In>
HWY_INLINE bool is_in_place(const void* source, const RowStyle& style, const float* out) {
  return std::is_same_v<In, float> && source == out && style.affine.scale == nullptr;
}

template <typename In>
void convert(const void* source, const RowStyle& style, float* out, std::int64_t n) {
  if (is_in_place<In>(source, style, out)) return;
  run(ConvertSource<In>{static_cast<const In*>(source), style.ahead}, style, out, n);
}

template <typename In>
void blend_flat(const void* own, const void* partner, Weights weights, const RowStyle& style,
                float* out, std::int64_t n) {
  run(FlatSource<In>{static_cast<const In*>(own), static_cast<const In*>(partner), weights,
                     style.ahead},
      style, out, n);
}

template <typename In>
void blend_mask(const void* own, const void* partner, const float* m, const RowStyle& style,
                float* out, std::int64_t n) {
  run(MaskSource<In>{static_cast<const In*>(own), static_cast<const In*>(partner), m, style.ahead},
      style, out, n);
}

/// A channel of planes that share a mask.
template <typename In, bool kAffine>
struct MaskedPlane {
  const In* a;
  const In* b;
  float* out;
  Float scale;
  Float bias;

  MaskedPlane(const ThreePlanes& planes, int c)
      : a(static_cast<const In*>(planes.a[c])),
        b(static_cast<const In*>(planes.b[c])),
        out(planes.out[c]) {
    scale = hn::Set(Floats(), kAffine ? planes.affine[c].scale[0] : 1.0f);
    bias = hn::Set(Floats(), kAffine ? planes.affine[c].bias[0] : 0.0f);
  }
  HWY_INLINE void touch(std::int64_t i, std::int64_t ahead) const {
    prefetch(a + i, ahead);
    prefetch(b + i, ahead);
  }
  HWY_INLINE void mix(std::int64_t i, Float m) const {
    const Float v = masked_sum(a + i, b + i, m);
    hn::Stream(kAffine ? hn::Add(hn::Mul(v, scale), bias) : v, Floats(), out + i);
  }
};

template <typename In, bool kAffine>
HWY_INLINE void mask_planes_loop(const ThreePlanes& planes, const float* m, std::int64_t ahead,
                                 std::int64_t n) {
  constexpr std::int64_t kBlock = kLineValues<In>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  const MaskedPlane<In, kAffine> first(planes, 0);
  const MaskedPlane<In, kAffine> second(planes, 1);
  const MaskedPlane<In, kAffine> third(planes, 2);
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    first.touch(begin, ahead);
    second.touch(begin, ahead);
    third.touch(begin, ahead);
    const std::int64_t end = std::min(begin + kBlock, n);
    for (std::int64_t i = begin; i < end; i += kLineValues<float>) prefetch(m + i, kFieldAhead);
    for (std::int64_t i = begin; i < end; i += lanes) {
      const Float weight = load_floats(m + i);
      first.mix(i, weight);
      second.mix(i, weight);
      third.mix(i, weight);
    }
  }
}

template <typename In>
void blend_mask_planes(const ThreePlanes& planes, const float* m, std::int64_t ahead,
                       std::int64_t n) {
  if (planes.affine[0].scale != nullptr) return mask_planes_loop<In, true>(planes, m, ahead, n);
  mask_planes_loop<In, false>(planes, m, ahead, n);
}

// ---- masks that change from row to row ----

template <typename In>
void blend_mask_rows(const void* own, const void* partner, const float* const* masks,
                     const RowStyle& style, float* out, std::int64_t rows, std::int64_t n) {
  const MaskRowsSource<In> source{static_cast<const In*>(own), static_cast<const In*>(partner),
                                  masks, style.ahead, n};
  const MaskRowsJob<In> job{source, rows};
  // One loop for all other types: they are rare.
  if constexpr (std::is_same_v<In, float>) {
    with_sink<In>(job, style, out, rows * n);
  } else {
    with_stores(job, Sink<Norm::any>(style.affine, out),
                style.stream && rows * n >= kLeastStreamed);
  }
}

/// Rows of fewer values than a vector has, one by one.
template <typename Source>
HWY_INLINE void short_rows(const Source& source, const RowStyle& style, float* out,
                           std::int64_t rows, std::int64_t n) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const Sink<Norm::any> sink(style.affine.from(row * n), out + row * n);
    sink.put_tail(source.tail(row), n);
  }
}

template <typename In>
void blend_gaussian(const void* peaked, const void* other, const GaussianRows& mask,
                    const RowStyle& style, float* out, std::int64_t rows, std::int64_t n) {
  const auto* a = static_cast<const In*>(peaked);
  const auto* b = static_cast<const In*>(other);
  const GaussianSource<In> source{a, b, mask, style.ahead, n};
  if (n < vector_values()) return short_rows(source, style, out, rows, n);
  with_sink<In>(GaussianJob<In>{source, rows}, style, out, rows * n);
}

template <typename In>
void blend_box(const void* own, const void* partner, const BoxRows& box, const RowStyle& style,
               float* out, std::int64_t rows) {
  const auto* a = static_cast<const In*>(own);
  const auto* b = static_cast<const In*>(partner);
  const BoxSource<In> source{a, b, box};
  if (box.n < vector_values()) return short_rows(source, style, out, rows, box.n);
  with_sink<In>(BoxJob<In>{source, style, rows}, style, out, rows * box.n);
}

// ---- sums ----

template <typename In>
void sum(const void* const* sources, const float* weights, std::int32_t count, const float* base,
         const RowStyle& style, float* out, std::int64_t n) {
  const auto* const* in = reinterpret_cast<const In* const*>(sources);
  if (count == 3 && base == nullptr) {
    run(SumSource<In, 3>{in, weights, count, nullptr, style.ahead}, style, out, n);
  } else {
    // Rare, and slow enough that one loop does for every normalization.
    const SumSource<In, 0> source{in, weights, count, base, style.ahead};
    with_stores(RunJob<SumSource<In, 0>>{source, n}, Sink<Norm::any>(style.affine, out),
                style.stream && n >= kLeastStreamed);
  }
}

template <typename In>
void masked_sum(const void* const* sources, const float* const* masks, std::int32_t count,
                const RowStyle& style, float* out, std::int64_t n) {
  const auto* const* in = reinterpret_cast<const In* const*>(sources);
  const MaskedSumSource<In> source{in, masks, count, style.ahead};
  with_stores(RunJob<MaskedSumSource<In>>{source, n}, Sink<Norm::any>(style.affine, out),
              style.stream && n >= kLeastStreamed);
}

/// From narrower types, rounding a block that was mixed before is faster.
template <typename In, typename Out>
constexpr auto kFlatRounded = std::is_same_v<In, float> ? flat_rounded<In, Out> : nullptr;

template <typename In>
constexpr RowOps kOps = {convert<In>,
                         blend_flat<In>,
                         {nullptr, kFlatRounded<In, F16>, kFlatRounded<In, BF16>, nullptr},
                         flat_interleaved<In>,
                         blend_mask<In>,
                         blend_mask_planes<In>,
                         blend_mask_rows<In>,
                         blend_gaussian<In>,
                         blend_box<In>,
                         sum<In>,
                         masked_sum<In>};

constexpr RowOps kTable[4] = {kOps<std::uint8_t>, kOps<F16>, kOps<BF16>, kOps<float>};

}  // namespace

const RowOps* get_row_ops(int in) { return &kTable[in]; }

}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "kernels/simd_target.h"
#include "medley/mix.h"

namespace medley {

HWY_EXPORT(get_row_ops);

const RowOps& row_ops(DType in) { return *HWY_DYNAMIC_DISPATCH(get_row_ops)(static_cast<int>(in)); }

std::vector<std::string_view> simd_targets() {
  std::vector<std::string_view> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

void set_simd_target(std::string_view name) {
  hwy::SetSupportedTargetsForTest(0);
  std::int64_t chosen = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (name == hwy::TargetName(target)) chosen = target;
  }
  if (chosen == 0 && !name.empty()) {
    std::string known;
    for (const std::string_view target : simd_targets()) known.append(" ").append(target);
    fail_argument(fmt::format("unknown SIMD target \"{}\"; this machine has{}", name, known));
  }
  hwy::SetSupportedTargetsForTest(chosen);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace medley

#endif  // HWY_ONCE
