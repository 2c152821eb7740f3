#pragma once

#include <cstdint>
#include <vector>

namespace medley::theory {

/// image(y, x) += sum over k of rows(k, y) columns(k, x): `count` rows of `height` and `width`
/// values. Summed in the order of k on every SIMD target, so the bits do not depend on it.
void add_outer_products(const double* rows, const double* columns, std::int64_t count,
                        std::int32_t height, std::int32_t width, double* image);

inline constexpr std::int32_t kFactorBlock = 32;  // values computed side by side

/// exp(-scale d^2) for d from 0 to `last`, at least: whole blocks. The same bits on every target.
void fill_factors(double scale, std::int32_t last, std::vector<double>& factors);

}  // namespace medley::theory
