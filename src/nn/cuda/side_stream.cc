#include "nn/cuda/side_stream.h"

#include <utility>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

namespace medley::nn {
namespace {

using torch::Tensor;

SideStream*& current_side() noexcept {
  thread_local SideStream* side = nullptr;
  return side;
}

}  // namespace

SideStream* SideStream::current() noexcept { return current_side(); }

SideStream::Use::Use(SideStream& side) noexcept { current_side() = &side; }
SideStream::Use::~Use() { current_side() = nullptr; }

void SideStream::run(const Tensor& weight, const std::vector<Tensor>& inputs,
                     const std::function<void()>& work) {
  begun_.record(at::cuda::getCurrentCUDAStream());
  begun_.block(stream_);
  inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
  used_ = true;
  const c10::cuda::CUDAStreamGuard guard(stream_);
  // What else read it was enqueued before.
  if (complete_ && last_.defined()) complete_(last_);
  last_ = weight;
  work();
}

void SideStream::join() {
  complete_ = nullptr;
  last_.reset();
  if (!std::exchange(used_, false)) return;
  done_.record(stream_);
  done_.block(at::cuda::getCurrentCUDAStream());
  inputs_.clear();
}

}  // namespace medley::nn
