#pragma once

#include <memory>
#include <vector>

#include "medley/types.h"
#include "python/array.h"

namespace medley::python {

/// An array seen as a batch of images. Its axes are N, C, H, W (or N, H, W, C with
/// Layout::nhwc; N, H, W of gray images; N, D of feature vectors, as N x 1 x 1 x D). Which layout
/// the kernels see follows from the strides, not from the order of the axes: a channels-last tensor
/// is nhwc.
class Images {
 public:
  /// For reading. Strides that the kernels cannot take (negative, zero, with gaps between pixels)
  /// are copied; on a GPU they are refused.
  static Images input(py::handle object, Layout axes, std::optional<std::int64_t> stream);
  /// As `input`, but view().data is null where a copy would be needed, on a GPU too.
  static Images uncopied(py::handle object, Layout axes, std::optional<std::int64_t> stream);
  /// For writing. Such strides are refused.
  static Images output(py::handle object, Layout axes, std::optional<std::int64_t> stream);

  /// The memory is writable if it was asked for with `output`.
  [[nodiscard]] const MutableImageBatchView& view() const noexcept { return view_; }
  [[nodiscard]] const Array& array() const noexcept { return array_; }
  [[nodiscard]] Device device() const noexcept { return array_.device(); }
  /// Whether the memory is, or would have to be, a copy.
  [[nodiscard]] bool copied() const noexcept { return copied_; }

 private:
  Images(py::handle object, const ArrayRequest& request, Layout axes);

  Array array_;
  MutableImageBatchView view_;
  bool copied_ = false;
  std::shared_ptr<std::byte> copy_;
};

/// The pixel type, or py::type_error.
[[nodiscard]] DType pixel_type(Element element, const char* name);

}  // namespace medley::python
