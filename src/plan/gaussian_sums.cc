#include "plan/gaussian_sums.h"

#include <algorithm>
#include <iterator>

#include "core/gaussian_factor.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plan/gaussian_sums.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

// Plain loops that the compiler turns into vectors, as long as each instruction set has them.
HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

constexpr std::int32_t kBlock = 16;  // distances handled together
constexpr std::int32_t kBatch = 8;   // blocks whose exponentials are computed side by side

/// Running sums over the distances of a block: four of each kind, so that additions do not wait for
/// each other.
struct BlockSums {
  double values[4] = {};
  double moments[4] = {};

  template <bool kMoments>
  void add(std::int32_t b, double k, double distance) noexcept {
    values[b & 3] += k;
    if constexpr (kMoments) moments[b & 3] += k * (distance * distance);
  }
  [[nodiscard]] KernelSums after(KernelSums before) const noexcept {
    return {before.value + ((values[0] + values[1]) + (values[2] + values[3])),
            before.moment + ((moments[0] + moments[1]) + (moments[2] + moments[3]))};
  }
};

template <bool kMoments>
KernelSums add_block(KernelSums before, const double (&k)[kBlock], double begin) noexcept {
  BlockSums sums;
  for (std::int32_t b = 0; b < kBlock; ++b) sums.add<kMoments>(b, k[b], begin + b);
  return sums.after(before);
}

template <bool kMoments>
KernelSums add_part(KernelSums before, const double (&k)[kBlock], double begin,
                    std::int32_t n) noexcept {
  BlockSums sums;
  for (std::int32_t b = 0; b < n; ++b) sums.add<kMoments>(b, k[b], begin + b);
  return sums.after(before);
}

/// Sums over the distances 0 … reach[i], for each i, with moments only if asked for. Distance d =
/// begin + b of a block has d^2 = begin^2 + 2 begin b + b^2: a block needs two exponentials,
/// besides those of b^2.
template <bool kMoments>
void sum_to(double scale, const std::int32_t (&reach)[4], KernelSums (&sums)[4]) noexcept {
  double first[kBlock];
  for (std::int32_t b = 0; b < kBlock; ++b) first[b] = gaussian_factor(scale, b);
  const std::int32_t furthest = *std::max_element(std::begin(reach), std::end(reach));
  KernelSums before;
  for (std::int32_t start = 0; start <= furthest; start += kBatch * kBlock) {
    double base[kBatch];
    double ratio[kBatch];
    for (std::int32_t a = 0; a < kBatch; ++a) {
      const double begin = start + a * kBlock;
      base[a] = exp_nonpositive(-scale * (begin * begin));
      ratio[a] = exp_nonpositive(-scale * (2 * begin));
    }
    for (std::int32_t a = 0; a < kBatch; ++a) {
      const std::int32_t begin = start + a * kBlock;
      // What is left counts for nothing beside K = 1 at the center.
      if (begin > furthest || base[a] < 0x1p-80) return;
      const double p = ratio[a];
      const double p4 = (p * p) * (p * p);
      double powers[kBlock] = {base[a], base[a] * p, base[a] * (p * p), base[a] * (p * (p * p))};
      for (std::int32_t b = 4; b < kBlock; ++b) powers[b] = powers[b - 4] * p4;
      double k[kBlock];
      for (std::int32_t b = 0; b < kBlock; ++b) k[b] = powers[b] * first[b];
      const KernelSums after = add_block<kMoments>(before, k, begin);
      for (int i = 0; i < 4; ++i) {
        const std::int32_t n = reach[i] + 1 - begin;
        if (n > 0) sums[i] = n < kBlock ? add_part<kMoments>(before, k, begin, n) : after;
      }
      before = after;
    }
  }
}

template <bool kMoments>
ImageSums image_sums(double scale, std::int32_t cy, std::int32_t cx, ImageSize size) noexcept {
  KernelSums sums[4];
  sum_to<kMoments>(scale, {cy, size.height - 1 - cy, cx, size.width - 1 - cx}, sums);
  // Both sides count the center.
  return {{sums[0].value + sums[1].value - 1, sums[0].moment + sums[1].moment},
          {sums[2].value + sums[3].value - 1, sums[2].moment + sums[3].moment}};
}

}  // namespace

ImageSums sums_of(double scale, std::int32_t cy, std::int32_t cx, ImageSize size, bool moments) {
  return moments ? image_sums<true>(scale, cy, cx, size) : image_sums<false>(scale, cy, cx, size);
}

}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace medley {

HWY_EXPORT(sums_of);

ImageSums gaussian_image_sums(double scale, std::int32_t cy, std::int32_t cx, ImageSize size,
                              bool moments) {
  return HWY_DYNAMIC_DISPATCH(sums_of)(scale, cy, cx, size, moments);
}

}  // namespace medley

#endif  // HWY_ONCE
