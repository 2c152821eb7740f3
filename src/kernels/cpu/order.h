#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/lower.h"

namespace medley {

/// An order of the outputs in which the partner of one is the own image of the next, as far as the
/// plan allows: that image is then still in the cache. Its memory serves again for the next plan.
class ChainedOrder {
 public:
  [[nodiscard]] const std::vector<std::int64_t>& of(const LoweredPlan& plan);

 private:
  using Owner = std::pair<std::int64_t, std::int64_t>;  // image, output

  std::vector<Owner> owners_;
  std::vector<std::int64_t> order_;
  std::vector<char> done_;
};

/// One output of an in-place mix.
struct InPlaceStep {
  std::int64_t entry;
  std::int64_t save_for;  // keep what this output reads of the own image, which will change; or -1
  bool partner_saved;     // the partner is what was kept
};

/// An order in which outputs may overwrite their own images: every image is read by those that need
/// it before it changes. Partners form chains that end in cycles; a cycle needs a copy of one
/// image, and only one copy is alive at a time. Its memory serves again for the next plan.
class InPlaceOrder {
 public:
  [[nodiscard]] const std::vector<InPlaceStep>& of(const LoweredPlan& plan);

 private:
  std::vector<std::size_t> readers_;
  std::vector<InPlaceStep> steps_;
  std::vector<char> done_;
};

}  // namespace medley
