#include "python/step.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "medley/labels.h"
#include "medley/mix.h"
#include "python/array.h"
#include "python/buffer.h"
#include "python/convert.h"
#include "python/images.h"
#include "python/labels.h"
#include "python/mix.h"
#include "python/plan.h"
#include "python/sampler.h"

namespace medley::python {
namespace {

/// What stays the same from call to call.
struct Settings {
  Layout layout;
  Layout out_layout;
  MixOptions options;
  std::int64_t num_classes;
  bool class_rule;  // the plan needs the labels
  /// Time that the last call spent in the library: what bench/python takes off a call's time.
  std::shared_ptr<std::atomic<std::int64_t>> library_ns =
      std::make_shared<std::atomic<std::int64_t>>(0);
};

/// Which samples a call mixes.
struct Place {
  std::int64_t batch;
  std::int64_t first;
  std::uint64_t epoch;
};

/// Class indices in host memory, which are mixed here; other labels are left to the caller.
std::optional<std::vector<std::int64_t>> classes_of(const py::object& labels,
                                                    std::optional<std::int64_t> dlpack_stream) {
  if (labels.is_none()) return {};
  const Array array(labels, {.name = "labels", .stream = dlpack_stream});
  if (array.device().cuda || array.shape().size() != 1 || !is_integer(array.element())) return {};
  return integers(array, "labels");
}

std::shared_ptr<Plan> draw(PolicySampler& sampler, const Images& in, const Settings& settings,
                           const Place& place,
                           const std::optional<std::vector<std::int64_t>>& classes) {
  const BatchShape& shape = in.view().shape;
  PlanRequest request{.batch = place.batch,
                      .first = place.first,
                      .count = shape.count,
                      .epoch = place.epoch,
                      .threads = settings.options.threads};
  if (settings.class_rule && classes) request.labels = *classes;
  return std::make_shared<Plan>(sampler.sampler(shape.size())->plan(request));
}

/// Draws a plan for the images and mixes them into `out`. Returns (plan, None, None), or
/// (None, classes, weights) if the labels are class indices in host memory.
py::tuple step(PolicySampler& sampler, const Settings& settings, const py::object& images,
               const py::object& out, const py::object& labels, std::int64_t batch,
               std::int64_t first, std::uint64_t epoch, bool single_weights, std::int64_t stream,
               std::optional<std::int64_t> dlpack_stream) {
  const Images in = Images::input(images, settings.layout, dlpack_stream);
  const Images to = Images::output(out, settings.out_layout, dlpack_stream);
  check_same_device(in, to);
  const std::optional<std::vector<std::int64_t>> classes = classes_of(labels, dlpack_stream);
  std::shared_ptr<Plan> plan;
  std::optional<MixedLabels> mixed;
  {
    const py::gil_scoped_release release;
    const auto begin = std::chrono::steady_clock::now();
    plan = draw(sampler, in, settings, {batch, first, epoch}, classes);
    mix_arrays(*plan, in, to, settings.options, stream);
    if (classes) mixed = mix_labels(plan->plan(), *classes, settings.num_classes);
    if (mixed) plan.reset();
    const std::chrono::nanoseconds used = std::chrono::steady_clock::now() - begin;
    settings.library_ns->store(used.count(), std::memory_order_relaxed);
  }
  if (!mixed) return py::make_tuple(plan, py::none(), py::none());
  return py::make_tuple(py::none(), classes_buffer(*mixed), weights_buffer(*mixed, single_weights));
}

}  // namespace

void bind_step(py::module_& module) {
  py::class_<Settings>(module, "Settings")
      .def(py::init([](const char* layout, const char* out_layout, const MixOptions& options,
                       std::int64_t num_classes, bool class_rule) {
             return Settings{layout_from(layout), layout_from(out_layout), options, num_classes,
                             class_rule};
           }),
           py::arg("layout"), py::arg("out_layout"), py::arg("options"), py::arg("num_classes"),
           py::arg("class_rule"))
      .def_property_readonly("library_ns",
                             [](const Settings& settings) { return settings.library_ns->load(); });
  module.def("step", &step, py::arg("sampler"), py::arg("settings"), py::arg("images"),
             py::arg("out"), py::arg("labels"), py::arg("batch"), py::arg("first"),
             py::arg("epoch"), py::arg("single_weights"), py::arg("stream"),
             py::arg("dlpack_stream"));
}

}  // namespace medley::python
