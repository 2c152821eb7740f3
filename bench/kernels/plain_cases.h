#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "medley/medley.h"

namespace medley::bench {

/// Bytes from a cache line to where a batch begins.
struct Offsets {
  std::int64_t in;
  std::int64_t out;
};

/// Something that Medley and a plain loop both do.
struct PlainCase {
  std::string group;  // f32, u8 nchw → f32 nchw, never-touched output …
  std::string method;
  BatchShape shape;
  DType in = DType::f32;
  DType out = DType::f32;
  Layout in_layout = Layout::nchw;
  Layout out_layout = Layout::nchw;
  std::int32_t row_gap = 0;  // values between the rows of the output
  bool fresh = false;        // pages of the output were never touched
  bool every_offset = false;

  [[nodiscard]] bool blocks() const { return group == "f32 grid"; }
  /// Of the method; or, of `blocks`, pairs with grids of 16x16 random weights, and moved tiles.
  [[nodiscard]] MixPlan plan() const;
  [[nodiscard]] std::vector<Offsets> offsets() const;
  [[nodiscard]] MixOptions options(int threads) const;
};

[[nodiscard]] std::vector<PlainCase> plain_cases();

/// Medley's time over that of the plain loop for the same instruction set (AVX-512, AVX2 or SSE4,
/// whose plain loop is baseline x86-64) that is to be reached. The only place where targets stand.
[[nodiscard]] double plain_target(const PlainCase& c, std::string_view isa, Offsets offsets);

}  // namespace medley::bench
