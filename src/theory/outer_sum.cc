#include "theory/outer_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "theory/outer_sum.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace medley::theory::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One column of one row.
void add_one(const double* rows, const double* columns, const double* weights, std::int64_t count,
             std::int32_t height, std::int32_t width, std::int32_t y, std::int32_t x,
             double* image) {
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const double r = weights != nullptr ? weights[k] * rows[k * height + y] : rows[k * height + y];
    sum += r * columns[k * width + x];
  }
  image[static_cast<std::int64_t>(y) * width + x] += sum;
}

void add_outer(const double* HWY_RESTRICT rows, const double* HWY_RESTRICT columns,
               const double* HWY_RESTRICT weights, std::int64_t count, std::int32_t height,
               std::int32_t width, double* HWY_RESTRICT image) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const std::int32_t whole = width - width % (2 * lanes);
  for (std::int32_t y = 0; y < height; ++y) {
    for (std::int32_t x = whole; x < width; ++x) {
      add_one(rows, columns, weights, count, height, width, y, x, image);
    }
  }
  std::int32_t y = 0;
  for (; y + 2 <= height; y += 2) {
    for (std::int32_t x = 0; x < whole; x += 2 * lanes) {
      auto s00 = hn::Zero(d), s01 = hn::Zero(d), s10 = hn::Zero(d), s11 = hn::Zero(d);
      for (std::int64_t k = 0; k < count; ++k) {
        const double w = weights != nullptr ? weights[k] : 1.0;
        const auto r0 = hn::Set(d, w * rows[k * height + y]);
        const auto r1 = hn::Set(d, w * rows[k * height + y + 1]);
        const auto c0 = hn::LoadU(d, columns + k * width + x);
        const auto c1 = hn::LoadU(d, columns + k * width + x + lanes);
        s00 = hn::Add(s00, hn::Mul(r0, c0));
        s01 = hn::Add(s01, hn::Mul(r0, c1));
        s10 = hn::Add(s10, hn::Mul(r1, c0));
        s11 = hn::Add(s11, hn::Mul(r1, c1));
      }
      double* const top = image + static_cast<std::int64_t>(y) * width + x;
      double* const bottom = top + width;
      hn::StoreU(hn::Add(hn::LoadU(d, top), s00), d, top);
      hn::StoreU(hn::Add(hn::LoadU(d, top + lanes), s01), d, top + lanes);
      hn::StoreU(hn::Add(hn::LoadU(d, bottom), s10), d, bottom);
      hn::StoreU(hn::Add(hn::LoadU(d, bottom + lanes), s11), d, bottom + lanes);
    }
  }
  for (; y < height; ++y) {
    for (std::int32_t x = 0; x < whole; ++x) {
      add_one(rows, columns, weights, count, height, width, y, x, image);
    }
  }
}

}  // namespace medley::theory::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace medley::theory {
HWY_EXPORT(add_outer);

void add_outer_products(const double* rows, const double* columns, const double* weights,
                        std::int64_t count, std::int32_t height, std::int32_t width,
                        double* image) {
  HWY_DYNAMIC_DISPATCH(add_outer)(rows, columns, weights, count, height, width, image);
}

}  // namespace medley::theory
#endif
