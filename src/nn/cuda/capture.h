#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include <ATen/cuda/CUDAGraph.h>

namespace medley::nn {

/// Held while work is captured or run outside graphs, so that runs side by side do not meet in what
/// they share: autograd's thread of the device, tuning, memory that is given back.
[[nodiscard]] std::mutex& device_mutex();

/// Captures on the current stream, which is not the default one, what `record` enqueues, once
/// `warm_up` has made libraries load and tune what they need.
[[nodiscard]] std::unique_ptr<at::cuda::CUDAGraph> capture_graph(
    const std::function<void()>& warm_up, const std::function<void()>& record);

}  // namespace medley::nn
