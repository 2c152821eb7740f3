#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace medley {

/// Storage of one pixel value. `f16` is IEEE binary16, `bf16` the upper half of a binary32.
enum class DType : std::uint8_t { u8, f16, bf16, f32 };

/// Order of the axes in memory. Views still carry strides, so rows and images may be padded.
enum class Layout : std::uint8_t { nchw, nhwc };

/// Bit patterns of the half-width types; arithmetic happens in `float`.
struct F16 {
  std::uint16_t bits;
};
/// As F16, the upper half of a binary32.
struct BF16 {
  std::uint16_t bits;
};

/// Bytes of a value.
[[nodiscard]] constexpr std::int64_t size_of(DType type) noexcept {
  return type == DType::u8 ? 1 : type == DType::f32 ? 4 : 2;
}

/// "u8", "f16", "bf16" or "f32".
[[nodiscard]] std::string_view name_of(DType type) noexcept;
/// "nchw" or "nhwc".
[[nodiscard]] std::string_view name_of(Layout layout) noexcept;

/// Height and width in pixels.
struct ImageSize {
  std::int32_t height = 0;
  std::int32_t width = 0;

  /// Height times width.
  [[nodiscard]] constexpr std::int64_t pixels() const noexcept {
    return std::int64_t{height} * width;
  }
  /// All pixels on one axis: vectors and sequences, of which methods cut segments.
  [[nodiscard]] constexpr bool one_row() const noexcept { return height == 1 || width == 1; }
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

/// The caller's own masks: `count` masks of `size`, row-major, one after the other. A value is the
/// weight of the own image; any finite number is allowed.
struct MaskSet {
  ImageSize size;
  std::vector<float> values;

  /// Number of masks; 0 without a size.
  [[nodiscard]] std::int64_t count() const noexcept {
    return size.pixels() > 0 ? static_cast<std::int64_t>(values.size()) / size.pixels() : 0;
  }
};

/// Shape of a batch of images.
struct BatchShape {
  std::int64_t count = 0;
  std::int32_t channels = 0;
  std::int32_t height = 0;
  std::int32_t width = 0;

  /// Of one image.
  [[nodiscard]] constexpr ImageSize size() const noexcept { return {height, width}; }
  /// Values in all.
  [[nodiscard]] constexpr std::int64_t values() const noexcept {
    return count * channels * size().pixels();
  }
  friend bool operator==(const BatchShape&, const BatchShape&) = default;
};

/// Distances between neighbors along an axis, in elements.
struct BatchStrides {
  std::int64_t image = 0;
  std::int64_t channel = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;

  friend bool operator==(const BatchStrides&, const BatchStrides&) = default;
};

/// Strides of a batch without gaps.
[[nodiscard]] BatchStrides dense_strides(const BatchShape& shape, Layout layout) noexcept;

/// A batch of images somewhere in memory; does not own it. Rows are contiguous: nchw needs
/// `column == 1`, nhwc needs `channel == 1` and `column == channels`; images, channels (nchw) and
/// rows may be spaced further apart. `mix` checks this.
struct ImageBatchView {
  const void* data = nullptr;
  DType dtype = DType::f32;
  Layout layout = Layout::nchw;
  BatchShape shape;
  BatchStrides strides;
};

/// As ImageBatchView, of memory that is written.
struct MutableImageBatchView {
  void* data = nullptr;
  DType dtype = DType::f32;
  Layout layout = Layout::nchw;
  BatchShape shape;
  BatchStrides strides;

  // NOLINTNEXTLINE(google-explicit-constructor): a mutable view is a view.
  operator ImageBatchView() const noexcept { return {data, dtype, layout, shape, strides}; }
};

/// Views of dense batches; the span must hold exactly `shape.values()` elements.
[[nodiscard]] ImageBatchView view_of(std::span<const std::uint8_t> data, const BatchShape& shape,
                                     Layout layout = Layout::nchw);
[[nodiscard]] ImageBatchView view_of(std::span<const F16> data, const BatchShape& shape,
                                     Layout layout = Layout::nchw);
[[nodiscard]] ImageBatchView view_of(std::span<const BF16> data, const BatchShape& shape,
                                     Layout layout = Layout::nchw);
[[nodiscard]] ImageBatchView view_of(std::span<const float> data, const BatchShape& shape,
                                     Layout layout = Layout::nchw);
/// The same of memory that is written.
[[nodiscard]] MutableImageBatchView mutable_view_of(std::span<std::uint8_t> data,
                                                    const BatchShape& shape,
                                                    Layout layout = Layout::nchw);
[[nodiscard]] MutableImageBatchView mutable_view_of(std::span<F16> data, const BatchShape& shape,
                                                    Layout layout = Layout::nchw);
[[nodiscard]] MutableImageBatchView mutable_view_of(std::span<BF16> data, const BatchShape& shape,
                                                    Layout layout = Layout::nchw);
[[nodiscard]] MutableImageBatchView mutable_view_of(std::span<float> data, const BatchShape& shape,
                                                    Layout layout = Layout::nchw);

}  // namespace medley
