#include "kernels/cpu/shrink.h"

#include <algorithm>

namespace medley {
namespace {

/// Far enough ahead that memory answers in time.
constexpr std::int64_t kAheadBytes = 2048;

}  // namespace

Shrinker::Shrinker(const MixJob& job, const LineOps& ops, const WindowReader& windows,
                   ImageSize size, Channels channels, Scratch& scratch)
    : job_(job), ops_(ops), windows_(windows), size_(size), channels_(channels) {
  const std::int64_t lanes = channels == Channels::one ? 1 : job.in.shape.channels;
  const std::int64_t values = size.width * lanes;
  const bool several = channels != Channels::one;
  room_a_ = scratch.take<std::byte>(windows.row_bytes());
  room_b_ = scratch.take<std::byte>(windows.row_bytes());
  line_ = scratch.take<float>(values);
  planes_ = several ? scratch.take<float>(values) : line_;
  row_ = channels == Channels::interleaved ? scratch.take<float>(values) : nullptr;
  first_ = scratch.take<std::int32_t>(size.width);
  fraction_ = scratch.take<float>(size.width);
}

void Shrinker::start(const LoweredEntry& entry, const std::byte* partner) {
  entry_ = &entry;
  partner_ = partner;
  const std::int64_t stride = job_.in.strides.row * size_of(job_.in.dtype);
  const std::int64_t rows = 1 + kAheadBytes / (2 * stride);
  ahead_ = rows * size_.height / std::max(entry.height, 1) * stride;
  for (std::int32_t j = 0; j < entry.width; ++j) {
    const Tap tap = entry.resample == Resample::nearest ? nearest_tap(j, entry.width, size_.width)
                                                        : bilinear_tap(j, entry.width, size_.width);
    first_[j] = tap.first;
    fraction_[j] = tap.fraction;
  }
}

void Shrinker::make_row(std::int32_t c, std::int32_t y) {
  const LoweredEntry& e = *entry_;
  const std::int32_t i = y >= e.top ? y - e.top : y - e.top + size_.height;
  const Tap tap = e.resample == Resample::nearest ? nearest_tap(i, e.height, size_.height)
                                                  : bilinear_tap(i, e.height, size_.height);
  const std::int64_t lanes = channels_ == Channels::one ? 1 : job_.in.shape.channels;
  const std::byte* a = windows_.rows(partner_, e.partner, c, tap.first, 1, room_a_);
  const std::byte* b =
      tap.fraction != 0 ? windows_.rows(partner_, e.partner, c, tap.second, 1, room_b_) : a;
  ops_.interpolate_rows[static_cast<int>(job_.in.dtype)](a, b, tap.fraction, ahead_, line_,
                                                         size_.width * lanes);
  if (channels_ != Channels::one) {
    ops_.deinterleave(line_, sizeof(float), lanes, planes_, size_.width);
  }
}

void Shrinker::write(std::int32_t c, std::int64_t x, std::int64_t columns, const Affine* affine,
                     float* out) const {
  const auto plane = [&](std::int64_t k) { return planes_ + k * size_.width; };
  if (channels_ != Channels::interleaved) {
    const float* from = channels_ == Channels::planes ? plane(c) : line_;
    return ops_.interpolate_columns(from, first_ + x, fraction_ + x, affine, out, columns);
  }
  const std::int64_t lanes = job_.in.shape.channels;
  for (std::int64_t k = 0; k < lanes; ++k) {
    ops_.interpolate_columns(plane(k), first_ + x, fraction_ + x, nullptr, row_ + k * columns,
                             columns);
  }
  ops_.interleave(row_, sizeof(float), lanes, out, columns);
}

}  // namespace medley
