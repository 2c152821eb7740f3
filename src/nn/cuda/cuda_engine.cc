#include <array>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "core/check.h"
#include "kernels/cuda/check.h"
#include "nn/cuda/capture.h"
#include "nn/cuda/device_scorer.h"
#include "nn/cuda/parameters.h"
#include "nn/cuda/setup_thread.h"
#include "nn/cuda/side_stream.h"
#include "nn/cuda/step_input.h"
#include "nn/cuda/stream_lease.h"
#include "nn/engine.h"
#include "nn/kernels/loss.h"
#include "nn/learn.h"
#include "nn/model.h"
#include "nn/scorer.h"
#include "nn/tf32.h"

// A step on the GPU: load and mix, forward, loss, backward, update, all enqueued at once as one
// captured graph. Which step it is, learning rates and plans are data in device memory.

namespace medley::nn {
namespace {

using torch::Tensor;

/// How much of a step is enqueued; the parts of a profile.
enum class Until : std::uint8_t { load, forward, backward, update };

/// Rules of LibTorch that hold for the whole process.
void set_rules(const TrainOptions& options) {
  auto& context = at::globalContext();
  allow_tf32(options.precision != Precision::f32);
  context.setBenchmarkCuDNN(!options.deterministic);
  context.setDeterministicCuDNN(options.deterministic);
  if (options.deterministic) {
    // cuBLAS reads it when it is first used; one that the user has set stays.
    (void)setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
    context.setDeterministicAlgorithms(true, /*warn_only=*/false);
#if TORCH_VERSION_MAJOR >= 2
    // Nothing here reads memory before it is written to.
    context.setDeterministicFillUninitializedMemory(false);
#endif
  }
}

/// Copies of tensors, to put back what steps that do not count have changed.
class Snapshot {
 public:
  /// Tensors of the host change in no step.
  void keep(const Tensor& tensor) {
    if (tensor.is_cuda()) kept_.emplace_back(tensor, tensor.clone());
  }
  void restore() {
    torch::NoGradGuard no_grad;
    for (auto& [tensor, copy] : kept_) tensor.copy_(copy);
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> kept_;
};

/// Knows a recent loss without waiting for the device, and keeps the host from running far ahead of
/// it.
class LossWatch {
 public:
  LossWatch()
      : pinned_(torch::zeros({kSlots}, torch::dtype(torch::kFloat64).pinned_memory(true))) {}

  void restart(double sum) {
    for (at::cuda::CUDAEvent& event : events_) event.synchronize();
    marks_ = 0;
    images_ = 0;
    seen_sum_ = sum;
    loss_.reset();
  }

  /// After a step of `images` images has been enqueued; `sum` is the sum of losses on the device.
  std::optional<double> after_step(std::int64_t images, const Tensor& sum) {
    images_ += images;
    if (++steps_ % kStride != 0) return loss_;
    const std::size_t slot = marks_ % kSlots;
    if (marks_ >= kSlots) read(slot);
    const auto stream = at::cuda::getCurrentCUDAStream();
    MEDLEY_CUDA_CHECK(cudaMemcpyAsync(pinned_.data_ptr<double>() + slot, sum.data_ptr<double>(),
                                      sizeof(double), cudaMemcpyDeviceToHost, stream.stream()));
    events_[slot].record(stream);
    counts_[slot] = std::exchange(images_, 0);
    ++marks_;
    return loss_;
  }

 private:
  static constexpr std::int64_t kStride = 16;  // steps between marks
  static constexpr std::size_t kSlots = 3;     // marks that may be under way

  void read(std::size_t slot) {
    events_[slot].synchronize();
    const double sum = pinned_.data_ptr<double>()[slot];
    loss_ = (sum - seen_sum_) / static_cast<double>(counts_[slot]);
    seen_sum_ = sum;
  }

  Tensor pinned_;
  std::array<at::cuda::CUDAEvent, kSlots> events_{
      at::cuda::CUDAEvent(cudaEventDisableTiming | cudaEventBlockingSync),
      at::cuda::CUDAEvent(cudaEventDisableTiming | cudaEventBlockingSync),
      at::cuda::CUDAEvent(cudaEventDisableTiming | cudaEventBlockingSync)};
  std::array<std::int64_t, kSlots> counts_{};
  std::size_t marks_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t images_ = 0;
  double seen_sum_ = 0;
  std::optional<double> loss_;
};

class CudaEngine : public Engine {
 public:
  explicit CudaEngine(const EngineParts& parts)
      : data_(parts.data),
        options_(parts.options),
        recipe_(parts.options.recipe),
        loader_(parts.loader),
        stream_(lease_.stream()),
        type_(options_.precision == Precision::bf16 ? torch::kBFloat16 : torch::kFloat32),
        // Gradients that wait for more batches are added up outside a graph.
        graph_wanted_(!options_.no_graph && recipe_.accumulate == 1) {
    set_rules(options_);
    const c10::cuda::CUDAStreamGuard guard(stream_);
    resident_ = device_data(data_);
    input_ = resident_ && plans_fit(loader_) ? make_resident_input(resident_->train, loader_)
                                             : make_streamed_input(loader_);
    model_ = new_model();
    NamedTensors values = move_to_gpu(*model_, options_.precision);
    parameters_ = std::make_unique<DeviceParameters>(*model_, std::move(values), recipe_);
    step_ = torch::zeros({1}, torch::dtype(torch::kInt64).device(torch::kCUDA));
    loss_sum_ = torch::zeros({1}, torch::dtype(torch::kFloat64).device(torch::kCUDA));
    if (recipe_.ema > 0) {
      averaged_ = new_model();
      (void)move_to_gpu(*averaged_, options_.precision);
    }
    stream_.synchronize();
  }

  ~CudaEngine() override {
    // What is still under way reads memory that goes now.
    (void)cudaStreamSynchronize(stream_.stream());
  }
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;

  /// Makes the engine's stream that of the calling thread, which has to be the one that destroys
  /// the engine. All that this thread does with the engine's tensors is in order then. It also
  /// keeps off the default stream, where copies have waited up to 75 s beside five other runs: they
  /// never stop giving the device work.
  void serve_this_thread() { thread_stream_.emplace(stream_); }

  [[nodiscard]] NamedTensors weights() const override { return parameters_->values(); }
  [[nodiscard]] NamedTensors optimizer() const override { return parameters_->optimizer_state(); }
  [[nodiscard]] NamedTensors average() const override { return parameters_->average(); }

  void begin() override { parameters_->refresh_model(); }

  void begin_epoch(std::uint64_t epoch, std::int64_t step, double loss_sum) override {
    epoch_ = static_cast<std::int64_t>(epoch);
    model_->train();
    std::vector<double> rates;
    for (std::int64_t s = 0; s < loader_.steps(); ++s) {
      rates.push_back(train::learning_rate(recipe_, epoch_ * loader_.steps() + s, loader_.steps()));
    }
    parameters_->set_rates(rates, step);
    if (!input_->begin_epoch(epoch)) graph_.reset();
    torch::NoGradGuard no_grad;
    step_.fill_(step);
    loss_sum_.fill_(loss_sum);
    watch_.restart(loss_sum);
    steps_timed_ = -1;
  }

  std::optional<double> take_step(std::int64_t step, double /*lr*/) override {
    const std::int64_t count = loader_.batch_size(step);
    if (!input_->prepare(step)) graph_.reset();
    if (count < loader_.batch_size(0)) {
      take_short_step(step, count);
    } else {
      take_full_step(step);
    }
    if (updates_after(step)) parameters_->count_update();
    // The first step of an epoch may have to capture a graph.
    (steps_timed_ < 0 ? epoch_start_ : epoch_end_).record(stream_);
    ++steps_timed_;
    input_->look_ahead(step + 1);
    return watch_.after_step(count, loss_sum_);
  }

  double loss_sum() override { return loss_sum_.item<double>(); }

  train::Score score() override {
    if (!resident_) return score_from_host();
    if (!test_) {
      const std::int64_t count = data_.test.count();
      const auto scorer = [&](Model& model, const DeviceImages& images) {
        return std::make_unique<DeviceScorer>(model, images, count, loader_, type_,
                                              !options_.no_graph);
      };
      test_ = scorer(*model_, resident_->test);
      clean_ = scorer(*model_, resident_->train);
      if (averaged_) average_test_ = scorer(*averaged_, resident_->test);
    }
    const Hits test = test_->run();
    train::Score score{test.top1, test.top5, clean_->run().top1, {}};
    if (averaged_) {
      refresh(*averaged_, parameters_->average());
      score.ema_test_top1 = average_test_->run().top1;
    }
    return score;
  }

  StepProfile profile() override {
    StepProfile profile;
    on_setup_thread([&] { profile = timed_profile(); });
    return profile;
  }

  [[nodiscard]] std::optional<Gpu> gpu() const override {
    return Gpu{at::cuda::getCurrentDeviceProperties()->name,
               fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10)};
  }

 private:
  [[nodiscard]] std::shared_ptr<Model> new_model() const {
    return make_model(recipe_.model, data_.num_classes(), data_.train.shape.channels,
                      options_.seed);
  }

  [[nodiscard]] bool updates_after(std::int64_t step) const {
    return (step + 1) % recipe_.accumulate == 0 || step + 1 == loader_.steps();
  }

  DeviceBatch& batch_for(std::optional<DeviceBatch>& batch, std::int64_t count) {
    const std::int32_t terms = input_->terms();
    if (!batch || batch->classes.size(1) != terms || batch->classes.size(0) != count) {
      batch.emplace(loader_.shape(count), type_, terms);
    }
    return *batch;
  }

  void take_full_step(std::int64_t step) {
    DeviceBatch& batch = batch_for(batch_, loader_.batch_size(0));
    if (!graph_wanted_) {
      on_setup_thread([&] {
        input_->load(batch, step_);
        finish_eagerly(batch, step);
      });
    } else {
      if (!graph_) on_setup_thread([&] { graph_ = capture(Until::update); });
      graph_->replay();
    }
  }

  void take_short_step(std::int64_t step, std::int64_t count) {
    // The gradients of a captured graph have to stay where it leaves them.
    const std::vector<Tensor> kept = graph_ ? parameters_->gradients() : std::vector<Tensor>();
    DeviceBatch& batch = batch_for(short_batch_, count);
    on_setup_thread([&] {
      input_->load_short(batch);
      finish_eagerly(batch, step);
    });
    if (graph_) parameters_->put_back(kept);
  }

  /// The step without a graph, once its batch is there.
  void finish_eagerly(const DeviceBatch& batch, std::int64_t step) {
    if (step == 0 || updates_after(step - 1)) parameters_->drop_gradients();
    run_network(batch, Until::backward, batches_of_update(recipe_, step, loader_.steps()));
    if (updates_after(step)) {
      parameters_->find_gradients();
      parameters_->update(step_);
    }
    cuda::advance(step_.data_ptr<std::int64_t>(), stream_.stream());
  }

  /// Forward and backward, for an update that averages the gradients of so many batches.
  void run_network(const DeviceBatch& batch, Until until, std::int64_t batches = 1) {
    const Tensor logits = [&] {
      const SideStream::Use use(side_);
      return model_->forward(batch.images);
    }();
    const Tensor gradient = torch::empty_like(logits, torch::MemoryFormat::Contiguous);
    LossInput input{};
    input.logits = logits.data_ptr<float>();
    input.labels = batch.classes.data_ptr<std::int64_t>();
    input.weights = batch.weights.data_ptr<float>();
    input.rows = static_cast<std::int32_t>(logits.size(0));
    input.classes = static_cast<std::int32_t>(logits.size(1));
    input.terms = static_cast<std::int32_t>(batch.classes.size(1));
    input.smoothing = static_cast<float>(recipe_.smoothing);
    input.bce_softmax = recipe_.loss == train::Loss::bce_softmax;
    const Tensor row_losses = torch::empty({logits.size(0)}, logits.options().requires_grad(false));
    launch_loss(input, row_losses.data_ptr<float>(), loss_sum_.data_ptr<double>(),
                gradient.data_ptr<float>(), stream_.stream());
    if (until == Until::forward) return;
    try {
      torch::autograd::backward(
          {logits}, {batches == 1 ? gradient : gradient / static_cast<double>(batches)});
    } catch (...) {
      side_.join();  // a capture that is under way could not end otherwise
      throw;
    }
    side_.join();
  }

  /// A full step as it is captured; a part of it for profiles.
  void record_step(Until until) {
    input_->load(*batch_, step_);
    if (until == Until::update && parameters_->can_update_early()) {
      side_.when_complete(
          [this](const Tensor& weight) { parameters_->update_early(weight, step_); });
    }
    if (until != Until::load) run_network(*batch_, until);
    if (until == Until::update) parameters_->update(step_);
    cuda::advance(step_.data_ptr<std::int64_t>(), stream_.stream());
  }

  /// Leaves everything as it was, except that the gradients are the graph's.
  Graph capture(Until until) {
    Snapshot before_steps;
    for (const Tensor& buffer : model_->buffers()) before_steps.keep(buffer);
    for (const Tensor& t : {step_, loss_sum_}) before_steps.keep(t);
    parameters_->drop_gradients();
    // Gradients that are there would be added to; the graph must make its own.
    const auto warm_up = [&] {
      record_step(std::min(until, Until::backward));
      parameters_->drop_gradients();
    };
    auto graph = capture_graph(warm_up, [&] { record_step(until); });
    parameters_->find_gradients();
    before_steps.restore();
    return graph;
  }

  StepProfile timed_profile() {
    Snapshot before_steps;  // of everything that the timed steps change
    for (const NamedTensors& tensors :
         {parameters_->values(), parameters_->optimizer_state(), parameters_->average()}) {
      for (const auto& [name, tensor] : tensors) before_steps.keep(tensor);
    }
    for (const Tensor& t : {step_, loss_sum_}) before_steps.keep(t);
    step_.zero_();
    StepProfile profile;
    double before = 0;
    constexpr std::array<std::pair<const char*, Until>, 4> kParts = {
        {{"load+mix", Until::load},
         {"forward", Until::forward},
         {"backward", Until::backward},
         {"optimizer", Until::update}}};
    for (const auto& [name, until] : kParts) {
      const double ms = time_steps(until);
      profile.parts.emplace_back(name, std::max(0.0, ms - before));
      before = std::max(before, ms);
    }
    profile.ms_per_step = before;
    if (steps_timed_ > 0) {
      epoch_end_.synchronize();
      profile.ms_per_step = static_cast<double>(epoch_start_.elapsed_time(epoch_end_)) /
                            static_cast<double>(steps_timed_);
    }
    profile.parts.emplace_back("gaps", std::max(0.0, profile.ms_per_step - before));
    before_steps.restore();
    parameters_->refresh_model();
    graph_.reset();  // its gradients are gone
    return profile;
  }

  /// Milliseconds of a step up to a part of it, one after the other.
  double time_steps(Until until) {
    constexpr int kSteps = 50;
    Graph graph;
    if (graph_wanted_) graph = capture(until);
    const auto run = [&] {
      if (graph) return graph->replay();
      parameters_->drop_gradients();
      record_step(std::min(until, Until::backward));
      if (until != Until::update) return;
      parameters_->find_gradients();
      parameters_->update(step_);
    };
    at::cuda::CUDAEvent start(cudaEventDefault);
    at::cuda::CUDAEvent end(cudaEventDefault);
    for (int i = 0; i < kSteps; ++i) {
      if (i == kSteps / 5) start.record(stream_);
      run();
    }
    end.record(stream_);
    end.synchronize();
    return static_cast<double>(start.elapsed_time(end)) / (kSteps - kSteps / 5);
  }

  /// Images that are not in device memory.
  train::Score score_from_host() {
    const auto of = [&](Model& model, const data::ImageSet& images) {
      Accuracy accuracy;
      on_setup_thread([&] {
        accuracy = nn::score(model, images, data_.test.count(), data_.num_classes(), loader_,
                             torch::TensorOptions(torch::kCUDA).dtype(type_));
      });
      return accuracy;
    };
    const Accuracy test = of(*model_, data_.test);
    train::Score score{test.top1, test.top5, of(*model_, data_.train).top1, {}};
    if (averaged_) {
      refresh(*averaged_, parameters_->average());
      score.ema_test_top1 = of(*averaged_, data_.test).top1;
    }
    return score;
  }

  const data::ImageData& data_;
  const TrainOptions& options_;
  const train::Recipe& recipe_;
  train::BatchLoader& loader_;
  StreamLease lease_{/*high_priority=*/true};
  c10::cuda::CUDAStream stream_;
  std::optional<c10::cuda::CUDAStreamGuard> thread_stream_;
  SideStream side_;
  torch::ScalarType type_;
  bool graph_wanted_;
  std::shared_ptr<const DeviceData> resident_;  // null: streamed
  std::unique_ptr<StepInput> input_;
  std::shared_ptr<Model> model_;
  std::shared_ptr<Model> averaged_;  // null without ema
  std::unique_ptr<DeviceParameters> parameters_;
  Tensor step_;  // on the device, as are all losses
  Tensor loss_sum_;
  std::int64_t epoch_ = 0;
  std::optional<DeviceBatch> batch_;
  std::optional<DeviceBatch> short_batch_;
  Graph graph_;
  LossWatch watch_;
  at::cuda::CUDAEvent epoch_start_{cudaEventDefault};
  at::cuda::CUDAEvent epoch_end_{cudaEventDefault};
  std::int64_t steps_timed_ = -1;  // between those two
  std::unique_ptr<DeviceScorer> test_;
  std::unique_ptr<DeviceScorer> clean_;
  std::unique_ptr<DeviceScorer> average_test_;
};

/// LibTorch complains if the first thing that its thread for gradients does is a matrix product.
void wake_gradient_thread() {
  static std::once_flag once;
  std::call_once(once, [] {
    const Tensor one =
        torch::ones({1}, torch::dtype(torch::kFloat32).device(torch::kCUDA).requires_grad(true));
    (2 * one).backward();
  });
}

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(const EngineParts& parts) {
  if (!is_available(Device::cuda)) {
    fail_cuda("training on a GPU needs a CUDA device, but none was found; use --device cpu");
  }
  std::unique_ptr<CudaEngine> engine;
  on_setup_thread([&] {
    wake_gradient_thread();
    engine = std::make_unique<CudaEngine>(parts);
  });
  engine->serve_this_thread();
  return engine;
}

bool is_available(Device device) { return device == Device::cpu || torch::cuda::is_available(); }

}  // namespace medley::nn
