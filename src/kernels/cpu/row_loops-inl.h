// Where mixed values go, a run of them at a time: normalized, then stored, past the caches if
// asked. Included once per target.

#if defined(MEDLEY_KERNELS_CPU_ROW_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MEDLEY_KERNELS_CPU_ROW_LOOPS_INL_H_
#undef MEDLEY_KERNELS_CPU_ROW_LOOPS_INL_H_
#else
#define MEDLEY_KERNELS_CPU_ROW_LOOPS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

#include "kernels/cpu/cache_line.h"
#include "kernels/cpu/row_ops.h"
#include "kernels/cpu/simd_pixel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

HWY_INLINE std::int64_t vector_values() { return static_cast<std::int64_t>(hn::Lanes(Floats())); }

// ---- sinks ----

/// How values are normalized: not, alike, or in a way that is looked up at every vector.
enum class Norm { none, uniform, any };

/// Values of an output, which starts with value 0.
template <Norm kNorm>
struct Sink {
  float* out;
  RowAffine affine;
  Float scale;
  Float bias;

  Sink(const RowAffine& normalization, float* to) : out(to), affine(normalization) {
    const Floats d;
    scale = hn::Set(d, kNorm == Norm::uniform ? affine.scale[0] : 1.0f);
    bias = hn::Set(d, kNorm == Norm::uniform ? affine.bias[0] : 0.0f);
  }

  HWY_INLINE Float normalized(Float v, std::int64_t i) const {
    const Floats d;
    if constexpr (kNorm == Norm::uniform) return hn::Add(hn::Mul(v, scale), bias);
    if constexpr (kNorm == Norm::any) {
      if (affine.scale == nullptr) return v;
      if (!affine.uniform) {
        return hn::Add(hn::Mul(v, load_floats(affine.scale + i)), load_floats(affine.bias + i));
      }
      return hn::Add(hn::Mul(v, hn::Set(d, affine.scale[0])), hn::Set(d, affine.bias[0]));
    }
    return v;
  }
  /// The vector from value i on.
  template <bool kStream>
  HWY_INLINE void put(Float v, std::int64_t i) const {
    if constexpr (kStream) {
      hn::Stream(normalized(v, i), Floats(), out + i);
    } else {
      store_floats(normalized(v, i), out + i);
    }
  }
  /// Lanes [first, first + count) of the vector from value i on.
  HWY_INLINE void put_lanes(Float v, std::int64_t i, std::int64_t first, std::int64_t count) const {
    TailBuffer<float> buffer;
    store_floats(normalized(v, i), buffer.values);
    std::memcpy(out + i + first, buffer.values + first,
                static_cast<std::size_t>(count) * sizeof(float));
  }
  /// All there is: fewer values than a vector has.
  HWY_INLINE void put_tail(Float v, std::int64_t n) const {
    Float value = v;
    if (kNorm == Norm::any && affine.scale != nullptr && !affine.uniform) {
      value = hn::Add(hn::Mul(v, load_floats(TailBuffer<float>(affine.scale, n).values)),
                      load_floats(TailBuffer<float>(affine.bias, n).values));
    } else {
      value = normalized(v, 0);
    }
    store_tail(value, out, n);
  }
};

/// Most vectors of a row that counts as narrow.
inline constexpr std::int64_t kNarrowVectors = 8;

/// Runs of fewer values are not worth streaming.
inline constexpr std::int64_t kLeastStreamed = 4 * kLineValues<float>;

template <typename To, typename Job>
HWY_INLINE void with_stores(const Job& job, const To& sink, bool stream) {
  if (stream) {
    job.template run<true>(sink);
  } else {
    job.template run<false>(sink);
  }
}

/// Other types of input are rare enough to share a loop.
template <typename In>
inline constexpr bool kOwnLoops = std::is_same_v<In, float> || std::is_same_v<In, std::uint8_t>;

/// job.run<kStream>(sink), with the sink that the style asks for, of n values in all.
template <typename In, typename Job>
HWY_INLINE void with_sink(const Job& job, const RowStyle& style, float* out, std::int64_t n) {
  const RowAffine& affine = style.affine;
  const bool stream = style.stream && n >= kLeastStreamed;
  if constexpr (kOwnLoops<In>) {
    if (affine.scale == nullptr) return with_stores(job, Sink<Norm::none>(affine, out), stream);
    if (affine.uniform) return with_stores(job, Sink<Norm::uniform>(affine, out), stream);
  }
  with_stores(job, Sink<Norm::any>(affine, out), stream);
}

// ---- loops ----

/// Values [i, i + kBlock). Memory is slower than a loop, caches are not.
template <bool kStream, std::int64_t kBlock, typename Source, typename To>
HWY_INLINE void put_block(const Source& source, const To& sink, std::int64_t i) {
  const std::int64_t lanes = vector_values();
  if constexpr (kStream) {
    for (std::int64_t j = 0; j < kBlock; j += lanes) {
      sink.template put<true>(source.at(i + j), i + j);
    }
  } else {
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < kBlock; j += lanes) {
      sink.template put<false>(source.at(i + j), i + j);
    }
  }
}

/// Whole vectors only: values [begin, end).
template <bool kStream, typename Source, typename To>
HWY_INLINE void vector_loop(const Source& source, const To& sink, std::int64_t begin,
                            std::int64_t end) {
  constexpr std::int64_t kLine = kLineValues<typename Source::Input>;
  // Lines of input and four vectors at a time.
  constexpr std::int64_t kBlock =
      std::max<std::int64_t>(kLine, 4 * static_cast<std::int64_t>(hn::MaxLanes(Floats())));
  const std::int64_t lanes = vector_values();
  const bool touches = kStream || source.ahead != 0;
  std::int64_t i = begin;
  for (; i + kBlock <= end; i += kBlock) {
    if (touches) {
      for (std::int64_t j = 0; j < kBlock; j += kLine) source.touch(i + j);
    }
    put_block<kStream, kBlock>(source, sink, i);
  }
  if (touches) {
    for (std::int64_t j = i; j < end; j += kLine) source.touch(j);
  }
  for (; i < end; i += lanes) sink.template put<kStream>(source.at(i), i);
}

/// How a run of n values, at least a vector, is cut: [head, body) in whole vectors that begin where
/// those of `anchor` do (or, past the caches, on lines of the output), as long as there are enough
/// of them; the rest at both ends with ordinary stores.
struct Cut {
  std::int64_t head;
  std::int64_t body;
};

template <bool kStream>
HWY_INLINE Cut cut_run(const float* anchor, std::int64_t n) {
  constexpr std::int64_t kLine = kLineValues<float>;
  const std::int64_t lanes = vector_values();
  const auto values_past = [anchor](std::int64_t unit) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(anchor) / sizeof(float)) &
           (unit - 1);
  };
  if (kStream) {
    const std::int64_t head = (kLine - values_past(kLine)) & (kLine - 1);
    return {head, head + (n - head) / kLine * kLine};
  }
  const std::int64_t head = n >= 4 * lanes ? (lanes - values_past(lanes)) & (lanes - 1) : 0;
  return {head, head + (n - head) / lanes * lanes};
}

/// The ends of a run that `cut_run` leaves, stored after everything in between, but made first: the
/// output may be an input. Before the body there are at most as many values as a line has, behind
/// it fewer.
template <bool kStream, typename Source, typename To>
class RunEnds {
 public:
  HWY_INLINE RunEnds(const Source& source, const To& sink, const Cut& cut, std::int64_t n)
      : sink_(sink), cut_(cut), n_(n) {
    if (kStream) {
      store_streamed(source);
      return;
    }
    const std::int64_t lanes = vector_values();
    if (cut.head > 0) first_ = sink.normalized(source.at(0), 0);
    if (cut.body < n) last_ = sink.normalized(source.at(n - lanes), n - lanes);
  }
  HWY_INLINE void store() const {
    if (kStream) return;
    if (cut_.head > 0) store_floats(first_, sink_.out);
    if (cut_.body < n_) store_floats(last_, sink_.out + n_ - vector_values());
  }

 private:
  /// Where stores go past the caches the output is no input, and the lines of the body must not be
  /// stored to.
  HWY_INLINE void store_streamed(const Source& source) const {
    const std::int64_t lanes = vector_values();
    std::int64_t i = 0;
    for (; i + lanes <= cut_.head; i += lanes) sink_.template put<false>(source.at(i), i);
    if (i < cut_.head) sink_.put_lanes(source.at(i), i, 0, cut_.head - i);
    for (i = cut_.body; i + lanes <= n_; i += lanes) sink_.template put<false>(source.at(i), i);
    if (i < n_) {
      const std::int64_t left = n_ - i;
      sink_.put_lanes(source.at(n_ - lanes), n_ - lanes, lanes - left, left);
    }
  }

  const To& sink_;
  Cut cut_;
  std::int64_t n_;
  Float first_ = hn::Zero(Floats());
  Float last_ = hn::Zero(Floats());
};

/// All n values of a source.
template <bool kStream, typename Source, typename To>
HWY_INLINE void run_loop(const Source& source, const To& sink, std::int64_t n) {
  if (n < vector_values()) {
    if (n > 0) sink.put_tail(source.tail(n), n);
    return;
  }
  const Cut cut = cut_run<kStream>(source.template anchor<kStream>(sink.out), n);
  const RunEnds<kStream, Source, To> ends(source, sink, cut, n);
  vector_loop<kStream>(source, sink, cut.head, cut.body);
  ends.store();
}

/// A run of one source as a job of with_sink.
template <typename Source>
struct RunJob {
  const Source& source;
  std::int64_t n;

  template <bool kStream, typename To>
  HWY_INLINE void run(const To& sink) const {
    run_loop<kStream>(source, sink, n);
  }
};

template <typename Source>
HWY_INLINE void run(const Source& source, const RowStyle& style, float* out, std::int64_t n) {
  with_sink<typename Source::Input>(RunJob<Source>{source, n}, style, out, n);
}

}  // namespace
}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MEDLEY_KERNELS_CPU_ROW_LOOPS_INL_H_
