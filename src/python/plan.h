#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <pybind11/pybind11.h>

#include "medley/plan.h"
#include "python/array.h"

namespace medley::cuda {
class DevicePlan;
}

namespace medley::python {

/// A plan as Python holds it: immutable, with its copy in device memory once a GPU needed it.
class Plan {
 public:
  explicit Plan(MixPlan plan) : plan_(std::move(plan)) {}

  [[nodiscard]] const MixPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] std::int64_t count() const noexcept { return std::ssize(plan_.entries); }
  /// Terms per sample in label form.
  [[nodiscard]] std::int32_t label_terms() const noexcept;

  /// The plan on a device, for an input of `images` images; the current device must be `device`.
  /// Uploaded by the first call on a device and stream, in the order of the stream. Exists in
  /// builds with CUDA.
  [[nodiscard]] std::shared_ptr<const cuda::DevicePlan> on_device(int device, std::int64_t images,
                                                                  std::int64_t stream) const;

  /// Keeps what owns a stream alive as long as the plan, whose copy on a device is freed there.
  /// Needs the GIL.
  void keep_stream(std::int64_t stream, py::object owner) const;

 private:
  MixPlan plan_;
  mutable std::mutex mutex_;
  mutable std::map<std::int64_t, std::shared_ptr<PyObject>> streams_;  // outlive what follows
  mutable std::shared_ptr<const cuda::DevicePlan> uploaded_;
  mutable int uploaded_to_ = -1;
  mutable std::int64_t uploaded_on_ = 0;  // stream
};

void bind_plan(py::module_& module);

}  // namespace medley::python
