#include "python/buffer.h"

#include <cstring>
#include <string>

#include <dlpack/dlpack.h>
#include <pybind11/stl.h>

#include "python/memory.h"

namespace medley::python {
namespace {

/// What a DLPack consumer keeps alive.
struct Export {
  DLManagedTensor managed{};
  std::shared_ptr<std::byte> memory;
  std::vector<std::int64_t> shape;
};

DLDataType dlpack_type(Element element) noexcept {
  const auto bits = static_cast<std::uint8_t>(size_of(element) * 8);
  switch (element) {
    case Element::bf16:
      return {kDLBfloat, bits, 1};
    case Element::f16:
    case Element::f32:
    case Element::f64:
      return {kDLFloat, bits, 1};
    case Element::i8:
    case Element::i16:
    case Element::i32:
    case Element::i64:
      return {kDLInt, bits, 1};
    default:
      return {kDLUInt, bits, 1};
  }
}

const char* format_of(Element element) noexcept {
  switch (element) {
    case Element::u8:
      return "B";
    case Element::f16:
      return "e";
    case Element::bf16:
    case Element::u16:
      return "H";
    case Element::f32:
      return "f";
    case Element::f64:
      return "d";
    case Element::i8:
      return "b";
    case Element::i16:
      return "h";
    case Element::i32:
      return "i";
    case Element::u32:
      return "I";
    case Element::i64:
      return sizeof(long) == 8 ? "l" : "q";  // what NumPy calls int64
    case Element::boolean:
      return "?";
  }
  return "B";
}

void forget(PyObject* capsule) {
  // A consumer renames what it took; only an untouched capsule is ours to free.
  if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  managed->deleter(managed);
}

}  // namespace

Buffer::Buffer(Element element, std::vector<std::int64_t> shape)
    : element_(element), shape_(std::move(shape)) {
  memory_ = result_memory(static_cast<std::size_t>(values() * size_of(element_)));
}

std::int64_t Buffer::values() const noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape_) count *= extent;
  return count;
}

void Buffer::fill(const void* from, std::size_t bytes) noexcept {
  if (bytes > 0) std::memcpy(data(), from, bytes);
}

py::object dlpack_capsule(Element element, const std::vector<std::int64_t>& shape,
                          std::shared_ptr<std::byte> memory) {
  auto* shared = new Export{{}, std::move(memory), shape};
  shared->managed.dl_tensor = {shared->memory.get(),
                               {kDLCPU, 0},
                               static_cast<int>(shared->shape.size()),
                               dlpack_type(element),
                               shared->shape.data(),
                               nullptr,
                               0};
  shared->managed.manager_ctx = shared;
  shared->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Export*>(self->manager_ctx);
  };
  return py::capsule(&shared->managed, "dltensor", forget);
}

py::object numpy_array(Buffer buffer) {
  const py::object framework = py::module_::import("medley._arrays").attr("numpy_framework")();
  return framework.attr("adopt")(py::cast(std::move(buffer)));
}

void bind_buffer(py::module_& module) {
  py::class_<Buffer>(module, "Buffer", py::buffer_protocol(),
                     "Memory of a result; read it with numpy.asarray, memoryview or from_dlpack.")
      .def(py::init([](const std::string& dtype, std::vector<std::int64_t> shape) {
             return Buffer(element_from_name(dtype), std::move(shape));
           }),
           py::arg("dtype"), py::arg("shape"))
      .def_buffer([](const Buffer& buffer) {
        std::vector<py::ssize_t> strides(buffer.shape().size());
        py::ssize_t dense = size_of(buffer.element());
        for (std::size_t axis = strides.size(); axis-- > 0;) {
          strides[axis] = dense;
          dense *= buffer.shape()[axis];
        }
        return py::buffer_info(buffer.data(), size_of(buffer.element()),
                               format_of(buffer.element()),
                               static_cast<py::ssize_t>(strides.size()), buffer.shape(), strides);
      })
      .def(
          "__dlpack__",
          [](const Buffer& buffer, const py::object& /*stream*/) {
            return dlpack_capsule(buffer.element(), buffer.shape(), buffer.memory_);
          },
          py::arg("stream") = py::none())
      .def("__dlpack_device__", [](const Buffer&) { return py::make_tuple(int{kDLCPU}, 0); })
      .def_property_readonly("shape",
                             [](const Buffer& buffer) {
                               py::tuple shape(buffer.shape().size());
                               for (std::size_t i = 0; i < shape.size(); ++i) {
                                 shape[i] = buffer.shape()[i];
                               }
                               return shape;
                             })
      .def_property_readonly("dtype",
                             [](const Buffer& buffer) { return name_of(buffer.element()); });
}

}  // namespace medley::python
