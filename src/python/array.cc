#include "python/array.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include <dlpack/dlpack.h>
#include <fmt/format.h>

#include "kernels/pixel.h"
#include "medley/error.h"
#include "python/buffer.h"
#include "python/convert.h"
#include "python/framework.h"

namespace medley::python {
namespace {

struct ElementInfo {
  const char* name;
  std::int64_t size;
  Element element;
  char kind;  // i, u, f, B (bfloat), ? (bool)
};

constexpr ElementInfo kElementInfos[kElements] = {
    {"uint8", 1, Element::u8, 'u'},      {"float16", 2, Element::f16, 'f'},
    {"bfloat16", 2, Element::bf16, 'B'}, {"float32", 4, Element::f32, 'f'},
    {"float64", 8, Element::f64, 'f'},   {"int8", 1, Element::i8, 'i'},
    {"int16", 2, Element::i16, 'i'},     {"int32", 4, Element::i32, 'i'},
    {"int64", 8, Element::i64, 'i'},     {"uint16", 2, Element::u16, 'u'},
    {"uint32", 4, Element::u32, 'u'},    {"bool", 1, Element::boolean, '?'}};

const ElementInfo& info_of(Element element) noexcept {
  return kElementInfos[static_cast<std::size_t>(element)];
}

const ElementInfo* find_element(char kind, std::int64_t size) noexcept {
  for (const ElementInfo& info : kElementInfos) {
    if (info.kind == kind && info.size == size) return &info;
  }
  return nullptr;
}

/// Kind of a format of the struct module; 0 for what is not a plain number in native order.
char kind_of_format(const char* format) noexcept {
  if (format == nullptr) return 'u';
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (*format == '\0' || format[1] != '\0') return 0;
  if (std::strchr("bhilqn", *format) != nullptr) return 'i';
  if (std::strchr("BHILQNc", *format) != nullptr) return 'u';
  if (std::strchr("efd", *format) != nullptr) return 'f';
  return *format == '?' ? '?' : 0;
}

char kind_of_code(std::uint8_t code) noexcept {
  switch (code) {
    case kDLInt:
      return 'i';
    case kDLUInt:
      return 'u';
    case kDLFloat:
      return 'f';
    case kDLBfloat:
      return 'B';
    case 6:  // kDLBool of later versions
      return '?';
    default:
      return 0;
  }
}

/// What an array says it holds, or the word that its protocol has for it.
std::string elements_of(py::handle object, const std::string& otherwise) {
  if (!py::hasattr(object, "dtype")) return otherwise;
  return py::str(object.attr("dtype"));
}

[[noreturn]] void fail_elements(py::handle object, const char* name, const std::string& otherwise) {
  throw py::type_error(
      fmt::format("{} must be numbers of 8 to 64 bits: integers, floats or booleans, got {}", name,
                  elements_of(object, otherwise)));
}

template <typename T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename To, typename From>
To* convert_row(const std::byte* from, std::int64_t stride, std::int64_t count, To* to) noexcept {
  const auto each = [&](std::int64_t step) {
    for (std::int64_t i = 0; i < count; ++i, from += step) {
      if constexpr (std::is_same_v<From, F16> || std::is_same_v<From, BF16>) {
        to[i] = static_cast<To>(to_float(load<From>(from)));
      } else {
        to[i] = static_cast<To>(load<From>(from));
      }
    }
  };
  if (stride == sizeof(From)) {
    each(sizeof(From));  // a step that the compiler knows
  } else {
    each(stride);
  }
  return to + count;
}

/// Converts `count` elements that lie `stride` bytes apart, and returns the end of the result.
template <typename To>
To* convert_row(Element element, const std::byte* from, std::int64_t stride, std::int64_t count,
                To* to) noexcept {
  switch (element) {
    case Element::u8:
    case Element::boolean:
      return convert_row<To, std::uint8_t>(from, stride, count, to);
    case Element::i8:
      return convert_row<To, std::int8_t>(from, stride, count, to);
    case Element::i16:
      return convert_row<To, std::int16_t>(from, stride, count, to);
    case Element::u16:
      return convert_row<To, std::uint16_t>(from, stride, count, to);
    case Element::i32:
      return convert_row<To, std::int32_t>(from, stride, count, to);
    case Element::u32:
      return convert_row<To, std::uint32_t>(from, stride, count, to);
    case Element::i64:
      return convert_row<To, std::int64_t>(from, stride, count, to);
    case Element::f64:
      return convert_row<To, double>(from, stride, count, to);
    case Element::f32:
      return convert_row<To, float>(from, stride, count, to);
    case Element::f16:
      return convert_row<To, F16>(from, stride, count, to);
    case Element::bf16:
      return convert_row<To, BF16>(from, stride, count, to);
  }
  return to;
}

/// Calls visit(pointer) for each index of the axes from `axis` to `end`, in row-major order.
template <typename Visit>
void for_each(const Array& array, std::size_t axis, std::size_t end, const std::byte* at,
              const Visit& visit) {
  if (axis == end) return visit(at);
  for (std::int64_t i = 0; i < array.shape()[axis]; ++i) {
    for_each(array, axis + 1, end, at + i * array.strides()[axis], visit);
  }
}

/// Copies `count` pieces that lie `stride` bytes apart, and returns the end of the copy.
template <typename Size>
std::byte* gather(const std::byte* from, std::int64_t stride, std::int64_t count, Size size,
                  std::byte* to) noexcept {
  for (std::int64_t i = 0; i < count; ++i, from += stride, to += size) std::memcpy(to, from, size);
  return to;
}

template <std::size_t N>
using Bytes = std::integral_constant<std::size_t, N>;

/// Whether DLPack says that the memory is not the host's: arrays of JAX have the buffer protocol
/// wherever they are, but not for every place.
bool is_elsewhere(py::handle object) {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack_device__");
  const auto method = py::reinterpret_steal<py::object>(PyObject_GetAttr(object.ptr(), name));
  if (!method) {
    PyErr_Clear();
    return false;
  }
  return method().cast<std::pair<int, int>>().first != kDLCPU;
}

template <typename To>
void convert(const Array& array, const char* name, To* to) {
  if (array.device().cuda) {
    throw InvalidArgument(fmt::format("{} must be in host memory, got a CUDA array", name));
  }
  if (array.values() == 0) return;
  if (is_dense(array)) {
    convert_row(array.element(), array.data(), size_of(array.element()), array.values(), to);
    return;
  }
  const std::size_t last = array.shape().size() - 1;  // of no axes all are dense
  for_each(array, 0, last, array.data(), [&](const std::byte* at) {
    to = convert_row(array.element(), at, array.strides()[last], array.shape()[last], to);
  });
}

template <typename To>
std::vector<To> converted(const Array& array, const char* name) {
  std::vector<To> values(static_cast<std::size_t>(array.values()));
  convert(array, name, values.data());
  return values;
}

}  // namespace

std::int64_t size_of(Element element) noexcept { return info_of(element).size; }
const char* name_of(Element element) noexcept { return info_of(element).name; }
Element element_from_name(std::string_view name) {
  for (const ElementInfo& info : kElementInfos) {
    if (name == info.name) return info.element;
  }
  throw InvalidArgument(fmt::format("unknown element type \"{}\"", name));
}
bool is_float(Element element) noexcept {
  return info_of(element).kind == 'f' || info_of(element).kind == 'B';
}
bool is_integer(Element element) noexcept { return !is_float(element); }

struct Array::Holder {
  Py_buffer buffer{};
  DLManagedTensor* managed = nullptr;
  py::object tensor;

  ~Holder() {
    if (buffer.obj != nullptr) PyBuffer_Release(&buffer);
    if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
  }
};

Array::Array(py::handle object, const ArrayRequest& request) : holder_(std::make_unique<Holder>()) {
  const Framework framework = framework_of(object);
  if (framework == Framework::torch && read_tensor(object)) return;
  if (PyObject_CheckBuffer(object.ptr()) == 0 ||
      (framework == Framework::other && is_elsewhere(object))) {
    read_dlpack(object, request);
    return;
  }
  read_buffer(object, request);
  // The buffer protocol has no word for bfloat16.
  if (framework == Framework::other && py::isinstance<Buffer>(object)) {
    element_ = object.cast<const Buffer&>().element();
  }
}

Array::~Array() = default;
Array::Array(Array&&) noexcept = default;
Array& Array::operator=(Array&&) noexcept = default;

void Array::read_buffer(py::handle object, const ArrayRequest& request) {
  const int flags = PyBUF_FORMAT | PyBUF_STRIDES | (request.writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &holder_->buffer, flags) != 0) {
    py::error_already_set error;
    // NumPy has no buffer format for the bfloat16 of ml_dtypes.
    if (py::hasattr(object, "dtype") && py::hasattr(object, "view") &&
        std::string(py::str(object.attr("dtype"))) == "bfloat16") {
      read_buffer(object.attr("view")("uint16"), request);
      element_ = Element::bf16;
      return;
    }
    if (request.writable) {
      throw InvalidArgument(
          fmt::format("{} must be writable, got a read-only array", request.name));
    }
    fail_elements(object, request.name, type_name(object));
  }
  const Py_buffer& buffer = holder_->buffer;
  const ElementInfo* info = find_element(kind_of_format(buffer.format), buffer.itemsize);
  if (info == nullptr) {
    fail_elements(object, request.name, fmt::format("format {}", buffer.format));
  }
  element_ = info->element;
  data_ = static_cast<std::byte*>(buffer.buf);
  shape_.assign(buffer.shape, buffer.shape + buffer.ndim);
  strides_.assign(buffer.strides, buffer.strides + buffer.ndim);
}

bool Array::read_tensor(py::handle object) {
  std::optional<TensorInfo> info = torch_info(object);
  if (!info) return false;
  holder_->tensor = py::reinterpret_borrow<py::object>(object);
  data_ = info->data;
  element_ = info->element;
  device_ = info->device;
  shape_ = std::move(info->shape);
  strides_ = std::move(info->strides);
  for (std::int64_t& stride : strides_) stride *= size_of(element_);
  return true;
}

void Array::read_dlpack(py::handle object, const ArrayRequest& request) {
  if (framework_of(object) == Framework::torch) {
    return read_capsule(torch_capsule(object), request);
  }
  static PyObject* const dlpack = PyUnicode_InternFromString("__dlpack__");
  const auto method = py::reinterpret_steal<py::object>(PyObject_GetAttr(object.ptr(), dlpack));
  if (!method) {
    PyErr_Clear();
    throw py::type_error(fmt::format(
        "{} must be an array (NumPy, PyTorch, or anything with the buffer protocol or DLPack), "
        "got {}",
        request.name, type_name(object)));
  }
  read_capsule(request.stream ? method(py::arg("stream") = *request.stream) : method(), request);
}

void Array::read_capsule(const py::object& capsule, const ArrayRequest& request) {
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed == nullptr) throw py::error_already_set();
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  holder_->managed = managed;
  const DLTensor& tensor = managed->dl_tensor;
  switch (tensor.device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      break;
    case kDLCUDA:
    case kDLCUDAManaged:
      device_ = {true, tensor.device.device_id};
      break;
    default:
      throw py::type_error(
          fmt::format("{} must be in CPU or CUDA memory, got DLPack device type {}", request.name,
                      static_cast<int>(tensor.device.device_type)));
  }
  const ElementInfo* info =
      tensor.dtype.lanes == 1 ? find_element(kind_of_code(tensor.dtype.code), tensor.dtype.bits / 8)
                              : nullptr;
  if (info == nullptr) {
    fail_elements(capsule, request.name,
                  fmt::format("DLPack code {} of {} bits", static_cast<int>(tensor.dtype.code),
                              static_cast<int>(tensor.dtype.bits)));
  }
  element_ = info->element;
  data_ = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  shape_.assign(tensor.shape, tensor.shape + tensor.ndim);
  strides_.resize(shape_.size());
  std::int64_t dense = info->size;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    strides_[axis] = tensor.strides != nullptr ? tensor.strides[axis] * info->size : dense;
    dense *= shape_[axis];
  }
}

std::int64_t Array::values() const noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape_) count *= extent;
  return count;
}

std::string Array::shape_text() const {
  std::string text;
  for (const std::int64_t extent : shape_)
    text += fmt::format("{}{}", text.empty() ? "" : "x", extent);
  return text.empty() ? "()" : text;
}

bool is_dense(const Array& array) noexcept {
  std::int64_t dense = size_of(array.element());
  for (std::size_t axis = array.shape().size(); axis-- > 0;) {
    if (array.shape()[axis] != 1 && array.strides()[axis] != dense) return false;
    dense *= array.shape()[axis];
  }
  return true;
}

void copy_dense(const Array& array, std::byte* to) noexcept {
  if (array.values() == 0) return;
  // The last axes are a piece of memory as far as they are dense.
  std::size_t axis = array.shape().size();
  std::int64_t piece = size_of(array.element());
  while (axis > 0 && (array.shape()[axis - 1] == 1 || array.strides()[axis - 1] == piece)) {
    piece *= array.shape()[--axis];
  }
  if (axis == 0) {
    std::memcpy(to, array.data(), static_cast<std::size_t>(piece));
    return;
  }
  const std::int64_t count = array.shape()[--axis];
  const std::int64_t stride = array.strides()[axis];
  const auto copy_with = [&](auto size) {
    for_each(array, 0, axis, array.data(),
             [&](const std::byte* at) { to = gather(at, stride, count, size, to); });
  };
  switch (piece) {  // elements: sizes that the compiler knows
    case 1:
      return copy_with(Bytes<1>{});
    case 2:
      return copy_with(Bytes<2>{});
    case 4:
      return copy_with(Bytes<4>{});
    case 8:
      return copy_with(Bytes<8>{});
    default:
      return copy_with(static_cast<std::size_t>(piece));
  }
}

std::vector<std::int64_t> integers(const Array& array, const char* name) {
  if (!is_integer(array.element())) {
    throw py::type_error(
        fmt::format("{} must be integers, got {}", name, name_of(array.element())));
  }
  return converted<std::int64_t>(array, name);
}

std::vector<float> floats(const Array& array, const char* name) {
  return converted<float>(array, name);
}

void copy_floats(const Array& array, const char* name, std::span<float> to) {
  convert(array, name, to.data());
}

std::vector<double> doubles(const Array& array, const char* name) {
  return converted<double>(array, name);
}

std::string describe(const Array& array) {
  return fmt::format("{} of shape {}", name_of(array.element()), array.shape_text());
}

}  // namespace medley::python
