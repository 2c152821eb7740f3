#pragma once

#include <functional>
#include <memory>

#include <ATen/cuda/CUDAGraph.h>

namespace medley::nn {

/// Captures on the current stream, which is not the default one, what `record` enqueues, once
/// `warm_up` has made libraries load and tune what they need. For the setup thread.
[[nodiscard]] std::unique_ptr<at::cuda::CUDAGraph> capture_graph(
    const std::function<void()>& warm_up, const std::function<void()>& record);

}  // namespace medley::nn
