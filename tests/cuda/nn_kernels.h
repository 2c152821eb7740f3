#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <cuda_bf16.h>
#include <gtest/gtest.h>

#include "cuda/device.h"

// What the tests of the training engine's kernels share: they compare them with plain loops in
// double precision.

namespace medley::nn {

class NnKernels : public test::CudaTest {};

inline std::vector<float> random_values(std::size_t count, unsigned seed, float mean = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(mean, 1);
  std::vector<float> values(count);
  for (float& v : values) v = normal(random);
  return values;
}

inline std::vector<__nv_bfloat16> rounded(const std::vector<float>& values) {
  std::vector<__nv_bfloat16> result;
  for (const float v : values) result.push_back(__float2bfloat16_rn(v));
  return result;
}

inline std::vector<float> widened(const std::vector<__nv_bfloat16>& values) {
  std::vector<float> result;
  for (const __nv_bfloat16 v : values) result.push_back(__bfloat162float(v));
  return result;
}

template <typename T>
void expect_near(const std::vector<T>& got, const std::vector<double>& wanted, double relative,
                 const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size());
  double scale = 0;
  for (const double w : wanted) scale = std::max(scale, std::abs(w));
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(got[i]), wanted[i],
                relative * (std::abs(wanted[i]) + scale / 50))
        << what << " " << i;
  }
}

}  // namespace medley::nn
