#include "nn/scorer.h"

#include <algorithm>
#include <vector>

#include <torch/torch.h>

#include "medley/random.h"

namespace medley::nn {

torch::Tensor empty_batch(const BatchShape& s) {
  return torch::empty({s.count, s.channels, s.height, s.width}, torch::kFloat32,
                      torch::MemoryFormat::ChannelsLast);
}

MutableImageBatchView view_of(const torch::Tensor& batch) {
  const BatchShape shape{batch.size(0), static_cast<std::int32_t>(batch.size(1)),
                         static_cast<std::int32_t>(batch.size(2)),
                         static_cast<std::int32_t>(batch.size(3))};
  const Layout layout = batch.is_contiguous() ? Layout::nchw : Layout::nhwc;
  return {batch.data_ptr(), DType::f32, layout, shape, dense_strides(shape, layout)};
}

std::int64_t spread_number(std::int64_t i, std::int64_t asked, std::int64_t count) {
  const std::int64_t first = i * count / asked;
  const std::int64_t end = (i + 1) * count / asked;
  const std::uint32_t draw = philox({static_cast<std::uint32_t>(i), 0, 0, 0}, {0, 0})[0];
  return first + std::int64_t{draw} % (end - first);
}

Accuracy score(Model& model, const data::ImageSet& images, std::int64_t count, std::int64_t classes,
               const train::BatchLoader& loader, const torch::TensorOptions& input,
               const SeeAnswer& see) {
  constexpr std::int64_t kBatch = 250;
  torch::NoGradGuard no_grad;
  const bool was_training = model.is_training();
  model.eval();
  Accuracy result;
  const std::int64_t asked = std::min(count, images.count());
  const std::int64_t places = std::min<std::int64_t>(5, classes);
  std::int64_t hits = 0;
  std::int64_t near = 0;
  for (std::int64_t first = 0; first < asked; first += kBatch) {
    const std::int64_t n = std::min(kBatch, asked - first);
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = first; i < first + n; ++i) {
      numbers.push_back(spread_number(i, asked, images.count()));
    }
    const torch::Tensor batch = empty_batch(loader.shape(n));
    const std::vector<std::int64_t> labels = loader.load_plain(images, numbers, view_of(batch));
    const torch::Tensor logits = model.forward(batch.to(input));
    const torch::Tensor best = std::get<1>(logits.topk(places, 1)).cpu().contiguous();
    const auto* predicted = best.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t truth = labels[static_cast<std::size_t>(i)];
      if (truth < 0) continue;
      ++result.count;
      const std::span row(predicted + i * places, static_cast<std::size_t>(places));
      hits += row[0] == truth ? 1 : 0;
      near += std::ranges::find(row, truth) != row.end() ? 1 : 0;
      if (see) see(numbers[static_cast<std::size_t>(i)], truth, row);
    }
  }
  model.train(was_training);
  const double percent = 100.0 / static_cast<double>(std::max<std::int64_t>(result.count, 1));
  result.top1 = percent * static_cast<double>(hits);
  result.top5 = percent * static_cast<double>(near);
  return result;
}

}  // namespace medley::nn
