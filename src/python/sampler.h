#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <pybind11/pybind11.h>

#include "medley/sampler.h"

namespace medley::python {

namespace py = pybind11;

/// A policy and a seed for images of any size: samplers are made as sizes come up. Thread-safe.
class PolicySampler {
 public:
  /// Throws InvalidArgument if the policy cannot work.
  PolicySampler(MixPolicy policy, std::uint64_t seed);

  [[nodiscard]] std::shared_ptr<const Sampler> sampler(ImageSize size);

 private:
  static constexpr std::size_t kMaxSizes = 16;

  MixPolicy policy_;
  std::uint64_t seed_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Sampler>> samplers_;
};

void bind_sampler(py::module_& module);

}  // namespace medley::python
