// What loading costs a training run, in ratios of one run: against the training step, against the
// same pipeline on LibTorch's own loader, and, for pictures in files, against plain decoding.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <torch/torch.h>
#include <nlohmann/json.hpp>

#include "medley/data/dataset.h"
#include "medley/train/loader.h"
#include "nn/learn.h"
#include "nn/model.h"
#include "nn/scorer.h"
#include "nn/tensors.h"
#include "support/program.h"
#include "support/rounds.h"
#include "train/picture_folder.h"

namespace medley::bench {
namespace {

using Json = nlohmann::ordered_json;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Options {
  int rounds = 15;
  int threads = 2;
  Json results = Json::array();

  /// `ratios`, one per round, against a target that is a lower or an upper bound.
  void report(const std::string& name, const std::vector<double>& ratios, double target,
              bool at_least, Json details) {
    const Spread s = spread_of(ratios);
    const bool reached = at_least ? s.median >= target : s.median <= target;
    fmt::print("{:<50} {:>8.3f}  (target {} {}){}\n", name, s.median,
               at_least ? "at least" : "at most", target, reached ? "" : "  MISSED");
    Json result = {{"name", name},
                   {"ratio", {{"median", s.median}, {"low", s.low}, {"high", s.high}}},
                   {"target", target},
                   {"at_least", at_least},
                   {"reached", reached}};
    result.update(details);
    results.push_back(result);
  }
};

// ---- the pipeline on torch::data ----

/// Images as float tensors, cropped and flipped one by one, as LibTorch's examples do.
class TorchImages : public torch::data::datasets::Dataset<TorchImages> {
 public:
  TorchImages(const data::ImageSet& images, std::int64_t pad) : pad_(pad) {
    pixels_ =
        torch::empty({images.count(), images.shape.height, images.shape.width, 3}, torch::kU8);
    std::memcpy(pixels_.data_ptr(), images.pixels.data(), images.pixels.size());
    pixels_ = pixels_.permute({0, 3, 1, 2}).contiguous();
    labels_ = torch::tensor(images.labels, torch::kInt64);
  }
  torch::data::Example<> get(std::size_t index) override {
    const auto i = static_cast<std::int64_t>(index);
    torch::Tensor image = pixels_[i].to(torch::kFloat32).div_(255);
    if (torch::rand({1}).item<float>() < 0.5f) image = image.flip(2);
    const std::int64_t side = image.size(1);
    const std::int64_t top = torch::randint(2 * pad_ + 1, {1}).item<std::int64_t>();
    const std::int64_t left = torch::randint(2 * pad_ + 1, {1}).item<std::int64_t>();
    image = torch::constant_pad_nd(image, {pad_, pad_, pad_, pad_})
                .slice(1, top, top + side)
                .slice(2, left, left + side);
    return {image, labels_[i]};
  }
  [[nodiscard]] torch::optional<std::size_t> size() const override {
    return static_cast<std::size_t>(pixels_.size(0));
  }

 private:
  torch::Tensor pixels_;
  torch::Tensor labels_;
  std::int64_t pad_;
};

/// HMix as published, one box for the batch: a blend, and a box of another one.
torch::Tensor hmix(const torch::Tensor& x) {
  const torch::Tensor partner = x.index_select(0, torch::randperm(x.size(0)));
  const double lam = torch::rand({1}).item<double>();
  const std::int64_t side = x.size(2);
  const auto cut = static_cast<std::int64_t>(static_cast<double>(side) * std::sqrt((1 - lam) / 2));
  const std::int64_t top = torch::randint(side - cut + 1, {1}).item<std::int64_t>();
  const std::int64_t left = torch::randint(side - cut + 1, {1}).item<std::int64_t>();
  torch::Tensor mixed = x * lam + partner * (1 - lam);
  mixed.slice(2, top, top + cut)
      .slice(3, left, left + cut)
      .copy_(partner.slice(2, top, top + cut).slice(3, left, left + cut));
  return mixed;
}

/// Seconds per image of an epoch.
double torch_epoch(const data::ImageSet& images, const train::Recipe& recipe, int workers) {
  auto set = TorchImages(images, recipe.pad)
                 .map(torch::data::transforms::Normalize<>(recipe.mean, recipe.std))
                 .map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(set), torch::data::DataLoaderOptions(static_cast<std::size_t>(recipe.batch))
                          .workers(static_cast<std::size_t>(workers)));
  const double begin = now();
  for (auto& batch : *loader) (void)hmix(batch.data);
  return (now() - begin) / static_cast<double>(images.count());
}

double our_epoch(train::BatchLoader& loader, std::uint64_t epoch, std::int64_t count) {
  const std::vector<std::int64_t> order = loader.order(epoch);
  const torch::Tensor batch = nn::empty_batch(loader.shape(loader.batch_size(0)));
  const double begin = now();
  for (std::int64_t step = 0; step < loader.steps(); ++step) {
    (void)loader.load(epoch, step, order, nn::view_of(batch.slice(0, 0, loader.batch_size(step))));
  }
  return (now() - begin) / static_cast<double>(count);
}

// ---- one training step, part by part ----

struct Step {
  double load = 0;
  double labels = 0;
  double network = 0;  // forward, loss, backward
  double update = 0;
};

class Trainer {
 public:
  Trainer(const data::ImageData& data, const train::Recipe& recipe, train::BatchLoader& loader)
      : recipe_(recipe), loader_(loader), model_(nn::make_model(recipe.model, data.num_classes())) {
    nn::to_channels_last(*model_);
    for (const auto& item : model_->named_parameters()) {
      parameters_.emplace_back(item.key(), item.value());
    }
    stepper_ = nn::make_stepper(recipe, parameters_);
    model_->train();
  }

  Step step(std::uint64_t epoch, std::int64_t number, const std::vector<std::int64_t>& order) {
    const std::int64_t count = loader_.batch_size(number);
    const torch::Tensor batch = nn::empty_batch(loader_.shape(count));
    const double start = now();
    const MixedLabels mixed = loader_.load(epoch, number, order, nn::view_of(batch));
    const double loaded = now();
    const nn::LabelTensors labels{
        torch::tensor(mixed.classes, torch::kInt64).view({count, mixed.terms}),
        torch::tensor(mixed.weights, torch::kFloat64)
            .to(torch::kFloat32)
            .view({count, mixed.terms})};
    const double labeled = now();
    nn::loss_of(model_->forward(batch), labels, recipe_.loss, recipe_.smoothing).backward();
    const double learned = now();
    stepper_->step(0.01);
    for (auto& [name, p] : parameters_) p.mutable_grad().reset();
    const double updated = now();
    return {loaded - start, labeled - loaded, learned - labeled, updated - learned};
  }

 private:
  const train::Recipe& recipe_;
  train::BatchLoader& loader_;
  std::shared_ptr<nn::Model> model_;
  nn::NamedTensors parameters_;
  std::unique_ptr<nn::Stepper> stepper_;
};

void run_loader(Options& options) {
  const data::ImageData data = data::open_data("synthetic:train=2000,test=10");
  train::Recipe recipe = train::find_recipe("demo");
  recipe.mix.method = "hmix";
  recipe.mix.mode = Mode::batch;
  recipe.pad = 4;
  train::BatchLoader loader(data.train, recipe, 1, options.threads);
  Trainer trainer(data, recipe, loader);
  std::vector<double> load_share;
  std::vector<double> network_share;
  std::vector<double> against_torch;
  std::vector<double> ours_us;
  std::vector<double> torch_us;
  for (int round = -1; round < options.rounds; ++round) {
    const auto epoch = static_cast<std::uint64_t>(round + 1);
    const std::vector<std::int64_t> order = loader.order(epoch);
    Step sum;
    for (std::int64_t i = 0; i < loader.steps(); ++i) {
      const Step s = trainer.step(epoch, i, order);
      sum.load += s.load;
      sum.labels += s.labels;
      sum.network += s.network;
      sum.update += s.update;
    }
    const double theirs = torch_epoch(data.train, recipe, options.threads);
    // Their threads spin a while after the last operation.
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    const double ours = our_epoch(loader, epoch, data.train.count());
    if (round < 0) continue;  // warms up
    const double whole = sum.load + sum.labels + sum.network + sum.update;
    load_share.push_back(sum.load / whole);
    network_share.push_back(sum.network / whole);
    against_torch.push_back(theirs / ours);
    ours_us.push_back(1e6 * ours);
    torch_us.push_back(1e6 * theirs);
  }
  options.report("load + mix + normalize, share of a resnet8 step", load_share, 0.03, false,
                 Json::object());
  options.report("forward and backward, share of a resnet8 step", network_share, 0.95, true,
                 Json::object());
  options.report("torch::data and tensor transforms / ours", against_torch, 5, true,
                 {{"ours_us_per_image", spread_of(ours_us).median},
                  {"torch_us_per_image", spread_of(torch_us).median}});
}

/// Seconds per image of an epoch with plain decoding, on as many threads.
double plain_epoch(const PictureFolder& folder, const train::Recipe& recipe, std::uint64_t epoch,
                   int threads) {
  const ImageSize size{recipe.image_size, recipe.image_size};
  const data::RandomCrop crop{recipe.crop_area.least, recipe.crop_aspect, recipe.crop_area.most};
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    std::vector<std::uint8_t> rgb(static_cast<std::size_t>(3 * size.pixels()));
    for (std::int64_t i = next++; i < std::ssize(folder.paths()); i = next++) {
      decode_plainly(folder.paths()[static_cast<std::size_t>(i)], crop.box({375, 500}, 1, epoch, i),
                     size, rgb.data());
    }
  };
  const double begin = now();
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back(work);
  for (std::thread& thread : pool) thread.join();
  return (now() - begin) / static_cast<double>(folder.paths().size());
}

void run_folder(Options& options) {
  const PictureFolder folder(256, {375, 500});
  const data::ImageSet images = folder.images();
  train::Recipe recipe = train::find_recipe("imagenet-paper");
  recipe.batch = 32;
  train::BatchLoader loader(images, recipe, 1, options.threads);
  std::vector<double> ratios;
  std::vector<double> ours_ms;
  std::vector<double> plain_ms;
  for (int round = -1; round < options.rounds; ++round) {
    const auto epoch = static_cast<std::uint64_t>(round + 1);
    const double ours = our_epoch(loader, epoch, images.count());
    const double plain = plain_epoch(folder, recipe, epoch, options.threads);
    if (round < 0) continue;
    ratios.push_back(plain / ours);
    ours_ms.push_back(1e3 * ours);
    plain_ms.push_back(1e3 * plain);
  }
  options.report("500x375 JPEG to 224: plain decode and resize / ours", ratios, 1.5, true,
                 {{"ours_ms_per_image", spread_of(ours_ms).median},
                  {"plain_ms_per_image", spread_of(plain_ms).median},
                  {"bytes_per_file", folder.bytes() / folder.paths().size()}});
}

Json measure_loading(int rounds, Json& context) {
  Options options;
  options.rounds = rounds;
  torch::set_num_threads(options.threads);
  context["libtorch"] = TORCH_VERSION;
  run_folder(options);
  run_loader(options);
  return options.results;
}

}  // namespace
}  // namespace medley::bench

int main(int argc, char** argv) {
  const medley::bench::Program program{"What loading costs a training run, in ratios of one run",
                                       "train", medley::bench::measure_loading};
  return run_program(program, argc, argv);
}
