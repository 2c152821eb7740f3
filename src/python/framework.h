#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <pybind11/pybind11.h>

#include "python/array.h"

namespace medley::python {

/// Frameworks whose arrays have short cuts. Only arrays of exactly the framework's own class count:
/// a subclass may see things in its own way.
enum class Framework : std::uint8_t { other, numpy, torch };

/// Frameworks are known from when the package met their first array.
[[nodiscard]] Framework framework_of(py::handle array) noexcept;

/// A tensor as its attributes describe it; strides in elements.
struct TensorInfo {
  std::byte* data;
  Element element;
  Device device;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

/// Nothing for tensors of types and on devices that are not known here. Reading attributes takes
/// less than half the time of a DLPack capsule, for which PyTorch makes another tensor.
[[nodiscard]] std::optional<TensorInfo> torch_info(py::handle tensor);

/// A DLPack capsule of a tensor. The caller sees to streams.
[[nodiscard]] py::object torch_capsule(py::handle tensor);

/// Whether a tensor is part of a graph of gradients.
[[nodiscard]] bool torch_requires_grad(py::handle tensor);

/// Tells PyTorch that a tensor's values have changed: gradients that need the old ones are errors.
void torch_written(py::handle tensor);

/// The current stream of a CUDA device, as a number.
[[nodiscard]] std::int64_t torch_stream(int device);

/// Whether a tensor is in the memory of a CUDA device.
[[nodiscard]] bool torch_is_cuda(py::handle tensor);

/// A new array; `data` is where its elements are.
struct NewArray {
  py::object object;
  std::byte* data;
};

/// A new tensor like a tensor.
[[nodiscard]] NewArray torch_empty_like(py::handle tensor);

/// A new array of the framework over memory of its own in host memory, of the type and shape of
/// `array`, which is `like` as it was read.
[[nodiscard]] NewArray new_array(Framework framework, py::handle like, const Array& array);

/// An array, or whatever else it is, brought to host memory by its framework.
[[nodiscard]] py::object on_host(const py::object& array);

void bind_framework(py::module_& module);

}  // namespace medley::python
