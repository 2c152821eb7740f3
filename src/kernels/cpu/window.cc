#include "kernels/cpu/window.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cpu/cache_line.h"

namespace medley {
namespace {

void store_as(DType type, float value, std::byte* out) {
  switch (type) {
    case DType::u8:
      return store(value, *reinterpret_cast<std::uint8_t*>(out));
    case DType::f16:
      return store(value, *reinterpret_cast<F16*>(out));
    case DType::bf16:
      return store(value, *reinterpret_cast<BF16*>(out));
    case DType::f32:
      return store(value, *reinterpret_cast<float*>(out));
  }
}

}  // namespace

WindowReader::WindowReader(const MixJob& job, const LineOps& ops, const LoweredPlan& plan,
                           Scratch& scratch)
    : job_(job), ops_(ops), plan_(plan), width_(plan.size.width) {
  const std::int64_t size = size_of(job.in.dtype);
  pixel_ = size * (job.in.layout == Layout::nhwc ? job.in.shape.channels : 1);
  stride_ = job.in.strides.row * size;
  dense_ = job.in.shape.width == width_ && stride_ == width_ * pixel_;
  padding_ = scratch.take<std::byte>(pixel_);
  for (std::int64_t at = 0; at < pixel_; at += size) {
    store_as(job.in.dtype, job.pad_value, padding_ + at);
  }
}

bool WindowReader::contiguous(const LoweredSource& source, std::int32_t y0,
                              std::int32_t y1) const noexcept {
  return dense_ && source.dx == 0 && source.flip == 0 && source.tiles < 0 &&
         std::int64_t{y0} + source.dy >= 0 && std::int64_t{y1} + source.dy <= job_.in.shape.height;
}

const std::byte* WindowReader::rows(const std::byte* image, const LoweredSource& source,
                                    std::int32_t c, std::int32_t y, std::int64_t rows,
                                    std::byte* room) const {
  if (source.tiles >= 0) return moved_rows(image, source, c, y, rows, room);
  const BatchShape& shape = job_.in.shape;
  const std::byte* plane = plane_of(image, c);
  const std::int64_t first = std::int64_t{y} + source.dy;
  const bool rows_inside = first >= 0 && first + rows <= shape.height;
  const bool columns_inside =
      source.flip == 0 && source.dx >= 0 && source.dx + width_ <= shape.width;
  if (rows_inside && columns_inside && (rows == 1 || dense_)) {
    return plane + first * stride_ + source.dx * pixel_;
  }
  copy_window(plane, source, y, rows, {0, width_, room});
  return room;
}

const std::byte* WindowReader::plane_of(const std::byte* image, std::int32_t c) const noexcept {
  if (job_.in.layout == Layout::nhwc) return image;
  return image + c * job_.in.strides.channel * size_of(job_.in.dtype);
}

const std::byte* WindowReader::moved_rows(const std::byte* image, const LoweredSource& source,
                                          std::int32_t c, std::int32_t y, std::int64_t rows,
                                          std::byte* room) const {
  const std::int32_t* head = plan_.tiles.data() + source.tiles;
  const LoweredTiles tiles{head[0], head[1], head[2]};
  LoweredSource window = source;
  window.tiles = -1;
  const std::byte* plane = plane_of(image, c);
  const bool inside = is_inside(source);
  const std::int64_t tile_bytes = tiles.width * pixel_;
  for (std::int64_t r = 0; r < rows;) {
    const auto tile_row = static_cast<std::int32_t>((y + r) / tiles.height);
    const auto in_tile = static_cast<std::int32_t>(y + r - tile_row * tiles.height);
    const std::int64_t together = std::min<std::int64_t>(rows - r, tiles.height - in_tile);
    const std::int32_t* map = head + kTilesHead + tile_row * tiles.columns;
    std::byte* to = room + r * row_bytes();
    const std::byte* from =
        plane + (std::int64_t{in_tile} + source.dy) * stride_ + source.dx * pixel_;
    for (std::int32_t t = 0; t < tiles.columns;) {
      // Tiles that stay side by side.
      std::int32_t n = 1;
      while (t + n < tiles.columns && map[t + n] == map[t] + n) ++n;
      const std::int32_t first_row = (map[t] >> 16) * tiles.height;
      const std::int32_t first = map[t] & 0xFFFF;
      if (n == tiles.columns && together == rows) {
        return this->rows(image, window, c, first_row + in_tile, rows, room);
      }
      if (inside) {
        const std::byte* at = from + first_row * stride_ + first * tile_bytes;
        if (t + n < tiles.columns && job_.streaming) {
          const std::int64_t later =
              (map[t + n] >> 16) * tiles.height * stride_ + (map[t + n] & 0xFFFF) * tile_bytes;
          for (std::int64_t i = 0; i < together; ++i) prefetch(from, later + i * stride_);
        }
        copy_tile(at, to + t * tile_bytes, together, n * tile_bytes);
      } else {
        copy_window(plane, window, first_row + in_tile, together,
                    {first * tiles.width, n * tiles.width, to + t * tile_bytes});
      }
      t += n;
    }
    r += together;
  }
  return room;
}

/// Whether no part of the window is mirrored or lies outside the image.
bool WindowReader::is_inside(const LoweredSource& source) const noexcept {
  return source.flip == 0 && source.dy >= 0 && source.dx >= 0 &&
         source.dy + plan_.size.height <= job_.in.shape.height &&
         source.dx + width_ <= job_.in.shape.width;
}

/// Rows of `bytes` bytes. Tiles are mostly so small that a call would cost more than the copy.
void WindowReader::copy_tile(const std::byte* from, std::byte* to, std::int64_t rows,
                             std::int64_t bytes) const {
  const std::int64_t stride = row_bytes();
  const auto copy_halves = [&](auto half) {
    constexpr std::size_t kHalf = sizeof(half);
    const std::int64_t second = bytes - static_cast<std::int64_t>(kHalf);
    for (std::int64_t r = 0; r < rows; ++r) {
      std::array<std::byte, kHalf> a;
      std::array<std::byte, kHalf> b;
      std::memcpy(a.data(), from + r * stride_, kHalf);
      std::memcpy(b.data(), from + r * stride_ + second, kHalf);
      std::memcpy(to + r * stride, a.data(), kHalf);
      std::memcpy(to + r * stride + second, b.data(), kHalf);
    }
  };
  if (bytes > 64) return ops_.copy({from, stride_, to, stride, rows, bytes, 1});
  if (bytes >= 32) return copy_halves(std::array<std::byte, 32>{});
  if (bytes >= 16) return copy_halves(std::array<std::byte, 16>{});
  if (bytes >= 8) return copy_halves(std::array<std::byte, 8>{});
  if (bytes >= 4) return copy_halves(std::array<std::byte, 4>{});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i < bytes; ++i) to[r * stride + i] = from[r * stride_ + i];
  }
}

void WindowReader::copy_window(const std::byte* plane, const LoweredSource& source, std::int64_t y,
                               std::int64_t rows, const Columns& columns) const {
  const std::int32_t height = job_.in.shape.height;
  const std::int64_t first = y + source.dy;
  Columns part = columns;
  for (std::int64_t r = 0; r < rows;) {
    const std::int64_t sy = first + r;
    std::int64_t together = 1;
    if (sy >= 0 && sy < height) {
      together = std::min<std::int64_t>(rows - r, height - sy);
      copy_rows(plane + sy * stride_, source, together, part);
    } else if (job_.pad_mode == PadMode::reflect) {
      const std::int32_t inside = reflect(static_cast<std::int32_t>(sy), height);
      copy_rows(plane + inside * stride_, source, 1, part);
    } else {
      pad_pixels(0, part.count, part.to);
    }
    part.to += together * row_bytes();
    r += together;
  }
}

void WindowReader::touch_row(const std::byte* image, const LoweredSource& source, std::int32_t c,
                             std::int32_t y) const noexcept {
  const std::int64_t row = std::int64_t{y} + source.dy;
  if (source.tiles >= 0 || row < 0 || row >= job_.in.shape.height) return;
  const std::int64_t plane = job_.in.layout == Layout::nhwc ? 0 : c * job_.in.strides.channel;
  const std::byte* from = image + plane * size_of(job_.in.dtype) + row * stride_;
  for (std::int64_t at = 0; at < job_.in.shape.width * pixel_; at += kLineBytes) {
    prefetch_far(from, at);
  }
}

/// Rows that lie in the image, from `from` on.
void WindowReader::copy_rows(const std::byte* from, const LoweredSource& source, std::int64_t rows,
                             const Columns& columns) const {
  const std::int32_t image_width = job_.in.shape.width;
  const bool flip = source.flip != 0;
  const std::int32_t n = columns.count;
  // The same columns of the unflipped window; of these [begin, end) show the image, the others
  // padding.
  const std::int32_t left = flip ? width_ - columns.begin - n : columns.begin;
  const std::int32_t begin = std::clamp(-source.dx, left, left + n);
  const std::int32_t end = std::clamp(image_width - source.dx, begin, left + n);
  const std::int32_t shown = flip ? left + n - end : begin - left;
  const std::int32_t shown_end = flip ? left + n - begin : end - left;
  if (begin < end) {
    const PixelBlock block{from + (begin + source.dx) * pixel_,
                           stride_,
                           columns.to + shown * pixel_,
                           row_bytes(),
                           rows,
                           end - begin,
                           pixel_};
    flip ? ops_.mirror(block) : ops_.copy(block);
  }
  if (end - begin == n) return;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::byte* to = columns.to + r * row_bytes();
    if (job_.pad_mode == PadMode::constant) {
      pad_pixels(0, shown, to);
      pad_pixels(shown_end, n, to);
      continue;
    }
    const std::byte* line = from + r * stride_;
    const auto mirrored = [&](std::int32_t x) {
      const std::int32_t column = flip ? left + n - 1 - x : left + x;
      std::memcpy(to + x * pixel_, line + reflect(column + source.dx, image_width) * pixel_,
                  static_cast<std::size_t>(pixel_));
    };
    for (std::int32_t x = 0; x < shown; ++x) mirrored(x);
    for (std::int32_t x = shown_end; x < n; ++x) mirrored(x);
  }
}

void WindowReader::pad_pixels(std::int64_t begin, std::int64_t end, std::byte* row) const {
  if (pixel_ == 1) {
    std::fill(row + begin, row + end, padding_[0]);
    return;
  }
  for (std::int64_t x = begin; x < end; ++x) {
    std::memcpy(row + x * pixel_, padding_, static_cast<std::size_t>(pixel_));
  }
}

}  // namespace medley
