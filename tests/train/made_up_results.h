#pragma once

#include <cstdint>
#include <string>

#include "medley/train/result.h"

namespace medley::train {

/// A finished run under cifar100-paper whose last ten epochs have the median `top1`; the last has
/// 0.45 points more.
[[nodiscard]] RunResult made_up_result(const std::string& model, const std::string& method,
                                       std::uint64_t seed, double top1);

}  // namespace medley::train
