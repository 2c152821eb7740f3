// A captured step replays with new data: the step index on the device selects the batch.

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/device.h"
#include "medley/medley.h"

namespace medley {
namespace {

class CudaGraph : public test::CudaTest {};

TEST_F(CudaGraph, ReplaysAnEpochStepByStep) {
  constexpr std::int64_t kImages = 64;
  constexpr std::int64_t kBatch = 16;
  constexpr std::int64_t kSteps = kImages / kBatch;
  const BatchShape set_shape{kImages, 3, 32, 32};
  const BatchShape out_shape{kBatch, 3, 32, 32};
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(set_shape.values()));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(i * 2654435761u >> 24);
  }
  MixPolicy policy{.method = "hmix", .pairing = Pairing::dataset, .augment = {2, 0.5}};
  const Sampler sampler(policy, {32, 32}, 11);
  const auto epoch = [&](std::uint64_t number) {
    std::vector<MixPlan> steps;
    for (std::int64_t s = 0; s < kSteps; ++s) {
      steps.push_back(sampler.plan(
          {.batch = kBatch, .first = s * kBatch, .epoch = number, .dataset_size = kImages}));
    }
    return steps;
  };
  std::vector<MixPlan> steps = epoch(0);
  const MixOptions options{.normalize = {{120, 121, 122}, {60, 61, 62}}};

  const auto device_pixels = test::upload(pixels);
  cuda::DeviceArray<float> device_out(static_cast<std::size_t>(out_shape.values()));
  const auto device_step = test::upload(std::vector<std::int64_t>{0});
  cuda::DevicePlan plan(steps, kImages);
  const ImageBatchView in{device_pixels.get(), DType::u8, Layout::nchw, set_shape,
                          dense_strides(set_shape, Layout::nchw)};
  const MutableImageBatchView out{device_out.get(), DType::f32, Layout::nchw, out_shape,
                                  dense_strides(out_shape, Layout::nchw)};

  cudaStream_t stream = nullptr;
  MEDLEY_CUDA_CHECK(cudaStreamCreate(&stream));
  MEDLEY_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cuda::mix(plan, in, out, options, stream, {device_step.get()});
  cuda::advance(device_step.get(), stream);
  cudaGraph_t graph = nullptr;
  MEDLEY_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  MEDLEY_CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));

  // More steps than the epoch has: the index wraps around. The second epoch takes the place of the
  // first under the same graph.
  for (std::int64_t s = 0; s < 2 * kSteps; ++s) {
    if (s == kSteps + 1) {
      steps = epoch(1);
      ASSERT_TRUE(plan.update(steps, stream));
    }
    MEDLEY_CUDA_CHECK(cudaGraphLaunch(exec, stream));
    MEDLEY_CUDA_CHECK(cudaStreamSynchronize(stream));
    std::vector<float> expected(static_cast<std::size_t>(out_shape.values()));
    mix(steps[static_cast<std::size_t>(s % kSteps)],
        view_of(std::span<const std::uint8_t>(pixels), set_shape),
        mutable_view_of(expected, out_shape), options);
    EXPECT_EQ(test::download(device_out, expected.size()), expected) << "step " << s;
  }
  MEDLEY_CUDA_CHECK(cudaGraphExecDestroy(exec));
  MEDLEY_CUDA_CHECK(cudaGraphDestroy(graph));
  MEDLEY_CUDA_CHECK(cudaStreamDestroy(stream));
}

TEST_F(CudaGraph, ImagesAndLabelsAreOfTheSameStep) {
  constexpr std::int64_t kImages = 6;
  constexpr std::int64_t kBatch = 2;
  std::vector<MixPlan> steps(3);  // three, so that wrapping at 2^64 would show
  for (std::int64_t s = 0; s < 3; ++s) {
    MixPlan& plan = steps[static_cast<std::size_t>(s)];
    plan.size = {1, 1};
    plan.entries.resize(kBatch);
    for (std::int64_t b = 0; b < kBatch; ++b) {
      MixEntry& entry = plan.entries[static_cast<std::size_t>(b)];
      entry.own.index = entry.partner.index = kBatch * s + b;
    }
  }
  const cuda::DevicePlan plan(steps, kImages);
  const BatchShape in_shape{kImages, 1, 1, 1};
  const BatchShape out_shape{kBatch, 1, 1, 1};
  const auto images = test::upload(std::vector<float>{0, 1, 2, 3, 4, 5});
  const auto labels = test::upload(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  cuda::DeviceArray<float> mixed(kBatch), weights(2 * kBatch);
  cuda::DeviceArray<std::int64_t> classes(2 * kBatch);
  const auto first_of = [&](cuda::StepIndex step) {
    cuda::mix(
        plan,
        {images.get(), DType::f32, Layout::nchw, in_shape, dense_strides(in_shape, Layout::nchw)},
        {mixed.get(), DType::f32, Layout::nchw, out_shape, dense_strides(out_shape, Layout::nchw)},
        {}, nullptr, step);
    cuda::mix_labels(plan, {labels.get(), kImages}, {classes.get(), 2 * kBatch},
                     {weights.get(), 2 * kBatch}, nullptr, step);
    const auto pixel = static_cast<std::int64_t>(test::download(mixed, 1)[0]);
    EXPECT_EQ(test::download(classes, 1)[0], pixel);
    return pixel;
  };
  const auto index = test::upload(std::vector<std::int64_t>{4});
  EXPECT_EQ(first_of({}), 0);
  EXPECT_EQ(first_of({nullptr, 2}), 4);
  EXPECT_EQ(first_of({nullptr, -1}), 4);
  EXPECT_EQ(first_of({index.get(), 0}), 2);
  EXPECT_EQ(first_of({index.get(), -5}), 4);
  EXPECT_EQ(first_of({index.get(), 1}), 4);
}

TEST_F(CudaGraph, PlansThatNeedMoreAreNotPutInPlace) {
  const Sampler flat(MixPolicy{.method = "mixup"}, {32, 32}, 1);
  const Sampler boxes(MixPolicy{.method = "cutmix"}, {32, 32}, 1);
  const Sampler gaussians(MixPolicy{.method = "gmix"}, {32, 32}, 1);
  cuda::DevicePlan plan(flat.plan({.batch = 16}), 16);
  const auto put = [&](const MixPlan& other) { return plan.update({&other, 1}, nullptr); };
  EXPECT_TRUE(put(flat.plan({.batch = 16, .epoch = 1})));
  EXPECT_FALSE(put(flat.plan({.batch = 15})));
  EXPECT_TRUE(put(boxes.plan({.batch = 16})));  // the kernels of flat masks know boxes
  EXPECT_FALSE(put(gaussians.plan({.batch = 16})));
}

TEST_F(CudaGraph, ExtendedPlansTakeBothKinds) {
  constexpr BatchShape kShape{8, 3, 16, 16};
  const Sampler none(MixPolicy{.method = "none"}, {16, 16}, 1);
  const Sampler fields(MixPolicy{.method = "fmix"}, {16, 16}, 1);
  const Sampler gaussians(MixPolicy{.method = "gmix"}, {16, 16}, 1);
  std::vector<float> pixels(static_cast<std::size_t>(kShape.values()));
  std::iota(pixels.begin(), pixels.end(), 0.0f);
  const BatchStrides strides = dense_strides(kShape, Layout::nchw);
  const auto images = test::upload(pixels);
  cuda::DeviceArray<float> mixed(pixels.size());
  cuda::DevicePlan plan(none.plan({.batch = 8}), 8);
  const auto mixes_like_the_cpu = [&](const MixPlan& of) {
    cuda::mix(plan, {images.get(), DType::f32, Layout::nchw, kShape, strides},
              {mixed.get(), DType::f32, Layout::nchw, kShape, strides}, {}, nullptr);
    std::vector<float> expected(pixels.size());
    mix(of, {pixels.data(), DType::f32, Layout::nchw, kShape, strides},
        {expected.data(), DType::f32, Layout::nchw, kShape, strides}, {});
    return test::download(mixed, pixels.size()) == expected;
  };
  for (const Sampler* sampler : {&fields, &gaussians}) {
    const MixPlan other = sampler->plan({.batch = 8});
    EXPECT_FALSE(plan.update({&other, 1}, nullptr));
    plan.extend({&other, 1});
    EXPECT_TRUE(mixes_like_the_cpu(other));
  }
  for (const Sampler* sampler : {&none, &fields, &gaussians, &fields, &none}) {
    const MixPlan other = sampler->plan({.batch = 8, .epoch = 1});
    EXPECT_TRUE(plan.update({&other, 1}, nullptr));
    EXPECT_TRUE(mixes_like_the_cpu(other));
  }
}

}  // namespace
}  // namespace medley
