#include "medley/types.h"

#include <fmt/format.h>

#include "core/check.h"
#include "core/enums.h"

namespace medley {
namespace {

template <typename View, typename T>
View make_view(T* data, std::size_t size, DType dtype, const BatchShape& shape, Layout layout) {
  require_enumerator("layout", kLayouts, layout);
  if (shape.count < 0 || shape.channels < 0 || shape.height < 0 || shape.width < 0) {
    fail_argument(
        fmt::format("a batch must have no negative number in its shape, got {}x{}x{}x{} "
                    "(images x channels x height x width)",
                    shape.count, shape.channels, shape.height, shape.width));
  }
  const std::optional<std::int64_t> values =
      product({shape.count, shape.channels, shape.height, shape.width});
  if (values != static_cast<std::int64_t>(size)) {
    fail_argument(fmt::format("a {}x{}x{}x{} batch needs {} values, got {}", shape.count,
                              shape.channels, shape.height, shape.width,
                              values ? std::to_string(*values) : "too many", size));
  }
  return {data, dtype, layout, shape, dense_strides(shape, layout)};
}

}  // namespace

BatchStrides dense_strides(const BatchShape& shape, Layout layout) noexcept {
  const std::int64_t c = shape.channels, h = shape.height, w = shape.width;
  if (layout == Layout::nchw) return {c * h * w, h * w, w, 1};
  return {c * h * w, 1, w * c, c};
}

ImageBatchView view_of(std::span<const std::uint8_t> data, const BatchShape& shape, Layout layout) {
  return make_view<ImageBatchView>(data.data(), data.size(), DType::u8, shape, layout);
}
ImageBatchView view_of(std::span<const F16> data, const BatchShape& shape, Layout layout) {
  return make_view<ImageBatchView>(data.data(), data.size(), DType::f16, shape, layout);
}
ImageBatchView view_of(std::span<const BF16> data, const BatchShape& shape, Layout layout) {
  return make_view<ImageBatchView>(data.data(), data.size(), DType::bf16, shape, layout);
}
ImageBatchView view_of(std::span<const float> data, const BatchShape& shape, Layout layout) {
  return make_view<ImageBatchView>(data.data(), data.size(), DType::f32, shape, layout);
}
MutableImageBatchView mutable_view_of(std::span<std::uint8_t> data, const BatchShape& shape,
                                      Layout layout) {
  return make_view<MutableImageBatchView>(data.data(), data.size(), DType::u8, shape, layout);
}
MutableImageBatchView mutable_view_of(std::span<F16> data, const BatchShape& shape, Layout layout) {
  return make_view<MutableImageBatchView>(data.data(), data.size(), DType::f16, shape, layout);
}
MutableImageBatchView mutable_view_of(std::span<BF16> data, const BatchShape& shape,
                                      Layout layout) {
  return make_view<MutableImageBatchView>(data.data(), data.size(), DType::bf16, shape, layout);
}
MutableImageBatchView mutable_view_of(std::span<float> data, const BatchShape& shape,
                                      Layout layout) {
  return make_view<MutableImageBatchView>(data.data(), data.size(), DType::f32, shape, layout);
}

}  // namespace medley
