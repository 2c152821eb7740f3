#pragma once

#include <functional>
#include <string>
#include <vector>

#include "medley/mix.h"
#include "medley/plan.h"
#include "medley/types.h"

namespace medley::bench {

/// One way of composing a method from LibTorch's tensor operations.
struct TorchContender {
  std::string name;       // torch, torch-clone
  bool in_place = false;  // reads and overwrites `work`
  /// Mixes and returns the dense nchw floats of the result, valid until the next run of this one.
  std::function<const float*()> run;
};

/// Empty if the program was built without LibTorch.
[[nodiscard]] std::string torch_description();

/// Lets LibTorch keep the memory of its temporaries and take it in huge pages. Without it, every
/// temporary of this size is page-faulted in anew, which costs more than the arithmetic.
void use_cached_torch_memory();

/// The published compositions of the plan's method; `plan` has one mask for the whole batch and the
/// reversed batch as partners. u8 inputs are first converted and normalized. `in` and `work` (of
/// the shape of `in`, for contenders that mix f32 in place) must outlive the contenders.
[[nodiscard]] std::vector<TorchContender> torch_contenders(const MixPlan& plan,
                                                           const ImageBatchView& in, float* work,
                                                           const Normalize& normalize, int threads);

}  // namespace medley::bench
