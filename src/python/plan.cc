#include "python/plan.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "medley/error.h"
#include "medley/plan_edit.h"
#include "python/buffer.h"
#include "python/convert.h"
#include "python/framework.h"

namespace medley::python {
namespace {

std::shared_ptr<Plan> from_json(const py::object& json) {
  if (!py::isinstance<py::str>(json)) {
    throw py::type_error(fmt::format("text must be JSON in a str, got {}", type_name(json)));
  }
  const auto text = json.cast<std::string>();
  const py::gil_scoped_release release;
  return std::make_shared<Plan>(plan_from_json(text));
}

std::string as_json(const Plan& self, const py::object& given_masks) {
  const bool masks = boolean("masks", given_masks);
  const py::gil_scoped_release release;
  return to_json(self.plan(), masks);
}

template <typename Get>
Buffer column(const Plan& self, Element element, const Get& get) {
  using T = decltype(get(self.plan().entries[0]));
  std::vector<T> values;
  values.reserve(self.plan().entries.size());
  for (const MixEntry& entry : self.plan().entries) values.push_back(get(entry));
  return {element, {self.count()}, values};
}

Buffer masks(const Plan& self) {
  const MixPlan& plan = self.plan();
  Buffer result(Element::f64, {self.count(), plan.size.height, plan.size.width});
  const py::gil_scoped_release release;
  validate(plan);
  const auto pixels = static_cast<std::size_t>(plan.size.pixels());
  for (std::size_t b = 0; b < plan.entries.size(); ++b) {
    mask_values(plan, plan.entries[b], result.span<double>().subspan(b * pixels, pixels));
  }
  return result;
}

std::shared_ptr<Plan> choose(const Plan& self, const py::object& given, const py::object& take) {
  if (!py::isinstance<Plan>(given)) {
    throw py::type_error(fmt::format("other must be a medley.Plan, got {}", type_name(given)));
  }
  const auto& other = given.cast<const Plan&>();
  const std::vector<std::int64_t> chosen = integers(Array(on_host(take), {.name = "take"}), "take");
  const MixPlan& a = self.plan();
  const MixPlan& b = other.plan();
  if (!(a.size == b.size) || a.base != b.base || a.entries.size() != b.entries.size() ||
      chosen.size() != a.entries.size()) {
    throw InvalidArgument(
        fmt::format("plans to choose from must have one size, base and number of entries, and a "
                    "choice for each; got {}, {} and {}",
                    a.entries.size(), b.entries.size(), chosen.size()));
  }
  MixPlan result = a;
  for (std::int64_t i = 0; i < std::ssize(chosen); ++i) {
    if (chosen[static_cast<std::size_t>(i)] != 0) replace(result, i, b, i);
  }
  return std::make_shared<Plan>(std::move(result));
}

std::shared_ptr<Plan> head(const Plan& self, std::int64_t count) {
  if (count < 1 || count > self.count()) {
    throw InvalidArgument(fmt::format("count must be in [1, {}], got {}", self.count(), count));
  }
  return std::make_shared<Plan>(slice(self.plan(), 0, count));
}

std::string text(const Plan& self) {
  const MixPlan& p = self.plan();
  return fmt::format("<medley.Plan {}: {} samples of {}x{}, seed {}, epoch {}, first {}>", p.method,
                     p.entries.size(), p.size.height, p.size.width, p.seed, p.epoch, p.first);
}

}  // namespace

std::int32_t Plan::label_terms() const noexcept {
  std::int32_t terms = 2;
  for (const MixEntry& entry : plan_.entries) terms = std::max(terms, entry.term_count);
  return terms;
}

void Plan::keep_stream(std::int64_t stream, py::object owner) const {
  // The last of a plan may go where the GIL is not held.
  std::shared_ptr<PyObject> kept(owner.release().ptr(), [](PyObject* object) {
    const py::gil_scoped_acquire acquire;
    Py_DECREF(object);
  });
  const std::lock_guard lock(mutex_);
  streams_.try_emplace(stream, std::move(kept));
}

void bind_plan(py::module_& module) {
  py::class_<Plan, std::shared_ptr<Plan>>(
      module, "Plan",
      "What to mix, decided in full: nothing random is left. Made by `mix.plan(...)`; immutable,\n"
      "comparable, picklable, and JSON in and out (schema medley.plan/2).")
      .def_static("from_json", &from_json, py::arg("text"),
                  "Reads what `to_json` or the command line wrote. A plan with field masks (fmix, "
                  "custom, ...) needs their values.")
      .def("to_json", &as_json, py::arg("masks") = false,
           "The plan as JSON text; with `masks` every mask is added as rows of numbers.")
      .def_property_readonly("method", [](const Plan& p) { return p.plan().method; })
      .def_property_readonly(
          "draws", [](const Plan& p) { return p.plan().draws; },
          "The version of the draws that made it; plans of every version can be applied.")
      .def_property_readonly("seed", [](const Plan& p) { return p.plan().seed; })
      .def_property_readonly("epoch", [](const Plan& p) { return p.plan().epoch; })
      .def_property_readonly(
          "first", [](const Plan& p) { return p.plan().first; },
          "Ordinal of the first entry in its epoch.")
      .def_property_readonly(
          "base", [](const Plan& p) { return p.plan().base; },
          "Source index that means image 0 of the array handed to `apply`.")
      .def_property_readonly(
          "size",
          [](const Plan& p) { return py::make_tuple(p.plan().size.height, p.plan().size.width); },
          "(height, width) of the outputs.")
      .def_property_readonly(
          "entries",
          [](const Plan& p) -> py::object {
            return py::module_::import("json").attr("loads")(to_json(p.plan()))["entries"];
          },
          "A list of dicts, one per output, as in the JSON.")
      .def_property_readonly("label_terms", &Plan::label_terms)
      .def_property_readonly(
          "own",
          [](const Plan& p) {
            return numpy_array(
                column(p, Element::i64, [](const MixEntry& e) { return e.own.index; }));
          },
          "Index of each own image, int64 of shape (B,); counts from `base`.")
      .def_property_readonly(
          "partner",
          [](const Plan& p) {
            return numpy_array(
                column(p, Element::i64, [](const MixEntry& e) { return e.partner.index; }));
          },
          "Index of each (first) partner, int64 of shape (B,); counts from `base`.")
      .def_property_readonly(
          "lam",
          [](const Plan& p) {
            return numpy_array(column(p, Element::f64, [](const MixEntry& e) { return e.lam; }));
          },
          "lam of each output as drawn or given, float64 of shape (B,).")
      .def_property_readonly(
          "label_weight",
          [](const Plan& p) {
            return numpy_array(
                column(p, Element::f64, [](const MixEntry& e) { return e.label_weight; }));
          },
          "What each own label gets, float64 of shape (B,).")
      .def("_flat",
           [](const Plan& p) {
             return column(p, Element::u8, [](const MixEntry& e) {
               return static_cast<std::uint8_t>(std::holds_alternative<FlatMask>(e.mask));
             });
           })
      .def("_masks", &masks)
      .def("_keep_stream", &Plan::keep_stream, py::arg("stream"), py::arg("owner"))
      .def("_head", &head, py::arg("count"))
      .def("choose", &choose, py::arg("other"), py::arg("take"),
           "This plan with the entries of `other` where `take`, of shape (B,), is true.")
      .def("__len__", &Plan::count)
      .def("__eq__",
           [](const Plan& a, const py::object& b) -> py::object {
             if (!py::isinstance<Plan>(b)) {
               return py::reinterpret_borrow<py::object>(Py_NotImplemented);
             }
             return py::bool_(a.plan() == b.cast<const Plan&>().plan());
           })
      .def("__repr__", &text)
      .def(py::pickle(
          [](const Plan& p) { return py::make_tuple(to_json(p.plan(), !p.plan().fields.empty())); },
          [](const py::tuple& state) { return from_json(state[0]); }));
}

}  // namespace medley::python
