// Compiled once per instruction set. It includes nothing that has inline functions with bodies
// worth keeping: the linker could take them for all others.

#include "kernels/plain_loop.h"

namespace medley::bench {
void MEDLEY_PLAIN_LOOP(const PlainBatch& batch, std::int64_t begin, std::int64_t end);

namespace {

struct Brain {
  std::uint16_t bits;
};

float value_of(std::uint8_t value) { return value; }
float value_of(float value) { return value; }
float value_of(_Float16 value) { return static_cast<float>(value); }
float value_of(Brain value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  __builtin_memcpy(&result, &bits, sizeof result);
  return result;
}

void put(float value, float& out) { out = value; }
void put(float value, _Float16& out) { out = static_cast<_Float16>(value); }
void put(float value, Brain& out) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  out.bits = static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

/// value * scale + bias, or the value.
template <bool normalize>
struct Line {
  float scale;
  float bias;
  float operator()(float value) const { return normalize ? value * scale + bias : value; }
};

template <int in_step, int out_step, bool normalize, typename In, typename Out>
void blend(const In* a, const In* b, Out* out, std::int64_t n, float w, Line<normalize> line) {
  const float v = 1 - w;
  for (std::int64_t i = 0; i < n; ++i) {
    put(line(value_of(a[i * in_step]) * w + value_of(b[i * in_step]) * v), out[i * out_step]);
  }
}

template <int in_step, int out_step, bool normalize, typename In, typename Out>
void blend_gaussian(const In* a, const In* b, Out* out, std::int64_t n, float row,
                    const float* columns, bool own_peak, Line<normalize> line) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float k = row * columns[i];
    const float w = own_peak ? k : 1 - k;
    const float v = own_peak ? 1 - k : k;
    put(line(value_of(a[i * in_step]) * w + value_of(b[i * in_step]) * v), out[i * out_step]);
  }
}

template <int in_step, int out_step, bool normalize, typename In, typename Out>
void blend_weights(const In* a, const In* b, Out* out, std::int64_t n, const float* weights,
                   Line<normalize> line) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float w = weights[i];
    put(line(value_of(a[i * in_step]) * w + value_of(b[i * in_step]) * (1 - w)), out[i * out_step]);
  }
}

/// Where a tile's pixels of row y of the output lie in the image.
template <typename In>
const In* moved(const In* image, const PlainTiles& t, std::int64_t tile_row, std::int64_t tile,
                std::int64_t y, std::int64_t row, std::int64_t step) {
  const std::int32_t from = t.tiles[tile_row * t.columns + tile];
  return image + (y + (from / t.columns - tile_row) * t.height) * row +
         from % t.columns * t.width * step;
}

template <int in_step, int out_step, bool normalize, typename In, typename Out>
void blend_tiles(const PlainEntry& e, const In* own, const In* partner, Out* out, std::int64_t y,
                 std::int64_t in_row, const float* weights, Line<normalize> line) {
  const std::int64_t tile_row = y / e.own_tiles.height;
  for (std::int64_t t = 0; t < e.own_tiles.columns; ++t) {
    const std::int64_t x = t * e.own_tiles.width;
    blend_weights<in_step, out_step>(
        moved(own, e.own_tiles, tile_row, t, y, in_row, in_step),
        moved(partner, e.partner_tiles, tile_row, t, y, in_row, in_step), out + x * out_step,
        e.own_tiles.width, weights + x, line);
  }
}

template <int in_step, int out_step, bool normalize, typename In, typename Out>
void shrink_row(const In* upper, const In* lower, Out* out, std::int64_t n, float fraction,
                const PlainTap* columns, Line<normalize> line) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t p = std::int64_t{columns[i].first} * in_step;
    const std::int64_t q = std::int64_t{columns[i].second} * in_step;
    const float first = value_of(upper[p]) * (1 - fraction) + value_of(lower[p]) * fraction;
    const float second = value_of(upper[q]) * (1 - fraction) + value_of(lower[q]) * fraction;
    const float share = columns[i].fraction;
    put(line(first * (1 - share) + second * share), out[i * out_step]);
  }
}

/// One channel, or all of an interleaved image as one row of `width` values a line.
template <int in_step, int out_step, bool normalize, typename In, typename Out>
void mix_plane(const PlainEntry& e, const In* own, const In* partner, Out* out, std::int64_t height,
               std::int64_t width, std::int64_t values, std::int64_t in_row, std::int64_t out_row,
               Line<normalize> line) {
  const bool flat = e.weights == nullptr && e.rows == nullptr && e.row_taps == nullptr &&
                    e.height >= height && e.width * values >= width;
  if (flat && in_row == width * in_step && out_row == width * out_step) {
    blend<in_step, out_step>(own, partner, out, height * width, e.inside, line);
    return;
  }
  const std::int64_t left = e.left * values;
  const std::int64_t right = left + e.width * values;
  for (std::int64_t y = 0; y < height; ++y) {
    const In* a = own + y * in_row;
    const In* b = partner + y * in_row;
    Out* to = out + y * out_row;
    if (e.weights != nullptr) {
      const float* weights = e.weights + e.weight_rows[y] * width;
      if (e.own_tiles.tiles == nullptr) {
        blend_weights<in_step, out_step>(a, b, to, width, weights, line);
      } else {
        blend_tiles<in_step, out_step>(e, own, partner, to, y, in_row, weights, line);
      }
    } else if (e.rows != nullptr) {
      blend_gaussian<in_step, out_step>(a, b, to, width, e.rows[y], e.columns, e.own_peak, line);
    } else if (y < e.top || y >= e.top + e.height) {
      blend<in_step, out_step>(a, b, to, width, e.outside, line);
    } else {
      blend<in_step, out_step>(a, b, to, left, e.outside, line);
      if (e.row_taps != nullptr) {
        const PlainTap tap = e.row_taps[y - e.top];
        shrink_row<in_step, out_step>(partner + tap.first * in_row, partner + tap.second * in_row,
                                      to + left * out_step, right - left, tap.fraction,
                                      e.column_taps, line);
      } else {
        blend<in_step, out_step>(a + left * in_step, b + left * in_step, to + left * out_step,
                                 right - left, e.inside, line);
      }
      blend<in_step, out_step>(a + right * in_step, b + right * in_step, to + right * out_step,
                               width - right, e.outside, line);
    }
  }
}

template <int in_step, int out_step, bool normalize, typename In, typename Out>
void mix_images(const PlainBatch& p, std::int64_t begin, std::int64_t end) {
  const BatchShape& shape = p.out.shape;
  const bool interleaved = p.in.layout == Layout::nhwc && p.out.layout == Layout::nhwc;
  const std::int64_t values = interleaved ? shape.channels : 1;
  const std::int32_t channels = interleaved ? 1 : shape.channels;
  for (std::int64_t i = begin; i < end; ++i) {
    const PlainEntry& e = p.entries[i];
    const In* own = static_cast<const In*>(p.in.data) + e.own * p.in.strides.image;
    const In* partner = static_cast<const In*>(p.in.data) + e.partner * p.in.strides.image;
    Out* out = static_cast<Out*>(p.out.data) + i * p.out.strides.image;
    for (std::int32_t c = 0; c < channels; ++c) {
      const Line<normalize> line{normalize ? p.scale[c] : 1, normalize ? p.bias[c] : 0};
      mix_plane<in_step, out_step>(
          e, own + c * p.in.strides.channel, partner + c * p.in.strides.channel,
          out + c * p.out.strides.channel, shape.height, shape.width * values, values,
          p.in.strides.row, p.out.strides.row, line);
    }
  }
}

}  // namespace

void MEDLEY_PLAIN_LOOP(const PlainBatch& p, std::int64_t begin, std::int64_t end) {
  if (p.in.dtype == DType::u8) {
    if (p.in.layout == Layout::nhwc)
      return mix_images<3, 1, true, std::uint8_t, float>(p, begin, end);
    return mix_images<1, 1, true, std::uint8_t, float>(p, begin, end);
  }
  if (p.in.dtype == DType::f16) return mix_images<1, 1, false, _Float16, _Float16>(p, begin, end);
  if (p.in.dtype == DType::bf16) return mix_images<1, 1, false, Brain, Brain>(p, begin, end);
  if (p.in.layout == p.out.layout) return mix_images<1, 1, false, float, float>(p, begin, end);
  return mix_images<1, 3, false, float, float>(p, begin, end);
}

}  // namespace medley::bench
