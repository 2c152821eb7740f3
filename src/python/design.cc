#include "python/design.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "medley/error.h"
#include "python/array.h"
#include "python/buffer.h"
#include "python/convert.h"
#include "python/framework.h"

namespace medley::python {
namespace {

/// A design with the call that made it, for pickling.
struct Design {
  std::shared_ptr<const GaussianDesign> design;
  std::string maker;
  py::tuple arguments;
};

/// What stays as it is when the caller's array changes, in host memory; memory views do not pickle
/// anyway.
py::object copied(const py::object& array) {
  if (PyMemoryView_Check(array.ptr())) return array;
  return py::module_::import("copy").attr("deepcopy")(on_host(array));
}

std::vector<double> square(py::handle object, const char* name, std::int64_t side) {
  const Array array(object, {.name = name});
  if (array.shape() != std::vector<std::int64_t>{side, side}) {
    throw InvalidArgument(
        fmt::format("{} must have the shape {}x{}, got {}", name, side, side, array.shape_text()));
  }
  return doubles(array, name);
}

Design dense(const py::object& size, const py::object& given, const py::object& given_nu) {
  const ImageSize s = size_from(size);
  const py::object matrix = copied(given);
  const py::object nu = copied(given_nu);
  std::vector<double> mean;
  if (PyFloat_Check(nu.ptr()) != 0 || PyLong_Check(nu.ptr()) != 0) {
    mean.assign(static_cast<std::size_t>(s.pixels()), nu.cast<double>());
  } else {
    mean = doubles(Array(nu, {.name = "nu"}), "nu");
  }
  const std::vector<double> moments = square(matrix, "matrix", s.pixels());
  return {std::make_shared<GaussianDesign>(GaussianDesign::dense(s, moments, mean)), "dense",
          py::make_tuple(size, matrix, nu)};
}

Design kronecker(const py::object& given_rows, const py::object& given_columns,
                 const py::object& given_mean) {
  const double mean = real("mean", given_mean);
  const py::object rows = copied(given_rows);
  const py::object columns = copied(given_columns);
  const auto side = [](py::handle object, const char* name) {
    const Array array(object, {.name = name});
    return array.shape().empty() ? 0 : array.shape().front();
  };
  const std::int64_t height = side(rows, "rows");
  const std::int64_t width = side(columns, "columns");
  const std::vector<double> r = square(rows, "rows", height);
  const std::vector<double> c = square(columns, "columns", width);
  return {std::make_shared<GaussianDesign>(GaussianDesign::kronecker(
              r, static_cast<std::int32_t>(height), c, static_cast<std::int32_t>(width), mean)),
          "kronecker", py::make_tuple(rows, columns, mean)};
}

Design smooth(const py::object& size, const py::object& given_sigma, const py::object& given_length,
              const py::object& given_mean) {
  const double sigma = real("sigma", given_sigma);
  const double length = real("length", given_length);
  const double mean = real("mean", given_mean);
  return {std::make_shared<GaussianDesign>(
              GaussianDesign::smooth(size_from(size), sigma, length, mean)),
          "smooth", py::make_tuple(size, sigma, length, mean)};
}

}  // namespace

std::shared_ptr<const GaussianDesign> design_of(py::handle object) {
  if (!py::isinstance<Design>(object)) {
    throw py::type_error(fmt::format("design must be a medley.Design, got {}", type_name(object)));
  }
  return object.cast<const Design&>().design;
}

void bind_design(py::module_& module) {
  py::class_<Design>(module, "Design",
                     "A law of unbounded Gaussian masks with prescribed moments: with N = 1 - M "
                     "the weight of the\n"
                     "partner, E[N] = nu and E[N N^T] = A. For method gaussian-field.")
      .def_static("dense", &dense, py::arg("size"), py::arg("matrix"), py::arg("nu"),
                  "A of shape (P, P) over the P = H*W pixels of `size`, nu of shape (P,) or a "
                  "number; P <= 4096.")
      .def_static("kronecker", &kronecker, py::arg("rows"), py::arg("columns"), py::arg("mean"),
                  "A = rows (H, H) (x) columns (W, W), and nu = mean everywhere.")
      .def_static("smooth", &smooth, py::arg("size"), py::arg("sigma"), py::arg("length"),
                  py::arg("mean"),
                  "nu = mean; covariance sigma^2 exp(-|d|^2 / 2 l^2), l = length times the side.")
      .def_property_readonly("size",
                             [](const Design& d) {
                               return py::make_tuple(d.design->size().height,
                                                     d.design->size().width);
                             })
      .def_property_readonly("mean", [](const Design& d) { return d.design->mean(); })
      .def(py::pickle([](const Design& d) { return py::make_tuple(d.maker, d.arguments); },
                      [](const py::tuple& state) {
                        const auto a = state[1].cast<py::tuple>();
                        const auto maker = state[0].cast<std::string>();
                        if (maker == "dense") return dense(a[0], a[1], a[2]);
                        if (maker == "kronecker") {
                          return kronecker(a[0], a[1], a[2]);
                        }
                        return smooth(a[0], a[1], a[2], a[3]);
                      }));
}

}  // namespace medley::python
