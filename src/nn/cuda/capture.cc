#include "nn/cuda/capture.h"

#include <ATen/cuda/CUDAContext.h>
#include <torch/version.h>

#include "nn/cuda/setup_thread.h"

namespace medley::nn {

void FreeOnSetupThread::operator()(at::cuda::CUDAGraph* graph) const {
  on_setup_thread([graph] { delete graph; });
}

Graph capture_graph(const std::function<void()>& warm_up, const std::function<void()>& record) {
  constexpr int kWarmUps = 3;
  for (int i = 0; i < kWarmUps; ++i) warm_up();
  at::cuda::getCurrentCUDAStream().synchronize();
  Graph graph(new at::cuda::CUDAGraph());
#if TORCH_VERSION_MAJOR >= 2
  // Of this thread alone: other runs go on meanwhile.
  graph->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
#else
  graph->capture_begin();
#endif
  try {
    record();
  } catch (...) {
    // The stream must leave its capture; the first problem is the one to tell.
    try {
      graph->capture_end();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    }
    throw;
  }
  graph->capture_end();
  return graph;
}

}  // namespace medley::nn
