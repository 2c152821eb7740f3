#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

#include "python/array.h"

namespace medley::python {

/// Memory of a result, dense and row-major. Python sees it through the buffer protocol and DLPack,
/// so a framework can take it over without a copy.
class Buffer {
 public:
  /// Not initialized.
  Buffer(Element element, std::vector<std::int64_t> shape);

  /// `values` must fill the shape.
  template <typename T>
  Buffer(Element element, std::vector<std::int64_t> shape, const std::vector<T>& values)
      : Buffer(element, std::move(shape)) {
    fill(values.data(), values.size() * sizeof(T));
  }

  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] Element element() const noexcept { return element_; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const noexcept { return shape_; }
  [[nodiscard]] std::int64_t values() const noexcept;

  template <typename T>
  [[nodiscard]] std::span<T> span() const noexcept {
    return {reinterpret_cast<T*>(data()), static_cast<std::size_t>(values())};
  }

 private:
  friend void bind_buffer(py::module_& module);

  void fill(const void* from, std::size_t bytes) noexcept;

  Element element_;
  std::vector<std::int64_t> shape_;
  std::shared_ptr<std::byte> memory_;
};

/// Dense memory of that shape for DLPack; who takes it keeps it alive.
[[nodiscard]] py::object dlpack_capsule(Element element, const std::vector<std::int64_t>& shape,
                                        std::shared_ptr<std::byte> memory);

/// The memory as an array of NumPy, or a memory view where that is not installed.
[[nodiscard]] py::object numpy_array(Buffer buffer);

void bind_buffer(py::module_& module);

}  // namespace medley::python
