#include "nn/kernels/loss.h"

#include "kernels/cuda/check.h"

namespace medley::nn {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 32;
constexpr unsigned kAll = 0xFFFFFFFFU;

__device__ float warp_sum(float value) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAll, value, step);
  return value;
}

__device__ float warp_max(float value) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAll, value, step));
  }
  return value;
}

/// One row, by the threads of a warp.
class Row {
 public:
  __device__ Row(const LossInput& input, std::int64_t row)
      : input_(input),
        logits_(input.logits + row * input.classes),
        labels_(input.labels + row * input.terms),
        weights_(input.weights + row * input.terms),
        lane_(static_cast<int>(threadIdx.x) % kWarp) {
    float most = -INFINITY;
    each_class([&](int c) { most = fmaxf(most, logits_[c]); });
    const float top = warp_max(most);
    float sum = 0;
    each_class([&](int c) { sum += expf(logits_[c] - top); });
    log_sum_ = top + logf(warp_sum(sum));
  }

  /// Its loss; the gradient of loss / rows goes to `gradient`.
  __device__ float run(float* gradient) const {
    return input_.bce_softmax ? bce_softmax(gradient) : cross_entropy(gradient);
  }

 private:
  template <typename Body>
  __device__ void each_class(Body body) const {
    for (int c = lane_; c < input_.classes; c += kWarp) body(c);
  }

  /// Share of a class in the target; the shares of a row sum to 1.
  [[nodiscard]] __device__ float target(int c) const {
    float share = 0;
    for (int k = 0; k < input_.terms; ++k) share += labels_[k] == c ? weights_[k] : 0.0F;
    return (1 - input_.smoothing) * share + input_.smoothing / static_cast<float>(input_.classes);
  }

  __device__ float cross_entropy(float* gradient) const {
    float loss = 0;
    float targets = 0;
    each_class([&](int c) {
      const float t = target(c);
      targets += t;
      if (t != 0) loss -= t * (logits_[c] - log_sum_);
    });
    targets = warp_sum(targets);
    const float rows = static_cast<float>(input_.rows);
    each_class(
        [&](int c) { gradient[c] = (expf(logits_[c] - log_sum_) * targets - target(c)) / rows; });
    return warp_sum(loss);
  }

  /// With q = p · dL/dp, the gradient by the logits is q - p · (sum of q).
  __device__ float bce_softmax(float* gradient) const {
    constexpr float kLargest = 1 - 0x1p-24F;  // log(1-p) stays finite, and has no slope beyond
    const float classes = static_cast<float>(input_.classes);
    float loss = 0;
    float q_sum = 0;
    const auto q_of = [&](int c, float p) {
      const float t = target(c);
      const float odds = p > kLargest ? 0.0F : p / (1 - p);
      return ((1 - t) * odds - t) / classes;
    };
    each_class([&](int c) {
      const float log_p = logits_[c] - log_sum_;
      const float p = expf(log_p);
      const float t = target(c);
      loss -= (1 - t) * log1pf(-fminf(p, kLargest)) + (t != 0 ? t * log_p : 0.0F);
      q_sum += q_of(c, p);
    });
    q_sum = warp_sum(q_sum);
    const float rows = static_cast<float>(input_.rows);
    each_class([&](int c) {
      const float p = expf(logits_[c] - log_sum_);
      gradient[c] = (q_of(c, p) - p * q_sum) / rows;
    });
    return warp_sum(loss) / classes;
  }

  const LossInput& input_;
  const float* logits_;
  const std::int64_t* labels_;
  const float* weights_;
  int lane_;
  float log_sum_;
};

/// One block, so that losses are added in a fixed order.
__global__ void __launch_bounds__(kWarp* kWarps)
    loss_kernel(LossInput input, double* sum, float* gradient) {
  __shared__ double sums[kWarps];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  double total = 0;
  for (std::int64_t row = warp; row < input.rows; row += kWarps) {
    total += static_cast<double>(Row(input, row).run(gradient + row * input.classes));
  }
  if (threadIdx.x % kWarp == 0) sums[warp] = total;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kWarps; ++i) total += sums[i];
  *sum += total;
}

}  // namespace

void launch_loss(const LossInput& input, double* sum, float* gradient, cudaStream_t stream) {
  loss_kernel<<<1, kWarp * kWarps, 0, stream>>>(input, sum, gradient);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace medley::nn
