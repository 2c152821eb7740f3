#include "kernels/cpu/shrink.h"

#include <algorithm>

namespace medley {
namespace {

Tap tap_of(const LoweredEntry& entry, std::int32_t i, std::int32_t length, std::int32_t n) {
  return entry.resample == Resample::nearest ? nearest_tap(i, length, n)
                                             : bilinear_tap(i, length, n);
}

}  // namespace

Shrinker::Shrinker(const MixJob& job, const LineOps& lines, const WindowReader& windows,
                   ImageSize size, Channels channels, Scratch& scratch)
    : job_(job),
      lines_(lines),
      ops_(resample_ops()),
      windows_(windows),
      size_(size),
      channels_(channels) {
  const std::int64_t lanes = channels == Channels::one ? 1 : job.in.shape.channels;
  const std::int64_t values = size.width * lanes;
  const bool several = channels != Channels::one;
  // A box may start, or start again where it wraps around, anywhere in a vector.
  const std::int64_t slots = size.width + 3 * ColumnTaps::kRoom;
  room_a_ = scratch.take<std::byte>(windows.row_bytes());
  room_b_ = scratch.take<std::byte>(windows.row_bytes());
  line_ = scratch.take<float>(values + ColumnTaps::kLineRoom);
  planes_ = several ? scratch.take<float>(values + ColumnTaps::kLineRoom) : line_;
  row_ = channels == Channels::interleaved ? scratch.take<float>(values) : nullptr;
  row_taps_ = scratch.take<Tap>(size.height);
  taps_.width = size.width;
  taps_.offset = scratch.take<std::int32_t>(slots);
  taps_.fraction = scratch.take<float>(slots);
  taps_.rest = scratch.take<float>(slots);
  taps_.base = scratch.take<std::int32_t>(slots);
  taps_.byte = scratch.take<std::uint32_t>(slots);
}

void Shrinker::start(const LoweredEntry& entry, const std::byte* partner, std::int32_t y0,
                     std::int32_t y1) {
  y0_ = y0;
  y1_ = y1;
  look_nowhere();
  entry_ = &entry;
  partner_ = partner;
  contiguous_ = windows_.contiguous(entry.partner, 0, size_.height);
  plane_channel_ = -1;
  const bool wraps = entry.left + entry.width > size_.width;
  pastes_ = channels_ != Channels::interleaved && !wraps && entry.inside.own == 0 &&
            entry.outside.partner == 0 && entry.width > 0;
  std::int64_t slot = 0;
  const auto add = [&](Tap tap) {
    taps_.offset[slot] = tap.first;
    taps_.fraction[slot++] = tap.fraction;
  };
  const auto add_columns = [&](std::int32_t begin, std::int32_t end) {
    for (std::int32_t j = begin; j < end; ++j) add(tap_of(entry, j, entry.width, size_.width));
  };
  if (pastes_) {
    // Vectors of the row, not of the box: its first columns repeat what is left of it.
    const Tap first = tap_of(entry, 0, entry.width, size_.width);
    while (slot < entry.left % ops_.vector) add(first);
    add_columns(0, entry.width);
  } else {
    const std::int32_t right = std::min(entry.width, size_.width - entry.left);
    add_columns(0, right);
    while (wraps && slot % ops_.vector != 0) add_columns(right - 1, right);
    wrapped_ = slot;
    add_columns(right, entry.width);
  }
  taps_.slots = slot;
  if (slot > 0) ops_.arrange(taps_, job_.in.dtype == DType::u8 && channels_ == Channels::one);
  for (std::int32_t i = 0; i < entry.height; ++i) {
    row_taps_[i] = tap_of(entry, i, entry.height, size_.height);
  }
}

void Shrinker::look_ahead(const LoweredEntry& e, const std::byte* partner, std::int32_t c,
                          bool whole) {
  look_nowhere();
  // Rows of the box that lie in [y0_, y1_); of one that wraps around, all.
  const bool wraps = e.top + e.height > size_.height;
  const std::int32_t begin = wraps ? 0 : std::max(y0_ - e.top, 0);
  const std::int32_t end = wraps ? e.height : std::min(y1_ - e.top, e.height);
  if (e.resample == Resample::none || begin >= end) return;
  const std::int32_t first = tap_of(e, begin, e.height, size_.height).first;
  const std::int32_t last = tap_of(e, end - 1, e.height, size_.height).second;
  const std::int32_t rows = last + 1 - first;
  // Each row of the box reads two. If these are few, asking for all would be a waste.
  if (!whole && 4 * (end - begin) < rows) return;
  later_entry_ = &e;
  later_image_ = partner;
  later_channel_ = c;
  later_.step = static_cast<double>(rows) / (y1_ - y0_);
  later_.first = first - y0_ * later_.step;
}

void Shrinker::touch(std::int32_t y, std::int32_t rows) const {
  if (later_entry_ == nullptr) return;
  for (std::int32_t i = y; i < y + rows; ++i) {
    const auto row = static_cast<std::int32_t>(later_.row(i));
    windows_.touch_row(later_image_, later_entry_->partner, later_channel_, row);
  }
}

void Shrinker::paste_rows(std::int32_t c, std::int32_t y, std::int32_t rows, const std::byte* own,
                          const RowStyle& style, float* out) {
  const LoweredEntry& e = *entry_;
  PastedRows pasted{};
  pasted.own = own;
  pasted.y = y;
  pasted.rows = rows;
  pasted.n = size_.width;
  if (in_interval(y, e.top, e.height, size_.height)) {
    pasted.partner = partner_row(c, 0, room_a_);
    const std::int32_t i = y >= e.top ? y - e.top : y - e.top + size_.height;
    pasted.taps = row_taps_ + i;
    pasted.last = e.height - 1 - i;
    pasted.span = span();
    pasted.line = line_;
  }
  if (later_entry_ != nullptr && windows_.contiguous(later_entry_->partner, 0, size_.height)) {
    pasted.later = later_;
    pasted.later.plane =
        windows_.rows(later_image_, later_entry_->partner, later_channel_, 0, 1, room_b_);
  }
  ops_.paste_rows[static_cast<int>(job_.in.dtype)](pasted, taps_, style, out);
}

const std::byte* Shrinker::partner_row(std::int32_t c, std::int32_t row, std::byte* room) {
  if (!contiguous_) return windows_.rows(partner_, entry_->partner, c, row, 1, room);
  if (c != plane_channel_) {
    plane_channel_ = c;
    plane_ = windows_.rows(partner_, entry_->partner, c, 0, 1, room);
  }
  return plane_ + row * windows_.row_bytes();
}

void Shrinker::make_row(std::int32_t c, std::int32_t y) {
  const LoweredEntry& e = *entry_;
  const std::int32_t i = y >= e.top ? y - e.top : y - e.top + size_.height;
  const Tap tap = row_taps_[i];
  const std::byte* a = partner_row(c, tap.first, room_a_);
  const std::byte* b = tap.fraction != 0 ? partner_row(c, tap.second, room_b_) : a;
  if (taps_.bytes) {
    made_ = {reinterpret_cast<const std::uint8_t*>(a), reinterpret_cast<const std::uint8_t*>(b),
             tap.fraction, nullptr};
    return;
  }
  const std::int64_t lanes = channels_ == Channels::one ? 1 : job_.in.shape.channels;
  ops_.interpolate_rows[static_cast<int>(job_.in.dtype)](a, b, tap.fraction, line_,
                                                         size_.width * lanes);
  if (channels_ != Channels::one) {
    lines_.deinterleave(line_, sizeof(float), lanes, planes_, size_.width);
  }
}

ShrunkSource Shrinker::source(std::int32_t c) const {
  if (taps_.bytes) return made_;
  ShrunkSource line;
  line.line = planes_ + (channels_ == Channels::one ? 0 : c * std::int64_t{size_.width});
  return line;
}

ShrunkSpan Shrinker::span() const {
  const std::int64_t left = entry_->left;
  return {left, left + entry_->width, -(left - left % ops_.vector)};
}

void Shrinker::paste(std::int32_t c, const std::byte* own, const RowStyle& style, float* out,
                     std::int64_t n) const {
  ops_.paste[static_cast<int>(job_.in.dtype)](own, source(c), taps_, span(), style, out, n);
}

void Shrinker::write(std::int32_t c, bool wrapped, std::int64_t columns, float* out) const {
  const std::int64_t slot = wrapped ? wrapped_ : 0;
  if (channels_ != Channels::interleaved) return ops_.shrink(source(c), taps_, slot, out, columns);
  const std::int32_t lanes = job_.in.shape.channels;
  for (std::int32_t k = 0; k < lanes; ++k) {
    ops_.shrink(source(k), taps_, slot, row_ + k * columns, columns);
  }
  lines_.interleave({row_, columns, sizeof(float), lanes, columns}, out, false);
}

}  // namespace medley
