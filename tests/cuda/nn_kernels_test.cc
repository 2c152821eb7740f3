// The kernels of the training engine, without convolutions, against plain loops in double
// precision.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/nn_kernels.h"
#include "nn/kernels/channels.h"
#include "nn/kernels/loss.h"
#include "nn/kernels/means.h"
#include "nn/kernels/norm.h"
#include "nn/kernels/update.h"

namespace medley::nn {
namespace {

using cuda::DeviceArray;

/// relu(norm(a + b + shift)) and its gradients, by the definitions. Where the ReLU is about to
/// open, a last bit decides whether a gradient gets through: `dy` is made 0 there.
struct PlainNorm {
  std::vector<double> x, y, dx, dweight, dbias, mean, variance;

  PlainNorm(const NormShape& shape, const std::vector<float>& a, const std::vector<float>& b,
            const std::vector<float>& shift, const std::vector<float>& weight,
            const std::vector<float>& bias, std::vector<float>& dy, const std::vector<float>& dsum,
            double epsilon) {
    const auto channels = static_cast<std::size_t>(shape.channels);
    const auto rows = static_cast<std::size_t>(shape.rows);
    const auto n = static_cast<double>(rows);
    x.resize(a.size());
    y.resize(a.size());
    dx.resize(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      x[i] = b.empty() ? a[i]
                       : __bfloat162float(__float2bfloat16_rn(a[i] + b[i] + shift[i % channels]));
    }
    for (std::size_t c = 0; c < channels; ++c) {
      double m = 0;
      double v = 0;
      for (std::size_t r = 0; r < rows; ++r) m += x[r * channels + c] / n;
      for (std::size_t r = 0; r < rows; ++r) {
        const double d = x[r * channels + c] - m;
        v += d * d / n;
      }
      mean.push_back(b.empty() ? m + shift[c] : m);
      variance.push_back(v);
      const double inverse = 1 / std::sqrt(v + epsilon);
      double sum = 0;
      double product = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t i = r * channels + c;
        const double normal = (x[i] - m) * inverse;
        const double before = weight[c] * normal + bias[c];
        if (std::abs(before) < 1e-4) dy[i] = 0;
        y[i] = std::max(0.0, before);
        const double g = y[i] > 0 ? dy[i] : 0;
        sum += g;
        product += g * normal;
      }
      dbias.push_back(sum);
      dweight.push_back(product);
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t i = r * channels + c;
        const double g = y[i] > 0 ? dy[i] : 0;
        dx[i] = weight[c] * inverse * (g - sum / n - (x[i] - m) * inverse * product / n);
        if (!dsum.empty()) dx[i] += dsum[i];
      }
    }
  }
};

void check_norm(const NormShape& shape, bool residual, bool shifted, float mean = 0) {
  SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.channels << " " << residual
                                  << shifted);
  const auto count = static_cast<std::size_t>(shape.rows * shape.channels);
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto a = rounded(random_values(count, 1, mean));
  const auto b = residual ? rounded(random_values(count, 2)) : std::vector<__nv_bfloat16>();
  std::vector<float> gradient = widened(rounded(random_values(count, 3)));
  const auto dsum = residual ? rounded(random_values(count, 4)) : std::vector<__nv_bfloat16>();
  const auto shift = rounded(shifted ? random_values(channels, 7) : std::vector<float>(channels));
  const std::vector<float> weight = random_values(channels, 5, 1);
  const std::vector<float> bias = random_values(channels, 6);
  constexpr float kEpsilon = 1e-5F;
  const PlainNorm plain(shape, widened(a), widened(b), widened(shift), weight, bias, gradient,
                        widened(dsum), kEpsilon);

  const auto on_device = [](const auto& values) { return test::upload(values); };
  const auto da = on_device(a);
  const auto db = on_device(b);
  const auto ddy = on_device(rounded(gradient));
  const auto ddsum = on_device(dsum);
  const auto dweight_in = on_device(weight);
  const auto dbias_in = on_device(bias);
  const auto dshift = on_device(shift);
  const auto running_mean = on_device(std::vector<float>(channels, 2));
  const auto running_variance = on_device(std::vector<float>(channels, 3));
  const auto batches = on_device(std::vector<std::int64_t>{7});
  const DeviceArray<__nv_bfloat16> sum(count);
  const DeviceArray<__nv_bfloat16> y(count);
  const DeviceArray<__nv_bfloat16> dx(count);
  const DeviceArray<float> saved_memory(4 * channels);
  const DeviceArray<float> dweight(channels);
  const DeviceArray<float> dbias(channels);
  const auto scratch = on_device(std::vector<unsigned char>(norm_scratch_bytes(), 0));
  float* s = saved_memory.get();
  const NormSaved saved{s, s + channels, s + 2 * channels, s + 3 * channels};
  const __nv_bfloat16* rest = residual ? db.get() : nullptr;
  // Twice: the scratch memory has to be left as it was found.
  for (int turn = 0; turn < 2; ++turn) {
    launch_norm_relu(
        shape, da.get(), rest, residual ? sum.get() : nullptr, y.get(),
        {dweight_in.get(), dbias_in.get(), shifted ? dshift.get() : nullptr, running_mean.get(),
         running_variance.get(), batches.get(), turn == 0 ? 0.1F : 0.0F, kEpsilon},
        saved, scratch.get(), nullptr);
    launch_norm_relu_backward(shape, residual ? sum.get() : da.get(), ddy.get(),
                              residual ? ddsum.get() : nullptr, saved, dweight.get(), dbias.get(),
                              dx.get(), scratch.get(), nullptr);
  }
  constexpr double kBf16 = 1.0 / 128;
  expect_near(widened(test::download(y, count)), plain.y, kBf16, "y");
  expect_near(test::download(dbias, channels), plain.dbias, 2e-3, "dbias");
  expect_near(test::download(dweight, channels), plain.dweight, 2e-3, "dweight");
  expect_near(widened(test::download(dx, count)), plain.dx, kBf16, "dx");
  if (residual) {
    EXPECT_EQ(widened(test::download(sum, count)),
              std::vector<float>(plain.x.begin(), plain.x.end()));
  }
  std::vector<double> running = plain.mean;
  for (double& m : running) m = 0.9 * 2 + 0.1 * m;
  expect_near(test::download(running_mean, channels), running, 1e-4, "running mean");
  const auto n = static_cast<double>(shape.rows);
  running = plain.variance;
  for (double& v : running) v = 0.9 * 3 + 0.1 * v * n / (n - 1);
  expect_near(test::download(running_variance, channels), running, 1e-3, "running variance");
  EXPECT_EQ(test::download(batches, 1)[0], 9);
}

TEST_F(NnKernels, NormFollowsItsDefinition) {
  for (const NormShape shape :
       {NormShape{100 * 32 * 32, 64}, NormShape{100 * 16, 512}, NormShape{33, 8},
        NormShape{700, 24}, NormShape{900, 88}, NormShape{5000, 160}, NormShape{490, 2048}}) {
    for (const bool shifted : {false, true}) {
      check_norm(shape, false, shifted);
      check_norm(shape, true, shifted);
    }
  }
  check_norm({20000, 64}, false, false, 30);  // far from zero: squares must not cancel
}

void check_fixed_norm(const NormShape& shape, bool residual, bool shifted) {
  SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.channels << " " << residual
                                  << shifted);
  const auto count = static_cast<std::size_t>(shape.rows * shape.channels);
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto a = rounded(random_values(count, 1));
  const auto b = residual ? rounded(random_values(count, 2)) : std::vector<__nv_bfloat16>();
  const auto shift = rounded(random_values(channels, 3));
  const std::vector<float> weight = random_values(channels, 4, 1);
  const std::vector<float> bias = random_values(channels, 5);
  const std::vector<float> mean = random_values(channels, 6);
  std::vector<float> variance = random_values(channels, 7);
  for (float& v : variance) v = v * v + 0.1F;
  constexpr float kEpsilon = 1e-3F;
  std::vector<double> y;
  std::vector<float> x;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t c = i % channels;
    const float moved = shifted ? __bfloat162float(shift[c]) : 0.0F;
    const float at = __bfloat162float(a[i]) + moved;
    x.push_back(residual ? __bfloat162float(__float2bfloat16_rn(__bfloat162float(a[i]) +
                                                                __bfloat162float(b[i]) + moved))
                         : at);
    y.push_back(std::max(0.0, weight[c] * (static_cast<double>(x[i]) - mean[c]) /
                                      std::sqrt(static_cast<double>(variance[c]) + kEpsilon) +
                                  bias[c]));
  }
  const auto da = test::upload(a);
  const auto db = test::upload(b);
  const auto dshift = test::upload(shift);
  const auto dweight = test::upload(weight);
  const auto dbias = test::upload(bias);
  const auto dmean = test::upload(mean);
  const auto dvariance = test::upload(variance);
  const auto batches = test::upload(std::vector<std::int64_t>{7});
  const DeviceArray<__nv_bfloat16> sum(count);
  const DeviceArray<__nv_bfloat16> dy(count);
  launch_fixed_norm_relu(shape, da.get(), residual ? db.get() : nullptr, sum.get(), dy.get(),
                         {dweight.get(), dbias.get(), shifted ? dshift.get() : nullptr, dmean.get(),
                          dvariance.get(), batches.get(), 0.1F, kEpsilon},
                         nullptr);
  expect_near(widened(test::download(dy, count)), y, 1.0 / 128, "y");
  if (residual) {
    EXPECT_EQ(widened(test::download(sum, count)), x);
  }
  EXPECT_EQ(test::download(dmean, channels), mean);
  EXPECT_EQ(test::download(batches, 1)[0], 7);
}

TEST_F(NnKernels, FixedNormFollowsItsDefinition) {
  for (const NormShape shape :
       {NormShape{20 * 32 * 32, 64}, NormShape{33, 8}, NormShape{900, 88}, NormShape{490, 2048}}) {
    for (const bool shifted : {false, true}) {
      check_fixed_norm(shape, false, shifted);
      check_fixed_norm(shape, true, shifted);
    }
  }
}

TEST_F(NnKernels, MeansFollowTheirDefinition) {
  for (const MeanShape shape : {MeanShape{100, 16, 512}, MeanShape{3, 64, 128}, MeanShape{2, 1, 8},
                                MeanShape{5, 49, 2048}, MeanShape{4, 35, 264}}) {
    const auto channels = static_cast<std::size_t>(shape.channels);
    const auto pixels = static_cast<std::size_t>(shape.pixels);
    const std::size_t means = static_cast<std::size_t>(shape.images) * channels;
    const auto a = rounded(random_values(means * pixels, 1, 0.5F));
    const auto b = rounded(random_values(means * pixels, 2, -1));
    const std::vector<float> dmeans = random_values(means, 3);
    std::vector<double> of_a(means);
    std::vector<double> of_both(means);
    std::vector<double> dx(means * pixels);
    for (std::size_t i = 0; i < dx.size(); ++i) {
      const std::size_t to = i / (pixels * channels) * channels + i % channels;
      const auto n = static_cast<double>(pixels);
      of_a[to] += __bfloat162float(a[i]) / n;
      of_both[to] += (__bfloat162float(a[i]) + __bfloat162float(b[i])) / n;
      dx[i] = dmeans[to] / n;
    }
    const auto pa = test::upload(a);
    const auto pb = test::upload(b);
    const auto pdmeans = test::upload(dmeans);
    const DeviceArray<float> got(means);
    const DeviceArray<__nv_bfloat16> pdx(dx.size());
    launch_means(shape, pa.get(), nullptr, got.get(), nullptr);
    expect_near(test::download(got, means), of_a, 1e-4, "means");
    launch_means(shape, pa.get(), pb.get(), got.get(), nullptr);
    expect_near(test::download(got, means), of_both, 1e-4, "means of sums");
    launch_means_gradient(shape, pdmeans.get(), pdx.get(), nullptr);
    expect_near(widened(test::download(pdx, dx.size())), dx, 1.0 / 128, "dx");
  }
}

TEST_F(NnKernels, ColumnsAreSummedUp) {
  for (const auto& [rows, columns] : {std::pair{100, 100}, std::pair{1, 7}, std::pair{37, 1000}}) {
    const auto width = static_cast<std::size_t>(columns);
    const std::vector<float> values = random_values(static_cast<std::size_t>(rows) * width, 1);
    std::vector<double> sums(width);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i % width] += values[i];
    const auto from = test::upload(values);
    const DeviceArray<float> to(width);
    launch_column_sums(rows, columns, from.get(), to.get(), nullptr);
    expect_near(test::download(to, width), sums, 1e-4, "sum");
  }
}

TEST_F(NnKernels, PixelsAreWidenedAndNarrowed) {
  constexpr std::int64_t kRows = 1000;
  constexpr std::int32_t kChannels = 3;
  const std::vector<float> values = widened(rounded(random_values(kRows * kChannels, 8)));
  const auto from = test::upload(rounded(values));
  const DeviceArray<__nv_bfloat16> wide(kRows * kWideChannels);
  const DeviceArray<__nv_bfloat16> back(kRows * kChannels);
  launch_widen(kRows, kChannels, from.get(), wide.get(), nullptr);
  launch_narrow(kRows, kChannels, wide.get(), back.get(), nullptr);
  EXPECT_EQ(widened(test::download(back, kRows * kChannels)), values);
  const std::vector<float> all = widened(test::download(wide, kRows * kWideChannels));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t row = i / kWideChannels;
    const std::size_t c = i % kWideChannels;
    EXPECT_EQ(all[i], c < kChannels ? values[row * kChannels + c] : 0.0F);
  }
}

/// Loss of a row and its gradient by the logits, times the number of rows.
double plain_loss(const std::vector<double>& z, const std::vector<double>& target, bool bce,
                  std::vector<double>& gradient) {
  double most = z[0];
  for (const double v : z) most = std::max(most, v);
  double sum = 0;
  for (const double v : z) sum += std::exp(v - most);
  const auto classes = static_cast<double>(z.size());
  std::vector<double> p;
  std::vector<double> slope;  // dL/dp
  double loss = 0;
  for (std::size_t c = 0; c < z.size(); ++c) {
    p.push_back(std::exp(z[c] - most) / sum);
    const double t = target[c];
    if (bce) {
      loss -= (t * std::log(p[c]) + (1 - t) * std::log1p(-p[c])) / classes;
      slope.push_back(-(t / p[c] - (1 - t) / (1 - p[c])) / classes);
    } else {
      loss -= t * std::log(p[c]);
      slope.push_back(-t / p[c]);
    }
  }
  double mean = 0;
  for (std::size_t c = 0; c < z.size(); ++c) mean += slope[c] * p[c];
  for (std::size_t c = 0; c < z.size(); ++c) gradient.push_back(p[c] * (slope[c] - mean));
  return loss;
}

TEST_F(NnKernels, LossesFollowTheirDefinitions) {
  constexpr std::int32_t kTerms = 2;
  for (const auto& [rows, classes] : {std::pair{100, 100}, std::pair{3, 10}, std::pair{70, 1000}}) {
    for (const bool bce : {false, true}) {
      for (const float smoothing : {0.0F, 0.1F}) {
        SCOPED_TRACE(testing::Message() << rows << "x" << classes << " " << bce << smoothing);
        const auto count = static_cast<std::size_t>(rows * classes);
        std::vector<float> logits = random_values(count, 9);
        for (float& z : logits) z *= 3;
        std::vector<std::int64_t> labels;
        std::vector<float> weights;
        for (int r = 0; r < rows; ++r) {
          const float w = static_cast<float>(r % 5) / 4;
          labels.insert(labels.end(),
                        {r * 7 % classes, r % 3 == 0 ? r * 7 % classes : r % classes});
          weights.insert(weights.end(), {w, 1 - w});
        }
        double total = 0;
        std::vector<double> wanted;
        for (int r = 0; r < rows; ++r) {
          std::vector<double> z(logits.begin() + r * classes, logits.begin() + (r + 1) * classes);
          std::vector<double> target(static_cast<std::size_t>(classes),
                                     static_cast<double>(smoothing) / classes);
          for (int k = 0; k < kTerms; ++k) {
            const auto at = static_cast<std::size_t>(r * kTerms + k);
            target[static_cast<std::size_t>(labels[at])] +=
                (1 - static_cast<double>(smoothing)) * static_cast<double>(weights[at]);
          }
          total += plain_loss(z, target, bce, wanted);
        }
        for (double& g : wanted) g /= rows;
        const auto device_logits = test::upload(logits);
        const auto device_labels = test::upload(labels);
        const auto device_weights = test::upload(weights);
        const auto sum = test::upload(std::vector<double>{1000});
        const DeviceArray<float> gradient(count);
        const DeviceArray<float> losses(static_cast<std::size_t>(rows));
        launch_loss({device_logits.get(), device_labels.get(), device_weights.get(), rows, classes,
                     kTerms, smoothing, bce},
                    losses.get(), sum.get(), gradient.get(), nullptr);
        EXPECT_NEAR(test::download(sum, 1)[0] - 1000, total, 1e-4 * total);
        expect_near(test::download(gradient, count), wanted, 1e-3, "gradient");
      }
    }
  }
}

TEST_F(NnKernels, AConfidentRowHasAFiniteLoss) {
  const auto logits = test::upload(std::vector<float>{200, 0, 0, 0});
  const auto labels = test::upload(std::vector<std::int64_t>{1});
  const auto weights = test::upload(std::vector<float>{1});
  const auto sum = test::upload(std::vector<double>{0});
  const DeviceArray<float> gradient(4);
  const DeviceArray<float> losses(1);
  launch_loss({logits.get(), labels.get(), weights.get(), 1, 4, 1, 0, true}, losses.get(),
              sum.get(), gradient.get(), nullptr);
  EXPECT_TRUE(std::isfinite(test::download(sum, 1)[0]));
  for (const float g : test::download(gradient, 4)) EXPECT_TRUE(std::isfinite(g));
}

TEST_F(NnKernels, UpdatesFollowTheirRules) {
  const std::size_t sizes[] = {3, 8192, 20001};
  for (const bool adamw : {false, true}) {
    std::vector<UpdateSlot> slots;
    std::vector<UpdateChunk> chunks;
    std::vector<std::vector<float>> value, gradient, first, second, average;
    std::vector<DeviceArray<float>> dvalue, dfirst, dsecond, daverage;
    std::vector<DeviceArray<__nv_bfloat16>> dgradient, drounded;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto seed = static_cast<unsigned>(10 * i);
      value.push_back(random_values(sizes[i], seed));
      gradient.push_back(widened(rounded(random_values(sizes[i], seed + 1))));
      first.push_back(random_values(sizes[i], seed + 2));
      second.push_back(random_values(sizes[i], seed + 3));
      for (float& v : second.back()) v *= v;
      average.push_back(random_values(sizes[i], seed + 4));
      dvalue.push_back(test::upload(value[i]));
      dgradient.push_back(test::upload(rounded(gradient[i])));
      dfirst.push_back(test::upload(first[i]));
      dsecond.push_back(test::upload(second[i]));
      daverage.push_back(test::upload(average[i]));
      drounded.emplace_back(sizes[i]);
      UpdateSlot slot;
      slot.value = dvalue[i].get();
      slot.rounded = drounded[i].get();
      slot.gradient16 = dgradient[i].get();
      slot.first = dfirst[i].get();
      slot.second = adamw ? dsecond[i].get() : nullptr;
      slot.average = daverage[i].get();
      slot.count = static_cast<std::int64_t>(sizes[i]);
      slots.push_back(slot);
      for (std::int64_t at = 0; at < slot.count; at += kUpdateChunk) {
        chunks.push_back({static_cast<std::int32_t>(i), at});
      }
    }
    const UpdateRates rates{0.2F, 0.3F, 0.4F};
    const UpdateRule rule{adamw, true, 0.9F, 0.99F, 1e-2F, 0.7F};
    const auto dslots = test::upload(slots);
    const auto dchunks = test::upload(chunks);
    const auto drates = test::upload(std::vector<UpdateRates>{{}, rates});
    const auto dstep = test::upload(std::vector<std::int64_t>{adamw ? 1 : 3});
    const auto dscale = test::upload(std::vector<float>{0.5F});
    load_update_kernel();
    launch_update({dslots.get(), dchunks.get(), static_cast<std::int32_t>(chunks.size()), rule,
                   drates.get(), 2, dstep.get(), dscale.get()},
                  nullptr);
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<double> wanted, wanted_first, wanted_average;
      for (std::size_t k = 0; k < sizes[i]; ++k) {
        double p = value[i][k];
        double g = 0.5 * gradient[i][k];
        double v = first[i][k];
        if (adamw) {
          p *= 1 - 0.2 * 1e-2;
          v = 0.9 * v + 0.1 * g;
          const double q = 0.99 * second[i][k] + 0.01 * g * g;
          p -= 0.2 / 0.3 * v / (std::sqrt(q / 0.4) + 1e-8);
        } else {
          g += 1e-2 * p;
          v = 0.9 * v + g;
          p -= 0.2 * (g + 0.9 * v);
        }
        wanted.push_back(p);
        wanted_first.push_back(v);
        wanted_average.push_back(0.7 * average[i][k] + 0.3 * p);
      }
      expect_near(test::download(dvalue[i], sizes[i]), wanted, 1e-5, "value");
      expect_near(widened(test::download(drounded[i], sizes[i])), wanted, 1.0 / 128, "rounded");
      expect_near(test::download(dfirst[i], sizes[i]), wanted_first, 1e-5, "first");
      expect_near(test::download(daverage[i], sizes[i]), wanted_average, 1e-5, "average");
    }
  }
}

}  // namespace
}  // namespace medley::nn
