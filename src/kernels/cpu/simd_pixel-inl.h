// Pixels of every storage type to and from vectors of float: kernels/pixel.h, lane by lane.
// Included once per target.

#if defined(MEDLEY_KERNELS_CPU_SIMD_PIXEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MEDLEY_KERNELS_CPU_SIMD_PIXEL_INL_H_
#undef MEDLEY_KERNELS_CPU_SIMD_PIXEL_INL_H_
#else
#define MEDLEY_KERNELS_CPU_SIMD_PIXEL_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "medley/types.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Float = hn::Vec<Floats>;

#undef MEDLEY_NATIVE_F16
// Targets whose half-precision conversions are one instruction that rounds to nearest even.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define MEDLEY_NATIVE_F16 1
#else
#define MEDLEY_NATIVE_F16 0
#endif

HWY_INLINE Float load_floats(const float* p) { return hn::LoadU(Floats(), p); }

HWY_INLINE Float load_floats(const std::uint8_t* p) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::uint8_t, Floats>(), p)));
}

HWY_INLINE hn::Vec<hn::RebindToUnsigned<Floats>> load_u16(const std::uint16_t* p) {
  const hn::RebindToUnsigned<Floats> du;
  return hn::PromoteTo(du, hn::LoadU(hn::Rebind<std::uint16_t, Floats>(), p));
}

HWY_INLINE Float load_floats(const BF16* p) {
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(load_u16(&p->bits)));
}

HWY_INLINE Float load_floats(const F16* p) {
  const Floats d;
#if MEDLEY_NATIVE_F16
  const hn::Rebind<hwy::float16_t, Floats> dh;
  return hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(p)));
#else
  const hn::RebindToUnsigned<Floats> du;
  const auto bits = load_u16(&p->bits);
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  const auto rest = hn::And(bits, hn::Set(du, 0x7FFFu));
  const auto shifted = hn::ShiftLeft<13>(rest);
  const auto finite = hn::BitCast(du, hn::Mul(hn::BitCast(d, shifted), hn::Set(d, 0x1p112f)));
  const auto special = hn::Or(shifted, hn::Set(du, 0x7F800000u));
  const auto magnitude = hn::IfThenElse(hn::Gt(rest, hn::Set(du, 0x7BFFu)), special, finite);
  return hn::BitCast(d, hn::Or(sign, magnitude));
#endif
}

HWY_INLINE void store_floats(Float v, float* p) { hn::StoreU(v, Floats(), p); }

HWY_INLINE void store_floats(Float v, std::uint8_t* p) {
  const Floats d;
  // NaN is not greater than 0, so it becomes 0.
  const Float positive = hn::IfThenElseZero(hn::Gt(v, hn::Zero(d)), v);
  const Float clamped = hn::Min(positive, hn::Set(d, 255.0f));
  const hn::Rebind<std::uint8_t, Floats> d8;
  hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(clamped)), d8, p);
}

/// Stores the low halves of lanes that hold values below 65536.
template <typename V>
HWY_INLINE void store_u16(V v, std::uint16_t* p) {
  const hn::RebindToSigned<Floats> di;
  const hn::Rebind<std::uint16_t, Floats> d16;
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, v)), d16, p);
}

HWY_INLINE void store_floats(Float v, BF16* p) {
  const hn::RebindToUnsigned<Floats> du;
  const auto bits = hn::BitCast(du, v);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(hn::Set(du, 0x7FFFu), odd)));
  const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(du, 0x40u));
  store_u16(hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7F800000u)), quiet, rounded), &p->bits);
}

HWY_INLINE void store_floats(Float v, F16* p) {
#if MEDLEY_NATIVE_F16
  const hn::Rebind<hwy::float16_t, Floats> dh;
  hn::StoreU(hn::DemoteTo(dh, v), dh, reinterpret_cast<hwy::float16_t*>(p));
#else
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  const auto bits = hn::BitCast(du, v);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000u));
  const auto rest = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
  const auto small = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, rest), hn::Set(d, 0.5f))),
                             hn::Set(du, 0x3F000000u));
  const auto odd = hn::And(hn::ShiftRight<13>(rest), hn::Set(du, 1u));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Sub(rest, hn::Set(du, 0x38000000u - 0xFFFu)), odd));
  auto half = hn::IfThenElse(hn::Lt(rest, hn::Set(du, 0x38800000u)), small, normal);
  half = hn::IfThenElse(hn::Gt(rest, hn::Set(du, 0x477FFFFFu)), hn::Set(du, 0x7C00u), half);
  half = hn::IfThenElse(hn::Gt(rest, hn::Set(du, 0x7F800000u)), hn::Set(du, 0x7E00u), half);
  store_u16(hn::Or(sign, half), &p->bits);
#endif
}

/// Fewer values than a vector has, padded with zeros, so that they go through the code of whole
/// vectors.
template <typename T>
struct HWY_ALIGN TailBuffer {
  T values[HWY_MAX_BYTES / sizeof(float)] = {};

  TailBuffer() = default;
  TailBuffer(const T* from, std::int64_t n) {
    std::memcpy(values, from, static_cast<std::size_t>(n) * sizeof(T));
  }
};

/// The first n lanes only.
template <typename Out>
HWY_INLINE void store_tail(Float v, Out* out, std::int64_t n) {
  TailBuffer<Out> buffer;
  store_floats(v, buffer.values);
  std::memcpy(out, buffer.values, static_cast<std::size_t>(n) * sizeof(Out));
}

}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MEDLEY_KERNELS_CPU_SIMD_PIXEL_INL_H_
