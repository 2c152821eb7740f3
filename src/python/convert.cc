#include "python/convert.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "core/enums.h"
#include "medley/error.h"

namespace medley::python {
namespace {

std::int32_t side_from(py::handle object) {
  if (PyIndex_Check(object.ptr()) == 0) {
    throw py::type_error(fmt::format("size must be (height, width) or one whole number, got {}",
                                     std::string(py::repr(object))));
  }
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  int overflow = 0;
  const std::int64_t value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) return std::numeric_limits<std::int32_t>::max();  // refused as out of range
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

ImageSize size_from(py::handle object) {
  if (PyIndex_Check(object.ptr()) != 0) {
    const std::int32_t side = side_from(object);
    return {side, side};
  }
  if (!py::isinstance<py::sequence>(object) || py::isinstance<py::str>(object) ||
      py::len(object) != 2) {
    throw py::type_error(fmt::format("size must be (height, width) or one whole number, got {}",
                                     std::string(py::repr(object))));
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
