#include "theory/product_max.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "theory/product_max.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace medley::theory::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Greatest a[i] b[i], or `known`.
double row_maximum(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, std::size_t n,
                   double known) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto m0 = hn::Set(d, known);
  auto m1 = m0;
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    m0 = hn::Max(m0, hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
    m1 = hn::Max(m1, hn::Mul(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes)));
  }
  if (i + lanes <= n) {
    m0 = hn::Max(m0, hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
    i += lanes;
  }
  double greatest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(m0, m1)));
  for (; i < n; ++i) {
    const double product = a[i] * b[i];
    greatest = product > greatest ? product : greatest;
  }
  return greatest;
}

double greatest_of_rows(const double* g, const double* row_max, std::int32_t height,
                        std::int32_t width, std::int32_t dy, std::int32_t dx, double known) {
  const std::int32_t begin = dx < 0 ? -dx : 0;
  const std::int32_t end = dx > 0 ? width - dx : width;
  for (std::int32_t y = 0; y + dy < height; ++y) {
    if (row_max[y] * row_max[y + dy] <= known) continue;
    const double* const a = g + static_cast<std::int64_t>(y) * width + begin;
    const double* const b = g + static_cast<std::int64_t>(y + dy) * width + begin + dx;
    known = row_maximum(a, b, static_cast<std::size_t>(end - begin), known);
  }
  return known;
}

void raise_products(const double* HWY_RESTRICT g, std::int32_t height, std::int32_t width,
                    std::int32_t v, double* HWY_RESTRICT full) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::int64_t span = 2 * static_cast<std::int64_t>(width) - 1;
  const double one = g[v];
  const auto factor = hn::Set(d, one);
  const auto n = static_cast<std::size_t>(width);
  for (std::int32_t y = 0; y < height; ++y) {
    const double* const from = g + static_cast<std::int64_t>(y) * width;
    double* const to = full + (y - v / width + height - 1) * span + width - 1 - v % width;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      const auto product = hn::Mul(factor, hn::LoadU(d, from + i));
      hn::StoreU(hn::Max(product, hn::LoadU(d, to + i)), d, to + i);
    }
    for (; i < n; ++i) {
      const double product = one * from[i];
      to[i] = product > to[i] ? product : to[i];
    }
  }
}

}  // namespace medley::theory::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace medley::theory {
HWY_EXPORT(greatest_of_rows);
HWY_EXPORT(raise_products);

double greatest_product(const std::vector<double>& g, const std::vector<double>& row_max,
                        ImageSize size, std::int32_t dy, std::int32_t dx, double known) {
  return HWY_DYNAMIC_DISPATCH(greatest_of_rows)(g.data(), row_max.data(), size.height, size.width,
                                                dy, dx, known);
}

void add_products(const std::vector<double>& g, ImageSize size, std::int32_t v,
                  std::vector<double>& full) {
  HWY_DYNAMIC_DISPATCH(raise_products)(g.data(), size.height, size.width, v, full.data());
}

}  // namespace medley::theory
#endif
