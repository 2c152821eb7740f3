#include "kernels/cpu/row_ops.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/row_ops.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/simd_pixel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley {
namespace HWY_NAMESPACE {
namespace {

/// Calls step(i) for i = 0, lanes, 2*lanes, … and, if n is no multiple, tail(i, left) for the rest.
template <typename Step, typename Tail>
HWY_INLINE void for_lanes(std::int64_t n, const Step& step, const Tail& tail) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) step(i);
  if (i < n) tail(i, n - i);
}

/// Room for one vector: a row's tail is copied here, padded with zeros, and goes through the code
/// of whole vectors.
template <typename T>
struct HWY_ALIGN TailBuffer {
  T values[HWY_MAX_BYTES / sizeof(float)] = {};

  TailBuffer() = default;
  TailBuffer(const T* from, std::int64_t left) {
    std::memcpy(values, from, static_cast<std::size_t>(left) * sizeof(T));
  }
};

template <typename Out>
HWY_INLINE void store_tail(Float value, Out* out, std::int64_t left) {
  TailBuffer<Out> buffer;
  store_floats(value, buffer.values);
  std::memcpy(out, buffer.values, static_cast<std::size_t>(left) * sizeof(Out));
}

/// Runs value(i) over a row, normalising and storing each vector; value_tail(i, left) is the last.
template <typename Out, typename Value, typename ValueTail>
HWY_INLINE void run_row(RowAffine affine, Out* out, std::int64_t n, const Value& value,
                        const ValueTail& value_tail) {
  if (affine.scale == nullptr) {
    for_lanes(
        n, [&](std::int64_t i) { store_floats(value(i), out + i); },
        [&](std::int64_t i, std::int64_t left) { store_tail(value_tail(i, left), out + i, left); });
  } else if (affine.uniform) {
    const Float scale = hn::Set(Floats(), affine.scale[0]);
    const Float bias = hn::Set(Floats(), affine.bias[0]);
    const auto apply = [&](Float v) { return hn::Add(hn::Mul(v, scale), bias); };
    for_lanes(
        n, [&](std::int64_t i) { store_floats(apply(value(i)), out + i); },
        [&](std::int64_t i, std::int64_t left) {
          store_tail(apply(value_tail(i, left)), out + i, left);
        });
  } else {
    const auto apply = [](Float v, const float* scale, const float* bias) {
      return hn::Add(hn::Mul(v, load_floats(scale)), load_floats(bias));
    };
    for_lanes(
        n,
        [&](std::int64_t i) {
          store_floats(apply(value(i), affine.scale + i, affine.bias + i), out + i);
        },
        [&](std::int64_t i, std::int64_t left) {
          const TailBuffer<float> scale(affine.scale + i, left);
          const TailBuffer<float> bias(affine.bias + i, left);
          store_tail(apply(value_tail(i, left), scale.values, bias.values), out + i, left);
        });
  }
}

template <typename In, typename Out>
void convert(const void* source, RowAffine affine, void* out, std::int64_t n) {
  const auto* a = static_cast<const In*>(source);
  run_row(
      affine, static_cast<Out*>(out), n, [&](std::int64_t i) { return load_floats(a + i); },
      [&](std::int64_t i, std::int64_t left) {
        return load_floats(TailBuffer<In>(a + i, left).values);
      });
}

template <typename In, typename Out>
void blend_flat(const void* own, const void* partner, float wa, float wb, RowAffine affine,
                void* out, std::int64_t n) {
  const auto* a = static_cast<const In*>(own);
  const auto* b = static_cast<const In*>(partner);
  const Float va = hn::Set(Floats(), wa);
  const Float vb = hn::Set(Floats(), wb);
  const auto mixed = [&](const In* pa, const In* pb) {
    return hn::Add(hn::Mul(load_floats(pa), va), hn::Mul(load_floats(pb), vb));
  };
  run_row(
      affine, static_cast<Out*>(out), n, [&](std::int64_t i) { return mixed(a + i, b + i); },
      [&](std::int64_t i, std::int64_t left) {
        return mixed(TailBuffer<In>(a + i, left).values, TailBuffer<In>(b + i, left).values);
      });
}

template <typename In>
HWY_INLINE Float blend_masked(const In* pa, const In* pb, const float* pm) {
  const Floats d;
  const Float m = load_floats(pm);
  const Float rest = hn::Sub(hn::Set(d, 1.0f), m);
  const Float a = load_floats(pa);
  const Float b = load_floats(pb);
  const Float sum = hn::Add(hn::Mul(a, m), hn::Mul(b, rest));
  const Float with_b = hn::IfThenElse(hn::Eq(m, hn::Zero(d)), b, sum);
  return hn::IfThenElse(hn::Eq(rest, hn::Zero(d)), a, with_b);
}

template <typename In, typename Out>
void blend_mask(const void* own, const void* partner, const float* m, RowAffine affine, void* out,
                std::int64_t n) {
  const auto* a = static_cast<const In*>(own);
  const auto* b = static_cast<const In*>(partner);
  run_row(
      affine, static_cast<Out*>(out), n,
      [&](std::int64_t i) { return blend_masked(a + i, b + i, m + i); },
      [&](std::int64_t i, std::int64_t left) {
        return blend_masked(TailBuffer<In>(a + i, left).values, TailBuffer<In>(b + i, left).values,
                            TailBuffer<float>(m + i, left).values);
      });
}

template <typename In>
void accumulate(const void* source, float weight, bool add, float* sum, std::int64_t n) {
  const auto* a = static_cast<const In*>(source);
  const Float w = hn::Set(Floats(), weight);
  const auto term = [&](const In* p, const float* s) {
    const Float part = hn::Mul(w, load_floats(p));
    return add ? hn::Add(load_floats(s), part) : part;
  };
  run_row(
      RowAffine{}, sum, n, [&](std::int64_t i) { return term(a + i, sum + i); },
      [&](std::int64_t i, std::int64_t left) {
        // Without `add` the old sum may be uninitialised; it is read but not used.
        const TailBuffer<float> old = add ? TailBuffer<float>(sum + i, left) : TailBuffer<float>();
        return term(TailBuffer<In>(a + i, left).values, old.values);
      });
}

void scale_row(float row, const float* column, float* m, std::int64_t n) {
  const Float r = hn::Set(Floats(), row);
  run_row(
      RowAffine{}, m, n, [&](std::int64_t i) { return hn::Mul(r, load_floats(column + i)); },
      [&](std::int64_t i, std::int64_t left) {
        return hn::Mul(r, load_floats(TailBuffer<float>(column + i, left).values));
      });
}

HWY_INLINE Float interpolate(Float first, Float second, Float fraction) {
  const Floats d;
  const Float rest = hn::Sub(hn::Set(d, 1.0f), fraction);
  const Float sum = hn::Add(hn::Mul(first, rest), hn::Mul(second, fraction));
  const Float with_second = hn::IfThenElse(hn::Eq(rest, hn::Zero(d)), second, sum);
  return hn::IfThenElse(hn::Eq(fraction, hn::Zero(d)), first, with_second);
}

void interpolate_rows(const float* a, const float* b, float fraction, float* out, std::int64_t n) {
  const Float f = hn::Set(Floats(), fraction);
  run_row(
      RowAffine{}, out, n,
      [&](std::int64_t i) { return interpolate(load_floats(a + i), load_floats(b + i), f); },
      [&](std::int64_t i, std::int64_t left) {
        return interpolate(load_floats(TailBuffer<float>(a + i, left).values),
                           load_floats(TailBuffer<float>(b + i, left).values), f);
      });
}

void interpolate_columns(const float* a, const std::int32_t* first, const std::int32_t* second,
                         const float* fraction, float* out, std::int64_t n) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto at = [&](const std::int32_t* i0, const std::int32_t* i1, const float* f) {
    return interpolate(hn::GatherIndex(d, a, hn::LoadU(di, i0)),
                       hn::GatherIndex(d, a, hn::LoadU(di, i1)), load_floats(f));
  };
  run_row(
      RowAffine{}, out, n, [&](std::int64_t i) { return at(first + i, second + i, fraction + i); },
      [&](std::int64_t i, std::int64_t left) {
        return at(TailBuffer<std::int32_t>(first + i, left).values,
                  TailBuffer<std::int32_t>(second + i, left).values,
                  TailBuffer<float>(fraction + i, left).values);
      });
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

template <typename In, typename Out>
constexpr RowOps kOps = {convert<In, Out>, blend_flat<In, Out>, blend_mask<In, Out>};

constexpr RowOps kTable[4][4] = {
    {kOps<std::uint8_t, std::uint8_t>, kOps<std::uint8_t, F16>, kOps<std::uint8_t, BF16>,
     kOps<std::uint8_t, float>},
    {kOps<F16, std::uint8_t>, kOps<F16, F16>, kOps<F16, BF16>, kOps<F16, float>},
    {kOps<BF16, std::uint8_t>, kOps<BF16, F16>, kOps<BF16, BF16>, kOps<BF16, float>},
    {kOps<float, std::uint8_t>, kOps<float, F16>, kOps<float, BF16>, kOps<float, float>},
};

constexpr CommonOps kCommon = {
    {accumulate<std::uint8_t>, accumulate<F16>, accumulate<BF16>, accumulate<float>},
    scale_row,
    interpolate_rows,
    interpolate_columns,
    deinterleave,
    interleave,
    repeat,
    stream_lines,
    stream_fence,
};

}  // namespace

const RowOps* get_row_ops(int in, int out) { return &kTable[in][out]; }
const CommonOps* get_common_ops() { return &kCommon; }

}  // namespace HWY_NAMESPACE
}  // namespace medley
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/backend.h"

namespace medley {

HWY_EXPORT(get_row_ops);
HWY_EXPORT(get_common_ops);

const RowOps& row_ops(DType in, DType out) {
  return *HWY_DYNAMIC_DISPATCH(get_row_ops)(static_cast<int>(in), static_cast<int>(out));
}

const CommonOps& common_ops() { return *HWY_DYNAMIC_DISPATCH(get_common_ops)(); }

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
