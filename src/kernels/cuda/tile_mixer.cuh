#pragma once

#include <cstdint>
#include <type_traits>

#include "core/gaussian_factor.h"
#include "kernels/cuda/grid_weights.cuh"
#include "kernels/cuda/sink.cuh"
#include "kernels/cuda/source.cuh"
#include "kernels/cuda/tile.h"

namespace medley::cuda {

/// One block's share of an output: the ways to mix, each over the rows of this thread. Sources are
/// read several rows ahead; weights of a vector are decided once per thread or row, so that the
/// threads of a warp do not part.
template <typename In, typename Out, int kUnit, bool kWindows, Family kFamily>
class TileMixer {
 public:
  static constexpr int kWidest = sizeof(In) > sizeof(Out) ? sizeof(In) : sizeof(Out);
  static constexpr int kCount = kWidest == 1 ? 8 : 16 / kWidest;
  using InPack = Pack<In, kCount>;
  using Values = float[kCount];
  using SourceOf =
      std::conditional_t<kWindows, WindowSource<In, kCount, kUnit>, WholeSource<In, kCount, kUnit>>;
  using SinkOf = Sink<In, Out, kCount, kUnit>;

  __device__ TileMixer(const MixParams& p, const typename SinkOf::Table& table,
                       const TileGrid& grid, const Tile& tile, const DeviceEntry& from,
                       float* shared)
      : p_(p),
        grid_(grid),
        tile_(tile),
        e_(from.entry),
        sink_(p, table, grid, tile, from.output),
        shared_(shared) {}

  /// Mixes if the entry is of this family.
  __device__ void mix() const {
    if (family_of(e_) != kFamily) return;
    if constexpr (kFamily == Family::boxes) mix_box();
    if constexpr (kFamily == Family::gaussian) mix_gaussian();
    if constexpr (kFamily == Family::field) mix_field();
    if constexpr (kFamily == Family::grid) mix_grid();
    if constexpr (kFamily == Family::terms) sum_terms();
    if constexpr (kFamily == Family::masked_terms) sum_masked_terms();
    if constexpr (kFamily == Family::resampled) mix_resampled();
  }

 private:
  // Rows that a thread reads ahead, by the sources that it reads: as many as registers allow.
  static constexpr bool kWide = sizeof(InPack) == 16;
  static constexpr int kOneAhead = kWindows ? 1 : kWide ? 4 : 8;
  static constexpr int kTwoAhead = kWindows ? 1 : kWide ? 2 : 4;
  static constexpr int kThreeAhead = kWindows ? 1 : 2;

  [[nodiscard]] __device__ SourceOf source(const LoweredSource& s) const {
    return SourceOf(p_, grid_, tile_, s);
  }

  [[nodiscard]] static __device__ std::int32_t block_thread() {
    return static_cast<std::int32_t>(threadIdx.y * blockDim.x + threadIdx.x);
  }
  [[nodiscard]] static __device__ std::int32_t block_threads() {
    return static_cast<std::int32_t>(blockDim.x * blockDim.y);
  }

  /// kAhead rows at a time: all loads first, then `prepare` (once), then all the rest.
  template <int kAhead, typename Load, typename Prepare, typename Finish>
  __device__ void for_rows(const Load& load, const Prepare& prepare, const Finish& finish) const {
    const std::int32_t stride = grid_.tile_rows;
    bool prepared = false;
    std::int32_t y = tile_.first_row;
    do {
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        load(u, y + u * stride, y + u * stride < tile_.end_row);
      }
      if (!prepared) prepare();
      prepared = true;
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        if (y + u * stride < tile_.end_row) finish(u, y + u * stride);
      }
      y += kAhead * stride;
    } while (y < tile_.end_row);
  }

  template <int kAhead, typename Load, typename Finish>
  __device__ void for_rows(const Load& load, const Finish& finish) const {
    for_rows<kAhead>(
        load, [] {}, finish);
  }

  // ---- flat masks and boxes ----

  [[nodiscard]] static __device__ std::uint32_t bits_below(std::int32_t n) {
    return n <= 0 ? 0 : n >= kCount ? kAll : (1u << n) - 1;
  }

  /// Bit i: whether value i of the vector lies in the columns of the box, which may wrap around.
  [[nodiscard]] __device__ std::uint32_t box_columns() const {
    const std::int32_t length = e_.width * kUnit;
    std::int32_t offset = tile_.value - e_.left * kUnit;
    if (offset < 0) offset += grid_.row_values;
    const std::int32_t wrap = grid_.row_values - offset;
    return bits_below(length - offset) | (bits_below(wrap + length) & ~bits_below(wrap));
  }

  [[nodiscard]] __device__ bool in_box_rows(std::int32_t y) const {
    return in_interval(y, e_.top, e_.height, p_.size.height);
  }

  [[nodiscard]] static __device__ bool copies(Weights w) { return w.own == 0 || w.partner == 0; }

  __device__ void mix_box() const {
    const bool copies_outside = copies(e_.outside);
    if (e_.kind == MaskKind::flat) {
      if (!copies_outside) return blend_box<false>();
      return copy(e_.outside.partner == 0 ? e_.own : e_.partner);
    }
    const bool copies_inside = copies(e_.inside);
    if (copies_inside && copies_outside) return choose();
    if (copies_inside) return copy_and_blend(e_.inside, e_.outside, false);
    if (copies_outside) return copy_and_blend(e_.outside, e_.inside, true);
    blend_box<true>();
  }

  /// One source everywhere.
  __device__ void copy(const LoweredSource& only) const {
    const SourceOf from = source(only);
    InPack a[kOneAhead];
    for_rows<kOneAhead>([&](int u, std::int32_t y, bool wanted) { a[u] = from.load(y, wanted); },
                        [&](int u, std::int32_t y) { sink_.write(y, a[u]); });
  }

  /// One source outside the box, one inside.
  __device__ void choose() const {
    const SourceOf outside = source(e_.outside.partner == 0 ? e_.own : e_.partner);
    const SourceOf inside = source(e_.inside.partner == 0 ? e_.own : e_.partner);
    const std::uint32_t columns = box_columns();
    const PackSelect<In, kCount> select(columns);
    InPack a[kTwoAhead], b[kTwoAhead];
    for_rows<kTwoAhead>(
        [&](int u, std::int32_t y, bool wanted) {
          const std::uint32_t bits = in_box_rows(y) ? columns : 0;
          a[u] = outside.load(y, wanted && bits != kAll);
          b[u] = inside.load(y, wanted && bits != 0);
        },
        [&](int u, std::int32_t y) { sink_.write(y, select(a[u], b[u], in_box_rows(y))); });
  }

  /// Copies of one source on one side of the box's edge, a blend on the other.
  __device__ void copy_and_blend(Weights copied, Weights blended, bool copy_outside) const {
    const bool own_copied = copied.partner == 0;
    const SourceOf first = source(own_copied ? e_.own : e_.partner);
    const SourceOf second = source(own_copied ? e_.partner : e_.own);
    const float first_weight = own_copied ? blended.own : blended.partner;
    const float second_weight = own_copied ? blended.partner : blended.own;
    const std::uint32_t outside = copy_outside ? kAll : 0;
    const std::uint32_t inside = box_columns() ^ outside;
    InPack a[kTwoAhead], b[kTwoAhead];
    for_rows<kTwoAhead>(
        [&](int u, std::int32_t y, bool wanted) {
          a[u] = first.load(y, wanted);
          b[u] = second.load(y, wanted && (in_box_rows(y) ? inside : outside) != kAll);
        },
        [&](int u, std::int32_t y) {
          const std::uint32_t copied_bits = in_box_rows(y) ? inside : outside;
          Values v, w, weights;
#pragma unroll
          for (int i = 0; i < kCount; ++i) weights[i] = second_weight;
          unpack(a[u], v);
          weigh(b[u], weights, w);
#pragma unroll
          for (int i = 0; i < kCount; ++i) {
            const float blend = v[i] * first_weight + w[i];
            v[i] = (copied_bits >> i & 1u) != 0 ? v[i] : blend;
          }
          sink_.write(y, v);
        });
  }

  /// Blends inside and outside; without kBox the outside is everywhere.
  template <bool kBox>
  __device__ void blend_box() const {
    const SourceOf own = source(e_.own);
    const SourceOf partner = source(e_.partner);
    const std::uint32_t columns = kBox ? box_columns() : 0;
    InPack a[kTwoAhead], b[kTwoAhead];
    for_rows<kTwoAhead>(
        [&](int u, std::int32_t y, bool wanted) {
          a[u] = own.load(y, wanted);
          b[u] = partner.load(y, wanted);
        },
        [&](int u, std::int32_t y) {
          const std::uint32_t bits = kBox && in_box_rows(y) ? columns : 0;
          Values v, w, own_weights, partner_weights;
#pragma unroll
          for (int i = 0; i < kCount; ++i) {
            const Weights weights = kBox && (bits >> i & 1u) != 0 ? e_.inside : e_.outside;
            own_weights[i] = weights.own;
            partner_weights[i] = weights.partner;
          }
          weigh(a[u], own_weights, v);
          weigh(b[u], partner_weights, w);
#pragma unroll
          for (int i = 0; i < kCount; ++i) v[i] = v[i] + w[i];
          sink_.write(y, v);
        });
  }

  // ---- masks that differ from value to value ----

  /// `blend` of each value, into v. The sum is the same number but where it is 0 or NaN: there a
  /// weight of 0 may have to leave a value out.
  static __device__ void blend_masked(const Values& m, Values& v, const Values& w) {
    Values sum;
    bool plain = true;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sum[i] = v[i] * m[i] + w[i] * (1.0f - m[i]);
      // Values of u8 are finite and not negative: 0 adds nothing.
      if constexpr (!std::is_same_v<In, std::uint8_t>) plain = plain && fabsf(sum[i]) > 0.0f;
    }
    if (plain) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) v[i] = sum[i];
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) v[i] = blend({m[i], 1.0f - m[i]}, v[i], w[i]);
    }
  }

  __device__ void write_masked(std::int32_t y, const Values& m, const InPack& first,
                               const InPack& second) const {
    Values v, w;
    unpack(first, v);
    unpack(second, w);
    blend_masked(m, v, w);
    sink_.write(y, v);
  }

  /// Puts the Gaussian factors of the image's columns and the band's rows in shared memory.
  __device__ void make_factors() const {
    const std::int32_t width = p_.size.width;
    for (std::int32_t i = block_thread(); i < width + grid_.band_rows; i += block_threads()) {
      const std::int32_t d = i < width ? i - e_.left : tile_.band_begin + i - width - e_.top;
      shared_[i] = gaussian_factor_f32(e_.gaussian_scale, d);
    }
    __syncthreads();
  }

  /// Pixel of value i of the vector.
  [[nodiscard]] __device__ std::int32_t pixel_of(int i) const { return (tile_.value + i) / kUnit; }

  __device__ void mix_gaussian() const {
    const bool peak_own = e_.peak_own != 0;
    const SourceOf first = source(peak_own ? e_.own : e_.partner);
    const SourceOf second = source(peak_own ? e_.partner : e_.own);
    const float* rows = shared_ + p_.size.width - tile_.band_begin;
    Values columns;
    InPack a[kTwoAhead], b[kTwoAhead];
    for_rows<kTwoAhead>(
        [&](int u, std::int32_t y, bool wanted) {
          a[u] = first.load(y, wanted);
          b[u] = second.load(y, wanted);
        },
        [&] {
          make_factors();
#pragma unroll
          for (int i = 0; i < kCount; ++i) {
            columns[i] = shared_[min(pixel_of(i), p_.size.width - 1)];
          }
        },
        [&](int u, std::int32_t y) {
          Values m;
#pragma unroll
          for (int i = 0; i < kCount; ++i) m[i] = rows[y] * columns[i];
          write_masked(y, m, a[u], b[u]);
        });
  }

  /// A vector spans this many pixels at most.
  static constexpr int kPixels = (kCount + 2 * (kUnit - 1)) / kUnit;

  /// Weights of pixels to those of a vector's values, the first of which is of channel c.
  static __device__ void spread(const float (&pixels)[kPixels], std::int32_t c, Values& m) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool next = i % kUnit != 0 && c + i % kUnit >= kUnit;
      m[i] = next ? pixels[i / kUnit + 1] : pixels[i / kUnit];
    }
  }

  __device__ void mix_field() const {
    const SourceOf first = source(e_.own);
    const SourceOf second = source(e_.partner);
    const std::int32_t x = pixel_of(0);
    const std::int32_t c = tile_.value - kUnit * x;
    const float* field = p_.fields + e_.field + x;
    const bool aligned = kUnit == 1 && (e_.field & 3) == 0;
    InPack a[kThreeAhead], b[kThreeAhead];
    float pixels[kThreeAhead][kPixels];
    for_rows<kThreeAhead>(
        [&](int u, std::int32_t y, bool wanted) {
          a[u] = first.load(y, wanted);
          b[u] = second.load(y, wanted);
          if (wanted) load_field(field + std::int64_t{y} * p_.size.width, c, aligned, pixels[u]);
        },
        [&](int u, std::int32_t y) {
          Values m;
          spread(pixels[u], c, m);
          write_masked(y, m, a[u], b[u]);
        });
  }

  /// The field's values from the vector's first pixel on, whose first value is of channel c.
  static __device__ void load_field(const float* from, std::int32_t c, bool aligned,
                                    float (&pixels)[kPixels]) {
    if (kUnit == 1 && aligned) {
#pragma unroll
      for (int i = 0; i < kPixels / 4; ++i) {
        const float4 part = __ldg(reinterpret_cast<const float4*>(from) + i);
        pixels[4 * i] = part.x;
        pixels[4 * i + 1] = part.y;
        pixels[4 * i + 2] = part.z;
        pixels[4 * i + 3] = part.w;
      }
      return;
    }
#pragma unroll
    for (int k = 0; k < kPixels; ++k) {
      if (kUnit * k < c + kCount) pixels[k] = __ldg(from + k);
    }
  }

  /// Slot k of shared memory for grids.
  [[nodiscard]] __device__ GridWeights grid_weights(int k) const {
    return {p_, grid_, tile_, shared_ + k * grid_slot(p_.size, grid_)};
  }
  __device__ void fill_grid(int k, const LoweredGrid& grid) const {
    grid_weights(k).fill(grid, p_, grid_.band_rows, block_thread(), block_threads());
  }

  __device__ void mix_grid() const {
    const SourceOf first = source(e_.own);
    const SourceOf second = source(e_.partner);
    const GridWeights weights = grid_weights(0);
    const std::int32_t c = tile_.value - kUnit * pixel_of(0);
    InPack a[kTwoAhead], b[kTwoAhead];
    for_rows<kTwoAhead>(
        [&](int u, std::int32_t y, bool wanted) {
          a[u] = first.load(y, wanted);
          b[u] = second.load(y, wanted);
        },
        [&] {
          fill_grid(0, e_.grid());
          __syncthreads();
        },
        [&](int u, std::int32_t y) {
          float pixels[kPixels];
          Values m;
          weights.template load<kPixels, kUnit>(y, pixel_of(0), pixels);
          spread(pixels, c, m);
          write_masked(y, m, a[u], b[u]);
        });
  }

  // ---- weighted sums ----

  /// Adds a term to the sum; the first one is the sum, so that -0 stays -0.
  static __device__ void add_term(Values& sum, bool first, float weight, const InPack& pack) {
    Values v;
    unpack(pack, v);
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum[i] = first ? weight * v[i] : sum[i] + weight * v[i];
  }

  __device__ void sum_terms() const {
    if (!kWindows && e_.term_count <= 3) return sum_three_terms();
    for (std::int32_t y = tile_.first_row; y < tile_.end_row; y += grid_.tile_rows) {
      Values sum = {};
      bool first = true;
      for (std::int32_t k = 0; k < e_.term_count; ++k) {
        const LoweredTerm& term = p_.terms[e_.term_begin + k];
        if (term.weight == 0) continue;
        add_term(sum, first, term.weight, source(term.source).load(y, true));
        first = false;
      }
      sink_.write(y, sum);
    }
  }

  /// Terms with masks of their own, by their number: most have two.
  __device__ void sum_masked_terms() const {
    if (e_.term_count <= 2) return sum_masked<2>();
    if (e_.term_count <= kGridSlots) return sum_masked<kGridSlots>();
    sum_many_masked();
  }

  /// Weights of term k for the values of the vector.
  __device__ void term_weights(int k, const LoweredTerm& term, std::int32_t y, Values& m) const {
    const std::int32_t c = tile_.value - kUnit * pixel_of(0);
    float pixels[kPixels];
    if (term.kind == MaskKind::grid) {
      grid_weights(k).template load<kPixels, kUnit>(y, pixel_of(0), pixels);
    } else {
#pragma unroll
      for (int j = 0; j < kPixels; ++j) {
        const std::int32_t x = min(pixel_of(0) + j, p_.size.width - 1);
        pixels[j] = term_weight(term, p_.fields, p_.size, y, x);
      }
    }
    spread(pixels, c, m);
  }

  /// Adds what has a weight; -0 is where a sum begins: adding to it changes nothing.
  template <int kTerms>
  __device__ void add_weighed(const LoweredTerm* terms, std::int32_t y,
                              const InPack (&packs)[kTerms], Values& sum) const {
    std::uint32_t weighed = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum[i] = -0.0f;
#pragma unroll
    for (int k = 0; k < kTerms; ++k) {
      if (k >= e_.term_count) break;
      Values m, v;
      term_weights(k, terms[k], y, m);
      unpack(packs[k], v);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (m[i] == 0) continue;
        sum[i] += m[i] * v[i];
        weighed |= 1u << i;
      }
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum[i] = (weighed >> i & 1u) != 0 ? sum[i] : 0.0f;
  }

  /// At most kTerms. Sums of all terms are the same numbers but where they are 0 or NaN.
  template <int kTerms>
  __device__ void sum_masked() const {
    constexpr int kAhead = kTerms == 2 ? kTwoAhead : 1;
    const LoweredTerm* terms = p_.terms + e_.term_begin;
    const auto term = [&](int k) { return terms[min(k, e_.term_count - 1)].source; };
    const SourceOf sources[kGridSlots] = {source(term(0)), source(term(1)), source(term(2)),
                                          source(term(3))};
    InPack packs[kAhead][kTerms];
    for_rows<kAhead>(
        [&](int u, std::int32_t y, bool wanted) {
#pragma unroll
          for (int k = 0; k < kTerms; ++k) {
            if (k < e_.term_count) packs[u][k] = sources[k].load(y, wanted);
          }
        },
        [&] {
          for (int k = 0; k < e_.term_count; ++k) {
            if (terms[k].kind == MaskKind::grid) fill_grid(k, terms[k].grid);
          }
          __syncthreads();
        },
        [&](int u, std::int32_t y) {
          Values sum;
          std::uint32_t signs = 0;
#pragma unroll
          for (int k = 0; k < kTerms; ++k) {
            if (k >= e_.term_count) break;
            Values m, v;
            term_weights(k, terms[k], y, m);
            unpack(packs[u][k], v);
#pragma unroll
            for (int i = 0; i < kCount; ++i) {
              sum[i] = k == 0 ? m[i] * v[i] : sum[i] + m[i] * v[i];
              signs |= __float_as_uint(m[i]);
            }
          }
          bool plain = true;
#pragma unroll
          for (int i = 0; i < kCount; ++i) plain = plain && fabsf(sum[i]) > 0.0f;
          // Values of u8 are finite and not negative: a weight of +0 adds nothing to them.
          if constexpr (std::is_same_v<In, std::uint8_t>) plain = plain || (signs >> 31) == 0;
          if (!plain) add_weighed<kTerms>(terms, y, packs[u], sum);
          sink_.write(y, sum);
        });
  }

  /// Any number: pixel by pixel.
  __device__ void sum_many_masked() const {
    const std::int32_t c = tile_.value - kUnit * pixel_of(0);
    for (std::int32_t y = tile_.first_row; y < tile_.end_row; y += grid_.tile_rows) {
      Values sum;
      std::uint32_t weighed = 0;
#pragma unroll
      for (int i = 0; i < kCount; ++i) sum[i] = -0.0f;
      for (std::int32_t k = 0; k < e_.term_count; ++k) {
        const LoweredTerm& term = p_.terms[e_.term_begin + k];
        float pixels[kPixels];
#pragma unroll
        for (int j = 0; j < kPixels; ++j) {
          const std::int32_t x = min(pixel_of(0) + j, p_.size.width - 1);
          pixels[j] = term_weight(term, p_.fields, p_.size, y, x);
        }
        Values m, v;
        spread(pixels, c, m);
        unpack(source(term.source).load(y, true), v);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          if (m[i] == 0) continue;
          sum[i] += m[i] * v[i];
          weighed |= 1u << i;
        }
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i) sum[i] = (weighed >> i & 1u) != 0 ? sum[i] : 0.0f;
      sink_.write(y, sum);
    }
  }

  /// Up to three; all are read before they are added.
  __device__ void sum_three_terms() const {
    const LoweredTerm* terms = p_.terms + e_.term_begin;
    const auto term = [&](int t) { return terms[min(t, e_.term_count - 1)]; };
    const SourceOf sources[3] = {source(term(0).source), source(term(1).source),
                                 source(term(2).source)};
    float weights[3];
#pragma unroll
    for (int t = 0; t < 3; ++t) weights[t] = t < e_.term_count ? term(t).weight : 0;
    InPack packs[kThreeAhead][3];
    for_rows<kThreeAhead>(
        [&](int u, std::int32_t y, bool wanted) {
#pragma unroll
          for (int t = 0; t < 3; ++t) packs[u][t] = sources[t].load(y, wanted && weights[t] != 0);
        },
        [&](int u, std::int32_t y) {
          Values sum = {};
          bool first = true;
#pragma unroll
          for (int t = 0; t < 3; ++t) {
            if (weights[t] == 0) continue;
            add_term(sum, first, weights[t], packs[u][t]);
            first = false;
          }
          sink_.write(y, sum);
        });
  }

  // ---- a shrunk partner: kernels/cuda/resample.cuh ----

  struct SharedTap {
    std::int32_t first;
    float fraction;
  };

  [[nodiscard]] __device__ bool touches_box(std::int32_t y, std::int32_t rows) const;
  __device__ void make_taps(SharedTap* taps) const;
  __device__ void shrink_rows(const InPack& first, const InPack& second, float fraction,
                              float* row) const;
  __device__ void shrink_columns(std::int32_t base, const SharedTap* taps, const float* from,
                                 float* to) const;
  __device__ void paste(std::uint32_t columns, const float* row, Values& v) const;
  __device__ void mix_resampled() const;

  static constexpr std::uint32_t kAll = (1u << kCount) - 1;

  const MixParams& p_;
  const TileGrid& grid_;
  const Tile tile_;
  const LoweredEntry e_;
  SinkOf sink_;
  float* shared_;
};

}  // namespace medley::cuda

#include "kernels/cuda/resample.cuh"
