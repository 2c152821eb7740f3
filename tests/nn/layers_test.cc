#include "nn/layers.h"

#include <gtest/gtest.h>

namespace medley::nn {
namespace {

using torch::Tensor;

class Layers : public testing::Test {
 protected:
  Layers() { torch::manual_seed(4); }

  Tensor images() const { return torch::randn({6, 3, 5, 4}); }
  Tensor normed(const Tensor& x) { return torch::relu(bn_(x)); }

  torch::nn::BatchNorm2d bn_{3};
  Tensor shift_ = torch::tensor({0.5F, -1.0F, 2.0F});
};

TEST_F(Layers, AShiftIsAddedBeforeTheNorm) {
  bn_->eval();  // where a shift shows
  const Tensor x = images();
  const Tensor moved = x + shift_.view({1, 3, 1, 1});
  EXPECT_TRUE(torch::equal(norm_relu(bn_, Shifted{x, shift_}), normed(moved)));
  EXPECT_TRUE(torch::equal(norm_relu(bn_, Shifted{x, {}}), normed(x)));
  EXPECT_TRUE(torch::equal(norm_relu(bn_, x), normed(x)));
}

TEST_F(Layers, AResidualSumIsHandedOn) {
  bn_->eval();
  const Tensor x = images();
  const Tensor rest = images();
  const Tensor sum = x + shift_.view({1, 3, 1, 1}) + rest;
  const Activated out = norm_relu(bn_, Residual{x, rest, shift_});
  EXPECT_TRUE(torch::allclose(out.input, sum));
  EXPECT_TRUE(torch::allclose(out.active, normed(sum)));
}

TEST_F(Layers, ConvolutionsAreLibTorchs) {
  for (const bool bias : {false, true}) {
    for (const std::int64_t stride : {1, 2}) {
      torch::nn::Conv2d conv(
          torch::nn::Conv2dOptions(3, 8, 3).stride(stride).padding(1).bias(bias));
      const Tensor x = images();
      EXPECT_TRUE(torch::equal(convolution(*conv, x), conv(x)));
      EXPECT_TRUE(torch::equal(shifted_convolution(*conv, x).sum(), conv(x)));
    }
  }
}

TEST_F(Layers, MeansAreOverPixels) {
  const Tensor x = images();
  const Tensor rest = images();
  EXPECT_TRUE(torch::allclose(pixel_means({x, {}, {}}), x.mean(at::IntArrayRef({2, 3}))));
  EXPECT_TRUE(torch::allclose(pixel_means({x, rest, shift_}),
                              (x + rest).mean(at::IntArrayRef({2, 3})) + shift_, 1e-4, 1e-6));
  EXPECT_EQ(pixel_means({x.to(torch::kBFloat16), {}, {}}).scalar_type(), torch::kFloat32);
}

TEST_F(Layers, LinearLayersAreLibTorchs) {
  torch::nn::Linear layer(3, 5);
  const Tensor x = torch::randn({6, 3});
  EXPECT_TRUE(torch::equal(linear(*layer, x), layer(x)));
}

}  // namespace
}  // namespace medley::nn
