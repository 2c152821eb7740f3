#pragma once

#include <cstdint>

namespace medley::theory {

/// image(y, x) += sum over k of weights[k] rows(k, y) columns(k, x): `count` rows of `height` and
/// `width` values, `weights` null for 1. Summed in the order of k on every SIMD target, so the bits
/// do not depend on it.
void add_outer_products(const double* rows, const double* columns, const double* weights,
                        std::int64_t count, std::int32_t height, std::int32_t width, double* image);

}  // namespace medley::theory
