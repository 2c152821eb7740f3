// The convolutions of the training engine against plain loops in double precision.

#include <vector>

#include <gtest/gtest.h>

#include "cuda/nn_kernels.h"
#include "nn/kernels/conv3x3.h"
#include "nn/kernels/stem_conv.h"

namespace medley::nn {
namespace {

using cuda::DeviceArray;

/// Values of images, of which those outside are zeros.
class PlainImages {
 public:
  PlainImages(const ConvShape& shape, std::vector<float> values)
      : shape_(shape), values_(std::move(values)) {}
  [[nodiscard]] std::int64_t images() const { return shape_.images; }
  [[nodiscard]] int height() const { return shape_.height; }
  [[nodiscard]] int width() const { return shape_.width; }
  [[nodiscard]] double at(std::int64_t image, int row, int column, int channel) const {
    if (row < 0 || row >= shape_.height || column < 0 || column >= shape_.width) return 0;
    return values_[static_cast<std::size_t>(
        ((image * shape_.height + row) * shape_.width + column) * shape_.channels + channel)];
  }

 private:
  ConvShape shape_;
  std::vector<float> values_;
};

double weight_gradient(const PlainImages& x, const PlainImages& dy, int out, int row, int column,
                       int in) {
  double sum = 0;
  for (std::int64_t image = 0; image < x.images(); ++image) {
    for (int r = 0; r < x.height(); ++r) {
      for (int c = 0; c < x.width(); ++c) {
        sum += dy.at(image, r, c, out) * x.at(image, r + row - 1, c + column - 1, in);
      }
    }
  }
  return sum;
}

/// Results are compared at places that are drawn at random, and at the corners of the first image.
void check_conv3x3(const ConvShape& shape) {
  SCOPED_TRACE(testing::Message() << shape.images << " x " << shape.height << " x " << shape.width
                                  << " x " << shape.channels);
  ASSERT_TRUE(conv3x3_fits(shape));
  const std::int64_t pixels = shape.images * shape.height * shape.width;
  const auto count = static_cast<std::size_t>(pixels * shape.channels);
  const int channels = shape.channels;
  const auto weights = static_cast<std::size_t>(9 * channels * channels);
  const auto hx = rounded(random_values(count, 1));
  const auto hdy = rounded(random_values(count, 2));
  const auto hw = rounded(random_values(weights, 3));
  const PlainImages x(shape, widened(hx));
  const PlainImages dy(shape, widened(hdy));
  const std::vector<float> w = widened(hw);
  const auto weight_at = [&](int out, int row, int column, int in) {
    return w[static_cast<std::size_t>(((out * 3 + row) * 3 + column) * channels + in)];
  };

  const auto px = test::upload(hx);
  const auto pdy = test::upload(hdy);
  const auto pw = test::upload(hw);
  const DeviceArray<__nv_bfloat16> py(count);
  const DeviceArray<__nv_bfloat16> pdx(count);
  const DeviceArray<__nv_bfloat16> pdw(weights);
  const DeviceArray<unsigned char> scratch(conv3x3_scratch_bytes(shape));
  launch_conv3x3(shape, px.get(), pw.get(), py.get(), nullptr);
  launch_conv3x3_input_gradient(shape, pdy.get(), pw.get(), pdx.get(), nullptr);
  launch_conv3x3_weight_gradient(shape, px.get(), pdy.get(), pdw.get(), scratch.get(), nullptr);
  const std::vector<float> y = widened(test::download(py, count));
  const std::vector<float> dx = widened(test::download(pdx, count));
  const std::vector<float> dw = widened(test::download(pdw, weights));

  std::mt19937 random(4);
  const auto below = [&](std::int64_t end) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(end));
  };
  std::vector<float> got;
  std::vector<double> wanted;
  for (int i = 0; i < 2000; ++i) {
    const int image = i < 4 ? 0 : below(shape.images);
    const int row = i < 4 ? (i < 2 ? 0 : shape.height - 1) : below(shape.height);
    const int column = i < 4 ? (i % 2 == 0 ? 0 : shape.width - 1) : below(shape.width);
    const int channel = below(channels);
    double sum = 0;
    double back = 0;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        for (int k = 0; k < channels; ++k) {
          sum += x.at(image, row + r - 1, column + c - 1, k) * weight_at(channel, r, c, k);
          back += dy.at(image, row - r + 1, column - c + 1, k) * weight_at(k, r, c, channel);
        }
      }
    }
    const auto at = static_cast<std::size_t>(
        ((image * shape.height + row) * shape.width + column) * channels + channel);
    got.insert(got.end(), {y[at], dx[at]});
    wanted.insert(wanted.end(), {sum, back});
  }
  expect_near(got, wanted, 1.0 / 128, "y and dx");
  got.clear();
  wanted.clear();
  for (int i = 0; i < 200; ++i) {
    const int out = below(channels);
    const int in = below(channels);
    const int r = i % 9 / 3;
    const int c = i % 3;
    got.push_back(dw[static_cast<std::size_t>(((out * 3 + r) * 3 + c) * channels + in)]);
    wanted.push_back(weight_gradient(x, dy, out, r, c, in));
  }
  expect_near(got, wanted, 1.0 / 128, "dweight");
}

TEST_F(NnKernels, ConvolutionsFollowTheirDefinition) {
  if (!conv3x3_fits({1, 1, 1, 64})) GTEST_SKIP() << "the device has other matrix units";
  check_conv3x3({1, 1, 8, 64});
  check_conv3x3({3, 7, 5, 64});
  check_conv3x3({100, 32, 32, 64});
  check_conv3x3({100, 16, 16, 64});
  check_conv3x3({301, 8, 8, 64});
  check_conv3x3({150, 33, 40, 64});  // more positions than the device has room for at once
  EXPECT_FALSE(conv3x3_fits({1, 32, 32, 48}));
  EXPECT_FALSE(conv3x3_fits({1, 32, 900, 64}));
  EXPECT_FALSE(conv3x3_fits({0, 32, 32, 64}));
}

void check_stem_conv(const StemShape& shape) {
  SCOPED_TRACE(testing::Message() << shape.images << " x " << shape.height << " x " << shape.width
                                  << " x " << shape.channels << " to " << shape.out);
  ASSERT_TRUE(stem_conv_fits(shape));
  const auto pixels = static_cast<std::size_t>(shape.images * shape.height * shape.width);
  const int channels = shape.channels;
  const std::size_t ins = pixels * static_cast<std::size_t>(channels);
  const std::size_t outs = pixels * static_cast<std::size_t>(shape.out);
  const auto weights = static_cast<std::size_t>(9 * channels * shape.out);
  const auto hx = rounded(random_values(ins, 1));
  const auto hdy = rounded(random_values(outs, 2));
  const auto hw = rounded(random_values(weights, 3));
  const PlainImages x({shape.images, shape.height, shape.width, channels}, widened(hx));
  const PlainImages dy({shape.images, shape.height, shape.width, shape.out}, widened(hdy));
  const std::vector<float> w = widened(hw);
  const auto weight_index = [&](int out, int row, int column, int in) {
    return static_cast<std::size_t>(((out * 3 + row) * 3 + column) * channels + in);
  };

  const auto px = test::upload(hx);
  const auto pdy = test::upload(hdy);
  const auto pw = test::upload(hw);
  const DeviceArray<__nv_bfloat16> py(outs);
  const DeviceArray<__nv_bfloat16> pdw(weights);
  const DeviceArray<unsigned char> scratch(stem_scratch_bytes(shape));
  launch_stem_conv(shape, px.get(), pw.get(), py.get(), nullptr);
  launch_stem_weight_gradient(shape, px.get(), pdy.get(), pdw.get(), scratch.get(), nullptr);
  const std::vector<float> y = widened(test::download(py, outs));
  const std::vector<float> dw = widened(test::download(pdw, weights));

  std::vector<double> wanted(outs);
  for (std::size_t i = 0; i < outs; ++i) {
    const auto pixel = static_cast<std::int64_t>(i) / shape.out;
    const auto column = static_cast<int>(pixel % shape.width);
    const auto row = static_cast<int>(pixel / shape.width % shape.height);
    const std::int64_t image = pixel / shape.width / shape.height;
    const auto out = static_cast<int>(static_cast<std::int64_t>(i) % shape.out);
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        for (int k = 0; k < channels; ++k) {
          wanted[i] += x.at(image, row + r - 1, column + c - 1, k) * w[weight_index(out, r, c, k)];
        }
      }
    }
  }
  expect_near(y, wanted, 1.0 / 128, "y");
  std::mt19937 random(4);
  std::vector<float> got;
  wanted.clear();
  for (int i = 0; i < 200; ++i) {
    const auto out = static_cast<int>(random() % static_cast<unsigned>(shape.out));
    const auto in = static_cast<int>(random() % static_cast<unsigned>(channels));
    got.push_back(dw[weight_index(out, i % 9 / 3, i % 3, in)]);
    wanted.push_back(weight_gradient(x, dy, out, i % 9 / 3, i % 3, in));
  }
  expect_near(got, wanted, 1.0 / 128, "dweight");
}

TEST_F(NnKernels, FirstConvolutionsFollowTheirDefinition) {
  if (!stem_conv_fits({1, 1, 1, 3, 64})) GTEST_SKIP() << "the device has other matrix units";
  check_stem_conv({1, 1, 1, 1, 16});
  check_stem_conv({2, 5, 7, 3, 64});
  check_stem_conv({100, 32, 32, 3, 64});
  check_stem_conv({100, 32, 32, 3, 16});
  check_stem_conv({3, 28, 28, 1, 32});
  check_stem_conv({2, 300, 1, 4, 32});
  check_stem_conv({2, 3, 255, 2, 64});
  EXPECT_FALSE(stem_conv_fits({1, 32, 32, 3, 48}));
  EXPECT_FALSE(stem_conv_fits({1, 32, 32, 5, 64}));
  EXPECT_FALSE(stem_conv_fits({1, 32, 256, 3, 64}));
  EXPECT_FALSE(stem_conv_fits({0, 32, 32, 3, 64}));
}

}  // namespace
}  // namespace medley::nn
