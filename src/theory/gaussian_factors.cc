#include "theory/gaussian_factors.h"

#include "core/gaussian_factor.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "theory/gaussian_factors.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace medley::theory::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One column of one row.
void add_one(const double* rows, const double* columns, std::int64_t count, std::int32_t height,
             std::int32_t width, std::int32_t y, std::int32_t x, double* image) {
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += rows[k * height + y] * columns[k * width + x];
  image[static_cast<std::int64_t>(y) * width + x] += sum;
}

/// Tiles of four rows and two vectors: enough sums that none waits for the one before.
void add_outer(const double* HWY_RESTRICT rows, const double* HWY_RESTRICT columns,
               std::int64_t count, std::int32_t height, std::int32_t width,
               double* HWY_RESTRICT image) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const std::int32_t whole_rows = height - height % 4;
  const std::int32_t whole = width - width % (2 * lanes);
  for (std::int32_t y = 0; y < height; ++y) {
    for (std::int32_t x = y < whole_rows ? whole : 0; x < width; ++x) {
      add_one(rows, columns, count, height, width, y, x, image);
    }
  }
  for (std::int32_t y = 0; y < whole_rows; y += 4) {
    for (std::int32_t x = 0; x < whole; x += 2 * lanes) {
      auto s00 = hn::Zero(d), s01 = hn::Zero(d), s10 = hn::Zero(d), s11 = hn::Zero(d);
      auto s20 = hn::Zero(d), s21 = hn::Zero(d), s30 = hn::Zero(d), s31 = hn::Zero(d);
      for (std::int64_t k = 0; k < count; ++k) {
        const double* const row = rows + k * height + y;
        const auto c0 = hn::LoadU(d, columns + k * width + x);
        const auto c1 = hn::LoadU(d, columns + k * width + x + lanes);
        const auto r0 = hn::Set(d, row[0]);
        s00 = hn::Add(s00, hn::Mul(r0, c0));
        s01 = hn::Add(s01, hn::Mul(r0, c1));
        const auto r1 = hn::Set(d, row[1]);
        s10 = hn::Add(s10, hn::Mul(r1, c0));
        s11 = hn::Add(s11, hn::Mul(r1, c1));
        const auto r2 = hn::Set(d, row[2]);
        s20 = hn::Add(s20, hn::Mul(r2, c0));
        s21 = hn::Add(s21, hn::Mul(r2, c1));
        const auto r3 = hn::Set(d, row[3]);
        s30 = hn::Add(s30, hn::Mul(r3, c0));
        s31 = hn::Add(s31, hn::Mul(r3, c1));
      }
      double* to = image + static_cast<std::int64_t>(y) * width + x;
      const auto add_row = [&](auto left, auto right) HWY_ATTR {
        hn::StoreU(hn::Add(hn::LoadU(d, to), left), d, to);
        hn::StoreU(hn::Add(hn::LoadU(d, to + lanes), right), d, to + lanes);
        to += width;
      };
      add_row(s00, s01);
      add_row(s10, s11);
      add_row(s20, s21);
      add_row(s30, s31);
    }
  }
}

/// A plain loop that the compiler turns into vectors.
void factor_values(double scale, std::int32_t count, double* HWY_RESTRICT factors) {
  for (std::int32_t begin = 0; begin < count; begin += kFactorBlock) {
    double* const to = factors + begin;
    for (std::int32_t i = 0; i < kFactorBlock; ++i) to[i] = gaussian_factor(scale, begin + i);
    if (to[kFactorBlock - 1] == 0) break;
  }
}

}  // namespace medley::theory::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace medley::theory {
HWY_EXPORT(add_outer);
HWY_EXPORT(factor_values);

void add_outer_products(const double* rows, const double* columns, std::int64_t count,
                        std::int32_t height, std::int32_t width, double* image) {
  HWY_DYNAMIC_DISPATCH(add_outer)(rows, columns, count, height, width, image);
}

void fill_factors(double scale, std::int32_t last, std::vector<double>& factors) {
  factors.assign(static_cast<std::size_t>(last / kFactorBlock + 1) * kFactorBlock, 0);
  HWY_DYNAMIC_DISPATCH(factor_values)
  (scale, static_cast<std::int32_t>(factors.size()), factors.data());
}

}  // namespace medley::theory
#endif
