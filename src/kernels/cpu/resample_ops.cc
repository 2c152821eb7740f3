#include "kernels/cpu/resample_ops.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/resample_ops.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/cache_line.h"
#include "kernels/cpu/simd_pixel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

using Ints = hn::RebindToSigned<Floats>;
using Int = hn::Vec<Ints>;

// ---- rows ----

template <typename In, typename Value>
HWY_INLINE void row_loop(const In* a, const In* b, float* out, std::int64_t n, const Value& value) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    store_floats(value(load_floats(a + i), load_floats(b + i)), out + i);
  }
  if (i < n) {
    store_tail(value(load_floats(TailBuffer<In>(a + i, n - i).values),
                     load_floats(TailBuffer<In>(b + i, n - i).values)),
               out + i, n - i);
  }
}

template <typename In>
void interpolate_rows(const void* row_a, const void* row_b, float fraction, float* out,
                      std::int64_t n) {
  const auto* a = static_cast<const In*>(row_a);
  const auto* b = static_cast<const In*>(row_b);
  const float rest = 1.0f - fraction;
  const auto first = [](Float v, Float) HWY_ATTR { return v; };
  if (fraction == 0) return row_loop(a, a, out, n, first);
  if (rest == 0) return row_loop(b, b, out, n, first);
  const Float wa = hn::Set(Floats(), rest);
  const Float wb = hn::Set(Floats(), fraction);
  row_loop(a, b, out, n,
           [&](Float va, Float vb) HWY_ATTR { return hn::Add(hn::Mul(va, wa), hn::Mul(vb, wb)); });
}

// ---- where columns read ----

/// What a vector reads is found by permuting pairs of vectors, this many at most.
constexpr std::int64_t kMostPairs = 3;

/// Offsets from the first column of each vector on.
void arrange_values(ColumnTaps& taps) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < taps.slots; i += lanes) {
    const std::int32_t base = taps.offset[i];
    taps.base[i / lanes] = base;
    for (std::int64_t k = i; k < i + lanes; ++k) taps.offset[k] -= base;
    last = std::max<std::int64_t>(last, taps.offset[i + lanes - 1]);
  }
  const std::int64_t pairs = (last + 1) / (2 * lanes) + 1;
  const bool permutes = HWY_TARGET != HWY_SCALAR && lanes >= 8 && pairs <= kMostPairs;
  taps.pairs = permutes ? static_cast<std::int32_t>(pairs) : 0;
}

/// Bytes of a vector's columns are taken from as many 4-byte lanes as a vector has, if they lie
/// close enough together.
bool arrange_bytes(ColumnTaps& taps) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  // The right neighbors are read one byte further on.
  const std::int64_t last_base = taps.width - 1 - 4 * lanes;
  if (HWY_TARGET == HWY_SCALAR || lanes < 8 || last_base < 0) return false;
  const auto base_of = [&](std::int64_t i) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(taps.offset[i], last_base));
  };
  for (std::int64_t i = 0; i < taps.slots; i += lanes) {
    if (taps.offset[i + lanes - 1] - base_of(i) >= 4 * lanes) return false;
  }
  for (std::int64_t i = 0; i < taps.slots; i += lanes) {
    const std::int32_t base = base_of(i);
    taps.base[i / lanes] = base;
    for (std::int64_t k = i; k < i + lanes; ++k) {
      const auto offset = static_cast<std::uint32_t>(taps.offset[k] - base);
      const auto block_byte = static_cast<std::uint32_t>(k % 4 * 4);
      taps.byte[k] = 0x80808000u | (block_byte + offset % 4);  // the other bytes become 0
      taps.offset[k] = static_cast<std::int32_t>(offset / 4);
    }
  }
  return true;
}

void arrange(ColumnTaps& taps, bool bytes) {
  taps.weights_differ_from_0 = true;
  for (std::int64_t i = 0; i < taps.slots; ++i) {
    if (taps.offset[i] == taps.width - 1 && taps.width > 1) {
      // Nothing is to the right of the last value, so it becomes a right neighbor.
      taps.offset[i] -= 1;
      taps.fraction[i] = 1;
    }
    taps.rest[i] = 1.0f - taps.fraction[i];
    if (taps.fraction[i] == 0 || taps.rest[i] == 0) taps.weights_differ_from_0 = false;
  }
  // Whole vectors.
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  for (std::int64_t i = taps.slots; i < taps.slots + lanes; ++i) {
    taps.offset[i] = taps.offset[taps.slots - 1];
    taps.fraction[i] = taps.fraction[taps.slots - 1];
    taps.rest[i] = taps.rest[taps.slots - 1];
  }
  taps.bytes = bytes && arrange_bytes(taps);
  if (!taps.bytes) arrange_values(taps);
}

// ---- columns ----

/// Values at some positions, and next to them on the right.
struct Neighbors {
  Float left;
  Float right;
};

/// Two vectors that lie next to each other.
struct Pair {
  Float low;
  Float high;
};

HWY_INLINE Pair load_pair(const float* p) {
  return {load_floats(p), load_floats(p + hn::Lanes(Floats()))};
}

/// The values at some positions, modulo the length of the pair.
HWY_INLINE Float lookup([[maybe_unused]] const Pair& pair, [[maybe_unused]] Int position) {
  const Floats d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Zero(d);
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return Float{_mm512_permutex2var_ps(pair.low.raw, position.raw, pair.high.raw)};
#else
  const Ints di;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const auto lane = hn::IndicesFromVec(d, hn::And(position, hn::Set(di, lanes - 1)));
  const auto high = hn::Ne(hn::And(position, hn::Set(di, lanes)), hn::Zero(di));
  return hn::IfThenElse(hn::RebindMask(d, high), hn::TableLookupLanes(pair.high, lane),
                        hn::TableLookupLanes(pair.low, lane));
#endif
}

/// By permuting kPairs pairs of vectors from `a` on, which hold all of them.
template <int kPairs>
HWY_INLINE Neighbors permute_neighbors(const float* a, const std::int32_t* offset) {
  const Floats d;
  const Ints di;
  const auto length = static_cast<std::int64_t>(2 * hn::Lanes(d));
  const Int left = hn::LoadU(di, offset);
  const Int right = hn::Add(left, hn::Set(di, 1));
  const Pair first = load_pair(a);
  Neighbors result{lookup(first, left), lookup(first, right)};
  for (std::int64_t k = 1; k < kPairs; ++k) {
    const Pair pair = load_pair(a + k * length);
    const Int last = hn::Set(di, static_cast<std::int32_t>(k * length - 1));
    result.left =
        hn::IfThenElse(hn::RebindMask(d, hn::Gt(left, last)), lookup(pair, left), result.left);
    result.right =
        hn::IfThenElse(hn::RebindMask(d, hn::Gt(right, last)), lookup(pair, right), result.right);
  }
  return result;
}

/// One by one, which is faster than gather instructions.
HWY_INLINE Neighbors load_neighbors(const float* a, const std::int32_t* offset) {
  const hn::CappedTag<float, 2> pair;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  HWY_ALIGN float pairs[std::size_t{2} * HWY_MAX_BYTES / sizeof(float)];
  for (std::int64_t i = 0; i < lanes; ++i) {
    if constexpr (hn::MaxLanes(pair) == 2) {
      hn::StoreU(hn::LoadU(pair, a + offset[i]), pair, pairs + 2 * i);
    } else {
      pairs[2 * i] = a[offset[i]];
      pairs[2 * i + 1] = a[offset[i] + 1];
    }
  }
  Neighbors result;
  hn::LoadInterleaved2(Floats(), pairs, result.left, result.right);
  return result;
}

// ---- sources: at(i) is the vector of slots from i on ----
// They have copies of what they need, or loops would load it again after every store.

/// kPairs: those of the taps.
template <int kPairs>
struct LineSource {
  const float* line;
  const ColumnTaps taps;

  LineSource(const ShrunkSource& source, const ColumnTaps& t) : line(source.line), taps(t) {}

  HWY_INLINE Float at(std::int64_t i) const {
    const Floats d;
    const float* from = line + taps.base[static_cast<std::size_t>(i) / hn::Lanes(d)];
    Neighbors n;
    if constexpr (kPairs > 0) {
      n = permute_neighbors<kPairs>(from, taps.offset + i);
    } else {
      n = load_neighbors(from, taps.offset + i);
    }
    const Float fraction = load_floats(taps.fraction + i);
    const Float rest = load_floats(taps.rest + i);
    const Float sum = hn::Add(hn::Mul(n.left, rest), hn::Mul(n.right, fraction));
    if (taps.weights_differ_from_0) return sum;
    const Float with_right = hn::IfThenElse(hn::Eq(rest, hn::Zero(d)), n.right, sum);
    return hn::IfThenElse(hn::Eq(fraction, hn::Zero(d)), n.left, with_right);
  }
};

/// Bytes are finite, so a weight of 0 needs no care.
struct ByteSource {
  const std::uint8_t* a;
  const std::uint8_t* b;
  float fraction;
  const ColumnTaps taps;

  ByteSource(const ShrunkSource& source, const ColumnTaps& t)
      : a(source.a), b(source.b), fraction(source.fraction), taps(t) {}

#if HWY_TARGET == HWY_SCALAR
  HWY_INLINE Float at(std::int64_t /*i*/) const { return hn::Zero(Floats()); }
#else
  HWY_INLINE Float at(std::int64_t i) const {
    const Floats d;
    const Ints di;
    const hn::Repartition<std::uint8_t, Floats> d8;
    const std::int64_t base = taps.base[static_cast<std::size_t>(i) / hn::Lanes(d)];
    const auto lane = hn::IndicesFromVec(di, hn::LoadU(di, taps.offset + i));
    const auto byte = hn::BitCast(d8, hn::LoadU(hn::RebindToUnsigned<Floats>(), taps.byte + i));
    const auto values = [&](const std::uint8_t* row) HWY_ATTR {
      const auto found = hn::TableLookupLanes(hn::BitCast(di, hn::LoadU(d8, row + base)), lane);
      return hn::ConvertTo(d,
                           hn::BitCast(di, hn::TableLookupBytesOr0(hn::BitCast(d8, found), byte)));
    };
    const Float weight_a = hn::Set(d, 1.0f - fraction);
    const Float weight_b = hn::Set(d, fraction);
    const Float left = hn::Add(hn::Mul(values(a), weight_a), hn::Mul(values(b), weight_b));
    const Float right = hn::Add(hn::Mul(values(a + 1), weight_a), hn::Mul(values(b + 1), weight_b));
    return hn::Add(hn::Mul(left, load_floats(taps.rest + i)),
                   hn::Mul(right, load_floats(taps.fraction + i)));
  }
#endif
};

template <typename Source>
HWY_INLINE void shrink_loop(const Source& source, std::int64_t begin, float* out, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  // One place for whole vectors and the rest, or the compiler does not inline what it calls.
  for (std::int64_t i = 0; i < n; i += lanes) {
    const Float v = source.at(begin + i);
    if (HWY_LIKELY(i + lanes <= n)) {
      store_floats(v, out + i);
    } else {
      store_tail(v, out + i, n - i);
    }
  }
}

/// Calls `use` with the line source for the taps.
template <typename Use>
HWY_INLINE void with_line(const ShrunkSource& source, const ColumnTaps& taps, const Use& use) {
  switch (taps.pairs) {
    case 1:
      return use(LineSource<1>(source, taps));
    case 2:
      return use(LineSource<2>(source, taps));
    case 3:
      return use(LineSource<3>(source, taps));
    default:
      return use(LineSource<0>(source, taps));
  }
}

void shrink(const ShrunkSource& source, const ColumnTaps& taps, std::int64_t begin, float* out,
            std::int64_t n) {
  if (taps.bytes) return shrink_loop(ByteSource(source, taps), begin, out, n);
  with_line(source, taps, [&](const auto& line) HWY_ATTR { shrink_loop(line, begin, out, n); });
}

// ---- rows with a box ----

/// Normalizes and stores, past the caches if the style says so. kWhole: rows are whole vectors.
template <bool kWhole>
struct RowWriter {
  float* out;
  std::int64_t n;
  bool affine;
  bool stream;
  Float scale;
  Float bias;

  RowWriter(const RowStyle& style, float* to, std::int64_t count)
      : out(to), n(count), affine(style.affine.scale != nullptr), stream(style.stream) {
    const Floats d;
    scale = hn::Set(d, affine ? style.affine.scale[0] : 1.0f);
    bias = hn::Set(d, affine ? style.affine.bias[0] : 0.0f);
  }
  HWY_INLINE void put(Float v, std::int64_t i) const {
    const Floats d;
    const Float result = affine ? hn::Add(hn::Mul(v, scale), bias) : v;
    if (stream) {
      hn::Stream(result, d, out + i);
    } else if (kWhole || i + static_cast<std::int64_t>(hn::Lanes(d)) <= n) {
      store_floats(result, out + i);
    } else {
      store_tail(result, out + i, n - i);
    }
  }
};

/// Rows to ask for while another is written, or null.
template <typename In>
struct RowAsks {
  const In* later = nullptr;
  const In* soon_a = nullptr;  // both or none
  const In* soon_b = nullptr;

  /// Column i, the first of a line.
  HWY_INLINE void at(std::int64_t i) const {
    if (later != nullptr) prefetch_far(later + i);
    if (soon_a != nullptr) {
      prefetch(soon_a + i);
      prefetch(soon_b + i);
    }
  }
};

/// A row of the image itself.
template <typename In, bool kWhole>
struct OwnRow {
  static constexpr std::int64_t kLine = kLineValues<In>;
  const In* own;
  std::int64_t n;
  std::int64_t ahead;  // bytes
  RowAsks<In> asks = {};

  HWY_INLINE Float at(std::int64_t i) const {
    const bool whole = kWhole || i + static_cast<std::int64_t>(hn::Lanes(Floats())) <= n;
    if (HWY_LIKELY(whole)) return load_floats(own + i);
    return load_floats(TailBuffer<In>(own + i, n - i).values);
  }
  /// Columns [begin, end), whole vectors.
  HWY_INLINE void copy(std::int64_t begin, std::int64_t end,
                       const RowWriter<kWhole>& writer) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
    constexpr std::int64_t kStep = std::max<std::int64_t>(kLine, hn::MaxLanes(Floats()));
    for (std::int64_t i = begin; i < end; i += kStep) {
      prefetch(own + i, ahead);
      asks.at(i);
      for (std::int64_t k = i; k < i + kStep && k < end; k += lanes) writer.put(at(k), k);
    }
  }
};

template <typename Own, typename Source, typename Writer>
HWY_INLINE void paste_loop(const Own& own, const Source& source, const ShrunkSpan& span,
                           const Writer& writer) {
  const Floats d;
  const Ints di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t left = span.left;
  const std::int64_t right = span.right;
  const std::int64_t begin = left / lanes * lanes;
  const std::int64_t end = (right + lanes - 1) / lanes * lanes;
  own.copy(0, begin, writer);
  for (std::int64_t i = begin; i < end; i += lanes) {
    if (i % own.kLine == 0) own.asks.at(i);
    Float v = source.at(span.slot + i);
    if (i < left || i + lanes > right) {
      const auto column = hn::Add(hn::Iota(di, 0), hn::Set(di, static_cast<std::int32_t>(i)));
      const auto before = hn::Lt(column, hn::Set(di, static_cast<std::int32_t>(left)));
      const auto inside = hn::Lt(column, hn::Set(di, static_cast<std::int32_t>(right)));
      v = hn::IfThenElse(hn::RebindMask(d, hn::AndNot(before, inside)), v, own.at(i));
    }
    writer.put(v, i);
  }
  own.copy(end, own.n, writer);
}

template <typename In>
void paste(const void* own, const ShrunkSource& source, const ColumnTaps& taps,
           const ShrunkSpan& span, const RowStyle& style, float* out, std::int64_t n) {
  const OwnRow<In, false> row{static_cast<const In*>(own), n, style.ahead};
  const RowWriter<false> writer(style, out, n);
  if constexpr (std::is_same_v<In, std::uint8_t>) {
    if (taps.bytes) return paste_loop(row, ByteSource(source, taps), span, writer);
  }
  with_line(source, taps, [&](const auto& line) HWY_ATTR { paste_loop(row, line, span, writer); });
}

/// Row r of those that are pasted, and what belongs to it.
template <typename In>
struct RowCursor {
  const PastedRows rows;
  std::int64_t ahead;       // bytes
  std::int64_t rows_ahead;  // of the partner

  RowCursor(const PastedRows& pasted, const RowStyle& style) : rows(pasted), ahead(style.ahead) {
    const std::int64_t row_bytes = rows.n * static_cast<std::int64_t>(sizeof(In));
    rows_ahead = std::max<std::int64_t>(1, ahead / row_bytes);
  }
  HWY_INLINE const In* partner(std::int32_t row) const {
    return static_cast<const In*>(rows.partner) + row * rows.n;
  }
  HWY_INLINE const In* later(std::int64_t r) const {
    if (rows.later.plane == nullptr) return nullptr;
    return static_cast<const In*>(rows.later.plane) + rows.later.row(rows.y + r) * rows.n;
  }
  HWY_INLINE RowAsks<In> asks(std::int64_t r) const {
    if (rows.taps == nullptr) return {later(r)};
    const Tap soon = rows.taps[std::min(r + rows_ahead, rows.last)];
    return {later(r), partner(soon.first), partner(soon.second)};
  }
  HWY_INLINE OwnRow<In, true> own(std::int64_t r) const {
    return {static_cast<const In*>(rows.own) + r * rows.n, rows.n, ahead, asks(r)};
  }
};

// Apart from each other, or there are too few registers for their loops.

template <typename In>
HWY_NOINLINE void copy_rows(const PastedRows& rows, const RowStyle& style, float* out) {
  const RowCursor<In> cursor(rows, style);
  RowWriter<true> writer(style, out, rows.n);
  for (std::int64_t r = 0; r < cursor.rows.rows; ++r, writer.out += writer.n) {
    cursor.own(r).copy(0, writer.n, writer);
  }
}

HWY_NOINLINE void paste_byte_rows(const PastedRows& rows, const ColumnTaps& taps,
                                  const RowStyle& style, float* out) {
  const RowCursor<std::uint8_t> cursor(rows, style);
  RowWriter<true> writer(style, out, rows.n);
  for (std::int64_t r = 0; r < cursor.rows.rows; ++r, writer.out += writer.n) {
    const Tap tap = cursor.rows.taps[r];
    const ShrunkSource source{cursor.partner(tap.first), cursor.partner(tap.second), tap.fraction,
                              nullptr};
    paste_loop(cursor.own(r), ByteSource(source, taps), cursor.rows.span, writer);
  }
}

template <typename In, typename Source>
HWY_NOINLINE void paste_line_rows(const PastedRows& rows, const Source& source,
                                  const RowStyle& style, float* out) {
  const Source line = source;
  const RowCursor<In> cursor(rows, style);
  RowWriter<true> writer(style, out, rows.n);
  for (std::int64_t r = 0; r < cursor.rows.rows; ++r, writer.out += writer.n) {
    const Tap tap = cursor.rows.taps[r];
    interpolate_rows<In>(cursor.partner(tap.first), cursor.partner(tap.second), tap.fraction,
                         cursor.rows.line, writer.n);
    paste_loop(cursor.own(r), line, cursor.rows.span, writer);
  }
}

template <typename In>
void paste_rows(const PastedRows& rows, const ColumnTaps& taps, const RowStyle& style, float* out) {
  if (rows.taps == nullptr) return copy_rows<In>(rows, style, out);
  if (std::is_same_v<In, std::uint8_t> && taps.bytes) {
    return paste_byte_rows(rows, taps, style, out);
  }
  ShrunkSource source;
  source.line = rows.line;
  with_line(source, taps,
            [&](const auto& line) HWY_ATTR { paste_line_rows<In>(rows, line, style, out); });
}

constexpr ResampleOps kOps = {
    hn::MaxLanes(Floats()),
    {interpolate_rows<std::uint8_t>, interpolate_rows<F16>, interpolate_rows<BF16>,
     interpolate_rows<float>},
    arrange,
    shrink,
    {paste<std::uint8_t>, paste<F16>, paste<BF16>, paste<float>},
    {paste_rows<std::uint8_t>, paste_rows<F16>, paste_rows<BF16>, paste_rows<float>},
};

}  // namespace

const ResampleOps* get_resample_ops() { return &kOps; }

}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace medley {

HWY_EXPORT(get_resample_ops);

const ResampleOps& resample_ops() { return *HWY_DYNAMIC_DISPATCH(get_resample_ops)(); }

}  // namespace medley

#endif  // HWY_ONCE
