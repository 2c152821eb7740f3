#include "kernels/cpu/row_ops.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/row_ops.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

// ---- operations on one kind of pixel ----

template <typename In>
void convert(const void* source, const RowStyle& style, float* out, std::int64_t n) {
  copy_loop(ConvertSource<In>{static_cast<const In*>(source), style.ahead}, Target(style, out), n);
}

template <typename In>
void blend_flat(const void* own, const void* partner, Weights weights, const RowStyle& style,
                float* out, std::int64_t n) {
  run_loop(FlatSource<In>{static_cast<const In*>(own), static_cast<const In*>(partner), weights,
                          style.ahead},
           Target(style, out), n);
}

template <typename In>
void blend_mask(const void* own, const void* partner, const float* m, const RowStyle& style,
                float* out, std::int64_t n) {
  run_loop(
      MaskSource<In>{static_cast<const In*>(own), static_cast<const In*>(partner), m, style.ahead},
      Target(style, out), n);
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

template <typename In, bool kNormal>
HWY_INLINE void gaussian_rows(const In* peaked, const In* other, const GaussianRows& mask,
                              const RowStyle& style, float* out, std::int64_t rows,
                              std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  const Target target(style, out);
  for (std::int64_t row = 0; row < rows; ++row) {
    const In* a = peaked + row * n;
    const In* b = other + row * n;
    const Target to = target.from(row * n);
    const std::int64_t reach = mask.reach[row];
    if (reach < 0) {
      copy_loop(ConvertSource<In>{b, style.ahead}, to, n);
      continue;
    }
    // Whole vectors on both sides; what is left of a row goes with the mask.
    const std::int64_t begin = std::max<std::int64_t>(mask.centre_begin - reach, 0) / lanes * lanes;
    std::int64_t end = (mask.centre_end + reach + lanes - 1) / lanes * lanes;
    if (n - end < lanes) end = n;
    const SeparableSource<In, kNormal> source(a + begin, b + begin, mask.column + begin,
                                              mask.row_factors[row], style.ahead);
    if (begin > 0) copy_loop(ConvertSource<In>{b, style.ahead}, to, begin);
    run_loop(source, to.from(begin), end - begin);
    if (end < n) copy_loop(ConvertSource<In>{b + end, style.ahead}, to.from(end), n - end);
  }
}

template <typename In>
void blend_gaussian(const void* peaked, const void* other, const GaussianRows& mask,
                    const RowStyle& style, float* out, std::int64_t rows, std::int64_t n) {
  const auto* a = static_cast<const In*>(peaked);
  const auto* b = static_cast<const In*>(other);
  if constexpr (std::is_same_v<In, std::uint8_t>) {
    if (mask.normal) return gaussian_rows<In, true>(a, b, mask, style, out, rows, n);
  }
  gaussian_rows<In, false>(a, b, mask, style, out, rows, n);
}

// ---- boxes ----

/// A stretch of whole vectors of a row: all in the box, none in the box, or with an edge of it.
struct BoxStretch {
  enum class Kind { inside, outside, edge };
  std::int64_t begin;
  std::int64_t end;
  Kind kind;
};

/// Cuts the whole vectors of a row of n values; returns how many stretches there are.
HWY_INLINE int cut_row(const BoxColumns& box, std::int64_t n, BoxStretch (&stretches)[5]) {
  using Kind = BoxStretch::Kind;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  const std::int64_t whole = n - n % lanes;
  int count = 0;
  std::int64_t at = 0;
  const auto add = [&](std::int64_t end, Kind kind) HWY_ATTR {
    end = std::min(end, whole);
    if (at < end) stretches[count++] = {at, end, kind};
    at = std::max(at, end);
  };
  const auto up = [lanes](std::int64_t i) HWY_ATTR { return (i + lanes - 1) / lanes * lanes; };
  add(box.begin / lanes * lanes, Kind::outside);
  add(up(box.begin), Kind::edge);
  add(box.end / lanes * lanes, Kind::inside);
  add(up(box.end), Kind::edge);
  add(whole, Kind::outside);
  return count;
}

template <typename In>
HWY_INLINE Float weighted(const In* a, const In* b, Weights weights) {
  if (weights.partner == 0) return load_floats(a);
  if (weights.own == 0) return load_floats(b);
  return weighted_sum(a, b, weights);
}

/// A vector of a row, of which value i is the first, with values in and out of the box.
template <typename In>
HWY_INLINE Float edge_vector(const In* a, const In* b, const BoxColumns& box, std::int64_t i) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto at = hn::Add(hn::Iota(di, 0), hn::Set(di, static_cast<std::int32_t>(i)));
  const auto before = hn::Lt(at, hn::Set(di, static_cast<std::int32_t>(box.begin)));
  const auto before_end = hn::Lt(at, hn::Set(di, static_cast<std::int32_t>(box.end)));
  return hn::IfThenElse(hn::RebindMask(d, hn::AndNot(before, before_end)),
                        weighted(a, b, box.inside), weighted(a, b, box.outside));
}

/// One row of at least a vector; `stretches` come from cut_row.
template <typename In>
HWY_INLINE void box_row(const In* a, const In* b, const BoxColumns& box,
                        const BoxStretch* stretches, int count, const Target& target,
                        const RowStyle& style, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  const std::int64_t ahead = style.ahead;
  const bool overlap = n % lanes != 0;
  const std::int64_t end = n - lanes;
  const Float last = overlap ? target.normalised(edge_vector(a + end, b + end, box, end), end)
                             : hn::Zero(Floats());
  for (int k = 0; k < count; ++k) {
    const auto [begin, stretch_end, kind] = stretches[k];
    if (kind == BoxStretch::Kind::edge) {
      prefetch(a + begin, ahead);
      prefetch(b + begin, ahead);
      if (style.far != 0) {
        prefetch_far(a + begin, style.far);
        prefetch_far(b + begin, style.far);
      }
      target.put(edge_vector(a + begin, b + begin, box, begin), begin);
      continue;
    }
    const Weights weights = kind == BoxStretch::Kind::inside ? box.inside : box.outside;
    const Target to = target.from(begin);
    const std::int64_t part = stretch_end - begin;
    if (weights.own != 0 && weights.partner != 0) {
      run_loop(FlatSource<In>{a + begin, b + begin, weights, ahead}, to, part);
    } else {
      const In* from = (weights.partner == 0 ? a : b) + begin;
      copy_loop(StretchSource<In>{{from, ahead}, style.far}, to, part);
    }
  }
  if (overlap) store_floats(last, target.out + end);
}

/// A row shorter than a vector.
template <typename In>
HWY_INLINE void short_box_row(const In* a, const In* b, const BoxColumns& box, const Target& target,
                              std::int64_t n) {
  target.put_tail(edge_vector(TailBuffer<In>(a, n).values, TailBuffer<In>(b, n).values, box, 0), n);
}

template <typename In>
void blend_box(const void* own, const void* partner, const BoxColumns& box, const RowStyle& style,
               float* out, std::int64_t rows, std::int64_t n) {
  const bool is_short = n < static_cast<std::int64_t>(hn::Lanes(Floats()));
  BoxStretch stretches[5];
  const int count = cut_row(box, n, stretches);
  const Target target(style, out);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto* a = static_cast<const In*>(own) + row * n;
    const auto* b = static_cast<const In*>(partner) + row * n;
    const Target to = target.from(row * n);
    if (is_short) {
      short_box_row(a, b, box, to, n);
    } else {
      box_row(a, b, box, stretches, count, to, style, n);
    }
  }
}

// ---- sums ----

template <typename In>
void sum(const void* const* sources, const float* weights, std::int32_t count, const float* base,
         const RowStyle& style, float* out, std::int64_t n) {
  const auto* const* in = reinterpret_cast<const In* const*>(sources);
  if (count == 3 && base == nullptr) {
    run_loop(SumSource<In, 3>{in, weights, count, nullptr, style.ahead}, Target(style, out), n);
  } else {
    run_loop(SumSource<In, 0>{in, weights, count, base, style.ahead}, Target(style, out), n);
  }
}

template <typename In>
constexpr RowOps kOps = {convert<In>,        blend_flat<In>, blend_mask<In>, blend_mask_planes<In>,
                         blend_gaussian<In>, blend_box<In>,  sum<In>};

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
#include "medley/backend.h"

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
