#pragma once

#include <cstdint>
#include <span>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

// Optimizer step, average of the weights and rounding to bf16 for all tensors of a network in one
// kernel.

namespace medley::nn {

/// One tensor. What is null is left out: without a gradient only the average is kept.
struct UpdateSlot {
  float* value = nullptr;
  __nv_bfloat16* rounded = nullptr;  // a copy that the network works with
  const float* gradient = nullptr;   // one of these two
  const __nv_bfloat16* gradient16 = nullptr;
  float* first = nullptr;   // velocity of SGD, first moment of AdamW
  float* second = nullptr;  // second moment of AdamW
  float* average = nullptr;
  std::int64_t count = 0;
};

/// Values `begin` to `begin + kUpdateChunk` of a slot: the work of one block.
struct UpdateChunk {
  std::int32_t slot;
  std::int64_t begin;
};
inline constexpr std::int64_t kUpdateChunk = 2048;

/// What changes from step to step.
struct UpdateRates {
  float lr = 0;
  float bias1 = 1;  // AdamW: 1 - beta1^t, 1 - beta2^t
  float bias2 = 1;
};

struct UpdateRule {
  bool adamw = false;
  bool nesterov = false;
  float momentum = 0;  // beta1 of AdamW
  float beta2 = 0;
  float decay = 0;
  float ema = 0;
};

struct UpdateCall {
  const UpdateSlot* slots;
  const UpdateChunk* chunks;
  std::int32_t chunk_count;
  UpdateRule rule;
  const UpdateRates* rates;     // of the steps of an epoch …
  std::int64_t rate_count;      // … so many …
  const std::int64_t* step;     // … and which of them, on the device; taken modulo their number
  const float* gradient_scale;  // null: 1
};

/// Loads the kernel onto the current device, which must not happen while a graph is captured.
void load_update_kernel();

void launch_update(const UpdateCall& call, cudaStream_t stream);

}  // namespace medley::nn
