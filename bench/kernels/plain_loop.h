#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "medley/types.h"

namespace medley::bench {

// What a programmer writes without a library: out = a * w + b * v in a plain loop of standard C++,
// without intrinsics, restrict or streaming. The same source is compiled for several instruction
// sets, always with -O3 -ffp-contract=off.

/// Pixel of a shrunk axis: `first` and `second` of the image, the second with weight `fraction`.
struct PlainTap {
  std::int32_t first;
  std::int32_t second;
  float fraction;
};

/// Whose tiles are moved: tile t of the output shows tile `tiles[t]` of the image.
struct PlainTiles {
  std::int32_t height;  // of a tile
  std::int32_t width;
  std::int32_t columns;
  const std::int32_t* tiles;  // null: none is moved
};

/// How one output comes about. A flat mask is a box that covers the image.
struct PlainEntry {
  std::int64_t own;
  std::int64_t partner;
  std::int32_t top;
  std::int32_t left;
  std::int32_t height;
  std::int32_t width;
  float inside;  // weight of the own image in the box, and outside of it
  float outside;
  bool own_peak;      // whose weight the Gaussian is
  const float* rows;  // factors of the Gaussian, else null; not for nhwc
  const float* columns;
  const PlainTap* row_taps;  // of a partner that is shrunk into the box, else null
  const PlainTap* column_taps;
  const float* weights;  // of a grid: rows of the output's width, else null; not for nhwc
  const std::int32_t* weight_rows;  // which of them each row has
  PlainTiles own_tiles;             // of the same tiles, both or none
  PlainTiles partner_tiles;
};

/// u8, f16, bf16 or f32 to f32, f16 to f16 and bf16 to bf16; normalized if `scale` is not null.
struct PlainBatch {
  ImageBatchView in;
  MutableImageBatchView out;
  const PlainEntry* entries;
  const float* scale;  // value * scale + bias, a channel each
  const float* bias;
};

/// Makes the outputs `begin` to `end` (exclusive) of a batch.
using PlainLoop = void (*)(const PlainBatch& batch, std::int64_t begin, std::int64_t end);

struct PlainBuild {
  std::string_view name;  // baseline, AVX2, AVX-512, native
  PlainLoop loop;
};

/// The builds that this machine can run, baseline first.
[[nodiscard]] std::span<const PlainBuild> plain_builds();

/// The build of that name, or baseline's.
[[nodiscard]] PlainLoop plain_build(std::string_view name);

}  // namespace medley::bench
