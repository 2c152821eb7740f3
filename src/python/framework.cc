#include "python/framework.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "core/check.h"
#include "python/buffer.h"
#include "python/memory.h"

namespace medley::python {
namespace {

// What a framework is asked for. Never released, since the interpreter may be gone by then.
struct NumPy {
  PyObject* array = nullptr;  // the class
} numpy;

struct Torch {
  PyObject* tensor = nullptr;  // the class
  PyObject* to_dlpack = nullptr;
  PyObject* from_dlpack = nullptr;
  PyObject* empty_like = nullptr;
  PyObject* stream = nullptr;
  PyObject* written = nullptr;
  std::array<PyObject*, kElements> dtypes{};  // by element, null if it has none
} torch;

PyObject* keep(const py::object& object) { return py::object(object).release().ptr(); }

py::object checked(PyObject* result) {
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

/// A name that attributes are looked up by.
struct Name {
  explicit Name(const char* word) : text(PyUnicode_InternFromString(word)) {}
  PyObject* text;
};

py::object attribute(py::handle object, const Name& name) {
  return checked(PyObject_GetAttr(object.ptr(), name.text));
}

py::object call_method(py::handle object, const Name& name) {
  return checked(PyObject_CallMethodNoArgs(object.ptr(), name.text));
}

std::vector<std::int64_t> integers_of(const py::object& tuple) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(PyTuple_GET_SIZE(tuple.ptr())));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i)));
  }
  return values;
}

/// Where a tensor lives; nothing for other devices than the host and CUDA.
std::optional<Device> device_of(py::handle tensor) {
  static const Name is_cpu("is_cpu");
  static const Name is_cuda("is_cuda");
  static const Name get_device("get_device");
  if (attribute(tensor, is_cpu).ptr() == Py_True) return Device{};
  if (attribute(tensor, is_cuda).ptr() != Py_True) return {};
  return Device{true, call_method(tensor, get_device).cast<int>()};
}

std::byte* data_of(py::handle tensor) {
  static const Name data_ptr("data_ptr");
  return static_cast<std::byte*>(PyLong_AsVoidPtr(call_method(tensor, data_ptr).ptr()));
}

py::object call(PyObject* function, py::handle argument) {
  return checked(PyObject_CallOneArg(function, argument.ptr()));
}

/// Memory as NumPy takes it: bytes of the buffer protocol, without a format to read.
struct Bytes {
  PyObject head;
  std::shared_ptr<std::byte> memory;
  Py_ssize_t size;
};

int get_bytes(PyObject* self, Py_buffer* view, int flags) {
  auto* bytes = reinterpret_cast<Bytes*>(self);
  return PyBuffer_FillInfo(view, self, bytes->memory.get(), bytes->size, 0, flags);
}

void delete_bytes(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  std::destroy_at(&reinterpret_cast<Bytes*>(self)->memory);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* bytes_type() {
  static PyTypeObject* const type = [] {
    PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_bytes)},
                           {Py_tp_dealloc, reinterpret_cast<void*>(&delete_bytes)},
                           {0, nullptr}};
    PyType_Spec spec{"medley._core.Bytes", sizeof(Bytes), 0, Py_TPFLAGS_DEFAULT, slots};
    return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release().ptr());
  }();
  return type;
}

py::object bytes_of(std::shared_ptr<std::byte> memory, std::size_t size) {
  py::object object = checked(bytes_type()->tp_alloc(bytes_type(), 0));
  auto* bytes = reinterpret_cast<Bytes*>(object.ptr());
  new (&bytes->memory) std::shared_ptr<std::byte>(std::move(memory));
  bytes->size = static_cast<Py_ssize_t>(size);
  return object;
}

py::object numpy_array(py::handle like, const Array& array, std::shared_ptr<std::byte> memory,
                       std::size_t size) {
  static const Name dtype("dtype");
  py::tuple shape(array.shape().size());
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = array.shape()[i];
  const py::object type = attribute(like, dtype);
  const py::object bytes = bytes_of(std::move(memory), size);
  PyObject* const arguments[] = {shape.ptr(), type.ptr(), bytes.ptr()};
  return checked(PyObject_Vectorcall(numpy.array, arguments, 3, nullptr));
}

void set_torch(const py::object& tensor, const py::object& to_dlpack, const py::object& from_dlpack,
               const py::object& empty_like, const py::object& stream, const py::object& written,
               const py::dict& dtypes) {
  torch = {keep(tensor),
           keep(to_dlpack),
           keep(from_dlpack),
           keep(empty_like),
           keep(stream),
           keep(written),
           {}};
  for (const auto& [dtype, name] : dtypes) {
    const Element element = element_from_name(name.cast<std::string>());
    torch.dtypes[static_cast<std::size_t>(element)] =
        keep(py::reinterpret_borrow<py::object>(dtype));
  }
}

}  // namespace

Framework framework_of(py::handle array) noexcept {
  const auto* const type = reinterpret_cast<const PyObject*>(Py_TYPE(array.ptr()));
  if (type == torch.tensor) return Framework::torch;
  return type == numpy.array ? Framework::numpy : Framework::other;
}

std::optional<TensorInfo> torch_info(py::handle tensor) {
  static const Name dtype("dtype");
  static const Name shape("shape");
  static const Name stride("stride");
  static const Name is_neg("is_neg");
  try {
    if (call_method(tensor, is_neg).ptr() == Py_True) {
      fail_argument("a tensor whose signs are still to be flipped must be resolve_neg()'d first");
    }
    const auto* const found = std::ranges::find(torch.dtypes, attribute(tensor, dtype).ptr());
    const std::optional<Device> device = device_of(tensor);
    if (found == torch.dtypes.end() || !device) return {};
    return TensorInfo{data_of(tensor), static_cast<Element>(found - torch.dtypes.begin()), *device,
                      integers_of(attribute(tensor, shape)),
                      integers_of(call_method(tensor, stride))};
  } catch (const py::error_already_set&) {
    return {};  // a sparse tensor, say
  }
}

py::object torch_capsule(py::handle tensor) { return call(torch.to_dlpack, tensor); }

bool torch_requires_grad(py::handle tensor) {
  static const Name requires_grad("requires_grad");
  return attribute(tensor, requires_grad).ptr() == Py_True;
}

void torch_written(py::handle tensor) { call(torch.written, tensor); }

std::int64_t torch_stream(int device) {
  return call(torch.stream, py::int_(device)).cast<std::int64_t>();
}

bool torch_is_cuda(py::handle tensor) {
  static const Name is_cuda("is_cuda");
  return attribute(tensor, is_cuda).ptr() == Py_True;
}

NewArray torch_empty_like(py::handle tensor) {
  py::object made = call(torch.empty_like, tensor);
  std::byte* const data = data_of(made);
  return {std::move(made), data};
}

NewArray new_array(Framework framework, py::handle like, const Array& array) {
  const auto size = static_cast<std::size_t>(array.values() * size_of(array.element()));
  std::shared_ptr<std::byte> memory = result_memory(size);
  std::byte* const data = memory.get();
  if (framework == Framework::numpy) {
    return {numpy_array(like, array, std::move(memory), size), data};
  }
  const py::object capsule = dlpack_capsule(array.element(), array.shape(), std::move(memory));
  return {call(torch.from_dlpack, capsule), data};
}

py::object on_host(const py::object& array) {
  return py::module_::import("medley._arrays").attr("on_host")(array);
}

void bind_framework(py::module_& module) {
  module.def(
      "set_numpy", [](const py::object& array) { numpy.array = keep(array); }, py::arg("array"));
  module.def("set_torch", &set_torch, py::arg("tensor"), py::arg("to_dlpack"),
             py::arg("from_dlpack"), py::arg("empty_like"), py::arg("stream"), py::arg("written"),
             py::arg("dtypes"));
}

}  // namespace medley::python
