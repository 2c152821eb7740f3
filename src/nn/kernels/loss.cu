#include "nn/kernels/loss.h"

#include "kernels/cuda/check.h"

namespace medley::nn {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 2;  // few, so that many blocks share the rows
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
    top_ = warp_max(most);
    float tops = 0;
    float others = 0;
    each_class([&](int c) {
      tops += logits_[c] == top_ ? 1.0F : 0.0F;
      others += logits_[c] == top_ ? 0.0F : expf(logits_[c] - top_);
    });
    tops = warp_sum(tops);
    others = warp_sum(others);
    sum_ = tops + others;
    top_rest_ = (tops - 1 + others) / sum_;
    log_sum_ = top_ + logf(sum_);
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

  /// With q = p · dL/dp, the gradient by a logit is q · (1 - p) - p · (sum of the other q). Of the
  /// likeliest class 1 - p and that sum are known apart: as differences they would lose their
  /// digits.
  __device__ float bce_softmax(float* gradient) const {
    constexpr float kLeastRest = 0x1p-24F;  // log(1-p) stays finite, and has no slope beyond
    const float classes = static_cast<float>(input_.classes);
    const auto is_top = [&](int c) { return logits_[c] == top_; };
    const auto p_of = [&](int c) { return expf(logits_[c] - top_) / sum_; };
    const auto rest_of = [&](int c, float p) { return is_top(c) ? top_rest_ : 1 - p; };
    const auto q_of = [&](int c, float p) {
      const float t = target(c);
      const float rest = rest_of(c, p);
      const float odds = rest < kLeastRest ? 0.0F : p / rest;
      return ((1 - t) * odds - t) / classes;
    };
    float loss = 0;
    float q_top = 0;
    float q_others = 0;
    each_class([&](int c) {
      const float p = p_of(c);
      const float t = target(c);
      const float log_rest = is_top(c) ? logf(fmaxf(top_rest_, kLeastRest)) : log1pf(-p);
      loss -= (1 - t) * log_rest + (t != 0 ? t * (logits_[c] - log_sum_) : 0.0F);
      (is_top(c) ? q_top : q_others) += q_of(c, p);
    });
    q_top = warp_sum(q_top);
    q_others = warp_sum(q_others);
    const float rows = static_cast<float>(input_.rows);
    each_class([&](int c) {
      const float p = p_of(c);
      const float q = q_of(c, p);
      const float rest = is_top(c) ? q_others + (q_top - q) : q_top + (q_others - q);
      gradient[c] = (q * rest_of(c, p) - p * rest) / rows;
    });
    return warp_sum(loss) / classes;
  }

  const LossInput& input_;
  const float* logits_;
  const std::int64_t* labels_;
  const float* weights_;
  int lane_;
  float top_;       // the greatest logit
  float sum_;       // of exp(logit - top)
  float top_rest_;  // 1 - p where the logit is the greatest
  float log_sum_;   // of exp(logit)
};

__global__ void __launch_bounds__(kWarp* kWarps)
    loss_kernel(LossInput input, float* losses, float* gradient) {
  const int row = static_cast<int>(blockIdx.x * kWarps + threadIdx.x / kWarp);
  if (row >= input.rows) return;
  const float loss = Row(input, row).run(gradient + std::int64_t{row} * input.classes);
  if (threadIdx.x % kWarp == 0) losses[row] = loss;
}

/// One warp, so that losses are added in a fixed order.
__global__ void __launch_bounds__(kWarp) sum_kernel(const float* losses, int rows, double* sum) {
  double total = 0;
  for (int row = static_cast<int>(threadIdx.x); row < rows; row += kWarp) {
    total += static_cast<double>(losses[row]);
  }
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) total += __shfl_xor_sync(kAll, total, step);
  if (threadIdx.x == 0) *sum += total;
}

}  // namespace

void launch_loss(const LossInput& input, float* losses, double* sum, float* gradient,
                 cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((input.rows + kWarps - 1) / kWarps);
  loss_kernel<<<blocks, kWarp * kWarps, 0, stream>>>(input, losses, gradient);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
  sum_kernel<<<1, kWarp, 0, stream>>>(losses, input.rows, sum);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace medley::nn
