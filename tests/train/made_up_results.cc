#include "train/made_up_results.h"

#include <algorithm>

namespace medley::train {

RunResult made_up_result(const std::string& model, const std::string& method, std::uint64_t seed,
                         double top1) {
  RunResult result;
  result.recipe = find_recipe("cifar100-paper");
  result.recipe.model = model;
  result.recipe.mix.method = method;
  result.seed = seed;
  result.data = {"cifar100", 50000, 10000, 100, "0123456789abcdef"};
  result.gpu = "Some GPU";
  result.precision = "bf16";
  result.versions = {"0.1.0", "2.9.0", "13.0"};
  const std::int64_t epochs = result.recipe.epochs;
  for (std::int64_t e = 1; e <= epochs; ++e) {
    const double rest = static_cast<double>(epochs - e);
    EpochMetrics m;
    m.epoch = e;
    m.lr = 0.2;
    m.train_loss = 1 + rest;
    const double reached = std::max(top1 + 0.45 - 0.1 * rest, 1.0);
    m.score = {reached, std::min(reached + 15, 100.0), 90};
    m.seconds = 1.5;
    m.images_per_s = 25000;
    result.metrics.push_back(m);
  }
  return result;
}

}  // namespace medley::train
