#include "python/random.h"

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "medley/error.h"
#include "python/buffer.h"
#include "python/convert.h"
#include "python/framework.h"

namespace medley::python {
namespace {

/// The axes of None (none), a whole number, or a sequence of them.
std::vector<std::int64_t> axes_of(const py::object& shape) {
  std::vector<std::int64_t> axes;
  if (shape.is_none()) return axes;
  if (py::isinstance<py::tuple>(shape) || py::isinstance<py::list>(shape)) {
    for (const py::handle axis : shape) axes.push_back(whole("shape", axis));
  } else {
    axes.push_back(whole("shape", shape));
  }
  for (const std::int64_t axis : axes) {
    if (axis < 0) throw InvalidArgument(fmt::format("shape must be >= 0, got {}", axis));
  }
  return axes;
}

}  // namespace

template <typename T, typename Next>
py::object Random::filled(const py::object& shape, const Next& next) {
  if (shape.is_none() && !several_) return py::cast(next(streams_.front()));
  std::vector<std::int64_t> axes = axes_of(shape);
  if (several_) axes.insert(axes.begin(), std::ssize(streams_));
  Buffer numbers(std::is_same_v<T, double> ? Element::f64 : Element::i64, std::move(axes));
  const std::span<T> values = numbers.span<T>();
  const std::size_t each = values.size() / streams_.size();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    for (T& value : values.subspan(i * each, each)) value = next(streams_[i]);
  }
  return numpy_array(std::move(numbers));
}

py::object Random::uniform(const py::object& shape) {
  return filled<double>(shape, [](RandomStream& stream) { return stream.uniform(); });
}

py::object Random::normal(const py::object& shape) {
  return filled<double>(shape, [](RandomStream& stream) { return stream.normal(); });
}

py::object Random::integers(const py::object& high, const py::object& shape) {
  const std::int64_t n = whole("high", high);
  if (n < 1) throw InvalidArgument(fmt::format("high must be >= 1, got {}", n));
  return filled<std::int64_t>(shape, [n](RandomStream& stream) {
    return static_cast<std::int64_t>(stream.below64(static_cast<std::uint64_t>(n)));
  });
}

void bind_random(py::module_& module) {
  py::class_<Random>(module, "Random",
                     "The random numbers of a draw, a counter-based generator: they depend on "
                     "seed, epoch and sample\nalone. A shape is a whole number or a tuple; without "
                     "one a single number comes. Vectorized draws get\narrays with an axis of the "
                     "draws in front.")
      .def("uniform", &Random::uniform, py::arg("shape") = py::none(),
           "Uniform on [0, 1), float64.")
      .def("normal", &Random::normal, py::arg("shape") = py::none(), "Standard normal, float64.")
      .def("integers", &Random::integers, py::arg("high"), py::arg("shape") = py::none(),
           "Uniform on 0, ..., high - 1, int64.");
}

}  // namespace medley::python
