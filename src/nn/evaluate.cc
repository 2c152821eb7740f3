#include "medley/nn/evaluate.h"

#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "core/parallel.h"
#include "data/content_hash.h"
#include "data/file.h"
#include "medley/train/recipe.h"
#include "medley/train/result.h"
#include "nn/scorer.h"
#include "nn/tensors.h"
#include "nn/tf32.h"
#include "train/checkpoint.h"
#include "train/json_fields.h"

namespace medley::nn {
namespace {

namespace fs = std::filesystem;

/// The recipe that names a network, and its weights as safetensors where that is not the file.
struct Trained {
  train::Recipe recipe;
  std::optional<std::vector<std::uint8_t>> weights;
};

/// The weights of a finished run must be those that its result.json speaks of.
void check_weights(const fs::path& file, std::span<const std::uint8_t> weights) {
  const fs::path result = file.parent_path() / "result.json";
  if (file.filename() != "weights.safetensors" || !fs::exists(result)) return;
  const std::optional<std::string> hash = train::read_result(result).weights_hash;
  const std::string found = data::content_hash(weights);
  if (hash.value_or(found) != found) {
    fail_io(fmt::format("{} is damaged or not of this run: its hash must be {}, as {} says, got {}",
                        file.string(), *hash, result.string(), found));
  }
}

Trained read_trained(const fs::path& file) {
  if (file.extension() == ".safetensors") {
    const fs::path recipe = file.parent_path() / "recipe.json";
    if (fs::exists(file) && !fs::exists(recipe)) {
      fail_io(fmt::format("{} needs the recipe.json of its run beside it, which names the network",
                          file.string()));
    }
    if (!fs::exists(file)) fail_io(fmt::format("there is no file {}", file.string()));
    const std::vector<std::uint8_t> text = data::read_file(recipe);
    return {train::recipe_from_json({reinterpret_cast<const char*>(text.data()), text.size()},
                                    recipe.string()),
            std::nullopt};
  }
  const train::Checkpoint checkpoint = train::read_checkpoint(file);
  const nlohmann::json json = parse_json(checkpoint.state, file.string(), JsonError::io);
  return {
      train::recipe_from_json(train::JsonFields(json, file.string()).text("recipe"), file.string()),
      checkpoint.section(checkpoint.has("average") ? "average" : "weights").bytes};
}

}  // namespace

Evaluation evaluate_file(const fs::path& file, const data::ImageData& data, int threads,
                         Device device) {
  Trained trained = read_trained(file);
  trained.recipe.mix = train::Recipe().mix;  // test images stay as they are
  trained.recipe.files.clear();
  check_threads(threads);
  const int used = threads > 0 ? threads : hardware_threads();
  torch::set_num_threads(used);
  const auto model = make_model(trained.recipe.model, data.num_classes(), data.test.shape.channels);
  to_channels_last(*model);
  const NamedTensors state = state_of(*model);
  if (!trained.weights) {
    trained.weights = read_tensors(file, state);
    check_weights(file, *trained.weights);
  }
  load_tensors(*trained.weights, file.string(), state);
  const train::BatchLoader loader(data.test, trained.recipe, 0, used);
  const auto place = device == Device::cuda ? torch::kCUDA : torch::kCPU;
  if (device == Device::cuda) allow_tf32(false);
  model->to(place);
  Evaluation result;
  result.classes = data.num_classes();
  result.predicted.assign(static_cast<std::size_t>(data.test.count()), -1);
  result.confusion.resize(static_cast<std::size_t>(result.classes * result.classes));
  const Accuracy accuracy = score(
      *model, data.test, data.test.count(), result.classes, loader,
      torch::TensorOptions(place).dtype(torch::kFloat32),
      [&](std::int64_t number, std::int64_t truth, std::span<const std::int64_t> most_likely) {
        result.predicted[static_cast<std::size_t>(number)] = most_likely[0];
        ++result.confusion[static_cast<std::size_t>(truth * result.classes + most_likely[0])];
      });
  result.count = accuracy.count;
  result.top1 = accuracy.top1;
  result.top5 = accuracy.top5;
  return result;
}

Comparison compare(const Evaluation& first, const Evaluation& second,
                   std::span<const std::int64_t> labels) {
  if (first.predicted.size() != labels.size() || second.predicted.size() != labels.size()) {
    fail_argument(fmt::format("{} labels do not fit the {} and {} images of two evaluations",
                              labels.size(), first.predicted.size(), second.predicted.size()));
  }
  Comparison result;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (first.predicted[i] < 0 || second.predicted[i] < 0) continue;
    const bool a = first.predicted[i] == labels[i];
    const bool b = second.predicted[i] == labels[i];
    const auto number = static_cast<std::int64_t>(i);
    if (a && b) ++result.both;
    if (!a && !b) ++result.neither;
    if (a && !b) result.gained.push_back(number);
    if (!a && b) result.lost.push_back(number);
  }
  return result;
}

}  // namespace medley::nn
