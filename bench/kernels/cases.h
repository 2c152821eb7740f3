#pragma once

#include <string>
#include <vector>

#include "medley/medley.h"

namespace medley::bench {

/// A static method as it is measured.
struct MethodCase {
  std::string name;  // gmix-paper
  MixPolicy policy;
  bool parametric = true;  // the plan has no fields
};

/// Every static method with its default parameters, per-sample draws and partners from the batch.
[[nodiscard]] std::vector<MethodCase> method_cases(ImageSize size);

/// The policy with one draw for the whole batch, lam fixed and the batch reversed as partners: what
/// the published code does.
[[nodiscard]] MixPolicy batch_policy(MixPolicy policy, double lam);

[[nodiscard]] MixPlan plan_for(const MixPolicy& policy, ImageSize size, std::int64_t batch);

/// ImageNet's mean and deviation for u8, nothing for f32.
[[nodiscard]] MixOptions mix_options(DType in, int threads);

/// "128x3x224x224"
[[nodiscard]] std::string text_of(const BatchShape& shape);

/// What a benchmark is called: kind/method/backend/types/shape, one type if input and output agree.
[[nodiscard]] std::string name_of(const std::string& kind, const std::string& method,
                                  const std::string& backend, DType in, DType out,
                                  const BatchShape& shape);

/// Mixes the first images of the batch with both backends and compares the bits. Throws
/// medley::Error if they differ: a timing counts only for right results.
void check_against_reference(const MixPolicy& policy, const ImageBatchView& in, DType out,
                             const MixOptions& options);

}  // namespace medley::bench
