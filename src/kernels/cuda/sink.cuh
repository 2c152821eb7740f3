#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/params.h"
#include "kernels/cuda/tile.h"

namespace medley::cuda {

/// Where a thread's vectors go: normalizes, converts and stores them.
template <typename In, typename Out, int kCount, int kUnit>
class Sink {
 public:
  using InPack = Pack<In, kCount>;
  using OutPack = Pack<Out, kCount>;
  using Table = ChannelAffine<kMaxVectorChannels>;

  __device__ Sink(const MixParams& p, const Table& table, const TileGrid& grid, const Tile& tile,
                  std::int64_t output)
      : normalize_(p.normalize != 0),
        pitch_(grid.columns * static_cast<std::int32_t>(sizeof(OutPack))),
        column_(reinterpret_cast<char*>(
            reinterpret_cast<OutPack*>(static_cast<Out*>(p.out) + output * p.out_strides.image +
                                       tile.plane * p.out_strides.channel) +
            tile.column)) {
    if (!normalize_) return;
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      affine_[i] = table.channels[kUnit == 1 ? tile.plane : (tile.value + i) % kUnit];
    }
  }

  __device__ void write(std::int32_t y, float (&v)[kCount]) const {
    if (normalize_) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) v[i] = apply(affine_[i % kUnit], v[i]);
    }
    OutPack packed;
    pack(v, packed);
    store_pack(at(y), packed);
  }

  /// Values of one source alone.
  __device__ void write(std::int32_t y, const InPack& only) const {
    if constexpr (std::is_same_v<In, Out>) {
      if (!normalize_) {
        store_pack(at(y), only);
        return;
      }
    }
    float v[kCount];
    unpack(only, v);
    write(y, v);
  }

 private:
  [[nodiscard]] __device__ OutPack* at(std::int32_t y) const {
    return reinterpret_cast<OutPack*>(column_ + std::int64_t{y} * pitch_);
  }

  bool normalize_;
  std::int32_t pitch_;  // bytes of a row
  char* column_;
  Affine affine_[kUnit];  // of the vector's first values; they repeat
};

}  // namespace medley::cuda
