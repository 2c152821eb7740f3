#include "medley/nn/trainer.h"

#include <cmath>
#include <functional>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/nearest_word.h"
#include "nn/layers.h"
#include "nn/model.h"

// The networks, with the parameter names of their PyTorch counterparts.

namespace medley::nn {
namespace {

using torch::Tensor;
namespace tnn = torch::nn;

tnn::Conv2d conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride = 1,
                 bool bias = false) {
  tnn::Conv2d layer(
      tnn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(bias));
  return layer;
}

tnn::BatchNorm2d norm(std::int64_t channels) {
  tnn::BatchNorm2d layer(channels);
  return layer;
}

/// Weights of convolutions from N(0, 2 / (kernel² · out)), as He et al. for the outputs.
void init_fan_out(tnn::Module& net) {
  torch::NoGradGuard no_grad;
  for (auto& module : net.modules(/*include_self=*/false)) {
    if (auto* c = module->as<tnn::Conv2d>()) {
      tnn::init::kaiming_normal_(c->weight, 0, torch::kFanOut, torch::kReLU);
    }
  }
}

// ---- pre-activation networks (He et al. 2016), as in the published CIFAR experiments ----

/// BN-ReLU-conv twice, or thrice as a bottleneck. The shortcut starts from the activated input, and
/// the network has no BN after its last block.
struct PreActBlock : tnn::Module {
  PreActBlock(std::int64_t in, std::int64_t planes, std::int64_t stride, bool bottleneck) {
    const std::int64_t out = bottleneck ? 4 * planes : planes;
    bn1 = register_module("bn1", norm(in));
    conv1 =
        register_module("conv1", bottleneck ? conv(in, planes, 1) : conv(in, planes, 3, stride));
    bn2 = register_module("bn2", norm(planes));
    conv2 = register_module("conv2", conv(planes, planes, 3, bottleneck ? stride : 1));
    if (bottleneck) {
      bn3 = register_module("bn3", norm(planes));
      conv3 = register_module("conv3", conv(planes, out, 1));
    }
    if (stride != 1 || in != out) {
      shortcut = register_module("shortcut", tnn::Sequential(conv(in, out, 1, stride)));
    }
  }
  Residual forward(const Residual& x) {
    const Activated in = norm_relu(bn1, x);
    Tensor y = convolution(*conv2, norm_relu(bn2, convolution(*conv1, in.active)));
    if (!conv3.is_empty()) y = convolution(*conv3, norm_relu(bn3, y));
    if (shortcut.is_empty()) return {y, in.input, {}};
    return {y, convolution(shortcut->at<tnn::Conv2dImpl>(0), in.active), {}};
  }
  tnn::BatchNorm2d bn1{nullptr}, bn2{nullptr}, bn3{nullptr};
  tnn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  tnn::Sequential shortcut{nullptr};
};

class PreActResNet : public Model {
 public:
  PreActResNet(const std::vector<std::int64_t>& blocks, bool bottleneck, std::int64_t classes,
               std::int64_t channels) {
    conv1_ = register_module("conv1", conv(channels, 64, 3));
    std::int64_t in = 64;
    for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
      const std::int64_t planes = std::int64_t{64} << stage;
      tnn::Sequential layer;
      for (std::int64_t b = 0; b < blocks[stage]; ++b) {
        layer->push_back(PreActBlock(in, planes, b == 0 && stage > 0 ? 2 : 1, bottleneck));
        in = bottleneck ? 4 * planes : planes;
      }
      layers_.emplace_back(register_module(fmt::format("layer{}", stage + 1), layer));
    }
    linear_ = register_module("linear", tnn::Linear(in, classes));
  }
  Tensor forward(Tensor x) override {
    Residual y{convolution(*conv1_, x), {}, {}};
    for (tnn::Sequential& layer : layers_) y = layer->forward<Residual>(y);
    return linear(*linear_, pixel_means(y));
  }

 private:
  tnn::Conv2d conv1_{nullptr};
  std::vector<tnn::Sequential> layers_;
  tnn::Linear linear_{nullptr};
};

// ---- wide residual networks (Zagoruyko and Komodakis 2016), without dropout ----

/// Convolutions have biases, the second one the stride; the shortcut starts from the raw input.
struct WideBlock : tnn::Module {
  WideBlock(std::int64_t in, std::int64_t planes, std::int64_t stride) {
    bn1 = register_module("bn1", norm(in));
    conv1 = register_module("conv1", conv(in, planes, 3, 1, true));
    bn2 = register_module("bn2", norm(planes));
    conv2 = register_module("conv2", conv(planes, planes, 3, stride, true));
    if (stride != 1 || in != planes) {
      shortcut = register_module("shortcut", tnn::Sequential(conv(in, planes, 1, stride, true)));
    }
  }
  Residual forward(const Residual& x) {
    const Activated in = norm_relu(bn1, x);
    const Shifted y =
        shifted_convolution(*conv2, norm_relu(bn2, shifted_convolution(*conv1, in.active)));
    if (shortcut.is_empty()) return {y.x, in.input, y.shift};
    const Shifted rest = shifted_convolution(shortcut->at<tnn::Conv2dImpl>(0), in.input);
    return {y.x, rest.x, y.shift.defined() ? y.shift + rest.shift : y.shift};
  }
  tnn::BatchNorm2d bn1{nullptr}, bn2{nullptr};
  tnn::Conv2d conv1{nullptr}, conv2{nullptr};
  tnn::Sequential shortcut{nullptr};
};

class WideResNet : public Model {
 public:
  WideResNet(std::int64_t depth, std::int64_t widen, std::int64_t classes, std::int64_t channels) {
    conv1_ = register_module("conv1", conv(channels, 16, 3, 1, true));
    std::int64_t in = 16;
    for (std::int64_t stage = 0; stage < 3; ++stage) {
      const std::int64_t planes = (16 << stage) * widen;
      tnn::Sequential layer;
      for (std::int64_t b = 0; b < (depth - 4) / 6; ++b) {
        layer->push_back(WideBlock(in, planes, b == 0 && stage > 0 ? 2 : 1));
        in = planes;
      }
      layers_.emplace_back(register_module(fmt::format("layer{}", stage + 1), layer));
    }
    bn1_ = register_module("bn1", tnn::BatchNorm2d(tnn::BatchNorm2dOptions(in).momentum(0.9)));
    linear_ = register_module("linear", tnn::Linear(in, classes));
  }
  Tensor forward(Tensor x) override {
    Residual y{convolution(*conv1_, x), {}, {}};
    for (tnn::Sequential& layer : layers_) y = layer->forward<Residual>(y);
    return linear(*linear_, pixel_means({norm_relu(bn1_, y).active, {}, {}}));
  }

 private:
  tnn::Conv2d conv1_{nullptr};
  tnn::BatchNorm2d bn1_{nullptr};
  std::vector<tnn::Sequential> layers_;
  tnn::Linear linear_{nullptr};
};

// ---- residual networks (He et al. 2015), with torchvision's names ----

struct ResBlock : tnn::Module {
  ResBlock(std::int64_t in, std::int64_t planes, std::int64_t stride, bool bottleneck) {
    const std::int64_t out = bottleneck ? 4 * planes : planes;
    conv1 =
        register_module("conv1", bottleneck ? conv(in, planes, 1) : conv(in, planes, 3, stride));
    bn1 = register_module("bn1", norm(planes));
    conv2 = register_module("conv2", conv(planes, planes, 3, bottleneck ? stride : 1));
    bn2 = register_module("bn2", norm(planes));
    if (bottleneck) {
      conv3 = register_module("conv3", conv(planes, out, 1));
      bn3 = register_module("bn3", norm(out));
    }
    if (stride != 1 || in != out) {
      downsample =
          register_module("downsample", tnn::Sequential(conv(in, out, 1, stride), norm(out)));
    }
  }
  Tensor forward(const Tensor& x) {
    Tensor y = convolution(*conv2, norm_relu(bn1, convolution(*conv1, x)));
    y = conv3.is_empty() ? bn2(y) : bn3(convolution(*conv3, norm_relu(bn2, y)));
    return torch::relu(y + (downsample.is_empty() ? x : downsample->forward(x)));
  }
  tnn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  tnn::BatchNorm2d bn1{nullptr}, bn2{nullptr}, bn3{nullptr};
  tnn::Sequential downsample{nullptr};
};

struct ResNetShape {
  std::vector<std::int64_t> blocks;
  std::int64_t planes;  // of the first stage; each later one doubles them
  bool bottleneck;
  bool large_stem;  // 7×7 with stride 2 and pooling, for large images
};

class ResNet : public Model {
 public:
  ResNet(const ResNetShape& shape, std::int64_t classes, std::int64_t channels)
      : large_stem_(shape.large_stem) {
    std::int64_t in = shape.planes;
    conv1_ =
        register_module("conv1", large_stem_ ? conv(channels, in, 7, 2) : conv(channels, in, 3));
    bn1_ = register_module("bn1", norm(in));
    for (std::size_t stage = 0; stage < shape.blocks.size(); ++stage) {
      const std::int64_t planes = shape.planes << stage;
      tnn::Sequential layer;
      for (std::int64_t b = 0; b < shape.blocks[stage]; ++b) {
        layer->push_back(ResBlock(in, planes, b == 0 && stage > 0 ? 2 : 1, shape.bottleneck));
        in = shape.bottleneck ? 4 * planes : planes;
      }
      layers_.emplace_back(register_module(fmt::format("layer{}", stage + 1), layer));
    }
    fc_ = register_module("fc", tnn::Linear(in, classes));
    init_fan_out(*this);
  }
  Tensor forward(Tensor x) override {
    x = norm_relu(bn1_, convolution(*conv1_, x));
    if (large_stem_) x = torch::max_pool2d(x, 3, 2, 1);
    for (tnn::Sequential& layer : layers_) x = layer->forward(x);
    return linear(*fc_, pixel_means({x, {}, {}}));
  }

 private:
  bool large_stem_;
  tnn::Conv2d conv1_{nullptr};
  tnn::BatchNorm2d bn1_{nullptr};
  std::vector<tnn::Sequential> layers_;
  tnn::Linear fc_{nullptr};
};

// ---- the list ----

using Make = std::function<std::shared_ptr<Model>(std::int64_t classes, std::int64_t channels)>;

Make preact(const std::vector<std::int64_t>& blocks, bool bottleneck) {
  return [=](std::int64_t classes, std::int64_t channels) {
    return std::make_shared<PreActResNet>(blocks, bottleneck, classes, channels);
  };
}

Make resnet(const ResNetShape& shape) {
  return [=](std::int64_t classes, std::int64_t channels) {
    return std::make_shared<ResNet>(shape, classes, channels);
  };
}

const std::vector<std::pair<std::string_view, Make>>& registry() {
  static const std::vector<std::pair<std::string_view, Make>> all = {
      {"resnet8", resnet({{1, 1, 1}, 16, false, false})},
      {"resnet56", resnet({{9, 9, 9}, 16, false, false})},
      {"wrn28-2",
       [](std::int64_t classes, std::int64_t channels) {
         return std::make_shared<WideResNet>(28, 2, classes, channels);
       }},
      {"preactresnet18", preact({2, 2, 2, 2}, false)},
      {"preactresnet34", preact({3, 4, 6, 3}, false)},
      {"preactresnet50", preact({3, 4, 6, 3}, true)},
      {"resnet18", resnet({{2, 2, 2, 2}, 64, false, true})},
      {"resnet50", resnet({{3, 4, 6, 3}, 64, true, true})},
      {"resnet18-cifar", resnet({{2, 2, 2, 2}, 64, false, false})},
      {"resnet50-cifar", resnet({{3, 4, 6, 3}, 64, true, false})},
  };
  return all;
}

const Make& maker_of(const std::string& name) {
  for (const auto& [known, make] : registry()) {
    if (known == name) return make;
  }
  const std::vector<std::string_view> names = model_names();
  const std::string near = suggestion(name, names);
  fail_argument(
      fmt::format("there is no network \"{}\"{}", name,
                  near.empty() ? fmt::format("; networks are {}", fmt::join(names, ", ")) : near));
}

}  // namespace

void check_model(const std::string& name) { (void)maker_of(name); }

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, make] : registry()) names.push_back(name);
  return names;
}

std::shared_ptr<Model> make_model(const std::string& name, std::int64_t classes,
                                  std::int64_t channels) {
  if (classes < 2)
    fail_argument(fmt::format("a network needs at least 2 classes, got {}", classes));
  return maker_of(name)(classes, channels);
}

std::shared_ptr<Model> make_model(const std::string& name, std::int64_t classes,
                                  std::int64_t channels, std::uint64_t seed) {
  // All runs of the process draw from the same generator.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  torch::manual_seed(seed);
  return make_model(name, classes, channels);
}

std::int64_t parameter_count(const std::string& model, std::int64_t classes) {
  std::int64_t count = 0;
  for (const Tensor& p : make_model(model, classes)->parameters()) count += p.numel();
  return count;
}

}  // namespace medley::nn
