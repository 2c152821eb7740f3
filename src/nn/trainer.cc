#include "medley/nn/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/parallel.h"
#include "data/file.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "nn/batch_picture.h"
#include "nn/learn.h"
#include "nn/model.h"
#include "nn/run_result.h"
#include "nn/scorer.h"
#include "nn/tensors.h"
#include "train/checkpoint.h"

namespace medley::nn {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Where a run is: all that is not in tensors.
struct Position {
  std::int64_t epoch = 0;  // from 0
  std::int64_t step = 0;   // the next of this epoch
  double loss_sum = 0;     // of the images of this epoch so far
  std::int64_t images = 0;
  double seconds = 0;  // spent on this epoch before the last resume
};

class Run {
 public:
  Run(const ImageData& data, const TrainOptions& options, TrainObserver& observer)
      : data_(data),
        options_(options),
        recipe_(options.recipe),
        observer_(observer),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        folder_(options.out, options.existing),
        checkpoints_(options.out),
        loader_(data.train, recipe_, options.seed, threads_) {
    torch::set_num_threads(threads_);
    torch::manual_seed(options.seed);
    model_ = make_model(recipe_.model, data.num_classes(), data.train.shape.channels);
    for (const auto& item : model_->named_parameters()) {
      parameters_.emplace_back(item.key(), item.value());
    }
    stepper_ = make_stepper(recipe_, parameters_);
    if (recipe_.ema > 0) {
      for (const auto& [name, tensor] : state_of(*model_)) {
        average_.emplace_back(name, tensor.detach().clone());
      }
    }
  }

  TrainResult go() {
    resume_or_start();
    saved_at_ = Clock::now();
    while (at_.epoch < recipe_.epochs) {
      if (!run_epoch()) return {metrics_, true};
      if (at_.epoch % options_.checkpoint_epochs == 0 || at_.epoch == recipe_.epochs) save();
      folder_.write_metrics(metrics_);
    }
    const std::vector<std::uint8_t> weights =
        save_tensors(average_.empty() ? state_of(*model_) : average_);
    write_file_durably(folder_.file("weights.safetensors"), weights);
    write_result(folder_.file("result.json"), result_of(data_, options_, metrics_));
    return {metrics_, false};
  }

 private:
  void resume_or_start() {
    const std::string recipe = to_json(recipe_);
    if (options_.existing == RunFolder::Existing::resume) {
      std::vector<std::string> problems;
      const auto found = checkpoints_.load_newest(problems);
      for (const std::string& problem : problems) observer_.on_note(problem);
      if (found) {
        restore(found->checkpoint, found->path.string());
        if (at_.epoch < recipe_.epochs) {
          observer_.on_note(fmt::format("goes on from {} (epoch {}, step {})", found->path.string(),
                                        at_.epoch + 1, at_.step));
        }
        folder_.write("recipe.json", recipe);
        folder_.write_metrics(metrics_);
        return;
      }
      observer_.on_note("there is nothing to resume: starts from the beginning");
    }
    if (!options_.weights.empty()) {
      const std::string name = options_.weights.string();
      load_tensors(read_file(options_.weights), name, state_of(*model_));
      if (!average_.empty()) load_tensors(read_file(options_.weights), name, average_);
    }
    folder_.write("recipe.json", recipe);
    write_first_batch();
    folder_.write_metrics(metrics_);
  }

  void write_first_batch() {
    const std::int64_t count = loader_.batch_size(0);
    const torch::Tensor batch = empty_batch(count);
    (void)loader_.load(0, 0, loader_.order(0), view_of(batch));
    write_png(folder_.file("batch.png"), batch_picture(batch));
  }

  [[nodiscard]] torch::Tensor empty_batch(std::int64_t count) const {
    const BatchShape s = loader_.shape(count);
    return torch::empty({count, s.channels, s.height, s.width});
  }

  /// False if the observer asked to stop; then a checkpoint has been saved.
  bool run_epoch() {
    const Clock::time_point start = Clock::now();
    const auto epoch = static_cast<std::uint64_t>(at_.epoch);
    const std::vector<std::int64_t> order = loader_.order(epoch);
    observer_.on_epoch_start(at_.epoch + 1, loader_.steps());
    model_->train();
    double lr = 0;
    while (at_.step < loader_.steps()) {
      lr = learning_rate(recipe_, at_.epoch * loader_.steps() + at_.step, loader_.steps());
      const double loss = run_step(epoch, order, lr);
      observer_.on_step(at_.step, loss);
      const bool stop = observer_.stop();
      const bool due = seconds_since(saved_at_) > 60 * options_.checkpoint_minutes;
      // Gradients that wait for more batches are in no checkpoint.
      const bool between_steps = at_.step % recipe_.accumulate == 0;
      if ((stop || due) && between_steps && at_.step < loader_.steps()) {
        Position here = at_;
        here.seconds += seconds_since(start);
        save(here);
        if (stop) return false;
      }
    }
    finish_epoch(lr, at_.seconds + seconds_since(start));
    return true;
  }

  double run_step(std::uint64_t epoch, const std::vector<std::int64_t>& order, double lr) {
    const std::int64_t count = loader_.batch_size(at_.step);
    const torch::Tensor batch = empty_batch(count);
    const MixedLabels mixed = loader_.load(epoch, at_.step, order, view_of(batch));
    note_broken(data_.train);
    const LabelTensors labels{
        torch::tensor(mixed.classes, torch::kInt64).view({count, mixed.terms}),
        torch::tensor(mixed.weights, torch::kFloat64)
            .to(torch::kFloat32)
            .view({count, mixed.terms})};
    const torch::Tensor loss =
        loss_of(model_->forward(batch), labels, recipe_.loss, recipe_.smoothing);
    const double value = loss.item<double>();
    if (!std::isfinite(value)) diverged(value, lr);
    const bool last = at_.step + 1 == loader_.steps();
    (loss / recipe_.accumulate).backward();
    if ((at_.step + 1) % recipe_.accumulate == 0 || last) {
      if (recipe_.clip_norm > 0) clip_gradients(parameters_, recipe_.clip_norm);
      stepper_->step(lr);
      for (auto& [name, p] : parameters_) p.mutable_grad().reset();
      update_average();
    }
    at_.loss_sum += value * static_cast<double>(count);
    at_.images += count;
    ++at_.step;
    return value;
  }

  void note_broken(const ImageSet& images) {
    if (!images.files) return;
    for (const std::string& problem : images.files->new_problems()) {
      observer_.on_note("left out: " + problem);
    }
  }

  void update_average() {
    if (average_.empty()) return;
    torch::NoGradGuard no_grad;
    const NamedTensors state = state_of(*model_);
    for (std::size_t i = 0; i < state.size(); ++i) {
      torch::Tensor& average = average_[i].second;
      if (average.is_floating_point()) {
        average.mul_(recipe_.ema).add_(state[i].second, 1 - recipe_.ema);
      } else {
        average.copy_(state[i].second);
      }
    }
  }

  void finish_epoch(double lr, double seconds) {
    EpochMetrics m;
    m.epoch = at_.epoch + 1;
    m.lr = lr;
    m.train_loss = at_.loss_sum / static_cast<double>(std::max<std::int64_t>(at_.images, 1));
    const Evaluation test =
        score(*model_, data_.test, data_.test.count(), data_.num_classes(), loader_);
    m.test_top1 = test.top1;
    m.test_top5 = test.top5;
    m.clean_train_top1 =
        score(*model_, data_.train, data_.test.count(), data_.num_classes(), loader_).top1;
    if (!average_.empty()) m.ema_test_top1 = score_average();
    m.seconds = seconds;
    m.images_per_s = static_cast<double>(at_.images) / std::max(seconds, 1e-9);
    m.wall_time = now();
    note_broken(data_.test);
    metrics_.push_back(m);
    at_ = {at_.epoch + 1, 0, 0, 0, 0};
    observer_.on_epoch(m);
  }

  double score_average() {
    const auto copy = make_model(recipe_.model, data_.num_classes(), data_.train.shape.channels);
    {
      torch::NoGradGuard no_grad;
      const NamedTensors state = state_of(*copy);
      for (std::size_t i = 0; i < state.size(); ++i) {
        torch::Tensor(state[i].second).copy_(average_[i].second);
      }
    }
    return score(*copy, data_.test, data_.test.count(), data_.num_classes(), loader_).top1;
  }

  [[noreturn]] void diverged(double loss, double lr) const {
    throw Error(fmt::format(
        "the loss became {} in epoch {}, step {}, at learning rate {:g}: try a smaller lr, a "
        "warm-up (--warmup-epochs) or --clip-norm",
        loss, at_.epoch + 1, at_.step + 1, lr));
  }

  void save() { save(at_); }

  void save(const Position& at) {
    const Json state = {{"recipe", to_json(recipe_)},
                        {"seed", options_.seed},
                        {"threads", threads_},
                        {"classes", data_.classes},
                        {"images", data_.train.count()},
                        {"data", fingerprint(data_.train)},
                        {"epoch", at.epoch},
                        {"step", at.step},
                        {"loss_sum", at.loss_sum},
                        {"epoch_images", at.images},
                        {"epoch_seconds", at.seconds},
                        {"metrics", encode_metrics(metrics_)}};
    Checkpoint checkpoint{state.dump(),
                          {{"weights", save_tensors(state_of(*model_))},
                           {"optimiser", save_tensors(stepper_->state())}}};
    if (!average_.empty()) checkpoint.sections.push_back({"average", save_tensors(average_)});
    checkpoints_.save(at.epoch * loader_.steps() + at.step, checkpoint);
    saved_at_ = Clock::now();
  }

  void restore(const Checkpoint& checkpoint, const std::string& file) {
    try {
      const Json state = Json::parse(checkpoint.state);
      const auto must_equal = [&](const char* what, const Json& was, const Json& is) {
        if (was != is) {
          fail_argument(fmt::format("{} was made with {} {}, this run has {}", file, what,
                                    was.dump(), is.dump()));
        }
      };
      must_equal("seed", state.at("seed"), options_.seed);
      must_equal("classes", state.at("classes"), data_.classes);
      must_equal("training images", state.at("images"), data_.train.count());
      must_equal("training data of hash", state.at("data"), fingerprint(data_.train));
      check_same_recipe(recipe_from_json(state.at("recipe").get<std::string>(), file), file);
      if (state.at("threads") != threads_) {
        observer_.on_note(fmt::format(
            "{} was made with {} threads, this run has {}: results may differ in the last bits",
            file, state.at("threads").dump(), threads_));
      }
      load_tensors(checkpoint.section("weights").bytes, file, state_of(*model_));
      load_tensors(checkpoint.section("optimiser").bytes, file, stepper_->state());
      if (!average_.empty()) {
        load_tensors(checkpoint.section("average").bytes, file, average_);
      }
      at_ = {state.at("epoch").get<std::int64_t>(), state.at("step").get<std::int64_t>(),
             state.at("loss_sum").get<double>(), state.at("epoch_images").get<std::int64_t>(),
             state.at("epoch_seconds").get<double>()};
      metrics_ = decode_metrics(state.at("metrics").get<std::string>());
    } catch (const Json::exception&) {
      fail_io(fmt::format("{} has a broken state", file));
    }
  }

  /// A run can be lengthened, but not changed.
  void check_same_recipe(Recipe was, const std::string& file) const {
    was.epochs = recipe_.epochs;
    was.name = recipe_.name;
    if (to_json(was) != to_json(recipe_)) {
      fail_argument(
          fmt::format("{} was made with another recipe; leave out options that change "
                      "it, or start anew with --overwrite",
                      file));
    }
  }

  const ImageData& data_;
  const TrainOptions& options_;
  const Recipe& recipe_;
  TrainObserver& observer_;
  int threads_;
  RunFolder folder_;
  CheckpointFolder checkpoints_;
  BatchLoader loader_;
  std::shared_ptr<Model> model_;
  NamedTensors parameters_;
  std::unique_ptr<Stepper> stepper_;
  NamedTensors average_;  // empty without ema
  Position at_;
  std::vector<EpochMetrics> metrics_;
  Clock::time_point saved_at_;
};

}  // namespace

TrainResult train(const ImageData& data, const TrainOptions& options, TrainObserver& observer) {
  check_recipe(options.recipe);
  return Run(data, options, observer).go();
}

}  // namespace medley::nn
