#pragma once

// The fast path: dense images of one layout. A block mixes a stretch of one output, a thread 16
// bytes of the wider type at a time. An interleaved row is treated as one long row of values. What
// a sample needs besides pixels (Gaussian factors, resampling taps) is put in shared memory once
// per block, so parameters per sample cost nothing.

#include <cstdint>

#include "kernels/cuda/check.h"
#include "kernels/cuda/mix.h"
#include "kernels/cuda/pack.cuh"

namespace medley::cuda {

/// Division by a constant that is known at launch; exact for numbers below 2^31.
struct FastDivisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t shift = 0;

  explicit FastDivisor(std::uint32_t d) : divisor(d) {
    while ((std::uint64_t{1} << shift) < d) ++shift;
    multiplier = static_cast<std::uint32_t>(
        ((std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift) - d)) / d + 1);
  }
  [[nodiscard]] __device__ std::uint32_t divide(std::uint32_t n) const {
    return (__umulhi(n, multiplier) + n) >> shift;
  }
};

/// How an output is cut into vectors, and vectors into blocks.
struct VectorGrid {
  std::uint32_t vectors;  // per output
  std::uint32_t chunks;   // blocks per output
  std::uint32_t per_chunk;
  std::int32_t unit;        // values per pixel of a row: channels if interleaved, else 1
  std::int32_t row_values;  // width * unit
  FastDivisor per_row;      // vectors per row
  FastDivisor height;
};

/// Place of a vector: its row within the image (all planes), its row and value in the plane.
struct Place {
  std::int32_t c;  // plane; 0 if interleaved
  std::int32_t y;
  std::int32_t value;
};

template <typename In, typename Out, bool kNhwc>
struct BlockMixer {
  static constexpr int kCount = 16 / (sizeof(In) > sizeof(Out) ? sizeof(In) : sizeof(Out));
  using InPack = Pack<In, kCount>;
  using OutPack = Pack<Out, kCount>;
  using Values = float[kCount];

  const MixParams& p;
  const VectorGrid& grid;
  const LoweredEntry& e;
  Out* out;
  // Shared memory: Gaussian factors of the values of a row, then of rows; or resampling taps of the
  // box's columns; then normalisation repeated over a row's start.
  float* columns;
  float* rows;
  std::int32_t* tap_first;
  float* tap_fraction;
  float* scales;
  float* biases;

  [[nodiscard]] __device__ Place place(std::uint32_t vector) const {
    const std::uint32_t row = grid.per_row.divide(vector);
    Place at{};
    at.value = static_cast<std::int32_t>((vector - row * grid.per_row.divisor) * kCount);
    at.y = static_cast<std::int32_t>(row);
    if constexpr (!kNhwc) {
      const std::uint32_t plane = grid.height.divide(row);
      at.c = static_cast<std::int32_t>(plane);
      at.y = static_cast<std::int32_t>(row - plane * grid.height.divisor);
    }
    return at;
  }

  [[nodiscard]] const __device__ In* image(const LoweredSource& source) const {
    return static_cast<const In*>(p.in) + source.image * p.in_strides.image;
  }
  [[nodiscard]] __device__ InPack load(const In* image_data, std::uint32_t vector) const {
    return reinterpret_cast<const InPack*>(image_data)[vector];
  }

  /// Normalises and stores. The place is only used if there is something to normalise.
  __device__ void finish(std::uint32_t vector, Values& v) const {
    if (p.normalise != 0) {
      if constexpr (kNhwc) {
        const std::uint32_t row = grid.per_row.divide(vector);
        const std::uint32_t value = (vector - row * grid.per_row.divisor) * kCount;
        const std::uint32_t c = value % static_cast<std::uint32_t>(grid.unit);
#pragma unroll
        for (int i = 0; i < kCount; ++i) v[i] = v[i] * scales[c + i] + biases[c + i];
      } else {
        const Affine affine = p.affine[grid.height.divide(grid.per_row.divide(vector))];
#pragma unroll
        for (int i = 0; i < kCount; ++i) v[i] = apply(affine, v[i]);
      }
    }
    OutPack packed;
    pack(v, packed);
    reinterpret_cast<OutPack*>(out)[vector] = packed;
  }

  __device__ void finish(std::uint32_t vector, const InPack& only) const {
    if constexpr (std::is_same_v<In, Out>) {
      if (p.normalise == 0) {
        reinterpret_cast<OutPack*>(out)[vector] = only;
        return;
      }
    }
    Values v;
    unpack(only, v);
    finish(vector, v);
  }

  __device__ void finish_flat(std::uint32_t vector, Weights w, const InPack& own,
                              const InPack& partner) const {
    Values a, b;
    unpack(own, a);
    unpack(partner, b);
#pragma unroll
    for (int i = 0; i < kCount; ++i) a[i] = a[i] * w.own + b[i] * w.partner;
    finish(vector, a);
  }

  /// a gets weight m[i], b the rest.
  __device__ void finish_mask(std::uint32_t vector, const Values& m, const InPack& first,
                              const InPack& second) const {
    Values a, b;
    unpack(first, a);
    unpack(second, b);
#pragma unroll
    for (int i = 0; i < kCount; ++i) a[i] = blend({m[i], 1.0f - m[i]}, a[i], b[i]);
    finish(vector, a);
  }

  // ---- loops over the vectors [begin, end) of the block ----

  /// kUnroll vectors at a time: all loads first, then all the rest.
  template <int kUnroll, typename Load, typename Finish>
  __device__ void for_vectors(std::uint32_t begin, std::uint32_t end, const Load& load_vector,
                              const Finish& finish_vector) const {
    for (std::uint32_t v = begin + threadIdx.x; v < end; v += kUnroll * blockDim.x) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (v + u * blockDim.x < end) load_vector(u, v + u * blockDim.x);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (v + u * blockDim.x < end) finish_vector(u, v + u * blockDim.x);
      }
    }
  }

  __device__ void mix_flat(std::uint32_t begin, std::uint32_t end) const {
    constexpr int kUnroll = 4;
    const Weights w = e.outside;
    InPack a[kUnroll], b[kUnroll];
    if (w.partner == 0 || w.own == 0) {
      const In* only = image(w.partner == 0 ? e.own : e.partner);
      for_vectors<kUnroll>(
          begin, end, [&](int u, std::uint32_t v) { a[u] = load(only, v); },
          [&](int u, std::uint32_t v) { finish(v, a[u]); });
      return;
    }
    const In* own = image(e.own);
    const In* partner = image(e.partner);
    for_vectors<kUnroll>(
        begin, end,
        [&](int u, std::uint32_t v) {
          a[u] = load(own, v);
          b[u] = load(partner, v);
        },
        [&](int u, std::uint32_t v) { finish_flat(v, w, a[u], b[u]); });
  }

  /// Whether a vector lies in the box, outside, or on an edge.
  enum class Region : std::int32_t { inside, outside, edge };

  [[nodiscard]] __device__ Region region_of(const Place& at) const {
    if (!in_interval(at.y, e.top, e.height, p.size.height)) return Region::outside;
    const std::int32_t length = e.width * grid.unit;
    std::int32_t offset = at.value - e.left * grid.unit;
    if (offset < 0) offset += grid.row_values;
    if (offset + kCount <= length) return Region::inside;
    return offset >= length && offset + kCount <= grid.row_values ? Region::outside : Region::edge;
  }

  [[nodiscard]] __device__ bool value_in_box(std::int32_t value) const {
    return in_interval(value, e.left * grid.unit, e.width * grid.unit, grid.row_values);
  }

  __device__ void mix_box(std::uint32_t begin, std::uint32_t end) const {
    constexpr int kUnroll = 4;
    const In* own = image(e.own);
    const In* partner = image(e.partner);
    InPack a[kUnroll], b[kUnroll];
    Region region[kUnroll];
    for_vectors<kUnroll>(
        begin, end,
        [&](int u, std::uint32_t v) {
          region[u] = region_of(place(v));
          const Weights w = region[u] == Region::inside ? e.inside : e.outside;
          if (region[u] == Region::edge || w.own != 0) a[u] = load(own, v);
          if (region[u] == Region::edge || w.partner != 0) b[u] = load(partner, v);
        },
        [&](int u, std::uint32_t v) {
          if (region[u] == Region::edge) {
            const std::int32_t value = place(v).value;
            Values x, y;
            unpack(a[u], x);
            unpack(b[u], y);
#pragma unroll
            for (int i = 0; i < kCount; ++i) {
              x[i] = blend(value_in_box(value + i) ? e.inside : e.outside, x[i], y[i]);
            }
            finish(v, x);
            return;
          }
          const Weights w = region[u] == Region::inside ? e.inside : e.outside;
          if (w.partner == 0) {
            finish(v, a[u]);
          } else if (w.own == 0) {
            finish(v, b[u]);
          } else {
            finish_flat(v, w, a[u], b[u]);
          }
        });
  }

  __device__ void gaussian_at(const Place& at, Values& m) const {
    const float row = rows[at.y];
    const auto& column = *reinterpret_cast<const Pack<float, 4>*>(columns + at.value);
    const Pack<float, 4>* packs = &column;
#pragma unroll
    for (int i = 0; i < kCount; ++i) m[i] = row * packs[i / 4].values[i % 4];
  }

  __device__ void field_at(const Place& at, Values& m) const {
    const float* field = p.fields + e.field + std::int64_t{at.y} * p.size.width;
    if constexpr (kNhwc) {
      auto x = static_cast<std::int32_t>(static_cast<std::uint32_t>(at.value) /
                                         static_cast<std::uint32_t>(grid.unit));
      std::int32_t c = at.value - x * grid.unit;
      float value = field[x];
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        m[i] = value;
        if (++c == grid.unit) {
          c = 0;
          if (i + 1 < kCount) value = field[++x];
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) m[i] = field[at.value + i];
    }
  }

  __device__ void mix_mask(std::uint32_t begin, std::uint32_t end) const {
    constexpr int kUnroll = 2;
    // The mask is the weight of the first image.
    const bool swap = e.kind == MaskKind::gaussian && e.peak_own == 0;
    const In* first = image(swap ? e.partner : e.own);
    const In* second = image(swap ? e.own : e.partner);
    InPack a[kUnroll], b[kUnroll];
    Values m[kUnroll];
    if (e.kind == MaskKind::gaussian) {
      for_vectors<kUnroll>(
          begin, end,
          [&](int u, std::uint32_t v) {
            a[u] = load(first, v);
            b[u] = load(second, v);
          },
          [&](int u, std::uint32_t v) {
            gaussian_at(place(v), m[u]);
            finish_mask(v, m[u], a[u], b[u]);
          });
    } else {
      for_vectors<kUnroll>(
          begin, end,
          [&](int u, std::uint32_t v) {
            a[u] = load(first, v);
            b[u] = load(second, v);
            field_at(place(v), m[u]);
          },
          [&](int u, std::uint32_t v) { finish_mask(v, m[u], a[u], b[u]); });
    }
  }

  // ---- windows, terms, resampling: value by value from the source ----

  [[nodiscard]] __device__ bool direct(const LoweredSource& source) const {
    return source.whole() && p.in_size.height == p.size.height && p.in_size.width == p.size.width;
  }

  /// The values of a vector as a source's window shows them.
  __device__ void load_window(const LoweredSource& source, const Place& at, Values& v) const {
    In padding;
    store(p.pad_value, padding);
    const float pad = to_float(padding);
    const bool reflects = p.reflect_pads != 0;
    std::int32_t sy = at.y + source.dy;
    const bool row_inside = sy >= 0 && sy < p.in_size.height;
    if (!row_inside && reflects) sy = reflect(sy, p.in_size.height);
    const bool row_ok = row_inside || reflects;
    const In* row = image(source) + at.c * p.in_strides.channel + sy * p.in_strides.row;
    std::int32_t x = kNhwc ? static_cast<std::int32_t>(static_cast<std::uint32_t>(at.value) /
                                                       static_cast<std::uint32_t>(grid.unit))
                           : at.value;
    std::int32_t c = kNhwc ? at.value - x * grid.unit : 0;
    const std::int32_t direction = source.flip != 0 ? -1 : 1;
    std::int32_t sx = (source.flip != 0 ? p.size.width - 1 - x : x) + source.dx;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool inside = sx >= 0 && sx < p.in_size.width;
      const std::int32_t tx = inside || !reflects ? sx : reflect(sx, p.in_size.width);
      v[i] = row_ok && (inside || reflects) ? to_float(row[tx * (kNhwc ? grid.unit : 1) + c]) : pad;
      if (!kNhwc) {
        sx += direction;
      } else if (++c == grid.unit) {
        c = 0;
        sx += direction;
      }
    }
  }

  __device__ void load_source(const LoweredSource& source, std::uint32_t vector, const Place& at,
                              Values& v) const {
    if (direct(source)) {
      unpack(load(image(source), vector), v);
    } else {
      load_window(source, at, v);
    }
  }

  [[nodiscard]] __device__ InputImages<In> inputs() const {
    InputImages<In> in{
        static_cast<const In*>(p.in), p.in_strides, p.in_size, p.size, p.reflect_pads != 0, {}};
    store(p.pad_value, in.padding);
    return in;
  }

  /// Value of the shrunk partner for value i of a row in the box.
  [[nodiscard]] __device__ float resampled(const Place& at, std::int32_t value, Tap row_tap) const {
    const auto x = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) /
                                             static_cast<std::uint32_t>(grid.unit));
    const std::int32_t c = kNhwc ? value - x * grid.unit : at.c;
    const std::int32_t j = x >= e.left ? x - e.left : x - e.left + p.size.width;
    const std::int32_t first = tap_first[j];
    const float fraction = tap_fraction[j];
    const Tap column_tap{first, fraction != 0.0f ? first + 1 : first, fraction};
    if (!direct(e.partner)) return inputs().resampled(e, c, row_tap, column_tap);
    const In* base = image(e.partner) + c * p.in_strides.channel;
    const In* row0 = base + row_tap.first * p.in_strides.row;
    const In* row1 = base + row_tap.second * p.in_strides.row;
    const std::int32_t x0 = column_tap.first * grid.unit;
    const std::int32_t x1 = column_tap.second * grid.unit;
    const float left = interpolate(to_float(row0[x0]), to_float(row1[x0]), row_tap.fraction);
    const float right = interpolate(to_float(row0[x1]), to_float(row1[x1]), row_tap.fraction);
    return interpolate(left, right, fraction);
  }

  __device__ void mix_windows(std::uint32_t begin, std::uint32_t end) const {
    for (std::uint32_t vector = begin + threadIdx.x; vector < end; vector += blockDim.x) {
      const Place at = place(vector);
      Values own, partner;
      const Region region = e.kind == MaskKind::box    ? region_of(at)
                            : e.kind == MaskKind::flat ? Region::outside
                                                       : Region::edge;
      const bool shrinks = e.resample != Resample::none;
      const Weights w = region == Region::inside ? e.inside : e.outside;
      const bool mixed = region == Region::edge;
      if (mixed || w.own != 0) load_source(e.own, vector, at, own);
      if (shrinks && region != Region::outside) {
        const Tap row_tap = box_tap(e.resample, at.y, e.top, e.height, p.size.height);
        if (mixed) load_source(e.partner, vector, at, partner);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          if (!mixed || value_in_box(at.value + i)) {
            partner[i] = resampled(at, at.value + i, row_tap);
          }
        }
      } else if (mixed || w.partner != 0) {
        load_source(e.partner, vector, at, partner);
      }
      if (!mixed) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) own[i] = blend(w, own[i], partner[i]);
      } else if (e.kind == MaskKind::box) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          own[i] = blend(value_in_box(at.value + i) ? e.inside : e.outside, own[i], partner[i]);
        }
      } else {
        Values m;
        if (e.kind == MaskKind::gaussian) {
          gaussian_at(at, m);
        } else {
          field_at(at, m);
        }
        const bool own_first = e.kind == MaskKind::field || e.peak_own != 0;
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          const float rest = 1.0f - m[i];
          own[i] = blend(own_first ? Weights{m[i], rest} : Weights{rest, m[i]}, own[i], partner[i]);
        }
      }
      finish(vector, own);
    }
  }

  __device__ void sum_terms(std::uint32_t begin, std::uint32_t end) const {
    constexpr std::int32_t kTogether = 4;  // terms whose loads are under way together
    for (std::uint32_t vector = begin + threadIdx.x; vector < end; vector += blockDim.x) {
      const Place at = place(vector);
      Values sum = {};
      bool any = false;
      for (std::int32_t k = 0; k < e.term_count; k += kTogether) {
        const LoweredTerm* terms = p.terms + e.term_begin + k;
        InPack packs[kTogether];
#pragma unroll
        for (std::int32_t t = 0; t < kTogether; ++t) {
          if (k + t < e.term_count && direct(terms[t].source)) {
            packs[t] = load(image(terms[t].source), vector);
          }
        }
#pragma unroll
        for (std::int32_t t = 0; t < kTogether; ++t) {
          if (k + t >= e.term_count || terms[t].weight == 0) continue;
          Values v;
          if (direct(terms[t].source)) {
            unpack(packs[t], v);
          } else {
            load_window(terms[t].source, at, v);
          }
#pragma unroll
          for (int i = 0; i < kCount; ++i) {
            const float part = terms[t].weight * v[i];
            sum[i] = any ? sum[i] + part : part;
          }
          any = true;
        }
      }
      finish(vector, sum);
    }
  }

  __device__ void mix(std::uint32_t begin, std::uint32_t end) const {
    if (e.term_count > 0) {
      sum_terms(begin, end);
    } else if (e.resample != Resample::none || !direct(e.own) || !direct(e.partner)) {
      mix_windows(begin, end);
    } else if (e.kind == MaskKind::flat) {
      mix_flat(begin, end);
    } else if (e.kind == MaskKind::box) {
      mix_box(begin, end);
    } else {
      mix_mask(begin, end);
    }
  }

  /// Fills the tables that the entry's kind needs.
  __device__ void make_tables() const {
    const auto thread = static_cast<std::int32_t>(threadIdx.x);
    const auto threads = static_cast<std::int32_t>(blockDim.x);
    if (e.kind == MaskKind::gaussian && e.term_count == 0) {
      for (std::int32_t x = thread; x < p.size.width; x += threads) {
        const float factor = gaussian_factor_f32(e.gaussian_scale, x - e.left);
        for (std::int32_t c = 0; c < grid.unit; ++c) columns[x * grid.unit + c] = factor;
      }
      for (std::int32_t y = thread; y < p.size.height; y += threads) {
        rows[y] = gaussian_factor_f32(e.gaussian_scale, y - e.top);
      }
    } else if (e.resample != Resample::none) {
      for (std::int32_t j = thread; j < e.width; j += threads) {
        const Tap tap = e.resample == Resample::nearest ? nearest_tap(j, e.width, p.size.width)
                                                        : bilinear_tap(j, e.width, p.size.width);
        tap_first[j] = tap.first;
        tap_fraction[j] = tap.fraction;
      }
    }
    if (kNhwc && p.normalise != 0) {
      for (std::int32_t i = thread; i < grid.unit + kCount; i += threads) {
        scales[i] = p.affine[i % grid.unit].scale;
        biases[i] = p.affine[i % grid.unit].bias;
      }
    }
    __syncthreads();
  }
};

/// Floats of shared memory: factors or taps, and normalisation.
inline std::size_t shared_floats(const MixParams& p, std::int32_t unit) {
  const auto row = static_cast<std::size_t>(p.size.width) * static_cast<std::size_t>(unit);
  const std::size_t padded_row = (row + 3) / 4 * 4;
  return padded_row + static_cast<std::size_t>(p.size.height) +
         2 * (static_cast<std::size_t>(unit) + 16) + static_cast<std::size_t>(p.size.width);
}

template <typename In, typename Out, bool kNhwc>
__global__ void __launch_bounds__(256)
    mix_vectors(const __grid_constant__ MixParams p, const __grid_constant__ VectorGrid grid) {
  extern __shared__ __align__(16) float shared[];
  const std::uint32_t b = blockIdx.x / grid.chunks;
  const std::uint32_t chunk = blockIdx.x - b * grid.chunks;
  const std::int64_t step = current_step(p);
  const std::int32_t padded_row = (grid.row_values + 3) / 4 * 4;
  float* after_row = shared + padded_row;
  float* affine = after_row + p.size.height + p.size.width;
  const BlockMixer<In, Out, kNhwc> mixer{p,
                                         grid,
                                         p.entries[step * p.batch + b],
                                         static_cast<Out*>(p.out) + b * p.out_strides.image,
                                         shared,
                                         after_row,
                                         reinterpret_cast<std::int32_t*>(shared),
                                         after_row,
                                         affine,
                                         affine + grid.unit + 16};
  mixer.make_tables();
  const std::uint32_t begin = chunk * grid.per_chunk;
  const std::uint32_t end =
      begin + grid.per_chunk < grid.vectors ? begin + grid.per_chunk : grid.vectors;
  mixer.mix(begin, end);
}

template <typename In, typename Out>
void launch_vectors(const MixParams& p, cudaStream_t stream) {
  constexpr std::int64_t kCount = BlockMixer<In, Out, false>::kCount;
  // Enough vectors per thread to pay for the tables, but every multiprocessor has to get work.
  constexpr std::int64_t kVectorsPerThread = sizeof(In) == 1 ? 32 : 16;
  constexpr std::int64_t kBlocksWanted = 1024;
  const bool nhwc = p.out_layout == Layout::nhwc;
  const std::int32_t unit = nhwc ? p.channels : 1;
  const std::int64_t vectors = std::int64_t{p.channels} * p.size.height * p.size.width / kCount;
  const int threads = vectors * p.batch <= 256 * kBlocksWanted ? 128 : 256;
  const std::int64_t most = std::int64_t{threads} * kVectorsPerThread;
  const std::int64_t fair = (vectors * p.batch + kBlocksWanted - 1) / kBlocksWanted;
  const std::int64_t wanted = fair < threads ? threads : fair < most ? fair : most;
  const std::int64_t chunks = (vectors + wanted - 1) / wanted;
  const std::int32_t row_values = p.size.width * unit;
  const VectorGrid grid{static_cast<std::uint32_t>(vectors),
                        static_cast<std::uint32_t>(chunks),
                        static_cast<std::uint32_t>((vectors + chunks - 1) / chunks),
                        unit,
                        row_values,
                        FastDivisor(static_cast<std::uint32_t>(row_values / kCount)),
                        FastDivisor(static_cast<std::uint32_t>(p.size.height))};
  const std::size_t shared = shared_floats(p, unit) * sizeof(float);
  const auto kernel = nhwc ? mix_vectors<In, Out, true> : mix_vectors<In, Out, false>;
  kernel<<<static_cast<unsigned>(p.batch * chunks), threads, shared, stream>>>(p, grid);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

template <typename In>
void launch_vectors_from(const MixParams& p, cudaStream_t stream) {
  switch (p.out_dtype) {
    case DType::u8:
      return launch_vectors<In, std::uint8_t>(p, stream);
    case DType::f16:
      return launch_vectors<In, F16>(p, stream);
    case DType::bf16:
      return launch_vectors<In, BF16>(p, stream);
    case DType::f32:
      return launch_vectors<In, float>(p, stream);
  }
}

}  // namespace medley::cuda
