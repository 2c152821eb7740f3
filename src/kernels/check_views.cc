#include "kernels/check_views.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/enums.h"

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
  const auto begin = reinterpret_cast<std::uintptr_t>(v.data);
  return {begin, begin + static_cast<std::uintptr_t>(extent_of(v).value_or(0))};
}

/// Strides of contiguous rows in the order of the layout, none of them negative.
bool has_contiguous_rows(const ImageBatchView& v) {
  const BatchStrides& t = v.strides;
  const bool row =
      v.layout == Layout::nchw ? t.column == 1 : t.channel == 1 && t.column == v.shape.channels;
  return row && t.image >= 0 && t.channel >= 0 && t.row >= 0;
}

/// Of a batch with contiguous rows whose extent is known, so that no sum here is too large.
bool has_separate_parts(const ImageBatchView& v) {
  const BatchShape& s = v.shape;
  const BatchStrides& t = v.strides;
  const bool planar = v.layout == Layout::nchw;
  const std::int64_t row = planar ? s.width : std::int64_t{s.width} * s.channels;
  const std::int64_t plane = (s.height - 1) * t.row + row;
  const std::int64_t image = planar ? (s.channels - 1) * t.channel + plane : plane;
  return t.row >= row && (!planar || t.channel >= plane) && t.image >= image;
}

}  // namespace

std::optional<std::int64_t> extent_of(const ImageBatchView& v) {
  const BatchShape& s = v.shape;
  const BatchStrides& t = v.strides;
  const std::array<std::pair<std::int64_t, std::int64_t>, 4> axes = {
      {{s.count, t.image}, {s.channels, t.channel}, {s.height, t.row}, {s.width, t.column}}};
  std::int64_t last = 0;
  for (const auto& [size, stride] : axes) {
    const std::optional<std::int64_t> way = product({size - 1, stride});
    if (!way || __builtin_add_overflow(last, *way, &last)) return {};
  }
  if (__builtin_add_overflow(last, 1, &last)) return {};
  const std::optional<std::int64_t> bytes = product({last, size_of(v.dtype)});
  const auto begin = reinterpret_cast<std::uintptr_t>(v.data);
  const bool wraps = bytes && static_cast<std::uintptr_t>(*bytes) >
                                  std::numeric_limits<std::uintptr_t>::max() - begin;
  if (wraps) return {};
  return bytes;
}

void check_view(const char* name, const ImageBatchView& v) {
  const auto require_known = [name](const char* what, const auto& words, auto value) {
    if (word_of(words, value) != "?") return;
    fail_enumerator(fmt::format("the {} of {}", what, name), words,
                    static_cast<std::int64_t>(value));
  };
  require_known("type", kDTypes, v.dtype);
  require_known("layout", kLayouts, v.layout);
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
  const bool rows = has_contiguous_rows(v);
  if (rows && !extent_of(v)) {
    fail_argument(fmt::format(
        "{} must end within the address space, but {} of strides {}, {}, {}, {} (image, channel, "
        "row, column) does not",
        name, shape_text(s), t.image, t.channel, t.row, t.column));
  }
  if (!rows || !has_separate_parts(v)) {
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

void check_input_size(const ImageBatchView& in, ImageSize size, const MixOptions& options) {
  if (options.windows || in.shape.size() == size) return;
  fail_argument(
      fmt::format("the input must have images of the plan's size, {}x{} (height x width), got "
                  "{}x{}; set windows to have the plan cut or pad them",
                  size.height, size.width, in.shape.height, in.shape.width));
}

bool overlap(const ImageBatchView& a, const ImageBatchView& b) {
  const Range ra = range_of(a);
  const Range rb = range_of(b);
  return ra.begin < rb.end && rb.begin < ra.end;
}

std::vector<Affine> affine_of(const Normalize& normalize, std::int32_t channels) {
  std::vector<Affine> affine;
  affine_of(normalize, channels, affine);
  return affine;
}

void affine_of(const Normalize& normalize, std::int32_t channels, std::vector<Affine>& affine) {
  affine.clear();
  if (normalize.empty()) return;
  if (std::ssize(normalize.mean) != channels || std::ssize(normalize.stddev) != channels) {
    fail_argument(fmt::format("normalize needs mean and stddev for {} channels, got {} and {}",
                              channels, normalize.mean.size(), normalize.stddev.size()));
  }
  for (std::size_t c = 0; c < normalize.mean.size(); ++c) {
    const double mean = require_finite("a mean", normalize.mean[c]);
    const double stddev = require_finite("a stddev", normalize.stddev[c]);
    if (!(stddev > 0)) fail_argument(fmt::format("stddev must be > 0, got {}", stddev));
    affine.push_back({static_cast<float>(1 / stddev), static_cast<float>(-mean / stddev)});
  }
}

}  // namespace medley
