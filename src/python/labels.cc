#include "python/labels.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "medley/error.h"
#include "medley/labels.h"
#include "python/array.h"
#include "python/buffer.h"
#include "python/convert.h"
#include "python/device.h"
#include "python/plan.h"

namespace medley::python {
namespace {

/// Classes and weights as arrays count x terms; `single` asks for float32 rather than float64.
Buffer classes_buffer(const MixedLabels& labels) {
  return {Element::i64, {labels.count, labels.terms}, labels.classes};
}

Buffer weights_buffer(const MixedLabels& labels, bool single) {
  const std::vector<std::int64_t> shape = {labels.count, labels.terms};
  if (!single) return {Element::f64, shape, labels.weights};
  return {Element::f32, shape, std::vector<float>(labels.weights.begin(), labels.weights.end())};
}

Array class_labels(const py::object& labels, std::optional<std::int64_t> stream = {}) {
  Array array(labels, {.name = "labels", .stream = stream});
  if (!is_column(array) && array.shape().size() != 1) {
    throw InvalidArgument(
        fmt::format("labels must have one axis, a class per image, got {}", describe(array)));
  }
  return array;
}

constexpr const char* kLabelTerms = "medley.label_terms";

py::tuple mix_classes(const Plan& plan, const py::object& labels, std::int64_t num_classes,
                      bool single) {
  const std::vector<std::int64_t> classes = integers(class_labels(labels), "labels");
  MixedLabels mixed;
  {
    const py::gil_scoped_release release;
    mixed = mix_labels(plan.plan(), classes, num_classes, kIgnored);
  }
  return py::make_tuple(classes_buffer(mixed), weights_buffer(mixed, single));
}

/// What `label_terms` was given, as arrays.
py::tuple read_label_terms(const py::capsule& terms, bool single) {
  const auto* mixed =
      static_cast<const MixedLabels*>(PyCapsule_GetPointer(terms.ptr(), kLabelTerms));
  if (mixed == nullptr) throw py::error_already_set();
  return py::make_tuple(classes_buffer(*mixed), weights_buffer(*mixed, single));
}

std::int64_t class_count(const py::object& object) {
  const std::int64_t count = whole("num_classes", object);
  if (count < 1) throw InvalidArgument(fmt::format("num_classes must be >= 1, got {}", count));
  return count;
}

Buffer soft(const py::object& classes, const py::object& weights, const py::object& wanted,
            const py::object& given_smoothing) {
  const std::int64_t num_classes = class_count(wanted);
  const double smoothing = real("smoothing", given_smoothing);
  const Array class_array(classes, {.name = "classes"});
  const Array weight_array(weights, {.name = "weights"});
  if (class_array.shape().size() != 2 || class_array.shape() != weight_array.shape()) {
    throw InvalidArgument(fmt::format("classes and weights must have one shape N, K, got {} and {}",
                                      class_array.shape_text(), weight_array.shape_text()));
  }
  MixedLabels labels;
  labels.count = class_array.shape()[0];
  labels.terms = static_cast<std::int32_t>(class_array.shape()[1]);
  labels.classes = integers(class_array, "classes");
  labels.weights = doubles(weight_array, "weights");
  Buffer rows(Element::f32, {labels.count, num_classes});
  const py::gil_scoped_release release;
  soft_labels(labels, num_classes, rows.span<float>(), smoothing);
  return rows;
}

/// Rows of numbers: the first axis counts images, the others are one vector.
Buffer mix_rows(const Plan& plan, const py::object& vectors) {
  const Array array(vectors, {.name = "labels"});
  if (array.shape().empty() || array.values() == 0) {
    throw InvalidArgument(
        fmt::format("vectors must have the shape N, D with values in it, got {}", describe(array)));
  }
  const std::vector<float> in = floats(array, "labels");
  const std::int64_t width = array.values() / array.shape()[0];
  std::vector<std::int64_t> shape = array.shape();
  shape[0] = plan.count();
  Buffer out(Element::f32, shape);
  const py::gil_scoped_release release;
  mix_vectors(plan.plan(), in, width, out.span<float>());
  return out;
}

struct Maps {
  std::vector<std::int64_t> values;
  ClassMaps view;
};

Maps class_maps(const py::object& maps, const py::object& windows) {
  const Array array(maps, {.name = "maps"});
  if (array.shape().size() != 3) {
    throw InvalidArgument(
        fmt::format("class maps must have the shape N, H, W, got {}", describe(array)));
  }
  Maps result;
  result.values = integers(array, "maps");
  result.view = {
      result.values,
      array.shape()[0],
      {static_cast<std::int32_t>(array.shape()[1]), static_cast<std::int32_t>(array.shape()[2])},
      boolean("windows", windows)};
  return result;
}

Buffer mix_maps(const Plan& plan, const py::object& maps, const py::object& given_padding,
                const py::object& windows) {
  const Maps in = class_maps(maps, windows);
  const std::int64_t padding = whole("padding", given_padding);
  const ImageSize size = plan.plan().size;
  Buffer out(Element::i64, {plan.count(), size.height, size.width});
  const py::gil_scoped_release release;
  mix_class_maps(plan.plan(), in.view, out.span<std::int64_t>(), padding);
  return out;
}

Buffer mix_maps_soft(const Plan& plan, const py::object& maps, const py::object& wanted,
                     const py::object& given_ignore, const py::object& windows) {
  const Maps in = class_maps(maps, windows);
  const std::int64_t num_classes = class_count(wanted);
  const std::int64_t ignore = whole("ignore", given_ignore);
  const ImageSize size = plan.plan().size;
  Buffer out(Element::f32, {plan.count(), num_classes, size.height, size.width});
  const py::gil_scoped_release release;
  mix_class_maps_soft(plan.plan(), in.view, num_classes, out.span<float>(), ignore);
  return out;
}

/// A dense array in CUDA memory as a span.
template <typename T>
std::span<T> device_span(const Array& array, Element element, const char* name) {
  if (!array.device().cuda || array.element() != element || !is_dense(array)) {
    throw InvalidArgument(fmt::format("{} must be a contiguous {} array in CUDA memory, got {}",
                                      name, name_of(element), describe(array)));
  }
  return {reinterpret_cast<T*>(array.data()), static_cast<std::size_t>(array.values())};
}

void mix_classes_cuda(const Plan& plan, const py::object& labels, const py::object& classes,
                      const py::object& weights, std::int64_t stream,
                      std::optional<std::int64_t> dlpack_stream) {
  const Array in = class_labels(labels, dlpack_stream);
  const Array to_classes(classes, {.name = "classes", .writable = true, .stream = dlpack_stream});
  const Array to_weights(weights, {.name = "weights", .writable = true, .stream = dlpack_stream});
  const auto from = device_span<const std::int64_t>(in, Element::i64, "labels");
  const auto c = device_span<std::int64_t>(to_classes, Element::i64, "classes");
  const auto w = device_span<float>(to_weights, Element::f32, "weights");
  const py::gil_scoped_release release;
  mix_labels_on_device(plan, from, c, w, in.device(), stream);
}

}  // namespace

bool is_column(const Array& labels) noexcept {
  return labels.shape().size() == 2 && labels.shape()[1] == 1;
}

py::object label_terms(MixedLabels labels) {
  return py::capsule(new MixedLabels(std::move(labels)), kLabelTerms, [](PyObject* capsule) {
    delete static_cast<MixedLabels*>(PyCapsule_GetPointer(capsule, kLabelTerms));
  });
}

void bind_labels(py::module_& module) {
  module.def("mix_classes", &mix_classes, py::arg("plan"), py::arg("labels"),
             py::arg("num_classes") = 0, py::arg("single") = false);
  module.def("read_label_terms", &read_label_terms, py::arg("terms"), py::arg("single"),
             "Classes and weights of mixed labels that `step` returned.");
  module.def("mix_classes_cuda", &mix_classes_cuda, py::arg("plan"), py::arg("labels"),
             py::arg("classes"), py::arg("weights"), py::arg("stream"), py::arg("dlpack_stream"));
  module.def("soft", &soft, py::arg("classes"), py::arg("weights"), py::arg("num_classes"),
             py::arg("smoothing") = 0.0);
  module.def("mix_rows", &mix_rows, py::arg("plan"), py::arg("vectors"));
  module.def("mix_maps", &mix_maps, py::arg("plan"), py::arg("maps"), py::arg("padding") = -1,
             py::arg("windows") = false);
  module.def("mix_maps_soft", &mix_maps_soft, py::arg("plan"), py::arg("maps"),
             py::arg("num_classes"), py::arg("ignore") = -1, py::arg("windows") = false);
}

}  // namespace medley::python
