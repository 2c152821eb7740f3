#include "nn/cuda/device_scorer.h"

#include <algorithm>
#include <vector>

#include <ATen/cuda/CUDAContext.h>

#include "nn/cuda/capture.h"
#include "nn/cuda/setup_thread.h"
#include "nn/scorer.h"

namespace medley::nn {
namespace {

/// Values of a batch: enough to fill a device, and little memory.
constexpr std::int64_t kBatchValues = std::int64_t{1000} * 3 * 32 * 32;

MixPlan plain_plan(std::int64_t first, std::int64_t count, std::int64_t asked,
                   const BatchShape& images) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = first; i < first + count; ++i) {
    numbers.push_back(spread_number(i, asked, images.count));
  }
  return train::unmixed_plan(numbers, images.size());
}

}  // namespace

DeviceScorer::DeviceScorer(Model& model, const DeviceImages& images, std::int64_t count,
                           const train::BatchLoader& loader, torch::ScalarType type, bool graph)
    : model_(model),
      images_(images),
      options_(loader.options()),
      graph_wanted_(graph),
      count_(std::min(count, images.pixels.size(0))) {
  const BatchShape all = images.view().shape;
  const auto integers = torch::dtype(torch::kInt64).device(torch::kCUDA);
  step_ = torch::zeros({1}, integers);
  hits_ = torch::zeros({2}, integers);
  const std::int64_t values = all.values() / all.count;
  const std::int64_t size =
      std::min(count_, std::clamp<std::int64_t>(kBatchValues / values, 32, 1000));
  std::vector<MixPlan> full;
  std::int64_t first = 0;
  for (; first + size <= count_; first += size) {
    full.push_back(plain_plan(first, size, count_, all));
  }
  const auto shaped = [&](std::int64_t n) {
    return BatchShape{n, all.channels, all.height, all.width};
  };
  plan_.emplace(full, all.count);
  batch_.emplace(shaped(size), type, plan_->label_terms());
  if (first == count_) return;
  short_plan_.emplace(plain_plan(first, count_ - first, count_, all), all.count);
  short_batch_.emplace(shaped(count_ - first), type, plan_->label_terms());
}

void DeviceScorer::score_batch(const cuda::DevicePlan& plan, const DeviceBatch& batch,
                               cuda::StepIndex step) {
  torch::NoGradGuard no_grad;
  const cuda::Stream stream = at::cuda::getCurrentCUDAStream().stream();
  const auto count = static_cast<std::size_t>(batch.classes.numel());
  cuda::mix(plan, images_.view(), device_view(batch.images), options_, stream, step);
  cuda::mix_labels(plan, images_.label_span(), {batch.classes.data_ptr<std::int64_t>(), count},
                   {batch.weights.data_ptr<float>(), count}, stream, step);
  const torch::Tensor logits = model_.forward(batch.images);
  const std::int64_t places = std::min<std::int64_t>(5, logits.size(1));
  const torch::Tensor best = std::get<1>(logits.topk(places, 1));
  const torch::Tensor hit = best.eq(batch.classes.narrow(1, 0, 1)).to(torch::kInt64);
  hits_.add_(torch::stack({hit.select(1, 0).sum(), hit.sum()}));
}

void DeviceScorer::score_full_batch() {
  score_batch(*plan_, *batch_, {step_.data_ptr<std::int64_t>(), 0});
  cuda::advance(step_.data_ptr<std::int64_t>(), at::cuda::getCurrentCUDAStream().stream());
}

Hits DeviceScorer::run() {
  torch::NoGradGuard no_grad;
  const bool was_training = model_.is_training();
  model_.eval();
  if (graph_wanted_ && !graph_) {
    const auto record = [&] { score_full_batch(); };
    on_setup_thread([&] { graph_ = capture_graph(record, record); });
  }
  step_.zero_();
  hits_.zero_();
  for (std::int64_t s = 0; s < plan_->steps(); ++s) {
    if (graph_) {
      graph_->replay();
    } else {
      on_setup_thread([&] { score_full_batch(); });
    }
  }
  if (short_plan_) on_setup_thread([&] { score_batch(*short_plan_, *short_batch_, {}); });
  model_.train(was_training);
  const torch::Tensor hits = hits_.cpu();
  const double percent = 100.0 / static_cast<double>(count_);
  return {percent * static_cast<double>(hits[0].item<std::int64_t>()),
          percent * static_cast<double>(hits[1].item<std::int64_t>())};
}

}  // namespace medley::nn
