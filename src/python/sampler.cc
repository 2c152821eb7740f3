#include "python/sampler.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "medley/gaussian_design.h"
#include "python/array.h"
#include "python/convert.h"
#include "python/plan.h"
#include "python/policy.h"

namespace medley::python {
namespace {

std::vector<std::int64_t> optional_integers(const py::object& object, const char* name) {
  return object.is_none() ? std::vector<std::int64_t>{}
                          : integers(Array(object, {.name = name}), name);
}

/// The size of the masks that a method was given, or any.
ImageSize usual_size(const Method& method) {
  for (const OptionSpec& spec : method.info().options) {
    const OptionValue value = method.get(spec.name);
    if (value.empty()) continue;
    if (spec.type == OptionType::masks) {
      const auto& masks = value.as<std::shared_ptr<const MaskSet>>();
      if (masks) return masks->size;
    } else if (spec.type == OptionType::design) {
      const auto& design = value.as<std::shared_ptr<const GaussianDesign>>();
      if (design) return design->size();
    }
  }
  return {32, 32};
}

std::shared_ptr<Plan> plan(PolicySampler& self, const py::object& height, const py::object& width,
                           const py::object& batch, const py::object& first,
                           const py::object& count, const py::object& epoch,
                           const py::object& dataset_size, const py::object& labels,
                           const py::object& order, const py::object& threads) {
  const ImageSize size{integer("size", height), integer("size", width)};
  const std::vector<std::int64_t> classes = optional_integers(labels, "labels");
  const std::vector<std::int64_t> ordinals = optional_integers(order, "order");
  const PlanRequest request{.batch = whole("batch", batch),
                            .first = whole("first", first),
                            .count = whole("count", count),
                            .epoch = epoch_from(epoch),
                            .dataset_size = whole("dataset_size", dataset_size),
                            .labels = classes,
                            .order = ordinals,
                            .threads = integer("threads", threads)};
  const py::gil_scoped_release release;
  return std::make_shared<Plan>(self.sampler(size)->plan(request));
}

}  // namespace

PolicySampler::PolicySampler(MixPolicy policy, std::uint64_t seed)
    : policy_(std::move(policy)), seed_(seed) {
  // Parameters are checked now, not when the first batch comes.
  static_cast<void>(sampler(usual_size(policy_.method)));
}

std::unique_ptr<PolicySampler> PolicySampler::with_seed(std::uint64_t seed) const {
  return std::make_unique<PolicySampler>(policy_, seed);
}

std::shared_ptr<const Sampler> PolicySampler::sampler(ImageSize size) {
  const std::lock_guard lock(mutex_);
  for (const auto& known : samplers_) {
    if (known->size() == size) return known;
  }
  auto made = std::make_shared<const Sampler>(policy_, size, seed_);
  if (samplers_.size() == kMaxSizes) samplers_.erase(samplers_.begin());
  samplers_.push_back(made);
  return made;
}

void PolicySampler::keep(const WantedPlan& wanted, std::shared_ptr<Plan> plan) {
  const std::lock_guard lock(mutex_);
  kept_ = std::move(plan);
  kept_for_ = wanted;
}

std::shared_ptr<Plan> PolicySampler::take(const WantedPlan& wanted) {
  const std::lock_guard lock(mutex_);
  return kept_ && kept_for_ == wanted ? std::move(kept_) : nullptr;
}

void bind_sampler(py::module_& module) {
  py::class_<PolicySampler>(module, "Sampler")
      .def(py::init([](const std::string& method, const py::dict& options, std::uint64_t seed) {
             MixPolicy policy = make_policy(method, options);
             const py::gil_scoped_release release;
             return std::make_unique<PolicySampler>(std::move(policy), seed);
           }),
           py::arg("method"), py::arg("options"), py::arg("seed"))
      .def("with_seed", &PolicySampler::with_seed, py::arg("seed"),
           py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("flat", &PolicySampler::flat)
      .def("plan", &plan, py::arg("height"), py::arg("width"), py::arg("batch"),
           py::arg("first") = 0, py::arg("count") = -1, py::arg("epoch") = 0,
           py::arg("dataset_size") = 0, py::arg("labels") = py::none(),
           py::arg("order") = py::none(), py::arg("threads") = 0);
}

}  // namespace medley::python
