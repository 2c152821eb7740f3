#include "kernels/cpu/window.h"

#include <algorithm>
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

WindowReader::WindowReader(const MixJob& job, const LineOps& ops, std::int32_t width,
                           Scratch& scratch)
    : job_(job), ops_(ops), width_(width) {
  const std::int64_t size = size_of(job.in.dtype);
  pixel_ = size * (job.in.layout == Layout::nhwc ? job.in.shape.channels : 1);
  stride_ = job.in.strides.row * size;
  dense_ = job.in.shape.width == width && stride_ == width * pixel_;
  padding_ = scratch.take<std::byte>(pixel_);
  for (std::int64_t at = 0; at < pixel_; at += size) {
    store_as(job.in.dtype, job.pad_value, padding_ + at);
  }
}

bool WindowReader::contiguous(const LoweredSource& source, std::int32_t y0,
                              std::int32_t y1) const noexcept {
  return dense_ && source.dx == 0 && source.flip == 0 && std::int64_t{y0} + source.dy >= 0 &&
         std::int64_t{y1} + source.dy <= job_.in.shape.height;
}

const std::byte* WindowReader::rows(const std::byte* image, const LoweredSource& source,
                                    std::int32_t c, std::int32_t y, std::int64_t rows,
                                    std::byte* room) const {
  const BatchShape& shape = job_.in.shape;
  const std::byte* plane = job_.in.layout == Layout::nhwc
                               ? image
                               : image + c * job_.in.strides.channel * size_of(job_.in.dtype);
  const std::int64_t first = std::int64_t{y} + source.dy;
  const bool rows_inside = first >= 0 && first + rows <= shape.height;
  const bool columns_inside =
      source.flip == 0 && source.dx >= 0 && source.dx + width_ <= shape.width;
  if (rows_inside && columns_inside && (rows == 1 || dense_)) {
    return plane + first * stride_ + source.dx * pixel_;
  }
  const std::int64_t row = row_bytes();
  for (std::int64_t r = 0; r < rows;) {
    const std::int64_t sy = first + r;
    if (sy >= 0 && sy < shape.height) {
      const std::int64_t together = std::min<std::int64_t>(rows - r, shape.height - sy);
      copy_rows(plane + sy * stride_, source, together, room + r * row);
      r += together;
      continue;
    }
    if (job_.pad_mode == PadMode::reflect) {
      const std::int32_t inside = reflect(static_cast<std::int32_t>(sy), shape.height);
      copy_rows(plane + inside * stride_, source, 1, room + r * row);
    } else {
      pad_pixels(0, width_, room + r * row);
    }
    ++r;
  }
  return room;
}

void WindowReader::touch_row(const std::byte* image, const LoweredSource& source, std::int32_t c,
                             std::int32_t y) const noexcept {
  const std::int64_t row = std::int64_t{y} + source.dy;
  if (row < 0 || row >= job_.in.shape.height) return;
  const std::int64_t plane = job_.in.layout == Layout::nhwc ? 0 : c * job_.in.strides.channel;
  const std::byte* from = image + plane * size_of(job_.in.dtype) + row * stride_;
  for (std::int64_t at = 0; at < job_.in.shape.width * pixel_; at += kLineBytes) {
    prefetch_far(from, at);
  }
}

/// Rows that lie in the image, from `from` on.
void WindowReader::copy_rows(const std::byte* from, const LoweredSource& source, std::int64_t rows,
                             std::byte* room) const {
  const std::int32_t image_width = job_.in.shape.width;
  const bool flip = source.flip != 0;
  // Columns [begin, end) of the unflipped window show the image, the others padding.
  const std::int32_t begin = std::clamp(-source.dx, 0, width_);
  const std::int32_t end = std::clamp(image_width - source.dx, begin, width_);
  const std::int32_t shown = flip ? width_ - end : begin;
  const std::int32_t shown_end = flip ? width_ - begin : end;
  if (begin < end) {
    const PixelBlock block{from + (begin + source.dx) * pixel_,
                           stride_,
                           room + shown * pixel_,
                           row_bytes(),
                           rows,
                           end - begin,
                           pixel_};
    flip ? ops_.mirror(block) : ops_.copy(block);
  }
  if (end - begin == width_) return;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::byte* to = room + r * row_bytes();
    if (job_.pad_mode == PadMode::constant) {
      pad_pixels(0, shown, to);
      pad_pixels(shown_end, width_, to);
      continue;
    }
    const std::byte* line = from + r * stride_;
    const auto mirrored = [&](std::int32_t x) {
      const std::int32_t column = flip ? width_ - 1 - x : x;
      std::memcpy(to + x * pixel_, line + reflect(column + source.dx, image_width) * pixel_,
                  static_cast<std::size_t>(pixel_));
    };
    for (std::int32_t x = 0; x < shown; ++x) mirrored(x);
    for (std::int32_t x = shown_end; x < width_; ++x) mirrored(x);
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
