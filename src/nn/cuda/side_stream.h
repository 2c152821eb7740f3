#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/torch.h>

#include "nn/cuda/stream_lease.h"

namespace medley::nn {

/// A second stream for the gradients of weights. Only the update needs them, so they are computed
/// beside those of the activations, which fill a device badly.
class SideStream {
 public:
  SideStream() : stream_(lease_.stream()) {}
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  /// The one that convolutions of this thread use; may be null.
  [[nodiscard]] static SideStream* current() noexcept;

  /// Makes a stream the current one of this thread while it lives.
  class Use {
   public:
    explicit Use(SideStream& side) noexcept;
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
  };

  /// Enqueues `work`, which computes the gradient of `weight`, after what is in the current stream
  /// so far. It may read `inputs`.
  void run(const torch::Tensor& weight, const std::vector<torch::Tensor>& inputs,
           const std::function<void()>& work);

  /// Until `join`, calls `use(weight)` with this stream as the current one when the gradient of a
  /// weight has been enqueued, and the last work that reads the weight too. Every weight must be
  /// used once. Those whose gradients come last are left out.
  void when_complete(std::function<void(const torch::Tensor&)> use) { complete_ = std::move(use); }

  /// Lets the current stream wait for all work.
  void join();

 private:
  StreamLease lease_;
  c10::cuda::CUDAStream stream_;
  at::cuda::CUDAEvent begun_{cudaEventDisableTiming};
  at::cuda::CUDAEvent done_{cudaEventDisableTiming};
  std::vector<torch::Tensor> inputs_;  // alive until the work is done
  std::function<void(const torch::Tensor&)> complete_;
  torch::Tensor last_;  // whose gradient the last work computes
  bool used_ = false;
};

}  // namespace medley::nn
