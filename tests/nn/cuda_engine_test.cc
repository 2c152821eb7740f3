// Training on a GPU, against training on the CPU and against itself.

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/torch.h>
#include <unistd.h>

#include "medley/data/image.h"
#include "medley/error.h"
#include "medley/nn/evaluate.h"
#include "medley/nn/trainer.h"
#include "nn/cuda/side_convolution.h"
#include "nn/cuda/stream_lease.h"
#include "nn/layers.h"

namespace medley::nn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kData = "synthetic:train=220,test=64,size=32,classes=5";

class Stopper : public TrainObserver {
 public:
  explicit Stopper(int after) : left_(after) {}
  void on_step(std::int64_t, std::optional<double>) override { --left_; }
  bool stop() override { return left_ <= 0; }

 private:
  int left_;
};

class CudaEngine : public testing::Test {
 protected:
  CudaEngine() : root_(fs::temp_directory_path() / ("medley-cuda-" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~CudaEngine() override { fs::remove_all(root_); }

  void SetUp() override {
    if (!is_available(Device::cuda)) GTEST_SKIP() << "no CUDA device on this machine";
  }

  TrainOptions options(const std::string& name) const {
    TrainOptions options;
    options.recipe.model = "preactresnet18";
    options.recipe.epochs = 2;
    options.recipe.batch = 40;  // the last step is short
    options.recipe.lr = 0.02;
    options.recipe.pad = 2;
    options.recipe.loss = train::Loss::bce_softmax;
    options.recipe.mix.method = "hmix";
    options.seed = 3;
    options.device = Device::cuda;
    options.out = root_ / name;
    return options;
  }

  std::vector<train::EpochMetrics> run(const TrainOptions& options) {
    TrainObserver silent;
    return train(data_, options, silent).metrics;
  }

  std::string weights(const std::string& name) const {
    std::ifstream in(root_ / name / "weights.safetensors", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path root_;
  data::ImageData data_ = data::open_data(kData);
};

void expect_alike(const std::vector<train::EpochMetrics>& a,
                  const std::vector<train::EpochMetrics>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i].train_loss, b[i].train_loss, tolerance * a[i].train_loss) << "epoch " << i;
  }
}

TEST_F(CudaEngine, FollowsTheCpuInF32) {
  TrainOptions cpu = options("cpu");
  cpu.device = Device::cpu;
  TrainOptions gpu = options("gpu");
  gpu.precision = Precision::f32;
  expect_alike(run(cpu), run(gpu), 0.01);
}

TEST_F(CudaEngine, FollowsTheCpuWithEveryKindOfRule) {
  for (const train::Optimizer optimizer : {train::Optimizer::sgd, train::Optimizer::adamw}) {
    TrainOptions cpu = options(fmt::format("cpu{}", static_cast<int>(optimizer)));
    cpu.device = Device::cpu;
    cpu.recipe.model = "wrn28-2";
    cpu.recipe.optimizer = optimizer;
    cpu.recipe.lr = optimizer == train::Optimizer::adamw ? 1e-3 : 0.02;
    cpu.recipe.loss = train::Loss::cross_entropy;
    cpu.recipe.smoothing = 0.1;
    cpu.recipe.clip_norm = 1;
    cpu.recipe.ema = 0.5;
    TrainOptions gpu = cpu;
    gpu.device = Device::cuda;
    gpu.precision = Precision::f32;
    gpu.out = root_ / fmt::format("gpu{}", static_cast<int>(optimizer));
    expect_alike(run(cpu), run(gpu), 0.02);
  }
}

TEST_F(CudaEngine, GraphsChangeNothing) {
  TrainOptions graph = options("graph");
  graph.deterministic = true;
  TrainOptions eager = options("eager");
  eager.deterministic = true;
  eager.no_graph = true;
  run(graph);
  run(eager);
  EXPECT_EQ(weights("graph"), weights("eager"));
}

TEST_F(CudaEngine, HalfThePrecisionLearnsAlike) {
  TrainOptions f32 = options("f32");
  f32.precision = Precision::f32;
  expect_alike(run(f32), run(options("bf16")), 0.05);
}

TEST_F(CudaEngine, AStoppedRunGoesOnToTheSameBits) {
  TrainOptions whole = options("whole");
  whole.deterministic = true;
  run(whole);
  TrainOptions parts = options("parts");
  parts.deterministic = true;
  parts.existing = train::ExistingRun::resume;
  for (int i = 0; i < 10; ++i) {
    Stopper stopper(i == 9 ? 1000 : 2);
    if (!train(data_, parts, stopper).stopped) break;
  }
  EXPECT_EQ(weights("whole"), weights("parts"));
}

TEST_F(CudaEngine, RunsSideBySideGiveWhatTheyGiveAlone) {
  const auto one = [&](const std::string& folder, std::uint64_t seed) {
    TrainOptions single = options(fmt::format("{}{}", folder, seed));
    single.deterministic = true;
    single.seed = seed;
    run(single);
  };
  for (std::uint64_t seed = 0; seed < 3; ++seed) one("alone", seed);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    threads.emplace_back([&, seed] { one("beside", seed); });
  }
  for (std::thread& thread : threads) thread.join();
  for (int seed = 0; seed < 3; ++seed) {
    EXPECT_EQ(weights(fmt::format("alone{}", seed)), weights(fmt::format("beside{}", seed)));
  }
}

TEST_F(CudaEngine, StreamsImagesFromFiles) {
  for (std::int64_t i = 0; i < data_.train.count(); ++i) {
    const fs::path folder = root_ / "data" / (i < 180 ? "train" : "val") /
                            fmt::format("c{}", data_.train.labels[static_cast<std::size_t>(i)]);
    fs::create_directories(folder);
    data::Image image{{32, 32}, std::vector<std::uint8_t>(3 * 32 * 32)};
    const std::uint8_t* planes = data_.train.pixels.data() + i * 3 * 32 * 32;
    for (std::size_t p = 0; p < 32 * 32; ++p) {
      for (std::size_t c = 0; c < 3; ++c) image.rgb[3 * p + c] = planes[c * 32 * 32 + p];
    }
    data::write_png(folder / fmt::format("{}.png", i), image);
  }
  data_ = data::open_data("folder:" + (root_ / "data").string());
  TrainOptions cpu = options("cpu");
  cpu.device = Device::cpu;
  cpu.recipe.image_size = 32;
  cpu.recipe.test_resize = 36;
  TrainOptions gpu = cpu;
  gpu.device = Device::cuda;
  gpu.precision = Precision::f32;
  gpu.out = root_ / "gpu";
  expect_alike(run(cpu), run(gpu), 0.01);
}

TEST_F(CudaEngine, EvaluationsAreInF32) {
  run(options("a"));  // in bf16, which allows tf32
  ASSERT_TRUE(at::globalContext().allowTF32CuDNN());
  (void)evaluate_file(root_ / "a" / "weights.safetensors", data_, 0, Device::cuda);
  EXPECT_FALSE(at::globalContext().allowTF32CuDNN());
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
}

TEST_F(CudaEngine, ProfilesHaveAllParts) {
  struct Watcher : TrainObserver {
    void on_profile(const StepProfile& p) override { profile = p; }
    StepProfile profile;
  } watcher;
  TrainOptions profiled = options("profiled");
  profiled.profile = true;
  train(data_, profiled, watcher);
  ASSERT_EQ(watcher.profile.parts.size(), 5);
  EXPECT_GT(watcher.profile.ms_per_step, 0);
}

TEST_F(CudaEngine, ProfilesChangeNothing) {
  for (const bool profile : {false, true}) {
    TrainOptions one = options(profile ? "profiled" : "plain");
    one.deterministic = true;
    one.profile = profile;
    run(one);
  }
  EXPECT_EQ(weights("profiled"), weights("plain"));
}

/// The fused kernel through autograd, against LibTorch's own operations in f32.
TEST_F(CudaEngine, FusedNormsHaveTheGradientsOfPlainOnes) {
  torch::manual_seed(5);
  const auto images = [&] {
    return torch::randn({8, 64, 16, 16}, torch::kCUDA)
        .to(torch::kBFloat16)
        .contiguous(at::MemoryFormat::ChannelsLast)
        .requires_grad_(true);
  };
  const torch::Tensor x = images();
  const torch::Tensor rest = images();
  torch::nn::BatchNorm2d bn(64);
  bn->to(torch::kCUDA);
  const Activated out = norm_relu(bn, Residual{x, rest, {}});
  const torch::Tensor goal = torch::randn({8, 64, 16, 16}, torch::kCUDA);
  ((out.active.to(torch::kFloat32) * goal).sum() + out.input.to(torch::kFloat32).sum()).backward();
  const torch::Tensor fused = x.grad().to(torch::kFloat32);
  const torch::Tensor fused_weight = bn->weight.grad().clone();
  const torch::Tensor wide_x = x.detach().to(torch::kFloat32).requires_grad_(true);
  const torch::Tensor wide_rest = rest.detach().to(torch::kFloat32);
  bn->weight.mutable_grad().reset();
  bn->bias.mutable_grad().reset();
  const Activated plain = norm_relu(bn, Residual{wide_x, wide_rest, {}});
  ((plain.active * goal).sum() + plain.input.sum()).backward();
  EXPECT_LT((fused - wide_x.grad()).norm().item<double>(),
            0.02 * wide_x.grad().norm().item<double>());
  EXPECT_LT((fused_weight - bn->weight.grad()).norm().item<double>(),
            0.02 * bn->weight.grad().norm().item<double>());
  EXPECT_TRUE(torch::equal(rest.grad(), x.grad()));
}

/// For scores: the running mean and variance, without gradients.
TEST_F(CudaEngine, FusedNormsScoreAsPlainOnes) {
  torch::manual_seed(7);
  const torch::NoGradGuard no_grad;
  const auto images = [&] {
    return torch::randn({8, 64, 16, 16}, torch::kCUDA)
        .to(torch::kBFloat16)
        .contiguous(at::MemoryFormat::ChannelsLast);
  };
  torch::nn::BatchNorm2d bn(64);
  bn->to(torch::kCUDA);
  bn->running_mean.normal_();
  bn->running_var.uniform_(0.5, 2);
  bn->eval();
  const torch::Tensor shift = torch::randn({64}, torch::kCUDA).to(torch::kBFloat16);
  const auto f32 = [](const torch::Tensor& t) { return t.to(torch::kFloat32); };
  const torch::Tensor x = images();
  const torch::Tensor rest = images();
  const Activated fused = norm_relu(bn, Residual{x, rest, shift});
  const Activated plain = norm_relu(bn, Residual{f32(x), f32(rest), f32(shift)});
  EXPECT_TRUE(torch::allclose(f32(fused.active), plain.active, 0.02, 0.03));
  EXPECT_TRUE(torch::allclose(f32(fused.input), plain.input, 0.01, 0.01));
  EXPECT_TRUE(torch::allclose(f32(norm_relu(bn, Shifted{x, shift})),
                              norm_relu(bn, Shifted{f32(x), f32(shift)}), 0.02, 0.03));
}

TEST_F(CudaEngine, NormsDoNotLearnFromOnePixel) {
  torch::nn::BatchNorm2d bn(64);
  bn->to(torch::kCUDA);
  const torch::Tensor pixel = torch::randn({1, 64, 1, 1}, torch::kCUDA)
                                  .to(torch::kBFloat16)
                                  .contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_THROW((void)norm_relu(bn, pixel), c10::Error);
  bn->eval();
  const torch::NoGradGuard no_grad;
  EXPECT_EQ(norm_relu(bn, pixel).size(1), 64);
}

TEST_F(CudaEngine, LeasedStreamsAreNotShared) {
  std::vector<std::unique_ptr<StreamLease>> leases;
  std::set<cudaStream_t> streams;
  const auto lease = [&] { leases.push_back(std::make_unique<StreamLease>()); };
  const auto lease_all = [&] {
    while (leases.size() < 100) lease();
  };
  EXPECT_THROW(lease_all(), DeviceMemoryError);
  for (const auto& one : leases) streams.insert(one->stream().stream());
  EXPECT_EQ(streams.size(), leases.size());
  const cudaStream_t last = leases.back()->stream().stream();
  leases.pop_back();
  lease();
  EXPECT_EQ(leases.back()->stream().stream(), last) << "the only free one";
}

/// The end of a network through autograd, against LibTorch's own operations in f32.
TEST_F(CudaEngine, FusedHeadsHaveTheGradientsOfPlainOnes) {
  torch::manual_seed(8);
  const auto images = [&] {
    return torch::randn({8, 64, 4, 4}, torch::kCUDA)
        .to(torch::kBFloat16)
        .contiguous(at::MemoryFormat::ChannelsLast);
  };
  const torch::Tensor x = images();
  const torch::Tensor rest = images();
  const torch::Tensor goal = torch::randn({8, 10}, torch::kCUDA);
  torch::nn::Linear layer(64, 10);
  layer->to(torch::kCUDA);
  const auto run = [&](torch::ScalarType type) {
    layer->zero_grad();
    const torch::Tensor a = x.to(type).clone().requires_grad_(true);
    const torch::Tensor b = rest.to(type).clone().requires_grad_(true);
    const torch::Tensor logits = type == torch::kBFloat16
                                     ? linear(*layer, pixel_means({a, b, {}}))
                                     : layer((a + b).mean(at::IntArrayRef({2, 3})));
    (logits * goal).sum().backward();
    return std::vector<torch::Tensor>{logits.detach(), a.grad().to(torch::kFloat32),
                                      b.grad().to(torch::kFloat32), layer->weight.grad().clone(),
                                      layer->bias.grad().clone()};
  };
  const std::vector<torch::Tensor> fused = run(torch::kBFloat16);
  const std::vector<torch::Tensor> plain = run(torch::kFloat32);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    EXPECT_LT((fused[i] - plain[i]).norm().item<double>(), 0.01 * plain[i].norm().item<double>())
        << i;
  }
}

/// Weights whose gradients are computed beside, against autograd's; pictures have three channels.
/// Of the first and the fourth, kernels of our own take care.
TEST_F(CudaEngine, SideConvolutionsHaveTheGradientsOfPlainOnes) {
  torch::manual_seed(6);
  const auto images = [](std::int64_t channels) {
    return torch::randn({8, channels, 16, 16}, torch::kCUDA)
        .to(torch::kBFloat16)
        .contiguous(at::MemoryFormat::ChannelsLast);
  };
  using Channels = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [channels, out] :
       {Channels{3, 32}, Channels{3, 48}, Channels{64, 32}, Channels{64, 64}, Channels{32, 32}}) {
    torch::nn::Conv2d conv(torch::nn::Conv2dOptions(channels, out, 3).padding(1).bias(false));
    conv->to(torch::kCUDA, torch::kBFloat16);
    conv->weight.set_data(conv->weight.contiguous(at::MemoryFormat::ChannelsLast));
    const torch::Tensor x = images(channels).requires_grad_(channels != 3);
    const torch::Tensor goal = images(out);
    const auto backward = [&](bool beside) {
      conv->weight.mutable_grad().reset();
      x.mutable_grad().reset();
      SideStream side;
      torch::Tensor y;
      if (beside) {
        const SideStream::Use use(side);
        y = convolution(*conv, x);
      } else {
        y = convolution(*conv, x);
      }
      (y * goal).sum().backward();
      side.join();
      return std::pair(conv->weight.grad().to(torch::kFloat32),
                       x.grad().defined() ? x.grad().to(torch::kFloat32) : torch::Tensor());
    };
    const auto [dweight, dx] = backward(true);
    const auto [plain_dweight, plain_dx] = backward(false);
    EXPECT_LT((dweight - plain_dweight).norm().item<double>(),
              0.01 * plain_dweight.norm().item<double>());
    if (channels == 3) continue;
    EXPECT_LT((dx - plain_dx).norm().item<double>(), 0.01 * plain_dx.norm().item<double>());
  }
}

}  // namespace
}  // namespace medley::nn
