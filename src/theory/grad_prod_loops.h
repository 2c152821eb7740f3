#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "medley/types.h"

namespace medley::theory {

/// PartialGradProd of magnitudes by its definition, in four loops, for comparison.
[[nodiscard]] std::vector<double> partial_grad_prod_loops(std::span<const double> magnitudes,
                                                          ImageSize size);

}  // namespace medley::theory
