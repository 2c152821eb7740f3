#pragma once

#include <cstdint>

#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/params.h"
#include "kernels/cuda/tile.h"

// Sources as a thread reads them: one vector per row, always in the same column.

namespace medley::cuda {

/// The image as it is, of the output's size.
template <typename In, int kCount, int kUnit>
class WholeSource {
 public:
  using InPack = Pack<In, kCount>;

  __device__ WholeSource(const MixParams& p, const TileGrid& grid, const Tile& tile,
                         const LoweredSource& source)
      : pitch_(grid.columns * static_cast<std::int32_t>(sizeof(InPack))),
        column_(reinterpret_cast<const char*>(
            reinterpret_cast<const InPack*>(static_cast<const In*>(p.in) +
                                            source.image * p.in_strides.image +
                                            tile.plane * p.in_strides.channel) +
            tile.column)) {}

  [[nodiscard]] __device__ InPack load(std::int32_t y, bool wanted) const {
    return load_pack(reinterpret_cast<const InPack*>(column_ + std::int64_t{y} * pitch_), wanted);
  }

 private:
  std::int32_t pitch_;  // bytes of a row
  const char* column_;
};

/// `reflect` in few instructions; positions are hardly ever more than one image away.
__device__ inline std::int32_t mirror(std::int32_t i, std::int32_t n) {
  if (n == 1) return 0;
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
  return i;
}

/// A window of the image: shifted, mirrored, padded; value by value.
template <typename In, int kCount, int kUnit>
class WindowSource {
 public:
  using InPack = Pack<In, kCount>;

  __device__ WindowSource(const MixParams& p, const TileGrid& /*grid*/, const Tile& tile,
                          const LoweredSource& source)
      : p_(p),
        dy_(source.dy),
        direction_(source.flip != 0 ? -1 : 1),
        image_(static_cast<const In*>(p.in) + source.image * p.in_strides.image +
               tile.plane * p.in_strides.channel) {
    const std::int32_t x = tile.value / kUnit;
    channel_ = tile.value - x * kUnit;
    x_ = (source.flip != 0 ? p.size.width - 1 - x : x) + source.dx;
    store(p.pad_value, padding_);
  }

  [[nodiscard]] __device__ InPack load(std::int32_t y, bool wanted) const {
    const bool reflects = p_.reflect_pads != 0;
    std::int32_t sy = y + dy_;
    bool row_inside =
        static_cast<std::uint32_t>(sy) < static_cast<std::uint32_t>(p_.in_size.height);
    if (!row_inside && reflects) {
      sy = mirror(sy, p_.in_size.height);
      row_inside = true;
    }
    const In* row = image_ + sy * p_.in_strides.row;
    std::int32_t sx = x_;
    std::int32_t c = channel_;
    InPack pack;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      bool inside = static_cast<std::uint32_t>(sx) < static_cast<std::uint32_t>(p_.in_size.width);
      std::int32_t tx = sx;
      if (!inside && reflects) {
        tx = mirror(sx, p_.in_size.width);
        inside = true;
      }
      pack.values[i] = padding_;
      if (wanted && inside && row_inside) pack.values[i] = load_one(row + (tx * kUnit + c));
      if (++c == kUnit) {
        c = 0;
        sx += direction_;
      }
    }
    return pack;
  }

 private:
  [[nodiscard]] static __device__ In load_one(const In* from) {
    if constexpr (sizeof(In) == 2) {
      return {__ldg(reinterpret_cast<const unsigned short*>(from))};
    } else {
      return __ldg(from);
    }
  }

  const MixParams& p_;
  std::int32_t dy_;
  std::int32_t direction_;
  std::int32_t x_;        // in the source, of the vector's first pixel
  std::int32_t channel_;  // of the vector's first value
  In padding_;
  const In* image_;
};

}  // namespace medley::cuda
