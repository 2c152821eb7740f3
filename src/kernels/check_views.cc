#include "kernels/check_views.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "core/check.h"

namespace medley {
namespace {

std::string shape_text(const BatchShape& s) {
  return fmt::format("{}x{}x{}x{}", s.count, s.channels, s.height, s.width);
}

/// Address range of a batch, [begin, end).
struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

Range range_of(const ImageBatchView& v) {
  const BatchShape& s = v.shape;
  const BatchStrides& t = v.strides;
  const std::int64_t last = (s.count - 1) * t.image + (s.channels - 1) * t.channel +
                            (s.height - 1) * t.row + (s.width - 1) * t.column;
  const auto begin = reinterpret_cast<std::uintptr_t>(v.data);
  return {begin, begin + static_cast<std::uintptr_t>((last + 1) * size_of(v.dtype))};
}

}  // namespace

void check_view(const char* name, const ImageBatchView& v) {
  const BatchShape& s = v.shape;
  if (s.count < 1 || s.channels < 1 || s.height < 1 || s.width < 1) {
    fail_argument(
        fmt::format("{} must have at least one image, channel and pixel, got {} "
                    "(images x channels x height x width)",
                    name, shape_text(s)));
  }
  if (v.data == nullptr) fail_argument(fmt::format("{} must have memory, got null", name));
  if (reinterpret_cast<std::uintptr_t>(v.data) % static_cast<std::uintptr_t>(size_of(v.dtype)) !=
      0) {
    fail_argument(
        fmt::format("{} must be aligned to its elements of {} bytes", name, size_of(v.dtype)));
  }
  const BatchStrides& t = v.strides;
  const bool planar = v.layout == Layout::nchw;
  const std::int64_t row = planar ? s.width : std::int64_t{s.width} * s.channels;
  // Rows are contiguous and nothing overlaps.
  const bool ok =
      planar ? t.column == 1 && t.row >= row && t.channel >= (s.height - 1) * t.row + row &&
                   t.image >= (s.channels - 1) * t.channel + (s.height - 1) * t.row + row
             : t.channel == 1 && t.column == s.channels && t.row >= row &&
                   t.image >= (s.height - 1) * t.row + row;
  if (!ok) {
    fail_argument(fmt::format(
        "{} must have contiguous rows and strides that do not overlap for {} {}, got strides "
        "{}, {}, {}, {} (image, channel, row, column)",
        name, name_of(v.layout), shape_text(s), t.image, t.channel, t.row, t.column));
  }
}

void check_output(const ImageBatchView& out, std::int64_t entries, std::int32_t channels,
                  ImageSize size) {
  const BatchShape wanted{entries, channels, size.height, size.width};
  if (!(out.shape == wanted)) {
    fail_argument(fmt::format("the output must be {} for this plan and input, got {}",
                              shape_text(wanted), shape_text(out.shape)));
  }
}

bool overlap(const ImageBatchView& a, const ImageBatchView& b) {
  const Range ra = range_of(a);
  const Range rb = range_of(b);
  return ra.begin < rb.end && rb.begin < ra.end;
}

std::vector<Affine> affine_of(const Normalise& normalise, std::int32_t channels) {
  if (normalise.empty()) return {};
  if (std::ssize(normalise.mean) != channels || std::ssize(normalise.stddev) != channels) {
    fail_argument(fmt::format("normalise needs mean and stddev for {} channels, got {} and {}",
                              channels, normalise.mean.size(), normalise.stddev.size()));
  }
  std::vector<Affine> affine;
  for (std::size_t c = 0; c < normalise.mean.size(); ++c) {
    const double mean = require_finite("a mean", normalise.mean[c]);
    const double stddev = require_finite("a stddev", normalise.stddev[c]);
    if (!(stddev > 0)) fail_argument(fmt::format("stddev must be > 0, got {}", stddev));
    affine.push_back({static_cast<float>(1 / stddev), static_cast<float>(-mean / stddev)});
  }
  return affine;
}

}  // namespace medley
