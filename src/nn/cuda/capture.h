#pragma once

#include <functional>
#include <memory>

#include <ATen/cuda/CUDAGraph.h>

namespace medley::nn {

/// Graphs go where they are made, on the setup thread: LibTorch keeps a list of them without a
/// lock.
struct FreeOnSetupThread {
  void operator()(at::cuda::CUDAGraph* graph) const;
};
using Graph = std::unique_ptr<at::cuda::CUDAGraph, FreeOnSetupThread>;

/// Captures on the current stream, which is not the default one, what `record` enqueues, once
/// `warm_up` has made libraries load and tune what they need. For the setup thread.
[[nodiscard]] Graph capture_graph(const std::function<void()>& warm_up,
                                  const std::function<void()>& record);

}  // namespace medley::nn
