#include "medley/nn/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "core/parallel.h"
#include "data/content_hash.h"
#include "data/file.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "nn/batch_picture.h"
#include "nn/engine.h"
#include "nn/last_batch.h"
#include "nn/run_result.h"
#include "nn/scorer.h"
#include "nn/tensors.h"
#include "train/checkpoint.h"
#include "train/json_fields.h"
#include "train/run_folder.h"
#include "train/run_record.h"

namespace medley::nn {
namespace {

using Json = nlohmann::json;
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

constexpr const char* kRecord = "run.json";
constexpr const char* kPicture = "batch.png";

/// Checkpoints and results hold them as JSON.
void check_class_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    try {
      (void)Json(name).dump();
    } catch (const Json::exception&) {
      fail_argument(fmt::format("the class name \"{}\" must be UTF-8: rename its folder", name));
    }
  }
}

class Run {
 public:
  Run(const data::ImageData& data, const TrainOptions& options, TrainObserver& observer)
      : data_(data),
        options_(options),
        recipe_(options.recipe),
        observer_(observer),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        folder_(options.out, options.existing),
        checkpoints_(options.out),
        loader_(data.train, recipe_, options.seed, threads_) {
    torch::set_num_threads(threads_);
  }

  TrainResult go() {
    if (!resume_or_start()) return {metrics_, false, lengthened_from()};
    engine_->begin();
    saved_at_ = Clock::now();
    bool profiled = !options_.profile;
    while (at_.epoch < recipe_.epochs) {
      // Profiles are of full batches; an epoch that is resumed may have its last one left only.
      const bool full = at_.step == 0 || at_.step + 1 < loader_.steps();
      if (!run_epoch()) return {metrics_, true};
      const bool last = at_.epoch == recipe_.epochs;
      const bool stop = !last && observer_.stop();
      if (last || stop || is_due() || at_.epoch % options_.checkpoint_epochs == 0) save();
      folder_.write_metrics(metrics_);
      observer_.on_epoch(metrics_.back());
      if (full && !std::exchange(profiled, true)) observer_.on_profile(engine_->profile());
      if (stop) return {metrics_, true};
    }
    const NamedTensors average = engine_->average();
    const std::vector<std::uint8_t> weights =
        save_tensors(average.empty() ? engine_->weights() : average);
    data::write_file_durably(folder_.file("weights.safetensors"), weights);
    train::RunResult result = result_of(data_, options_, metrics_, engine_->gpu());
    result.weights = start_;
    result.weights_hash = data::content_hash(weights);
    result.lengthened_from = lengthened_from();
    train::write_result(folder_.file("result.json"), result);
    return {metrics_, false, lengthened_from()};
  }

 private:
  /// False if the folder holds the result of this run already.
  [[nodiscard]] bool resume_or_start() {
    if (options_.existing != train::ExistingRun::resume) return start();
    record_ = train::read_run_record(folder_.path());
    std::vector<std::string> problems;
    const auto found = checkpoints_.load_newest(problems);
    for (const std::string& problem : problems) observer_.on_note(problem);
    if (found) {
      restore_position(found->checkpoint, found->path.string());
      if (!has_end()) return go_on(*found);
    } else if (!take_finished()) {
      check_same_as_begun();
      observer_.on_note("there is nothing to resume: starts from the beginning");
      return start();
    }
    observer_.on_note(fmt::format("{} is finished", options_.out.string()));
    return false;
  }

  [[nodiscard]] bool go_on(const train::CheckpointFolder::Found& found) {
    const std::string file = found.path.string();
    const bool ends = at_.epoch == recipe_.epochs;
    make_engine();
    restore_tensors(found.checkpoint, file);
    if (!ends) check_last_batch(data_, recipe_, loader_);
    folder_.go_on(first_files());
    note_lock();
    if (!ends) {
      folder_.remove_end();  // of a shorter run
      observer_.on_note(
          fmt::format("goes on from {} (epoch {}, step {})", file, at_.epoch + 1, at_.step));
    }
    std::error_code problem;  // that of a file that is not there
    const auto size = std::filesystem::file_size(folder_.file(kPicture), problem);
    if (problem || size == 0) write_picture(first_batch());
    folder_.write_metrics(metrics_);
    return true;
  }

  [[nodiscard]] bool start() {
    if (recipe_.batch > data_.train.count()) {
      observer_.on_note(
          fmt::format("a batch of {} is more than the {} training images: a step has all",
                      recipe_.batch, data_.train.count()));
    }
    check_last_batch(data_, recipe_, loader_);
    make_engine();
    const std::filesystem::path file = weights_to_start_from();
    if (!file.empty()) {
      const std::vector<std::uint8_t> bytes = read_tensors(file, engine_->weights());
      start_ = data::content_hash(bytes);
      if (record_ && record_->weights_hash) {
        must_equal(folder_.file(kRecord).string(), "weights of hash", *record_->weights_hash,
                   *start_);
      }
      load_tensors(bytes, file.string(), engine_->weights());
      const NamedTensors average = engine_->average();
      if (!average.empty()) load_tensors(bytes, file.string(), average);
    }
    const data::Image picture = first_batch();
    folder_.start(first_files());
    note_lock();
    write_picture(picture);
    folder_.write_metrics(metrics_);
    return true;
  }

  /// A run that was killed before its first checkpoint is begun again with those that it had.
  [[nodiscard]] std::filesystem::path weights_to_start_from() const {
    if (!options_.weights.empty() || !record_) return options_.weights;
    return record_->weights;
  }

  void write_picture(const data::Image& picture) {
    if (picture.size.pixels() > 0) {
      data::write_file_durably(folder_.file(kPicture), data::encode_png(picture));
    }
  }

  void note_lock() {
    if (!folder_.lock_problem().empty()) observer_.on_note(folder_.lock_problem());
  }

  [[nodiscard]] std::vector<train::RunFile> first_files() const {
    return {{"recipe.json", to_json(recipe_)}, {kRecord, to_json(record())}};
  }

  /// Of this run; if it goes on, with the command that began it.
  [[nodiscard]] train::RunRecord record() const {
    train::RunRecord record = record_of(options_);
    record.weights_hash = start_;
    if (record_) {
      if (options_.weights.empty()) record.weights = record_->weights;
      record.version = record_->version;
      record.libtorch = record_->libtorch;
      record.command = record_->command;
      record.directory = record_->directory;
    }
    return record;
  }

  /// What a run that was begun here, but has no checkpoint, is to be.
  void check_same_as_begun() const {
    const std::filesystem::path file = folder_.file("recipe.json");
    if (std::filesystem::exists(file)) {
      check_same_recipe(train::read_recorded_recipe(file), file.string());
    }
    if (record_) {
      must_equal(folder_.file(kRecord).string(), "seed", record_->seed, options_.seed);
      check_same_start(folder_.file(kRecord).string(), record_->weights_hash);
    }
  }

  [[nodiscard]] std::optional<std::int64_t> lengthened_from() const {
    return first_epochs_ < recipe_.epochs ? std::optional(first_epochs_) : std::nullopt;
  }

  /// --weights need not be given again, but must be the same.
  void check_same_start(const std::string& file, const std::optional<std::string>& hash) const {
    if (options_.weights.empty()) return;
    const Json was = hash ? Json(*hash) : Json();
    must_equal(file, "weights of hash", was,
               data::content_hash(data::read_file(options_.weights, data::kAnySize)));
  }

  /// Not for a run that turns out to be finished.
  void make_engine() {
    const EngineParts parts{data_, options_, loader_};
    engine_ = options_.device == Device::cuda ? make_cuda_engine(parts) : make_cpu_engine(parts);
  }

  /// Whether everything that comes after the last epoch is there, unharmed; it stays as it was
  /// made.
  [[nodiscard]] bool has_end() {
    const std::filesystem::path weights = folder_.file("weights.safetensors");
    if (at_.epoch < recipe_.epochs || !std::filesystem::exists(weights)) return false;
    const std::optional<train::RunResult> result = train::finished_result(folder_.path());
    if (!result || result->recipe.epochs != recipe_.epochs) return false;
    if (!result->weights_hash) return true;
    if (data::content_hash(data::read_file(weights, data::kAnySize)) == *result->weights_hash)
      return true;
    observer_.on_note(fmt::format("{} is damaged: writes it again", weights.string()));
    return false;
  }

  /// The metrics of a finished run without a checkpoint, if the folder holds one. A result of
  /// another run is refused.
  [[nodiscard]] bool take_finished() {
    const std::string file = folder_.file("result.json").string();
    if (!std::filesystem::exists(file)) return false;
    const std::optional<train::RunResult> result = train::finished_result(folder_.path());
    if (!result) {
      fail_argument(fmt::format(
          "{} is not the result of the recipe.json beside it; start anew with train --overwrite",
          file));
    }
    must_equal(file, "seed", result->seed, options_.seed);
    if (result->data != train::summary_of(data_, result->data.name)) {
      check_same_choice();
      fail_argument(
          fmt::format("{} was made with other data; start anew with train --overwrite", file));
    }
    const Json precision = precision_of(options_);
    must_equal(file, "precision", result->precision ? Json(*result->precision) : precision,
               precision);
    check_same_recipe(result->recipe, file);
    if (result->recipe.epochs != recipe_.epochs) {
      fail_argument(
          fmt::format("{} is of {} epochs, and without a checkpoint the run cannot go on to {}; "
                      "start anew with train --overwrite",
                      file, result->recipe.epochs, recipe_.epochs));
    }
    start_ = result->weights;
    check_same_start(file, start_);
    first_epochs_ = result->lengthened_from.value_or(recipe_.epochs);
    metrics_ = result->metrics;
    return true;
  }

  [[nodiscard]] data::Image first_batch() {
    const BatchShape s = loader_.shape(loader_.batch_size(0));
    const torch::Tensor batch = torch::empty({s.count, s.channels, s.height, s.width});
    const MixedLabels labels = loader_.load(0, 0, loader_.order(0), view_of(batch));
    return batch_picture(batch, labels, data_.classes);
  }

  /// False if the observer asked to stop; then a checkpoint has been saved.
  bool run_epoch() {
    const Clock::time_point start = Clock::now();
    observer_.on_epoch_start(at_.epoch + 1, loader_.steps());
    engine_->begin_epoch(static_cast<std::uint64_t>(at_.epoch), at_.step, at_.loss_sum);
    double lr = 0;
    while (at_.step < loader_.steps()) {
      lr = train::learning_rate(recipe_, at_.epoch * loader_.steps() + at_.step, loader_.steps());
      run_step(lr);
      const bool stop = observer_.stop();
      // Gradients that wait for more batches are in no checkpoint.
      const bool between_steps = at_.step % recipe_.accumulate == 0;
      if ((stop || is_due()) && between_steps && at_.step < loader_.steps()) {
        Position here = at_;
        here.loss_sum = engine_->loss_sum();
        if (!std::isfinite(here.loss_sum)) diverged(here.loss_sum, lr);
        here.seconds += seconds_since(start);
        save(here);
        if (stop) return false;
      }
    }
    finish_epoch(lr, start);
    return true;
  }

  /// Whether it is time for a checkpoint.
  [[nodiscard]] bool is_due() const {
    return seconds_since(saved_at_) > 60 * options_.checkpoint_minutes;
  }

  void run_step(double lr) {
    const std::optional<double> loss = engine_->take_step(at_.step, lr);
    note_broken(data_.train);
    if (loss && !std::isfinite(*loss)) diverged(*loss, lr);
    at_.images += loader_.batch_size(at_.step);
    ++at_.step;
    observer_.on_step(at_.step, loss);
  }

  void note_broken(const data::ImageSet& images) {
    if (!images.files) return;
    for (const std::string& note : images.files->new_notes()) observer_.on_note(note);
  }

  void finish_epoch(double lr, Clock::time_point start) {
    const double loss_sum = engine_->loss_sum();
    if (!std::isfinite(loss_sum)) diverged(loss_sum, lr);
    const double seconds = at_.seconds + seconds_since(start);
    train::EpochMetrics m;
    m.epoch = at_.epoch + 1;
    m.lr = lr;
    m.train_loss = loss_sum / static_cast<double>(std::max<std::int64_t>(at_.images, 1));
    if (m.epoch % recipe_.eval_every == 0 || m.epoch == recipe_.epochs) m.score = engine_->score();
    m.seconds = seconds;
    m.images_per_s = static_cast<double>(at_.images) / std::max(seconds, 1e-9);
    m.wall_time = now();
    note_broken(data_.test);
    metrics_.push_back(m);
    at_ = {at_.epoch + 1, 0, 0, 0, 0};
  }

  [[noreturn]] void diverged(double loss, double lr) const {
    throw Error(fmt::format(
        "the loss became {} in epoch {}, by step {}, at learning rate {:g}: try a smaller lr, a "
        "warm-up (--warmup-epochs) or --clip-norm",
        loss, at_.epoch + 1, std::min(at_.step + 1, loader_.steps()), lr));
  }

  void save() { save(at_); }

  void save(const Position& at) {
    const Json state = {{"recipe", to_json(recipe_)},
                        {"first_epochs", first_epochs_},
                        {"seed", options_.seed},
                        {"precision", precision_of(options_)},
                        {"device", device_name()},
                        {"deterministic", is_deterministic()},
                        {"weights", start_ ? Json(*start_) : Json()},
                        {"threads", threads_},
                        {"classes", data_.classes},
                        {"images", data_.train.count()},
                        {"data", train_fingerprint_},
                        {"test_data", test_fingerprint_},
                        {"epoch", at.epoch},
                        {"step", at.step},
                        {"loss_sum", at.loss_sum},
                        {"epoch_images", at.images},
                        {"epoch_seconds", at.seconds},
                        {"metrics", train::encode_metrics(metrics_)}};
    train::Checkpoint checkpoint{state.dump(),
                                 {{"weights", save_tensors(engine_->weights())},
                                  {"optimizer", save_tensors(engine_->optimizer())}}};
    const NamedTensors average = engine_->average();
    if (!average.empty()) checkpoint.sections.push_back({"average", save_tensors(average)});
    checkpoints_.save(at.epoch * loader_.steps() + at.step, checkpoint);
    saved_at_ = Clock::now();
  }

  /// Refuses what is not a checkpoint of this run.
  void restore_position(const train::Checkpoint& checkpoint, const std::string& file) {
    const std::string name = "the state of " + file;
    const Json json = parse_json(checkpoint.state, name, JsonError::io);
    train::JsonFields state(json, name);
    must_equal(file, "seed", state.at("seed"), options_.seed);
    // Older checkpoints do not say all of what follows.
    const Json test_data = json.value("test_data", Json(test_fingerprint_));
    if (state.at("data") != train_fingerprint_ || test_data != test_fingerprint_) {
      check_same_choice();
    }
    must_equal(file, "classes", state.at("classes"), data_.classes);
    must_equal(file, "training images", state.at("images"), data_.train.count());
    must_equal(file, "training data of hash", state.at("data"), train_fingerprint_);
    must_equal(file, "test data of hash", test_data, test_fingerprint_);
    const train::Recipe was = train::recorded_recipe(state.text("recipe"), file);
    check_same_recipe(was, file);
    if (recipe_.epochs < was.epochs) {
      fail_argument(fmt::format(
          "{} is from a run of {} epochs, this one has {}: a run can be lengthened, but "
          "not shortened",
          file, was.epochs, recipe_.epochs));
    }
    first_epochs_ =
        state.has("first_epochs") ? state.whole("first_epochs", 1, was.epochs) : was.epochs;
    const Json precision = precision_of(options_);
    must_equal(file, "precision", json.value("precision", precision), precision);
    if (state.has("weights")) start_ = state.text_or_null("weights");
    check_same_start(file, start_);
    const auto note_change = [&](const char* key, const Json& is) {
      const Json before = json.value(key, is);
      if (before == is) return;
      observer_.on_note(fmt::format(
          "{} was made with {} {}, this run has {}: results may differ in the last bits", file, key,
          before.dump(), is.dump()));
    };
    note_change("threads", threads_);
    note_change("device", device_name());
    note_change("deterministic", is_deterministic());
    at_ = position_of(state, was);
    metrics_ = train::decode_metrics(state.text("metrics"), fmt::format("the metrics of {}", file));
    if (std::ssize(metrics_) != at_.epoch) {
      state.wrong("epoch", fmt::format("{}, as many as there are metrics of", metrics_.size()));
    }
  }

  /// The position in a checkpoint, if the run can have been there.
  [[nodiscard]] Position position_of(train::JsonFields& state, const train::Recipe& was) const {
    Position at;
    at.epoch = state.whole("epoch", 0, was.epochs);
    at.step = state.whole("step", 0, at.epoch < was.epochs ? loader_.steps() - 1 : 0);
    if (at.step % recipe_.accumulate != 0) {
      state.wrong("step", fmt::format("a multiple of {}", recipe_.accumulate));
    }
    constexpr double kAny = std::numeric_limits<double>::max();
    at.loss_sum = state.number("loss_sum", -kAny);
    const std::int64_t images = std::min(at.step * recipe_.batch, data_.train.count());
    at.images = state.whole("epoch_images", images, images);
    at.seconds = state.number("epoch_seconds", 0);
    return at;
  }

  void restore_tensors(const train::Checkpoint& checkpoint, const std::string& file) {
    load_tensors(checkpoint.section("weights").bytes, file, engine_->weights());
    // Older versions spelled it so.
    const char* optimizer = checkpoint.has("optimiser") ? "optimiser" : "optimizer";
    load_tensors(checkpoint.section(optimizer).bytes, file, engine_->optimizer());
    const NamedTensors average = engine_->average();
    if (!average.empty()) load_tensors(checkpoint.section("average").bytes, file, average);
  }

  [[nodiscard]] const char* device_name() const {
    return options_.device == Device::cpu ? "cpu" : "cuda";
  }
  [[nodiscard]] bool is_deterministic() const {
    return options_.device == Device::cpu || options_.deterministic;
  }

  static void must_equal(const std::string& file, const char* what, const Json& was,
                         const Json& is) {
    if (was == is) return;
    fail_argument(
        fmt::format("{} was made with {} {}, this run has {}: keep it as it was, or start anew in "
                    "another folder or with train --overwrite",
                    file, what, was.dump(), is.dump()));
  }

  /// Names the options, where other data are known to come from others.
  void check_same_choice() const {
    if (!record_ || record_->data.source.empty() || options_.data.source.empty()) return;
    must_equal(folder_.file(kRecord).string(), "data", to_text(record_->data),
               to_text(options_.data));
  }

  /// A run can be lengthened, but not changed.
  void check_same_recipe(train::Recipe was, const std::string& file) const {
    if (was.draws != recipe_.draws) {
      fail_argument(
          fmt::format("{} was made with draws version {}, this program has {}: go on with the "
                      "Medley that began it, or start anew in another folder or with train "
                      "--overwrite",
                      file, was.draws, recipe_.draws));
    }
    was.epochs = recipe_.epochs;
    was.name = recipe_.name;
    was.eval_every = recipe_.eval_every;
    std::string had;
    std::string has;
    for (const auto& [field, before, now] : train::differences(was, recipe_)) {
      const char* comma = had.empty() ? "" : ", ";
      had += fmt::format("{}{} {}", comma, field, before);
      has += fmt::format("{}{} {}", comma, field, now);
    }
    if (had.empty()) return;
    fail_argument(
        fmt::format("{} was made with another recipe ({}), this run has {}: leave out options that "
                    "change it, or start anew in another folder or with train --overwrite",
                    file, had, has));
  }

  const data::ImageData& data_;
  const TrainOptions& options_;
  const train::Recipe& recipe_;
  TrainObserver& observer_;
  int threads_;
  train::RunFolder folder_;
  train::CheckpointFolder checkpoints_;
  train::BatchLoader loader_;
  std::string train_fingerprint_ = fingerprint(data_.train);
  std::string test_fingerprint_ = fingerprint(data_.test);
  std::unique_ptr<Engine> engine_;
  Position at_;
  std::int64_t first_epochs_ = recipe_.epochs;  // before the run was lengthened
  std::optional<train::RunRecord> record_;      // that the folder has, if it goes on
  std::optional<std::string> start_;            // hash of the weights that it started from
  std::vector<train::EpochMetrics> metrics_;
  Clock::time_point saved_at_;
};

/// By the text: LibTorch has a type for what its allocator lacks, but none for what cuBLAS, cuDNN
/// and graphs do.
bool lacks_memory(const c10::Error& problem) {
  const std::string_view text = problem.what_without_backtrace();
  return text.find("out of memory") != std::string_view::npos ||
         text.find("ALLOC_FAILED") != std::string_view::npos;
}

}  // namespace

TrainResult train(const data::ImageData& data, const TrainOptions& options,
                  TrainObserver& observer) {
  check_options(options);
  check_class_names(data.classes);
  try {
    return Run(data, options, observer).go();
  } catch (const c10::Error& problem) {
    if (options.device == Device::cuda && lacks_memory(problem)) {
      throw DeviceMemoryError(
          fmt::format("the GPU has too little free memory for {} with batches of {}: try a smaller "
                      "--batch, or fewer runs side by side",
                      options.recipe.model, options.recipe.batch));
    }
    throw Error(fmt::format("LibTorch cannot do this with {} and batches of {}: {}",
                            options.recipe.model, options.recipe.batch,
                            problem.what_without_backtrace()));
  }
}

}  // namespace medley::nn
