#pragma once

// TileMixer for partners that are shrunk into a box. The source rows of an output row are blended
// in whole vectors and put in shared memory; then its columns are blended there, neighboring
// threads taking neighboring columns; then vectors are written. Rows first, then columns is the
// order of the definition, so the numbers are the same.

#include "kernels/cuda/tile_mixer.cuh"

namespace medley::cuda {

/// Whether one of the rows [y, y + rows) lies in the box.
template <typename In, typename Out, int kUnit, bool kWindows, Family kFamily>
__device__ bool TileMixer<In, Out, kUnit, kWindows, kFamily>::touches_box(std::int32_t y,
                                                                          std::int32_t rows) const {
  std::int32_t offset = y - e_.top;
  if (offset < 0) offset += p_.size.height;
  return e_.height > 0 && (offset < e_.height || p_.size.height - offset < rows);
}

/// Taps of the image's columns, then of the band's rows.
template <typename In, typename Out, int kUnit, bool kWindows, Family kFamily>
__device__ void TileMixer<In, Out, kUnit, kWindows, kFamily>::make_taps(SharedTap* taps) const {
  const std::int32_t width = p_.size.width;
  for (std::int32_t i = block_thread(); i < width + grid_.band_rows; i += block_threads()) {
    const Tap tap = i < width ? box_tap(e_.resample, i, e_.left, e_.width, width)
                              : box_tap(e_.resample, tile_.band_begin + i - width, e_.top,
                                        e_.height, p_.size.height);
    taps[i] = {tap.first, tap.fraction};
  }
}

template <typename In, typename Out, int kUnit, bool kWindows, Family kFamily>
__device__ void TileMixer<In, Out, kUnit, kWindows, kFamily>::shrink_rows(const InPack& first,
                                                                          const InPack& second,
                                                                          float fraction,
                                                                          float* row) const {
  const float rest = 1.0f - fraction;
  Values v, w;
  unpack(first, v);
  unpack(second, w);
  if (fraction == 0.0f || rest == 0.0f) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] = fraction == 0.0f ? v[i] : w[i];
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] = v[i] * rest + w[i] * fraction;
  }
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    *reinterpret_cast<float4*>(row + tile_.value + i) =
        make_float4(v[i], v[i + 1], v[i + 2], v[i + 3]);
  }
}

/// The box's columns of the staged rows, of which `base` is the first.
template <typename In, typename Out, int kUnit, bool kWindows, Family kFamily>
__device__ void TileMixer<In, Out, kUnit, kWindows, kFamily>::shrink_columns(std::int32_t base,
                                                                             const SharedTap* taps,
                                                                             const float* from,
                                                                             float* to) const {
  const std::int32_t rows = min(staged_rows(grid_), tile_.end_row - base);
  for (std::int32_t value = block_thread(); value < grid_.row_values; value += block_threads()) {
    const std::int32_t x = value / kUnit;
    if (!in_interval(x, e_.left, e_.width, p_.size.width)) continue;
    const SharedTap tap = taps[x];
    const float rest = 1.0f - tap.fraction;
    const float* first = from + tap.first * kUnit + (value - x * kUnit);
    const float* only = tap.fraction == 0.0f ? first : rest == 0.0f ? first + kUnit : nullptr;
#pragma unroll 4
    for (std::int32_t r = 0; r < rows; ++r) {
      const std::int32_t at = r * grid_.row_values;
      to[at + value] =
          only != nullptr ? only[at] : first[at] * rest + first[at + kUnit] * tap.fraction;
    }
  }
}

template <typename In, typename Out, int kUnit, bool kWindows, Family kFamily>
__device__ void TileMixer<In, Out, kUnit, kWindows, kFamily>::paste(std::uint32_t columns,
                                                                    const float* row,
                                                                    Values& v) const {
  const bool copies_partner = e_.inside.own == 0;
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float4 part = *reinterpret_cast<const float4*>(row + tile_.value + i);
    const float parts[4] = {part.x, part.y, part.z, part.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float shown = copies_partner ? parts[k] : blend(e_.inside, v[i + k], parts[k]);
      v[i + k] = (columns >> (i + k) & 1u) != 0 ? shown : v[i + k];
    }
  }
}

template <typename In, typename Out, int kUnit, bool kWindows, Family kFamily>
__device__ void TileMixer<In, Out, kUnit, kWindows, kFamily>::mix_resampled() const {
  constexpr int kAhead = kResampleAhead;
  const SourceOf own = source(e_.own);
  const SourceOf partner = source(e_.partner);
  const std::uint32_t columns = box_columns();
  auto* taps = reinterpret_cast<SharedTap*>(shared_);
  float* narrow = shared_ + resample_taps(p_.size, grid_);
  float* shrunk = narrow + staged_rows(grid_) * grid_.row_values;
  make_taps(taps);
  __syncthreads();
  // All threads of the block go round together.
  for (std::int32_t base = tile_.band_begin; base < tile_.end_row; base += staged_rows(grid_)) {
    const auto row_of = [&](int u) {
      return static_cast<std::int32_t>(threadIdx.y) + u * grid_.tile_rows;
    };
    InPack a[kAhead], b[kAhead], c[kAhead];
    float fractions[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const std::int32_t y = base + row_of(u);
      const bool wanted = y < tile_.end_row;
      const bool in_box = wanted && in_box_rows(y);
      const SharedTap tap = in_box ? taps[p_.size.width + y - tile_.band_begin] : SharedTap{};
      fractions[u] = tap.fraction;
      a[u] = own.load(y, wanted && !(in_box && columns == kAll && e_.inside.own == 0));
      b[u] = partner.load(tap.first, in_box);
      c[u] = partner.load(tap.first + 1, tap.fraction != 0.0f);
    }
    const bool touches = touches_box(base, min(staged_rows(grid_), tile_.end_row - base));
    if (touches) {
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        shrink_rows(b[u], c[u], fractions[u], narrow + row_of(u) * grid_.row_values);
      }
      __syncthreads();
      shrink_columns(base, taps, narrow, shrunk);
      __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const std::int32_t y = base + row_of(u);
      if (y >= tile_.end_row) continue;
      if (columns == 0 || !in_box_rows(y)) {
        sink_.write(y, a[u]);
        continue;
      }
      Values v;
      unpack(a[u], v);
      paste(columns, shrunk + row_of(u) * grid_.row_values, v);
      sink_.write(y, v);
    }
  }
}

}  // namespace medley::cuda
