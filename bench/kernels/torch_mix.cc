// Mixing as published systems write it, operation by operation.

#include "kernels/torch_mix.h"

#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <variant>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "support/buffer.h"

namespace medley::bench {
namespace {

/// Hands freed blocks out again; small ones come from the stock allocator.
class CachedMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) const override {
    if (bytes < kLarge) return c10::GetDefaultCPUAllocator()->allocate(bytes);
    const std::lock_guard lock(mutex());
    std::vector<Buffer*>& blocks = free_blocks()[bytes];
    if (blocks.empty()) blocks.push_back(new Buffer(static_cast<std::int64_t>(bytes)));
    Buffer* block = blocks.back();
    blocks.pop_back();
    return {block->data(), block, &give_back, c10::Device(c10::DeviceType::CPU)};
  }

 private:
  static constexpr std::size_t kLarge = 1 << 20;

  static void give_back(void* context) {
    auto* block = static_cast<Buffer*>(context);
    const std::lock_guard lock(mutex());
    free_blocks()[static_cast<std::size_t>(block->size())].push_back(block);
  }
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::map<std::size_t, std::vector<Buffer*>>& free_blocks() {
    static std::map<std::size_t, std::vector<Buffer*>> instance;
    return instance;
  }
};

/// x[:, :, y0:y1, x0:x1]
at::Tensor cut(const at::Tensor& x, const BoxMask& box) {
  return x.slice(2, box.top, box.top + box.height).slice(3, box.left, box.left + box.width);
}

// timm and hmix-gmix overwrite the batch.

void mixup_published(at::Tensor& x, double lam) {
  const at::Tensor flipped = x.flip(0).mul_(1 - lam);
  x.mul_(lam).add_(flipped);
}

void cutmix_published(at::Tensor& x, const BoxMask& box) { cut(x, box).copy_(cut(x.flip(0), box)); }

void hmix_published(at::Tensor& x, const BoxMask& box) {
  const at::Tensor clone = x.clone();
  const at::Tensor flipped = x.flip(0).mul_(1 - box.outside);
  x.mul_(box.outside).add_(flipped);
  cut(x, box).copy_(cut(clone.flip(0), box));
}

void gmix_published(at::Tensor& x, const GaussianMask& mask) {
  const std::int64_t height = x.size(2);
  const std::int64_t width = x.size(3);
  const at::Tensor columns = at::arange(width).repeat({height, 1}) - mask.cx;
  const at::Tensor rows = at::arange(height).repeat({width, 1}).t() - mask.cy;
  const at::Tensor distance = at::stack({columns, rows}, -1).to(at::kFloat).pow(2).sum(-1);
  const double scale = std::numbers::pi / (mask.tau * static_cast<double>(height * width));
  const at::Tensor kernel = at::exp(-distance * scale);
  if (mask.peak == Peak::own) {
    const at::Tensor flipped = x.flip(0).mul_(1 - kernel);
    x.mul_(kernel).add_(flipped);
  } else {
    const at::Tensor flipped = x.flip(0).mul_(kernel);
    x.mul_(1 - kernel).add_(flipped);
  }
}

/// mixup-cifar10: a new batch, the partners gathered by index.
at::Tensor mixup_by_index(const at::Tensor& x, const at::Tensor& index, double lam) {
  return x.mul(lam).add_(x.index_select(0, index).mul_(1 - lam));
}

/// A new batch, and no more of the partners than the box. Better than what is published.
at::Tensor cutmix_clone(const at::Tensor& x, const BoxMask& box) {
  at::Tensor y = x.clone();
  cut(y, box).copy_(cut(x, box).flip(0));
  return y;
}

void cutmix_box_only(at::Tensor& x, const BoxMask& box) { cut(x, box).copy_(cut(x, box).flip(0)); }

/// Gives x the input as floats: a new tensor for u8, `work` for compositions that overwrite, else
/// the input itself.
class Inputs {
 public:
  Inputs(const ImageBatchView& in, float* work, const Normalize& normalize) {
    const BatchShape& s = in.shape;
    const std::vector<std::int64_t> sizes = {s.count, s.channels, s.height, s.width};
    const auto type = in.dtype == DType::u8 ? at::kByte : at::kFloat;
    input_ = at::from_blob(const_cast<void*>(in.data), sizes, type);
    if (in.dtype == DType::f32) work_ = at::from_blob(work, sizes, at::kFloat);
    if (!normalize.empty()) {
      mean_ = at::tensor(normalize.mean).view({1, s.channels, 1, 1});
      stddev_ = at::tensor(normalize.stddev).view({1, s.channels, 1, 1});
    }
  }

  [[nodiscard]] at::Tensor read_only() const { return work_.defined() ? input_ : converted(); }
  [[nodiscard]] at::Tensor to_overwrite() const { return work_.defined() ? work_ : converted(); }

 private:
  [[nodiscard]] at::Tensor converted() const {
    at::Tensor x = input_.to(at::kFloat);
    return mean_.defined() ? x.sub_(mean_).div_(stddev_) : x;
  }

  at::Tensor input_;
  at::Tensor work_;
  at::Tensor mean_;
  at::Tensor stddev_;
};

}  // namespace

std::string torch_description() {
  return fmt::format("LibTorch {}, OpenMP {}", TORCH_VERSION, at::hasOpenMP() ? "on" : "off");
}

void use_cached_torch_memory() {
  static CachedMemory memory;
  c10::SetCPUAllocator(&memory, 255);
}

std::vector<TorchContender> torch_contenders(const MixPlan& plan, const ImageBatchView& in,
                                             float* work, const Normalize& normalize, int threads) {
  at::set_num_threads(threads);
  const auto inputs = std::make_shared<const Inputs>(in, work, normalize);
  const Mask mask = plan.entries.front().mask;
  std::vector<TorchContender> contenders;
  const auto add_in_place = [&](const char* name, auto&& mix) {
    contenders.push_back(
        {name, in.dtype == DType::f32, [inputs, mix, result = at::Tensor()]() mutable {
           result = at::Tensor();
           result = inputs->to_overwrite();
           mix(result);
           return static_cast<const float*>(result.data_ptr<float>());
         }});
  };
  const auto add_new = [&](const char* name, auto&& mix) {
    contenders.push_back({name, false, [inputs, mix, result = at::Tensor()]() mutable {
                            result = at::Tensor();
                            result = mix(inputs->read_only());
                            return static_cast<const float*>(result.data_ptr<float>());
                          }});
  };
  if (plan.method == "mixup") {
    const double lam = std::get<FlatMask>(mask).value;
    const at::Tensor index = at::arange(in.shape.count - 1, -1, -1);
    add_in_place("torch", [lam](at::Tensor& x) { mixup_published(x, lam); });
    add_new("torch-index",
            [lam, index](const at::Tensor& x) { return mixup_by_index(x, index, lam); });
  } else if (plan.method == "cutmix") {
    const BoxMask box = std::get<BoxMask>(mask);
    add_in_place("torch", [box](at::Tensor& x) { cutmix_published(x, box); });
    add_in_place("torch-box", [box](at::Tensor& x) { cutmix_box_only(x, box); });
    if (in.dtype == DType::f32) {
      add_new("torch-clone", [box](const at::Tensor& x) { return cutmix_clone(x, box); });
    }
  } else if (plan.method == "hmix") {
    const BoxMask box = std::get<BoxMask>(mask);
    add_in_place("torch", [box](at::Tensor& x) { hmix_published(x, box); });
  } else if (plan.method == "gmix") {
    const GaussianMask gaussian = std::get<GaussianMask>(mask);
    add_in_place("torch", [gaussian](at::Tensor& x) { gmix_published(x, gaussian); });
  }
  return contenders;
}

}  // namespace medley::bench
