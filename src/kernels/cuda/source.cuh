#pragma once

#include <cstdint>
#include <type_traits>

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

/// A window of the image: tiles moved, shifted, mirrored, padded; value by value.
template <typename In, int kCount, int kUnit>
class WindowSource {
 public:
  using InPack = Pack<In, kCount>;

  __device__ WindowSource(const MixParams& p, const TileGrid& /*grid*/, const Tile& tile,
                          const LoweredSource& source)
      : p_(p),
        value_(tile.value),
        dy_(source.dy),
        direction_(source.flip != 0 ? -1 : 1),
        image_(static_cast<const In*>(p.in) + source.image * p.in_strides.image +
               tile.plane * p.in_strides.channel) {
    const std::int32_t x = tile.value / kUnit;
    channel_ = tile.value - x * kUnit;
    x_ = stored_column(x, source.flip != 0, source.dx);
    tiles_ = source.tiles >= 0 ? p.tiles + source.tiles : nullptr;
    first_ = x;
    dx_ = source.dx;
    store(p.pad_value, padding_);
    if (tiles_ == nullptr) return;
    map_ = {tiles_[0], tiles_[1], tiles_[2]};
    tile_x_ = x / map_.width;
    before_edge_ = (tile_x_ + 1) * map_.width * kUnit - tile.value;
    runs_ = dy_ == 0 && dx_ == 0 && direction_ > 0 && p.in_size == p.size &&
            map_.width * kUnit >= kCount;
  }

  [[nodiscard]] __device__ InPack load(std::int32_t y, bool wanted) const {
    if (tiles_ != nullptr) return runs_ ? load_runs(y, wanted) : load_moved(y, wanted);
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
  [[nodiscard]] __device__ std::int32_t stored_column(std::int32_t x, bool flip,
                                                      std::int32_t dx) const {
    return (flip ? p_.size.width - 1 - x : x) + dx;
  }

  /// The same where tiles of a whole image are moved: values of one tile, or of two, lie in a row.
  [[nodiscard]] __device__ InPack load_runs(std::int32_t y, bool wanted) const {
    InPack pack;
#pragma unroll
    for (int i = 0; i < kCount; ++i) pack.values[i] = padding_;
    if (!wanted) return pack;
    const std::int32_t ty = y / map_.height;
    const std::int32_t* shown = tiles_ + kTilesHead + ty * map_.columns + tile_x_;
    const In* first = run(y, ty, tile_x_, __ldg(shown));
    const In* second = before_edge_ < kCount ? run(y, ty, tile_x_ + 1, __ldg(shown + 1)) : first;
    const std::int32_t tile_values = map_.width * kUnit;
    if (tile_values % kCount == 0) return load_pack(reinterpret_cast<const InPack*>(first), true);
    if (tile_values % 2 == 0) {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        const auto two = load_two(i < before_edge_ ? first + i : second + i);
        pack.values[i] = two.values[0];
        pack.values[i + 1] = two.values[1];
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        pack.values[i] = load_one(i < before_edge_ ? first + i : second + i);
      }
    }
    return pack;
  }

  /// Where the vector would begin if all of it were in tile (ty, tx).
  [[nodiscard]] const __device__ In* run(std::int32_t y, std::int32_t ty, std::int32_t tx,
                                         std::int32_t shown) const {
    const std::int32_t sy = y + ((shown >> 16) - ty) * map_.height;
    return image_ + sy * p_.in_strides.row + value_ + ((shown & 0xFFFF) - tx) * map_.width * kUnit;
  }

  /// The same where tiles are moved: each pixel from a place of its own.
  [[nodiscard]] __device__ InPack load_moved(std::int32_t y, bool wanted) const {
    InPack pack;
    std::int32_t x = first_;
    std::int32_t c = channel_;
    const In* pixel = nullptr;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      // Rows that are not wanted may be none of the window.
      if (wanted && (i == 0 || c == 0)) pixel = moved_pixel(y, x);
      pack.values[i] = padding_;
      if (pixel != nullptr) pack.values[i] = load_one(pixel + c);
      if (++c == kUnit) {
        c = 0;
        ++x;
      }
    }
    return pack;
  }

  /// Where pixel (y, x) of the window lies; null: in the padding.
  [[nodiscard]] const __device__ In* moved_pixel(std::int32_t y, std::int32_t x) const {
    if (x >= p_.size.width) return nullptr;  // of threads beyond the edge
    const Place place = moved_place(tiles_, y, x);
    std::int32_t sy = place.y + dy_;
    std::int32_t sx = stored_column(place.x, direction_ < 0, dx_);
    const bool inside =
        static_cast<std::uint32_t>(sy) < static_cast<std::uint32_t>(p_.in_size.height) &&
        static_cast<std::uint32_t>(sx) < static_cast<std::uint32_t>(p_.in_size.width);
    if (!inside) {
      if (p_.reflect_pads == 0) return nullptr;
      sy = mirror(sy, p_.in_size.height);
      sx = mirror(sx, p_.in_size.width);
    }
    return image_ + sy * p_.in_strides.row + sx * kUnit;
  }

  [[nodiscard]] static __device__ In load_one(const In* from) {
    if constexpr (sizeof(In) == 2) {
      return {__ldg(reinterpret_cast<const unsigned short*>(from))};
    } else {
      return __ldg(from);
    }
  }

  /// Two values that lie where two begin.
  [[nodiscard]] static __device__ Pack<In, 2> load_two(const In* from) {
    using Word = std::conditional_t<sizeof(In) == 4, uint2,
                                    std::conditional_t<sizeof(In) == 2, unsigned, unsigned short>>;
    const Word word = __ldg(reinterpret_cast<const Word*>(from));
    Pack<In, 2> two;
    std::memcpy(&two, &word, sizeof two);
    return two;
  }

  const MixParams& p_;
  std::int32_t value_;
  std::int32_t dy_;
  std::int32_t direction_;
  std::int32_t x_;        // in the source, of the vector's first pixel
  std::int32_t channel_;  // of the vector's first value
  std::int32_t first_;    // in the window, of the vector's first pixel
  std::int32_t dx_;
  const std::int32_t* tiles_;
  LoweredTiles map_;
  std::int32_t tile_x_;       // of the vector's first pixel
  std::int32_t before_edge_;  // values up to the tile's edge
  bool runs_;
  In padding_;
  const In* image_;
};

}  // namespace medley::cuda
