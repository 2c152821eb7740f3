#include "python/step.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "core/check.h"
#include "medley/error.h"
#include "medley/labels.h"
#include "medley/mix.h"
#include "python/array.h"
#include "python/convert.h"
#include "python/counter.h"
#include "python/error.h"
#include "python/framework.h"
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
  Options options;
  std::int64_t num_classes;
  bool class_rule;               // the plan needs the labels
  bool like_input;               // new arrays have the type and the layout of the input
  std::optional<Element> dtype;  // that every result must have
  py::object mix_targets;        // of a plan and labels that are not classes in host memory
  /// Time that the last call spent in the library: what bench/python takes off a call's time.
  std::shared_ptr<std::atomic<std::int64_t>> library_ns =
      std::make_shared<std::atomic<std::int64_t>>(0);
};

using Classes = std::optional<std::vector<std::int64_t>>;

/// Class indices in host memory, which are mixed here; other labels are left to the caller.
Classes classes_of(py::handle labels, std::optional<std::int64_t> dlpack_stream) {
  if (labels.is_none()) return {};
  if (framework_of(labels) == Framework::torch && torch_is_cuda(labels)) return {};
  const Array array(labels, {.name = "labels", .stream = dlpack_stream});
  if (array.device().cuda || !is_integer(array.element())) return {};
  const bool column = is_column(array) && array.element() != Element::boolean;
  if (array.shape().size() != 1 && !column) return {};
  return integers(array, "labels");
}

std::shared_ptr<Plan> draw(PolicySampler& sampler, const Settings& settings,
                           const WantedPlan& wanted, const Classes& classes) {
  PlanRequest request{.batch = wanted.place.batch,
                      .first = wanted.place.first,
                      .count = wanted.count,
                      .epoch = wanted.place.epoch,
                      .threads = settings.options.threads()};
  if (settings.class_rule) {
    if (!classes) {
      fail_argument(
          "same_class and other_class need labels that are classes, integers of shape (N,), "
          "beside the images");
    }
    request.labels = *classes;
  }
  return std::make_shared<Plan>(sampler.sampler(wanted.size)->plan(request));
}

/// Draws the plan that the next call will ask for, should it be like this one. Plans with fields
/// are too large to keep.
void draw_ahead(PolicySampler& sampler, const Settings& settings, WantedPlan wanted,
                const Plan& plan) {
  if (settings.class_rule || !plan.plan().fields.empty()) return;
  wanted.place.first += wanted.place.batch;
  try {
    sampler.keep(wanted, draw(sampler, settings, wanted, {}));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // That call will say it.
  }
}

/// What became of the labels; both None without labels.
struct Targets {
  py::object terms = py::none();   // of class indices in host memory
  py::object others = py::none();  // of all others
};

/// Draws a plan for the images and mixes them into `out`, the labels first: a call that fails has
/// changed no images.
Targets mix_batch(PolicySampler& sampler, const Settings& settings, const Images& in,
                  const MutableImageBatchView& out, const Place& place, py::handle labels,
                  const Classes& classes, std::int64_t stream) {
  using Clock = std::chrono::steady_clock;
  const BatchShape& shape = in.view().shape;
  const WantedPlan wanted{shape.size(), shape.count, place};
  std::shared_ptr<Plan> plan;
  std::optional<MixedLabels> mixed;
  Clock::duration used{};
  {
    const py::gil_scoped_release release;
    const auto begin = Clock::now();
    if (classes && std::ssize(*classes) != shape.count) {
      fail_argument(fmt::format("labels must be one per image, got {} for {} images",
                                std::ssize(*classes), shape.count));
    }
    plan = sampler.take(wanted);
    if (!plan) plan = draw(sampler, settings, wanted, classes);
    if (classes) mixed = mix_labels(plan->plan(), *classes, settings.num_classes, kIgnored);
    used += Clock::now() - begin;
  }
  Targets targets;
  if (mixed) {
    targets.terms = label_terms(std::move(*mixed));
  } else if (!labels.is_none()) {
    targets.others = settings.mix_targets(plan, labels);
  }
  const py::gil_scoped_release release;
  const auto begin = Clock::now();
  mix_arrays(*plan, in, out, settings.options, stream);
  // The host has time while a device mixes.
  if (in.device().cuda) draw_ahead(sampler, settings, wanted, *plan);
  plan.reset();
  used += Clock::now() - begin;
  settings.library_ns->store(std::chrono::nanoseconds(used).count(), std::memory_order_relaxed);
  return targets;
}

/// Returns what became of the labels: terms or others, both None without labels.
py::tuple step(PolicySampler& sampler, const Settings& settings, const py::object& images,
               const py::object& out, const py::object& labels, const py::object& batch,
               const py::object& first, const py::object& epoch, std::int64_t stream,
               std::optional<std::int64_t> dlpack_stream) {
  const Place place{whole("batch", batch), whole("first", first), epoch_from(epoch)};
  const Images in = Images::input(images, settings.layout, dlpack_stream);
  const Images to = Images::output(out, settings.out_layout, dlpack_stream);
  check_same_device(in, to);
  const Targets targets = mix_batch(sampler, settings, in, to.view(), place, labels,
                                    classes_of(labels, dlpack_stream), stream);
  return py::make_tuple(targets.terms, targets.others);
}

/// The arrays of a call of the usual kind.
struct QuickArrays {
  Framework framework;
  Images in;
  std::optional<Images> out;  // the caller's
  Classes classes;
};

std::optional<QuickArrays> read_quick(const Settings& settings, py::handle images,
                                      py::handle labels, py::handle out) {
  const Framework framework = framework_of(images);
  const bool known = framework != Framework::other &&
                     (out.is_none() ? settings.like_input : framework_of(out) == framework) &&
                     (labels.is_none() || framework_of(labels) != Framework::other);
  if (!known) return {};
  try {
    if (framework == Framework::torch &&
        (torch_requires_grad(images) || (!out.is_none() && torch_requires_grad(out)))) {
      return {};
    }
    QuickArrays arrays{framework, Images::uncopied(images, settings.layout, {}), {}, {}};
    if (arrays.in.copied() || arrays.in.array().values() == 0) return {};
    if (out.is_none()) {
      const Array& array = arrays.in.array();
      const bool bfloat = array.element() == Element::bf16 && framework == Framework::numpy;
      if (!is_dense(array) || bfloat) return {};
    } else {
      arrays.out = Images::output(out, settings.out_layout, {});
      if (settings.dtype && arrays.out->array().element() != *settings.dtype) return {};
    }
    arrays.classes = classes_of(labels, {});
    if (settings.class_rule && !arrays.classes) return {};  // they may have to come from a GPU
    return arrays;
  } catch (const std::exception&) {
    return {};  // the usual way says what is wrong
  }
}

/// A mixer's calls of the usual kind, without the detours that other kinds need: dense arrays of
/// NumPy or PyTorch, a new array or one of the caller's, places counted.
struct QuickStep {
  PolicySampler& sampler;
  const Settings& settings;
  Counter& counter;
  py::tuple owners;  // keep them alive

  /// NotImplemented, and nothing done, if the call is of another kind. Else the new images; with
  /// labels a tuple of them and what `step` returns.
  [[nodiscard]] py::object operator()(py::handle images, py::handle labels, py::handle out) const {
    const std::optional<QuickArrays> arrays = read_quick(settings, images, labels, out);
    if (!arrays) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    const Counter::Turn turn = counter.next(arrays->in.view().shape.count);
    try {
      return run(*arrays, turn.place, images, labels, out);
    } catch (...) {
      counter.give_back(turn);
      throw;
    }
  }

  [[nodiscard]] py::object run(const QuickArrays& arrays, const Place& place, py::handle images,
                               py::handle labels, py::handle out) const {
    const Images& in = arrays.in;
    auto result = py::reinterpret_borrow<py::object>(out);
    MutableImageBatchView view = in.view();
    if (out.is_none()) {
      NewArray made = in.device().cuda ? torch_empty_like(images)
                                       : new_array(arrays.framework, images, in.array());
      result = std::move(made.object);
      view.data = made.data;
    }
    if (arrays.out) {
      check_same_device(in, *arrays.out);
      view = arrays.out->view();
    }
    const std::int64_t stream = in.device().cuda ? torch_stream(in.device().index) : 0;
    const Targets targets =
        mix_batch(sampler, settings, in, view, place, labels, arrays.classes, stream);
    if (arrays.out && arrays.framework == Framework::torch) torch_written(out);
    if (labels.is_none()) return result;
    return py::make_tuple(result, targets.terms, targets.others);
  }
};

constexpr const char* kQuickStep = "medley.quick_step";

/// Called with images, labels and out. Not through pybind11, whose way to a function takes longer
/// than this one needs.
PyObject* call_quick_step(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError, "a quick step takes images, labels and out");
    return nullptr;
  }
  try {
    const auto* call = static_cast<const QuickStep*>(PyCapsule_GetPointer(self, kQuickStep));
    return (*call)(arguments[0], arguments[1], arguments[2]).release().ptr();
  } catch (...) {
    set_python_error(std::current_exception());
    return nullptr;
  }
}

PyMethodDef quick_step_method = {
    "quick_step", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_quick_step)),
    METH_FASTCALL, nullptr};

py::object quick_step(const py::object& sampler, const py::object& settings,
                      const py::object& counter) {
  auto call = std::make_unique<QuickStep>(
      QuickStep{sampler.cast<PolicySampler&>(), settings.cast<const Settings&>(),
                counter.cast<Counter&>(), py::make_tuple(sampler, settings, counter)});
  const py::capsule self(call.release(), kQuickStep, [](PyObject* capsule) {
    delete static_cast<QuickStep*>(PyCapsule_GetPointer(capsule, kQuickStep));
  });
  return py::reinterpret_steal<py::object>(
      PyCFunction_NewEx(&quick_step_method, self.ptr(), nullptr));
}

}  // namespace

void bind_step(py::module_& module) {
  py::class_<Settings>(module, "Settings")
      .def(py::init([](const char* layout, const char* out_layout, const Options& options,
                       std::int64_t num_classes, bool class_rule, bool like_input,
                       const std::optional<std::string>& dtype, py::object mix_targets) {
             Settings settings{layout_from(layout),
                               layout_from(out_layout),
                               options,
                               num_classes,
                               class_rule,
                               like_input,
                               {},
                               std::move(mix_targets)};
             if (dtype) settings.dtype = element_from_name(*dtype);
             return settings;
           }),
           py::arg("layout"), py::arg("out_layout"), py::arg("options"), py::arg("num_classes"),
           py::arg("class_rule"), py::arg("like_input"), py::arg("dtype"), py::arg("mix_targets"))
      .def_property_readonly("library_ns",
                             [](const Settings& settings) { return settings.library_ns->load(); });
  module.def("step", &step, py::arg("sampler"), py::arg("settings"), py::arg("images"),
             py::arg("out"), py::arg("labels"), py::arg("batch"), py::arg("first"),
             py::arg("epoch"), py::arg("stream"), py::arg("dlpack_stream"));
  module.def("quick_step", &quick_step, py::arg("sampler"), py::arg("settings"), py::arg("counter"),
             "A function of images, labels and out; NotImplemented where `step` is needed.");
}

}  // namespace medley::python
