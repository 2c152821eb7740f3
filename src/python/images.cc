#include "python/images.h"

#include <limits>

#include <fmt/format.h>

#include "medley/error.h"
#include "python/memory.h"

namespace medley::python {
namespace {

/// Extents and byte strides in the order N, C, H, W.
struct Axes {
  std::int64_t extent[4] = {1, 1, 1, 1};
  std::int64_t stride[4] = {0, 0, 0, 0};
};

Axes axes_of(const Array& array, Layout layout, const char* name) {
  constexpr int kPlanar[] = {0, 1, 2, 3};
  constexpr int kInterleaved[] = {0, 2, 3, 1};
  constexpr int kGray[] = {0, 2, 3};
  constexpr int kVectors[] = {0, 3};
  const std::size_t rank = array.shape().size();
  const int* place = nullptr;
  if (rank == 4) place = layout == Layout::nchw ? kPlanar : kInterleaved;
  if (rank == 3) place = kGray;
  if (rank == 2) place = kVectors;
  if (place == nullptr) {
    throw InvalidArgument(fmt::format(
        "{} must have 4 axes ({}), 3 (gray images: N, H, W) or 2 (vectors: N, D), got shape {}",
        name, layout == Layout::nchw ? "N, C, H, W" : "N, H, W, C", array.shape_text()));
  }
  Axes axes;
  for (std::size_t i = 0; i < rank; ++i) {
    axes.extent[place[i]] = array.shape()[i];
    axes.stride[place[i]] = array.strides()[i];
  }
  return axes;
}

std::int32_t side(std::int64_t extent, const char* name) {
  if (extent > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(fmt::format("{} is too large: {} along one axis", name, extent));
  }
  return static_cast<std::int32_t>(extent);
}

/// Strides of a kernel layout that these axes have, in elements; false if they have not. Axes of
/// one element may have any stride.
bool fit(const Axes& axes, std::int64_t size, Layout layout, BatchStrides& strides) {
  std::int64_t in_elements[4];
  const std::int64_t channels = axes.extent[1];
  const std::int64_t height = axes.extent[2];
  const std::int64_t width = axes.extent[3];
  for (int i = 0; i < 4; ++i) {
    if (axes.extent[i] > 1 && axes.stride[i] % size != 0) return false;
    in_elements[i] = axes.stride[i] / size;
  }
  const auto or_dense = [&](int axis, std::int64_t dense) {
    return axes.extent[axis] > 1 ? in_elements[axis] : dense;
  };
  if (layout == Layout::nchw) {
    strides.column = or_dense(3, 1);
    strides.row = or_dense(2, width);
    const std::int64_t plane = (height - 1) * strides.row + width;
    strides.channel = or_dense(1, plane);
    strides.image = or_dense(0, (channels - 1) * strides.channel + plane);
    return strides.column == 1 && strides.row >= width && strides.channel >= plane &&
           strides.image >= (channels - 1) * strides.channel + plane;
  }
  strides.channel = or_dense(1, 1);
  strides.column = or_dense(3, channels);
  strides.row = or_dense(2, width * channels);
  const std::int64_t image = (height - 1) * strides.row + width * channels;
  strides.image = or_dense(0, image);
  return strides.channel == 1 && strides.column == channels && strides.row >= width * channels &&
         strides.image >= image;
}

[[noreturn]] void fail_strides(const char* name) {
  throw InvalidArgument(fmt::format(
      "{} must have contiguous rows (or contiguous pixels, channels last) that do not overlap; "
      "pass a contiguous array",
      name));
}

}  // namespace

DType pixel_type(Element element, const char* name) {
  switch (element) {
    case Element::u8:
      return DType::u8;
    case Element::f16:
      return DType::f16;
    case Element::bf16:
      return DType::bf16;
    case Element::f32:
      return DType::f32;
    default:
      throw py::type_error(fmt::format("{} must be uint8, float16, bfloat16 or float32, got {}",
                                       name, name_of(element)));
  }
}

Images::Images(py::handle object, const ArrayRequest& request, Layout axes)
    : array_(object, request) {
  view_.dtype = pixel_type(array_.element(), request.name);
  const Axes a = axes_of(array_, axes, request.name);
  view_.shape = {a.extent[0], side(a.extent[1], request.name), side(a.extent[2], request.name),
                 side(a.extent[3], request.name)};
  view_.data = array_.data();
  const std::int64_t size = size_of(array_.element());
  if (view_.shape.values() == 0) {  // the kernels say what is wrong with that
    view_.strides = dense_strides(view_.shape, view_.layout);
    return;
  }
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(array_.data()) % static_cast<std::uintptr_t>(size) == 0;
  for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
    view_.layout = layout;
    if (aligned && fit(a, size, layout, view_.strides)) return;
  }
  if (request.writable) fail_strides(request.name);
  copied_ = true;
  view_.data = nullptr;
  view_.layout = array_.shape().size() == 4 ? axes : Layout::nchw;
  view_.strides = dense_strides(view_.shape, view_.layout);
}

Images Images::input(py::handle object, Layout axes, std::optional<std::int64_t> stream) {
  Images images = uncopied(object, axes, stream);
  if (!images.copied()) return images;
  if (images.device().cuda) fail_strides("images");  // the package hands over a copy
  const py::gil_scoped_release release;
  const Array& array = images.array_;
  images.copy_ = result_memory(static_cast<std::size_t>(array.values() * size_of(array.element())));
  copy_dense(array, images.copy_.get());
  images.view_.data = images.copy_.get();
  return images;
}

Images Images::uncopied(py::handle object, Layout axes, std::optional<std::int64_t> stream) {
  return {object, {.name = "images", .stream = stream}, axes};
}

Images Images::output(py::handle object, Layout axes, std::optional<std::int64_t> stream) {
  return {object, {.name = "out", .writable = true, .stream = stream}, axes};
}

}  // namespace medley::python
