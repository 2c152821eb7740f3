#include "nn/cuda/step_input.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

#include "kernels/cuda/check.h"
#include "medley/plan_edit.h"
#include "nn/cuda/stream_lease.h"

namespace medley::nn {
namespace {

using torch::Tensor;

cuda::Stream stream() { return at::cuda::getCurrentCUDAStream().stream(); }

torch::TensorOptions on_device(torch::ScalarType type) {
  return torch::dtype(type).device(torch::kCUDA);
}

/// `plan` is one of the steps, or the short last one of an epoch.
void load_batch(const cuda::DevicePlan& plan, const ImageBatchView& images,
                std::span<const std::int64_t> labels, const MixOptions& options,
                const DeviceBatch& to, cuda::StepIndex step) {
  cuda::mix(plan, images, device_view(to.images), options, stream(), step);
  const auto count = static_cast<std::size_t>(to.classes.numel());
  cuda::mix_labels(plan, labels, {to.classes.data_ptr<std::int64_t>(), count},
                   {to.weights.data_ptr<float>(), count}, stream(), step);
}

/// Plans of the steps of an epoch.
struct EpochPlans {
  std::uint64_t epoch = 0;
  std::vector<MixPlan> full;
  std::optional<MixPlan> last;  // if it is short
};

class ResidentInput : public StepInput {
 public:
  ResidentInput(const DeviceImages& images, const train::BatchLoader& loader)
      : images_(images), loader_(loader) {}

  bool begin_epoch(std::uint64_t epoch) override {
    EpochPlans plans = next_.valid() ? next_.get() : plans_of(epoch);
    if (plans.epoch != epoch) plans = plans_of(epoch);
    next_ = std::async(std::launch::async, [this, epoch] { return plans_of(epoch + 1); });
    const std::int64_t images = images_.pixels.size(0);
    if (plans.last) short_plan_.emplace(*plans.last, images);
    if (plans.full.empty()) return true;
    if (plan_ && plan_->update(plans.full, stream())) return true;
    plan_.emplace(plans.full, images);
    return false;
  }

  bool prepare(std::int64_t /*step*/) override { return true; }

  void load(const DeviceBatch& to, const Tensor& index) override {
    load_batch(*plan_, images_.view(), images_.label_span(), loader_.options(), to,
               {index.data_ptr<std::int64_t>(), 0});
  }

  void load_short(const DeviceBatch& to) override {
    load_batch(*short_plan_, images_.view(), images_.label_span(), loader_.options(), to, {});
  }

  [[nodiscard]] std::int32_t terms() const override {
    return plan_ ? plan_->label_terms() : short_plan_->label_terms();
  }

 private:
  [[nodiscard]] EpochPlans plans_of(std::uint64_t epoch) const {
    EpochPlans plans{epoch, {}, {}};
    const std::vector<std::int64_t> order = loader_.order(epoch);
    for (std::int64_t step = 0; step < loader_.steps(); ++step) {
      MixPlan plan = loader_.plan(epoch, step, order);
      if (loader_.batch_size(step) == loader_.batch_size(0)) {
        plans.full.push_back(std::move(plan));
      } else {
        plans.last = std::move(plan);
      }
    }
    return plans;
  }

  const DeviceImages& images_;
  const train::BatchLoader& loader_;
  std::optional<cuda::DevicePlan> plan_;
  std::optional<cuda::DevicePlan> short_plan_;
  std::future<EpochPlans> next_;  // last: waits for itself when it goes
};

/// Images of a batch on their way: in pinned memory, and then in device memory.
struct Staged {
  std::int64_t step = -1;
  train::BatchSources sources;
  Tensor pinned;
  Tensor device;
  at::cuda::CUDAEvent copied;
};

class StreamedInput : public StepInput {
 public:
  explicit StreamedInput(train::BatchLoader& loader) : loader_(loader), copies_(lease_.stream()) {}
  ~StreamedInput() override {
    // Copies for steps that will not come, of which LibTorch's memory knows nothing.
    (void)cudaStreamSynchronize(copies_.stream());
  }
  StreamedInput(const StreamedInput&) = delete;
  StreamedInput& operator=(const StreamedInput&) = delete;

  bool begin_epoch(std::uint64_t epoch) override {
    epoch_ = epoch;
    order_ = loader_.order(epoch);
    for (Staged& staged : staged_) staged.step = -1;
    return true;
  }

  bool prepare(std::int64_t step) override {
    Staged& staged = stage(step);
    const bool serves = fetch(staged);
    if (loader_.batch_size(step) < loader_.batch_size(0)) {
      short_plan_.emplace(staged.sources.plan, capacity_);
      return serves;
    }
    if (!plan_) {
      plan_.emplace(staged.sources.plan, capacity_);
    } else if (plan_->update({&staged.sources.plan, 1}, stream())) {
      return serves;
    } else {
      plan_->extend({&staged.sources.plan, 1});
    }
    return false;
  }

  void load(const DeviceBatch& to, const Tensor& /*index*/) override { load_from(*plan_, to); }

  void load_short(const DeviceBatch& to) override { load_from(*short_plan_, to); }

  void look_ahead(std::int64_t step) override {
    if (step < loader_.steps()) (void)stage(step);
  }

  [[nodiscard]] std::int32_t terms() const override {
    return plan_ ? plan_->label_terms() : short_plan_->label_terms();
  }

 private:
  /// The images of a step, on their way to the device.
  Staged& stage(std::int64_t step) {
    for (Staged& staged : staged_) {
      if (staged.step == step) return staged;
    }
    Staged& staged = staged_[static_cast<std::size_t>(turn_++ % std::ssize(staged_))];
    staged.copied.synchronize();  // the memory is still being read from
    staged.step = step;
    staged.sources = gather(loader_.sources(epoch_, step, order_));
    const ImageBatchView& images = staged.sources.images;
    const std::int64_t bytes = images.shape.values();
    if (!staged.pinned.defined() || staged.pinned.numel() < bytes) {
      staged.pinned = torch::empty({bytes}, torch::dtype(torch::kUInt8).pinned_memory(true));
      staged.device = torch::empty({bytes}, on_device(torch::kUInt8));
      // Work that is under way may still use this memory for what it was before.
      at::cuda::CUDAEvent before;
      before.record(at::cuda::getCurrentCUDAStream());
      before.block(copies_);
    }
    std::memcpy(staged.pinned.data_ptr(), images.data, static_cast<std::size_t>(bytes));
    const c10::cuda::CUDAStreamGuard guard(copies_);
    // The step that read this memory last has been enqueued on the other stream.
    fetched_.block(copies_);
    MEDLEY_CUDA_CHECK(cudaMemcpyAsync(staged.device.data_ptr(), staged.pinned.data_ptr(),
                                      static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                                      copies_.stream()));
    staged.copied.record(copies_);
    return staged;
  }

  /// The images that the plan names, copied together if they are the data set's.
  static train::BatchSources gather(train::BatchSources sources) {
    if (sources.owner) return sources;
    const std::vector<std::int64_t> images = compact_sources(sources.plan);
    const std::int64_t values = sources.images.shape.values() / sources.images.shape.count;
    const auto pixels = std::make_shared<std::vector<std::uint8_t>>(
        images.size() * static_cast<std::size_t>(values));
    const auto* from = static_cast<const std::uint8_t*>(sources.images.data);
    for (std::size_t i = 0; i < images.size(); ++i) {
      std::memcpy(pixels->data() + i * static_cast<std::size_t>(values), from + images[i] * values,
                  static_cast<std::size_t>(values));
    }
    sources.images.data = pixels->data();
    sources.images.shape.count = std::ssize(images);
    sources.owner = pixels;
    return sources;
  }

  /// Brings staged images and their labels to where `load` reads them. False if that had to move.
  bool fetch(Staged& staged) {
    const ImageBatchView& images = staged.sources.images;
    bool stays = true;
    if (!pixels_.defined() || images.shape.count > capacity_) {
      // Batches take turns with few and many partners.
      capacity_ = std::max(2 * loader_.batch_size(0), images.shape.count);
      view_ = images;
      view_.shape.count = capacity_;
      pixels_ = torch::empty({view_.shape.values()}, on_device(torch::kUInt8));
      view_.data = pixels_.data_ptr();
      plan_.reset();
      stays = false;
    }
    const auto now = at::cuda::getCurrentCUDAStream();
    staged.copied.block(now);
    MEDLEY_CUDA_CHECK(cudaMemcpyAsync(pixels_.data_ptr(), staged.device.data_ptr(),
                                      static_cast<std::size_t>(images.shape.values()),
                                      cudaMemcpyDeviceToDevice, now.stream()));
    fetched_.record(now);
    const MixedLabels& mixed = staged.sources.labels;
    // Pageable memory: these copies wait for the device, so nothing outruns it here.
    classes_ = torch::tensor(mixed.classes, torch::kInt64);
    weights_ = torch::tensor(mixed.weights, torch::kFloat64).to(torch::kFloat32);
    if (!device_classes_.defined() || device_classes_.numel() < classes_.numel()) {
      device_classes_ = torch::empty_like(classes_, on_device(torch::kInt64));
      device_weights_ = torch::empty_like(weights_, on_device(torch::kFloat32));
      stays = false;
    }
    device_classes_.narrow(0, 0, classes_.numel()).copy_(classes_);
    device_weights_.narrow(0, 0, weights_.numel()).copy_(weights_);
    return stays;
  }

  void load_from(const cuda::DevicePlan& plan, const DeviceBatch& to) {
    cuda::mix(plan, view_, device_view(to.images), loader_.options(), stream());
    const std::int64_t count = to.classes.numel();
    Tensor(to.classes).copy_(device_classes_.narrow(0, 0, count).view_as(to.classes));
    Tensor(to.weights).copy_(device_weights_.narrow(0, 0, count).view_as(to.weights));
  }

  train::BatchLoader& loader_;
  StreamLease lease_;
  at::cuda::CUDAStream copies_;
  std::uint64_t epoch_ = 0;
  std::vector<std::int64_t> order_;
  std::array<Staged, 2> staged_;
  std::int64_t turn_ = 0;
  at::cuda::CUDAEvent fetched_;
  std::int64_t capacity_ = 0;  // images
  Tensor pixels_;
  ImageBatchView view_{};
  Tensor classes_, weights_, device_classes_, device_weights_;
  std::optional<cuda::DevicePlan> plan_;
  std::optional<cuda::DevicePlan> short_plan_;
};

}  // namespace

DeviceBatch::DeviceBatch(const BatchShape& shape, torch::ScalarType type, std::int32_t terms)
    : images(torch::empty({shape.count, shape.channels, shape.height, shape.width},
                          on_device(type).memory_format(at::MemoryFormat::ChannelsLast))),
      classes(torch::empty({shape.count, terms}, on_device(torch::kInt64))),
      weights(torch::empty({shape.count, terms}, on_device(torch::kFloat32))) {}

MutableImageBatchView device_view(const Tensor& images) {
  const BatchShape shape{images.size(0), static_cast<std::int32_t>(images.size(1)),
                         static_cast<std::int32_t>(images.size(2)),
                         static_cast<std::int32_t>(images.size(3))};
  const DType type = images.scalar_type() == torch::kBFloat16 ? DType::bf16 : DType::f32;
  return {images.data_ptr(), type, Layout::nhwc, shape, dense_strides(shape, Layout::nhwc)};
}

DeviceImages::DeviceImages(const data::ImageSet& images) {
  const BatchShape& s = images.shape;
  const bool planar = images.layout == Layout::nchw;
  const Tensor host =
      torch::from_blob(const_cast<std::uint8_t*>(images.pixels.data()),
                       planar ? torch::IntArrayRef({s.count, s.channels, s.height, s.width})
                              : torch::IntArrayRef({s.count, s.height, s.width, s.channels}),
                       torch::kUInt8);
  const Tensor there = host.to(torch::kCUDA);
  pixels = (planar ? there.permute({0, 2, 3, 1}) : there).contiguous();
  labels = torch::tensor(images.labels, torch::kInt64).to(torch::kCUDA);
}

ImageBatchView DeviceImages::view() const {
  const BatchShape shape{pixels.size(0), static_cast<std::int32_t>(pixels.size(3)),
                         static_cast<std::int32_t>(pixels.size(1)),
                         static_cast<std::int32_t>(pixels.size(2))};
  return {pixels.data_ptr(), DType::u8, Layout::nhwc, shape, dense_strides(shape, Layout::nhwc)};
}

std::span<const std::int64_t> DeviceImages::label_span() const {
  return {labels.data_ptr<std::int64_t>(), static_cast<std::size_t>(labels.numel())};
}

std::shared_ptr<const DeviceData> device_data(const data::ImageData& data) {
  static std::mutex mutex;
  static std::map<const data::ImageData*, std::weak_ptr<const DeviceData>> known;
  if (data.train.files) return nullptr;
  const std::lock_guard lock(mutex);
  if (auto shared = known[&data].lock()) return shared;
  std::size_t free = 0;
  std::size_t total = 0;
  MEDLEY_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  if (2 * (data.train.pixels.size() + data.test.pixels.size()) > free) return nullptr;
  auto made = std::make_shared<const DeviceData>(
      DeviceData{DeviceImages(data.train), DeviceImages(data.test)});
  at::cuda::getCurrentCUDAStream().synchronize();  // other streams will read it
  known[&data] = made;
  return made;
}

bool plans_fit(const train::BatchLoader& loader) {
  constexpr std::size_t kMostBytes = std::size_t{2} << 30;  // of which the host has several
  const MixPlan first = loader.plan(0, 0, loader.order(0));
  return first.fields.size() * sizeof(float) * static_cast<std::size_t>(loader.steps()) <=
         kMostBytes;
}

std::unique_ptr<StepInput> make_resident_input(const DeviceImages& images,
                                               const train::BatchLoader& loader) {
  return std::make_unique<ResidentInput>(images, loader);
}

std::unique_ptr<StepInput> make_streamed_input(train::BatchLoader& loader) {
  return std::make_unique<StreamedInput>(loader);
}

}  // namespace medley::nn
