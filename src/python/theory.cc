#include "python/theory.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "medley/error.h"
#include "medley/theory/coefficients.h"
#include "medley/theory/design.h"
#include "medley/theory/loss.h"
#include "medley/theory/two_moons.h"
#include "python/array.h"
#include "python/buffer.h"
#include "python/convert.h"
#include "python/policy.h"

namespace medley::python {
namespace {

using theory::MaskMoments;
using theory::TwoMoons;

Buffer image_of(const std::vector<double>& values, ImageSize size) {
  return {Element::f64, {size.height, size.width}, values};
}

template <std::size_t N>
std::size_t index_of(const std::array<std::string_view, N>& words, const std::string& word,
                     const char* name) {
  const auto* const found = std::ranges::find(words, word);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string list;
  for (const std::string_view w : words) list += fmt::format("{}{}", list.empty() ? "" : ", ", w);
  throw InvalidArgument(fmt::format("{} must be one of {}, got \"{}\"", name, list, word));
}

MaskMoments coefficients(const std::string& method, const py::dict& options, const py::object& size,
                         bool effective) {
  const MixPolicy policy = make_policy(method, options);
  const ImageSize s = size_from(size);
  const py::gil_scoped_release release;
  return effective ? theory::effective_coefficients(policy, s) : theory::coefficients(policy, s);
}

py::tuple estimates(const std::vector<theory::Estimate>& list, ImageSize size) {
  std::vector<double> values;
  std::vector<double> errors;
  for (const theory::Estimate& estimate : list) {
    values.push_back(estimate.value);
    errors.push_back(estimate.error);
  }
  return py::make_tuple(image_of(values, size), image_of(errors, size));
}

py::tuple monte_carlo(const std::string& method, const py::dict& options, const py::object& size,
                      std::int64_t draws, std::uint64_t seed, bool effective, bool clip,
                      int threads) {
  const MixPolicy policy = make_policy(method, options);
  const ImageSize s = size_from(size);
  theory::MonteCarloMoments moments;
  {
    const py::gil_scoped_release release;
    moments = theory::monte_carlo(policy, s,
                                  {.draws = draws,
                                   .seed = seed,
                                   .effective = effective,
                                   .points = {},
                                   .clip = clip,
                                   .threads = threads});
  }
  return py::make_tuple(estimates(moments.map, s), estimates(moments.means, s));
}

py::list trace_of(const std::vector<theory::TrainingStep>& steps) {
  py::list list;
  for (const theory::TrainingStep& step : steps) {
    list.append(py::make_tuple(step.step, step.model, step.exact, step.approximate));
  }
  return list;
}

theory::Objective objective_from(const std::string& word) {
  constexpr std::array<std::string_view, 2> kObjectives = {"exact", "approximate"};
  return static_cast<theory::Objective>(index_of(kObjectives, word, "objective"));
}

/// A profile H, W or a matrix P, P over the pixels of `size`.
theory::DesignTarget target_of(const py::object& moments, const py::object& size, double mean) {
  const Array array(moments, {.name = "moments"});
  const std::vector<double> values = doubles(array, "moments");
  if (size.is_none()) {
    if (array.shape().size() != 2) {
      throw InvalidArgument(
          fmt::format("a profile must have the shape H, W, got {}", array.shape_text()));
    }
    const ImageSize s{static_cast<std::int32_t>(array.shape()[0]),
                      static_cast<std::int32_t>(array.shape()[1])};
    return theory::target_of_profile(values, s, mean);
  }
  const ImageSize s = size_from(size);
  if (array.shape() != std::vector<std::int64_t>{s.pixels(), s.pixels()}) {
    throw InvalidArgument(fmt::format("a matrix must have the shape {}x{}, got {}", s.pixels(),
                                      s.pixels(), array.shape_text()));
  }
  return {s, mean, values};
}

py::dict check_design(const py::object& moments, const py::object& size, double mean) {
  const theory::DesignTarget target = target_of(moments, size, mean);
  theory::Feasibility result;
  {
    const py::gil_scoped_release release;
    result = theory::check_design(target);
  }
  py::dict report;
  report["feasible"] = result.feasible;
  report["smallest"] = result.smallest;
  report["largest"] = result.largest;
  report["distance"] = result.distance;
  return report;
}

Buffer nearest(const py::object& moments, const py::object& size, double mean) {
  const theory::DesignTarget target = target_of(moments, size, mean);
  const py::gil_scoped_release release;
  const theory::DesignTarget found = theory::nearest_feasible(target);
  return {Element::f64, {found.size.pixels(), found.size.pixels()}, found.matrix};
}

/// Maximum and mean of the maps of gradients N, C, H, W.
py::tuple grad_prod(const py::object& gradients, const std::string& magnitude,
                    const std::string& normalize) {
  constexpr std::array<std::string_view, 4> kMagnitudes = {"euclidean", "absolute", "signed_sum",
                                                           "each"};
  constexpr std::array<std::string_view, 3> kNormalize = {"gradient", "map", "none"};
  const theory::GradProdOptions options{
      static_cast<theory::Magnitude>(index_of(kMagnitudes, magnitude, "magnitude")),
      static_cast<theory::Normalize>(index_of(kNormalize, normalize, "normalize"))};
  const Array array(gradients, {.name = "gradients"});
  const auto& shape = array.shape();
  if (shape.size() != 4 || array.values() == 0) {
    throw InvalidArgument(
        fmt::format("gradients must have the shape N, C, H, W, got {}", describe(array)));
  }
  const std::vector<double> values = doubles(array, "gradients");
  const ImageSize size{static_cast<std::int32_t>(shape[2]), static_cast<std::int32_t>(shape[3])};
  theory::GradProdSummary summary(size, options);
  {
    const py::gil_scoped_release release;
    const auto each = static_cast<std::size_t>(shape[1] * size.pixels());
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape[0]); ++i) {
      summary.add(std::span(values).subspan(i * each, each), static_cast<std::int32_t>(shape[1]));
    }
  }
  const std::vector<std::int64_t> map = {2 * std::int64_t{size.height} - 1,
                                         2 * std::int64_t{size.width} - 1};
  return py::make_tuple(Buffer(Element::f64, map, summary.maximum()),
                        Buffer(Element::f64, map, summary.mean()));
}

}  // namespace

void bind_theory(py::module_& module) {
  py::class_<MaskMoments>(module, "Moments")
      .def("means", [](const MaskMoments& m) { return image_of(m.means(), m.size()); })
      .def("map",
           [](const MaskMoments& m) {
             const py::gil_scoped_release release;
             return image_of(m.map(), m.size());
           })
      .def("matrix",
           [](const MaskMoments& m) {
             const std::int64_t p = m.size().pixels();
             return Buffer(Element::f64, {p, p}, m.matrix());
           })
      .def("second",
           [](const MaskMoments& m, std::pair<int, int> j, std::pair<int, int> k) {
             return m.second({j.first, j.second}, {k.first, k.second});
           })
      .def("quadratic", [](const MaskMoments& m, const py::object& v) {
        return m.quadratic(doubles(Array(v, {.name = "v"}), "v"));
      });
  module.def("coefficients", &coefficients, py::arg("method"), py::arg("options"), py::arg("size"),
             py::arg("effective"));
  module.def("monte_carlo", &monte_carlo, py::arg("method"), py::arg("options"), py::arg("size"),
             py::arg("draws"), py::arg("seed"), py::arg("effective"), py::arg("clip"),
             py::arg("threads"));

  py::class_<TwoMoons>(module, "TwoMoons")
      .def(py::init<std::string_view, bool>(), py::arg("method"), py::arg("centered"))
      .def("samples",
           [](const TwoMoons& t) {
             const theory::Samples s = t.samples();
             return Buffer(Element::f64, {s.count, s.dimension},
                           std::vector<double>(s.x.begin(), s.x.end()));
           })
      .def("labels",
           [](const TwoMoons& t) {
             return Buffer(Element::f64, {std::ssize(t.labels())}, t.labels());
           })
      .def("exact", [](const TwoMoons& t, const theory::PlaneModel& m) { return t.exact(m); })
      .def("approximate",
           [](const TwoMoons& t, const theory::PlaneModel& m) {
             const theory::LossTerms terms = t.approximate(m);
             return py::make_tuple(terms.plain, terms.r1, terms.r2, terms.r3);
           })
      .def("accuracy", &TwoMoons::accuracy)
      .def("descend",
           [](const TwoMoons& t, const std::string& objective, std::int64_t steps, double rate,
              std::int64_t every) {
             return trace_of(theory::descend(t, objective_from(objective), steps, rate, every));
           })
      .def("minimize", [](const TwoMoons& t, const std::string& objective) {
        return trace_of({theory::minimize(t, objective_from(objective))});
      });

  module.def("profile", [](const std::string& name, double lam, const py::object& size) {
    const ImageSize s = size_from(size);
    return image_of(theory::preset_profile(name, lam, s), s);
  });
  module.def("check_design", &check_design, py::arg("moments"), py::arg("size"), py::arg("mean"));
  module.def("nearest_feasible", &nearest, py::arg("moments"), py::arg("size"), py::arg("mean"));
  module.def("grad_prod", &grad_prod, py::arg("gradients"), py::arg("magnitude"),
             py::arg("normalize"));
}

}  // namespace medley::python
