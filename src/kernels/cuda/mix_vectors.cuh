#pragma once

// The fast path: dense images of one layout, mixed in vectors. One kernel per pair of types and
// layout, and one more for plans with windows.

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/check.h"
#include "kernels/cuda/mix.h"
#include "kernels/cuda/tile_mixer.cuh"

namespace medley::cuda {

using VectorAffine = ChannelAffine<kMaxVectorChannels>;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int kMostBlocks = 1024 / kTileThreads;  // what a multiprocessor can hold
#else
inline constexpr int kMostBlocks = 5;
#endif

/// Blocks that a multiprocessor is to hold at least, which limits registers: as many as there can
/// be without values being moved out of them.
template <typename In, int kUnit, bool kWindows, Family kFamily>
constexpr int resident_blocks() {
  if (kWindows) return 2;
  switch (kFamily) {
    case Family::terms:
      return kMostBlocks;
    case Family::boxes:
      return kUnit == 1 || sizeof(In) > 1 ? kMostBlocks : 4;
    case Family::gaussian:
      return kUnit > 1 && sizeof(In) == 2 ? 3 : 4;
    case Family::field:
    case Family::grid:
    case Family::masked_terms:
      return 3;
    case Family::resampled:
      break;
  }
  return 4;
}

template <typename In, typename Out, int kUnit, bool kWindows, Family kFamily>
__global__ void __launch_bounds__(kTileThreads, (resident_blocks<In, kUnit, kWindows, kFamily>()))
    mix_vectors(const __grid_constant__ MixParams p, const __grid_constant__ VectorAffine affine,
                const __grid_constant__ TileGrid grid) {
  extern __shared__ __align__(16) float shared[];
  using Mixer = TileMixer<In, Out, kUnit, kWindows, kFamily>;
  const Tile tile = tile_of(grid, p.size, Mixer::kCount);
  Mixer(p, affine, grid, tile, entry_of(p, tile.image), shared).mix();
}

template <typename In, typename Out, int kUnit, bool kWindows, Family kFamily>
void launch_family(const MixCall& call, cudaStream_t stream) {
  if (!call.needs.has(kFamily)) return;
  const MixParams& p = call.params;
  const TileGrid grid = tile_grid(p, vector_values(p.in_dtype, p.out_dtype), kFamily, call.needs);
  VectorAffine affine{};
  std::copy(call.affine.begin(), call.affine.end(), affine.channels);
  const dim3 threads(static_cast<unsigned>(grid.tile_columns),
                     static_cast<unsigned>(grid.tile_rows));
  mix_vectors<In, Out, kUnit, kWindows, kFamily>
      <<<static_cast<unsigned>(grid.blocks), threads, tile_bytes(kFamily, p.size, grid), stream>>>(
          p, affine, grid);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

/// One launch per family in the plan; nearly always that is one.
template <typename In, typename Out, int kUnit, bool kWindows>
void launch_families(const MixCall& call, cudaStream_t stream) {
  launch_family<In, Out, kUnit, kWindows, Family::boxes>(call, stream);
  launch_family<In, Out, kUnit, kWindows, Family::gaussian>(call, stream);
  launch_family<In, Out, kUnit, kWindows, Family::field>(call, stream);
  launch_family<In, Out, kUnit, kWindows, Family::grid>(call, stream);
  launch_family<In, Out, kUnit, kWindows, Family::terms>(call, stream);
  launch_family<In, Out, kUnit, kWindows, Family::masked_terms>(call, stream);
  if constexpr (!kWindows) {
    launch_family<In, Out, kUnit, false, Family::resampled>(call, stream);
  }
}

template <typename In, typename Out, int kUnit>
void launch_vectors(const MixCall& call, cudaStream_t stream) {
  if (call.windows()) {
    launch_families<In, Out, kUnit, true>(call, stream);
  } else {
    launch_families<In, Out, kUnit, false>(call, stream);
  }
}

template <typename In, typename Out>
void launch_vectors_to(const MixCall& call, cudaStream_t stream) {
  if (call.params.out_layout == Layout::nhwc) {
    launch_vectors<In, Out, 3>(call, stream);
  } else {
    launch_vectors<In, Out, 1>(call, stream);
  }
}

template <typename In>
void launch_vectors_from(const MixCall& call, cudaStream_t stream) {
  switch (call.params.out_dtype) {
    case DType::u8:
      return launch_vectors_to<In, std::uint8_t>(call, stream);
    case DType::f16:
      return launch_vectors_to<In, F16>(call, stream);
    case DType::bf16:
      return launch_vectors_to<In, BF16>(call, stream);
    case DType::f32:
      return launch_vectors_to<In, float>(call, stream);
  }
}

}  // namespace medley::cuda
