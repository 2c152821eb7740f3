#include "kernels/cuda/check.h"
#include "nn/kernels/update.h"

namespace medley::nn {
namespace {

constexpr int kThreads = 256;

__device__ float sgd(const UpdateRule& rule, float lr, float value, float gradient,
                     float& velocity) {
  if (rule.decay > 0) gradient += rule.decay * value;
  if (rule.momentum > 0) {
    velocity = rule.momentum * velocity + gradient;
    gradient = rule.nesterov ? gradient + rule.momentum * velocity : velocity;
  }
  return value - lr * gradient;
}

__device__ float adamw(const UpdateRule& rule, const UpdateRates& rates, float value,
                       float gradient, float& first, float& second) {
  constexpr float kEpsilon = 1e-8F;
  value *= 1 - rates.lr * rule.decay;
  first = rule.momentum * first + (1 - rule.momentum) * gradient;
  second = rule.beta2 * second + (1 - rule.beta2) * gradient * gradient;
  return value - rates.lr / rates.bias1 * first / (sqrtf(second) / sqrtf(rates.bias2) + kEpsilon);
}

/// Values that a thread handles together, so that their loads are under way together.
constexpr int kValues = 4;

__device__ void load(const float* from, std::int64_t at, std::int64_t end, float (&to)[kValues]) {
#pragma unroll
  for (int k = 0; k < kValues; ++k) {
    const std::int64_t i = at + k * kThreads;
    to[k] = from != nullptr && i < end ? from[i] : 0.0F;
  }
}

__device__ void load_gradient(const UpdateSlot& slot, std::int64_t at, std::int64_t end,
                              float (&to)[kValues]) {
  if (slot.gradient16 == nullptr) return load(slot.gradient, at, end, to);
#pragma unroll
  for (int k = 0; k < kValues; ++k) {
    const std::int64_t i = at + k * kThreads;
    to[k] = i < end ? __bfloat162float(slot.gradient16[i]) : 0.0F;
  }
}

__global__ void __launch_bounds__(kThreads) update_kernel(UpdateCall call) {
  const UpdateChunk chunk = call.chunks[blockIdx.x];
  const UpdateSlot slot = call.slots[chunk.slot];
  const UpdateRule& rule = call.rule;
  const UpdateRates rates = call.rates[*call.step % call.rate_count];
  const float scale = call.gradient_scale == nullptr ? 1.0F : *call.gradient_scale;
  const std::int64_t end = min(chunk.begin + kUpdateChunk, slot.count);
  const bool learns = slot.gradient != nullptr || slot.gradient16 != nullptr;
  for (std::int64_t at = chunk.begin + threadIdx.x; at < end; at += kThreads * kValues) {
    float value[kValues];
    float gradient[kValues];
    float first[kValues];
    float second[kValues];
    float average[kValues];
    load(slot.value, at, end, value);
    load_gradient(slot, at, end, gradient);
    load(slot.first, at, end, first);
    load(slot.second, at, end, second);
    load(slot.average, at, end, average);
#pragma unroll
    for (int k = 0; k < kValues; ++k) {
      const std::int64_t i = at + k * kThreads;
      if (i >= end) break;
      if (learns) {
        const float g = scale * gradient[k];
        value[k] = rule.adamw ? adamw(rule, rates, value[k], g, first[k], second[k])
                              : sgd(rule, rates.lr, value[k], g, first[k]);
        slot.value[i] = value[k];
        if (slot.first != nullptr) slot.first[i] = first[k];
        if (slot.second != nullptr) slot.second[i] = second[k];
        if (slot.rounded != nullptr) slot.rounded[i] = __float2bfloat16_rn(value[k]);
      }
      if (slot.average != nullptr) {
        slot.average[i] = rule.ema * average[k] + (1 - rule.ema) * value[k];
      }
    }
  }
}

}  // namespace

void load_update_kernel() {
  cudaFuncAttributes attributes{};
  MEDLEY_CUDA_CHECK(cudaFuncGetAttributes(&attributes, update_kernel));
}

void launch_update(const UpdateCall& call, cudaStream_t stream) {
  update_kernel<<<static_cast<unsigned>(call.chunk_count), kThreads, 0, stream>>>(call);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace medley::nn
