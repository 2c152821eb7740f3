#pragma once

#include <cstdint>
#include <span>

#include "medley/random.h"

namespace medley {

/// A draw from Beta(a, b); a, b > 0, however small or large.
[[nodiscard]] double draw_beta(RandomStream& random, double a, double b) noexcept;

/// A draw from the symmetric Dirichlet(a, ..., a); fills `weights`, which sum to 1.
void draw_dirichlet(RandomStream& random, double a, std::span<double> weights) noexcept;

}  // namespace medley
