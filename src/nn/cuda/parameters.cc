#include "nn/cuda/parameters.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

#include "kernels/cuda/check.h"

namespace medley::nn {
namespace {

using torch::Tensor;

Tensor on_gpu(const Tensor& t) {
  const Tensor moved = t.detach().to(torch::kCUDA);
  return moved.dim() == 4 ? moved.contiguous(at::MemoryFormat::ChannelsLast) : moved.contiguous();
}

/// Copies plain values to the device, in the order of the current stream.
template <typename T>
void upload(const std::vector<T>& values, Tensor& to) {
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
  if (!to.defined() || to.numel() < bytes) {
    to = torch::empty({std::max<std::int64_t>(bytes, 1)},
                      torch::dtype(torch::kUInt8).device(torch::kCUDA));
  }
  MEDLEY_CUDA_CHECK(cudaMemcpyAsync(to.data_ptr(), values.data(), static_cast<std::size_t>(bytes),
                                    cudaMemcpyHostToDevice, at::cuda::getCurrentCUDAStream()));
}

/// Tensors of so many values are updated on their own if that can be early: it takes longer than
/// the launch of a kernel.
constexpr std::int64_t kLargeTensor = 100'000;

float* floats(const Tensor& t) { return t.defined() ? t.data_ptr<float>() : nullptr; }

}  // namespace

NamedTensors move_to_gpu(Model& model, Precision precision) {
  torch::NoGradGuard no_grad;
  std::set<const void*> rounded;
  if (precision == Precision::bf16) {
    for (const auto& module : model.modules(/*include_self=*/false)) {
      const auto* conv = module->as<torch::nn::Conv2d>();
      if (conv == nullptr) continue;
      rounded.insert(conv->weight.unsafeGetTensorImpl());
      rounded.insert(conv->bias.unsafeGetTensorImpl());
    }
  }
  NamedTensors values;
  for (const auto& [name, tensor] : state_of(model)) {
    const Tensor value = on_gpu(tensor);
    const bool round = rounded.contains(tensor.unsafeGetTensorImpl());
    Tensor(tensor).set_data(round ? value.to(torch::kBFloat16) : value);
    values.emplace_back(name, value);
  }
  return values;
}

void refresh(Model& model, const NamedTensors& values) {
  torch::NoGradGuard no_grad;
  const NamedTensors state = state_of(model);
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (state[i].second.data_ptr() != values[i].second.data_ptr()) {
      Tensor(state[i].second).copy_(values[i].second);
    }
  }
}

DeviceParameters::DeviceParameters(Model& model, NamedTensors values, const train::Recipe& recipe)
    : model_(model),
      recipe_(recipe),
      values_(std::move(values)),
      updates_(torch::zeros({}, torch::kInt64)) {
  parameters_ = model.parameters().size();
  for (const auto& [name, tensor] : state_of(model)) working_.push_back(tensor);
  const bool adamw = recipe.optimizer == train::Optimizer::adamw;
  std::vector<UpdateChunk> chunks;
  std::vector<UpdateChunk> large;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Tensor& value = values_[i].second;
    const bool learns = i < parameters_;
    const bool real = value.is_floating_point();
    first_.push_back(learns ? torch::zeros_like(value) : Tensor());
    second_.push_back(learns && adamw ? torch::zeros_like(value) : Tensor());
    average_.push_back(recipe.ema > 0 ? value.clone() : Tensor());
    UpdateSlot slot;
    if (real) {
      slot.value = value.data_ptr<float>();
      slot.first = floats(first_.back());
      slot.second = floats(second_.back());
      slot.average = floats(average_.back());
      slot.count = value.numel();
    }
    if (working_[i].scalar_type() == torch::kBFloat16) {
      slot.rounded = static_cast<__nv_bfloat16*>(working_[i].data_ptr());
    }
    if (real && (learns || recipe.ema > 0)) {
      std::vector<UpdateChunk>& to = slot.count < kLargeTensor ? chunks : large;
      const std::size_t first = to.size();
      for (std::int64_t begin = 0; begin < slot.count; begin += kUpdateChunk) {
        to.push_back({static_cast<std::int32_t>(i), begin});
      }
      if (&to == &large) {
        large_[i] = {static_cast<std::int32_t>(first),
                     static_cast<std::int32_t>(large.size() - first)};
      }
    }
    slots_.push_back(slot);
  }
  small_count_ = static_cast<std::int32_t>(chunks.size());
  for (auto& [i, range] : large_) range.begin += small_count_;
  chunks.insert(chunks.end(), large.begin(), large.end());
  chunk_count_ = static_cast<std::int32_t>(chunks.size());
  upload(chunks, device_chunks_);
  upload(slots_, device_slots_);
  load_update_kernel();
}

NamedTensors DeviceParameters::optimizer_state() const {
  NamedTensors state;
  const bool adamw = recipe_.optimizer == train::Optimizer::adamw;
  if (adamw) state.emplace_back("steps", updates_);
  for (std::size_t i = 0; i < parameters_; ++i) {
    const std::string& name = values_[i].first;
    state.emplace_back((adamw ? "first." : "velocity.") + name, first_[i]);
    if (adamw) state.emplace_back("second." + name, second_[i]);
  }
  return state;
}

NamedTensors DeviceParameters::average() const {
  NamedTensors named;
  if (!(recipe_.ema > 0)) return named;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Tensor& value = values_[i].second;
    // Counters are not averaged.
    if (!value.is_floating_point()) Tensor(average_[i]).copy_(value);
    named.emplace_back(values_[i].first, average_[i]);
  }
  return named;
}

void DeviceParameters::set_rates(const std::vector<double>& lr, std::int64_t first) {
  std::vector<UpdateRates> rates(lr.size());
  auto updates = static_cast<double>(updates_.item<std::int64_t>());
  for (std::size_t i = 0; i < lr.size(); ++i) {
    rates[i].lr = static_cast<float>(lr[i]);
    if (std::ssize(lr) - 1 == static_cast<std::int64_t>(i) ||
        (i + 1) % static_cast<std::size_t>(recipe_.accumulate) == 0) {
      if (static_cast<std::int64_t>(i) >= first) ++updates;
    }
    rates[i].bias1 = static_cast<float>(1 - std::pow(recipe_.momentum, updates));
    rates[i].bias2 = static_cast<float>(1 - std::pow(recipe_.beta2, updates));
  }
  upload(rates, device_rates_);
  rate_count_ = std::ssize(rates);
}

void DeviceParameters::drop_gradients() {
  for (std::size_t i = 0; i < parameters_; ++i) working_[i].mutable_grad().reset();
}

void DeviceParameters::find_gradients() {
  for (std::size_t i = 0; i < parameters_; ++i) {
    UpdateSlot& slot = slots_[i];
    slot.gradient = nullptr;
    slot.gradient16 = nullptr;
    const Tensor& gradient = working_[i].grad();
    if (!gradient.defined()) continue;
    if (gradient.scalar_type() == torch::kBFloat16) {
      slot.gradient16 = static_cast<const __nv_bfloat16*>(gradient.data_ptr());
    } else {
      slot.gradient = gradient.data_ptr<float>();
    }
  }
  upload(slots_, device_slots_);
}

std::vector<Tensor> DeviceParameters::gradients() const {
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < parameters_; ++i) gradients.push_back(working_[i].grad());
  return gradients;
}

void DeviceParameters::put_back(const std::vector<Tensor>& gradients) {
  for (std::size_t i = 0; i < parameters_; ++i) working_[i].mutable_grad() = gradients[i];
  find_gradients();
}

Tensor DeviceParameters::clip_scale() const {
  if (!(recipe_.clip_norm > 0)) return {};
  torch::NoGradGuard no_grad;
  std::vector<Tensor> norms;
  for (std::size_t i = 0; i < parameters_; ++i) {
    const Tensor& gradient = working_[i].grad();
    if (gradient.defined()) norms.push_back(gradient.to(torch::kFloat32).norm());
  }
  return (recipe_.clip_norm / torch::stack(norms).norm()).clamp_max(1);
}

void DeviceParameters::update(const Tensor& step) {
  const Tensor scale = clip_scale();
  const float* const by = scale.defined() ? scale.data_ptr<float>() : nullptr;
  if (updated_early_.empty()) {
    update_range({0, chunk_count_}, step, by);
    return;
  }
  update_range({0, small_count_}, step, by);
  for (const auto& [i, range] : large_) {
    if (!updated_early_.contains(i)) update_range(range, step, by);
  }
  updated_early_.clear();
}

void DeviceParameters::update_early(const Tensor& weight, const Tensor& step) {
  const auto found = std::find_if(large_.begin(), large_.end(), [&](const auto& entry) {
    return working_[entry.first].unsafeGetTensorImpl() == weight.unsafeGetTensorImpl();
  });
  if (found == large_.end()) return;
  update_range(found->second, step, nullptr);
  updated_early_.insert(found->first);
}

void DeviceParameters::update_range(const Range& range, const Tensor& step,
                                    const float* scale) const {
  if (range.count == 0) return;
  UpdateCall call{};
  call.slots = static_cast<const UpdateSlot*>(device_slots_.data_ptr());
  call.chunks = static_cast<const UpdateChunk*>(device_chunks_.data_ptr()) + range.begin;
  call.chunk_count = range.count;
  call.rule = {recipe_.optimizer == train::Optimizer::adamw, recipe_.nesterov,
               static_cast<float>(recipe_.momentum),         static_cast<float>(recipe_.beta2),
               static_cast<float>(recipe_.weight_decay),     static_cast<float>(recipe_.ema)};
  call.rates = static_cast<const UpdateRates*>(device_rates_.data_ptr());
  call.rate_count = rate_count_;
  call.step = step.data_ptr<std::int64_t>();
  call.gradient_scale = scale;
  launch_update(call, at::cuda::getCurrentCUDAStream());
}

}  // namespace medley::nn
