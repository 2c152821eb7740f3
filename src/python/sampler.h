#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <pybind11/pybind11.h>

#include "medley/sampler.h"
#include "python/counter.h"
#include "python/plan.h"

namespace medley::python {

namespace py = pybind11;

/// What a call asks for.
struct WantedPlan {
  ImageSize size;
  std::int64_t count;
  Place place;

  friend bool operator==(const WantedPlan&, const WantedPlan&) = default;
};

/// A policy and a seed for images of any size: samplers are made as sizes come up. Thread-safe.
class PolicySampler {
 public:
  /// Throws InvalidArgument if the policy cannot work.
  PolicySampler(MixPolicy policy, std::uint64_t seed);

  /// The same policy with another seed.
  [[nodiscard]] std::unique_ptr<PolicySampler> with_seed(std::uint64_t seed) const;

  [[nodiscard]] std::shared_ptr<const Sampler> sampler(ImageSize size);

  /// Whether draws do not depend on the size.
  [[nodiscard]] bool flat() const { return policy_.method.info().flat; }

  /// Keeps a plan that was drawn before a call asks for it; replaces the one before.
  void keep(const WantedPlan& wanted, std::shared_ptr<Plan> plan);
  /// The plan that was kept, if it is this one; else null.
  [[nodiscard]] std::shared_ptr<Plan> take(const WantedPlan& wanted);

 private:
  static constexpr std::size_t kMaxSizes = 16;

  MixPolicy policy_;
  std::uint64_t seed_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Sampler>> samplers_;
  std::shared_ptr<Plan> kept_;
  WantedPlan kept_for_{};
};

void bind_sampler(py::module_& module);

}  // namespace medley::python
