#include "python/convert.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/enums.h"
#include "medley/error.h"

namespace medley::python {
namespace {

/// The nearest value that int32 has.
std::int32_t clamped(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

/// The nearest value that int64 has; nothing for what is no whole number, such as most arrays.
std::optional<std::int64_t> index_of(py::handle object) {
  if (PyBool_Check(object.ptr()) != 0 || PyIndex_Check(object.ptr()) == 0) return {};
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!index) {
    PyErr_Clear();
    return {};
  }
  int overflow = 0;
  const std::int64_t value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow == 0) return value;
  return overflow > 0 ? std::numeric_limits<std::int64_t>::max()
                      : std::numeric_limits<std::int64_t>::min();
}

[[noreturn]] void fail_size(py::handle object) {
  throw py::type_error(fmt::format("size must be (height, width) or one whole number, got {}",
                                   std::string(py::repr(object))));
}

std::int32_t side_from(py::handle object) {
  const std::optional<std::int64_t> side = index_of(object);
  if (!side) fail_size(object);
  return clamped(*side);
}

}  // namespace

std::string type_name(py::handle value) {
  return py::str(py::type::handle_of(value).attr("__name__"));
}

double real(std::string_view name, py::handle value) {
  // float() would also take text; NumPy scalars and 0-d tensors have __float__.
  const bool number = PyFloat_Check(value.ptr()) != 0 ||
                      (PyBool_Check(value.ptr()) == 0 && PyNumber_Check(value.ptr()) != 0);
  const double result = number ? PyFloat_AsDouble(value.ptr()) : 0;
  if (!number || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw py::type_error(fmt::format("{} must be a number, got {}", name, type_name(value)));
  }
  return result;
}

std::int64_t whole(std::string_view name, py::handle value) {
  const std::optional<std::int64_t> number = index_of(value);
  if (!number) {
    throw py::type_error(fmt::format("{} must be a whole number, got {}", name, type_name(value)));
  }
  return *number;
}

std::uint64_t epoch_from(py::handle value) {
  const std::int64_t epoch = whole("epoch", value);
  if (epoch < 0) {
    throw InvalidArgument(fmt::format("epoch must be a whole number >= 0, got {}", epoch));
  }
  return static_cast<std::uint64_t>(epoch);
}

std::int32_t integer(std::string_view name, py::handle value) {
  return clamped(whole(name, value));
}

bool boolean(std::string_view name, py::handle value) {
  if (PyBool_Check(value.ptr()) == 0) {
    throw py::type_error(fmt::format("{} must be True or False, got {}", name, type_name(value)));
  }
  return value.ptr() == Py_True;
}

std::string word(std::string_view name, py::handle value) {
  if (!py::isinstance<py::str>(value)) {
    throw py::type_error(fmt::format("{} must be a word, got {}", name, type_name(value)));
  }
  return value.cast<std::string>();
}

ImageSize size_from(py::handle object) {
  if (const std::optional<std::int64_t> side = index_of(object)) {
    return {clamped(*side), clamped(*side)};
  }
  if (!py::isinstance<py::sequence>(object) || py::isinstance<py::str>(object) ||
      py::len(object) != 2) {
    fail_size(object);
  }
  const auto sequence = py::reinterpret_borrow<py::sequence>(object);
  return {side_from(sequence[0]), side_from(sequence[1])};
}

Layout layout_from(const char* text) {
  if (text == nullptr) throw InvalidArgument("layout must be nchw or nhwc, got None");
  for (std::size_t i = 0; i < kLayouts.size(); ++i) {
    if (kLayouts[i] == text) return static_cast<Layout>(i);
  }
  throw InvalidArgument(fmt::format("layout must be nchw or nhwc, got \"{}\"", text));
}

}  // namespace medley::python
