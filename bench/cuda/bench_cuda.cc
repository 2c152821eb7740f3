// Mixing speed on the current CUDA device, as JSON on stdout. Every time is the median of device
// events over many repetitions and stands beside a memcpy of the same batch in the same run: each
// byte read once and each written once. For other types of output that floor is scaled by bytes.
//   bench_cuda [METHOD...]    everything, or only these methods; "small" is the CIFAR-size epoch

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/cuda/check.h"
#include "kernels/cuda/memory.h"
#include "medley/cuda.h"
#include "medley/medley.h"
#include "medley/random.h"

namespace {

using Json = nlohmann::ordered_json;
using medley::DType;
using medley::Layout;
using medley::cuda::DeviceArray;

constexpr medley::BatchShape kShape{512, 3, 224, 224};
constexpr medley::BatchShape kSmallerBatch{128, 3, 224, 224};
constexpr int kWarmUp = 5;
constexpr int kRepetitions = 30;

class Timer {
 public:
  Timer() {
    MEDLEY_CUDA_CHECK(cudaEventCreate(&begin_));
    MEDLEY_CUDA_CHECK(cudaEventCreate(&end_));
  }
  ~Timer() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Median time of a call in microseconds. Another call keeps the device busy while the timed one
  /// is launched, so that the host's share does not count.
  double median_us(cudaStream_t stream, const std::function<void()>& call) {
    for (int i = 0; i < kWarmUp; ++i) call();
    std::vector<float> times;
    for (int i = 0; i < kRepetitions; ++i) {
      call();
      MEDLEY_CUDA_CHECK(cudaEventRecord(begin_, stream));
      call();
      MEDLEY_CUDA_CHECK(cudaEventRecord(end_, stream));
      MEDLEY_CUDA_CHECK(cudaEventSynchronize(end_));
      float milliseconds = 0;
      MEDLEY_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
      times.push_back(milliseconds);
    }
    std::nth_element(times.begin(), times.begin() + kRepetitions / 2, times.end());
    return 1000.0 * times[kRepetitions / 2];
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// Values that the kernels must read of both images, and of fields, for one plan.
struct Floor {
  double pixels = 0;  // input pixels
  double fields = 0;  // field values
};

Floor floor_of(const medley::MixPlan& plan) {
  const auto pixels = static_cast<double>(plan.size.pixels());
  std::set<std::int64_t> fields;  // one that several outputs share counts once
  Floor floor;
  for (const medley::MixEntry& e : plan.entries) {
    if (e.term_count > 0) {
      floor.pixels += e.term_count * pixels;
      continue;
    }
    const auto reads = [](double m) { return (m != 0 ? 1.0 : 0.0) + (m != 1 ? 1.0 : 0.0); };
    if (const auto* flat = std::get_if<medley::FlatMask>(&e.mask)) {
      floor.pixels += reads(flat->value) * pixels;
    } else if (const auto* box = std::get_if<medley::BoxMask>(&e.mask)) {
      const double area = static_cast<double>(box->height) * box->width;
      // A shrunk partner is read at most whole, and at four taps per pixel of the box.
      const double inside = e.resample == medley::Resample::none ? reads(box->inside) * area
                                                                 : std::min(4 * area, pixels);
      floor.pixels += inside + reads(box->outside) * (pixels - area);
    } else {
      floor.pixels += 2 * pixels;
      if (const auto* field = std::get_if<medley::FieldMask>(&e.mask)) fields.insert(field->offset);
    }
  }
  floor.fields = static_cast<double>(fields.size()) * pixels;
  return floor;
}

medley::MixPolicy policy_of(const std::string& name) {
  medley::MixPolicy policy{.method = name};
  policy.method.set_if_used("alpha", 1);
  if (name == "custom") {
    auto masks = std::make_shared<medley::MaskSet>();
    masks->size = kShape.size();
    masks->values.assign(static_cast<std::size_t>(kShape.size().pixels()), 0.3f);
    policy.method.set("masks", masks);
  }
  return policy;
}

void fill(std::byte* device, std::int64_t bytes, DType type) {
  // Random values between 0 and 1 (or bytes): written once, their content does not matter for time
  // except that it must not be constant.
  constexpr std::int64_t kBlock = 1 << 22;
  std::vector<std::uint16_t> host(kBlock / 2);
  medley::RandomStream random(1, 0, 0, medley::Purpose::picture);
  for (std::int64_t at = 0; at < bytes; at += kBlock) {
    for (auto& value : host) {
      const auto bits = static_cast<std::uint16_t>(random.next_u32());
      // Exponents that keep every float type away from infinity.
      value = type == DType::u8 ? bits : static_cast<std::uint16_t>((bits & 0x03FFu) | 0x3800u);
    }
    MEDLEY_CUDA_CHECK(cudaMemcpy(device + at, host.data(),
                                 static_cast<std::size_t>(std::min(kBlock, bytes - at)),
                                 cudaMemcpyHostToDevice));
  }
}

double memcpy_us(Timer& timer, cudaStream_t stream, const std::byte* from, std::byte* to,
                 std::int64_t bytes) {
  return timer.median_us(stream, [&] {
    MEDLEY_CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes),
                                      cudaMemcpyDeviceToDevice, stream));
  });
}

double copy_bandwidth(Timer& timer, cudaStream_t stream, std::byte* from, std::byte* to) {
  constexpr std::int64_t kBytes = 512ll * 3 * 224 * 224 * 4;
  const double us = memcpy_us(timer, stream, from, to, kBytes);
  return 2.0 * static_cast<double>(kBytes) / us / 1e6;  // TB/s
}

/// Time over that of the memcpy that is to be reached; 0: none. The only place where these stand.
double target_of(const std::string& method, DType in, std::int64_t batch) {
  if (method == "none" || method == "resizemix") return 0;
  const bool bytes = in == DType::u8;
  const double target = method == "cutmix"   ? (bytes ? 1.15 : 1.08)
                        : method == "nmixup" ? (bytes ? 1.25 : 1.20)
                                             : (bytes ? 1.15 : 1.12);
  return batch == kShape.count ? target : target + 0.05;
}

/// Plain mixup, the identity and so on for one pair of types and a layout.
Json bench_methods(Timer& timer, cudaStream_t stream, const medley::BatchShape& shape,
                   std::byte* in_data, std::byte* out_data,
                   const std::vector<std::string>& wanted) {
  Json results = Json::array();
  struct Types {
    DType in, out;
    bool normalize;
  };
  for (const Types types : {Types{DType::f32, DType::f32, false},
                            {DType::f16, DType::f16, false},
                            {DType::bf16, DType::bf16, false},
                            {DType::u8, DType::bf16, true}}) {
    const std::int64_t in_bytes = shape.values() * medley::size_of(types.in);
    const std::int64_t out_bytes = shape.values() * medley::size_of(types.out);
    fill(in_data, in_bytes, types.in);
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      const medley::ImageBatchView in{in_data, types.in, layout, shape,
                                      medley::dense_strides(shape, layout)};
      const medley::MutableImageBatchView out{out_data, types.out, layout, shape,
                                              medley::dense_strides(shape, layout)};
      const double copy_us = memcpy_us(timer, stream, in_data, out_data, out_bytes) *
                             static_cast<double>(in_bytes + out_bytes) /
                             static_cast<double>(2 * out_bytes);
      medley::MixOptions options;
      if (types.normalize) options.normalize = {{124, 116, 104}, {58, 57, 57}};
      for (const char* name : {"none", "mixup", "cutmix", "stochastic", "hmix", "gmix", "bernoulli",
                               "nmixup", "fmix", "resizemix", "gaussian-field", "custom"}) {
        for (const medley::Mode mode : {medley::Mode::sample, medley::Mode::batch}) {
          medley::MixPolicy policy = policy_of(name);
          policy.mode = mode;
          if (mode == medley::Mode::batch) policy.method.set_if_used("lam", 0.4);
          const std::string method = name;
          if (!wanted.empty() && std::ranges::find(wanted, method) == wanted.end()) continue;
          if (mode == medley::Mode::batch &&
              (method == "stochastic" || method == "none" || method == "nmixup")) {
            continue;
          }
          // Fields per sample take long to plan; one field shared by the batch is enough there.
          const bool field = method == "bernoulli" || method == "fmix" ||
                             method == "gaussian-field" || method == "custom";
          if (field && mode == medley::Mode::sample && method != "bernoulli") continue;
          const medley::MixPlan plan =
              medley::Sampler(policy, shape.size(), 3).plan({.batch = shape.count});
          const medley::cuda::DevicePlan device_plan(plan, shape.count);
          const Floor floor = floor_of(plan);
          const double bytes =
              floor.pixels * shape.channels * static_cast<double>(medley::size_of(types.in)) +
              floor.fields * 4 + static_cast<double>(shape.values() * medley::size_of(types.out));
          const double us = timer.median_us(
              stream, [&] { medley::cuda::mix(device_plan, in, out, options, stream); });
          const double tb = bytes / us / 1e6;
          const double target = target_of(method, types.in, shape.count);
          results.push_back({{"method", name},
                             {"batch", shape.count},
                             {"mode", medley::name_of(mode)},
                             {"in", medley::name_of(types.in)},
                             {"out", medley::name_of(types.out)},
                             {"layout", medley::name_of(layout)},
                             {"us", us},
                             {"memcpy_us", copy_us},
                             {"of_memcpy", us / copy_us},
                             {"target", target > 0 ? Json(target) : Json(nullptr)},
                             {"met", target > 0 ? Json(us / copy_us <= target) : Json(nullptr)},
                             {"floor_bytes", bytes},
                             {"tb_per_s", tb}});
        }
      }
    }
  }
  return results;
}

/// Parameters per sample against the same parameters for all: the same pixels are moved.
Json bench_per_sample(Timer& timer, cudaStream_t stream, std::byte* in_data, std::byte* out_data) {
  Json results = Json::array();
  const medley::ImageBatchView in{in_data, DType::f32, Layout::nchw, kShape,
                                  medley::dense_strides(kShape, Layout::nchw)};
  const medley::MutableImageBatchView out{out_data, DType::f32, Layout::nchw, kShape,
                                          medley::dense_strides(kShape, Layout::nchw)};
  for (const char* name : {"mixup", "cutmix", "hmix", "gmix"}) {
    medley::MixPlan each =
        medley::Sampler(policy_of(name), kShape.size(), 3).plan({.batch = kShape.count});
    medley::MixPlan shared = each;
    // The box or center of the median floor stands for all, so that both read about as much.
    std::vector<std::pair<double, std::size_t>> floors;
    for (std::size_t i = 0; i < each.entries.size(); ++i) {
      medley::MixPlan one = each;
      one.entries = {each.entries[i]};
      floors.emplace_back(floor_of(one).pixels, i);
    }
    std::sort(floors.begin(), floors.end());
    const medley::Mask mask = each.entries[floors[floors.size() / 2].second].mask;
    for (auto& entry : shared.entries) entry.mask = mask;
    const medley::cuda::DevicePlan a(each, kShape.count);
    const medley::cuda::DevicePlan b(shared, kShape.count);
    const double each_us =
        timer.median_us(stream, [&] { medley::cuda::mix(a, in, out, {}, stream); });
    const double shared_us =
        timer.median_us(stream, [&] { medley::cuda::mix(b, in, out, {}, stream); });
    // Per byte of the floor, since the drawn boxes differ in area.
    const double plane = static_cast<double>(kShape.values() * 4);
    const double each_bytes = floor_of(each).pixels * 12 + plane;
    const double shared_bytes = floor_of(shared).pixels * 12 + plane;
    results.push_back({{"method", name},
                       {"per_sample_us", each_us},
                       {"shared_us", shared_us},
                       {"cost", each_us / each_bytes / (shared_us / shared_bytes) - 1}});
  }
  return results;
}

/// A CIFAR-size epoch: crop, flip, mix, normalize, u8 to bf16, in a replayed graph of 100 steps.
Json bench_small(Timer& timer, cudaStream_t stream) {
  constexpr medley::BatchShape kSet{50000, 3, 32, 32};
  constexpr std::int64_t kBatch = 100;
  constexpr std::int64_t kSteps = 100;
  constexpr medley::BatchShape kOut{kBatch, 3, 32, 32};
  DeviceArray<std::byte> set(static_cast<std::size_t>(kSet.values()));
  DeviceArray<std::byte> out_data(static_cast<std::size_t>(kOut.values() * 2));
  fill(set.get(), kSet.values(), DType::u8);
  const std::vector<std::int64_t> zero{0};
  const DeviceArray<std::int64_t> step{std::span<const std::int64_t>(zero)};
  Json results = Json::array();
  for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
    for (const char* name : {"none", "mixup", "cutmix", "hmix", "gmix"}) {
      medley::MixPolicy policy = policy_of(name);
      policy.pairing = medley::Pairing::dataset;
      policy.augment = {2, 0.5};
      const medley::Sampler sampler(policy, {32, 32}, 3);
      std::vector<medley::MixPlan> plans;
      for (std::int64_t s = 0; s < kSteps; ++s) {
        plans.push_back(
            sampler.plan({.batch = kBatch, .first = s * kBatch, .dataset_size = kSet.count}));
      }
      const medley::cuda::DevicePlan plan(plans, kSet.count);
      const medley::ImageBatchView in{set.get(), DType::u8, layout, kSet,
                                      medley::dense_strides(kSet, layout)};
      const medley::MutableImageBatchView out{out_data.get(), DType::bf16, layout, kOut,
                                              medley::dense_strides(kOut, layout)};
      const medley::MixOptions options{
          .normalize = {{129.3f, 124.1f, 112.4f}, {68.2f, 65.4f, 70.4f}}};
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t exec = nullptr;
      MEDLEY_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
      for (std::int64_t s = 0; s < kSteps; ++s) {
        medley::cuda::mix(plan, in, out, options, stream, {step.get(), s});
      }
      medley::cuda::advance(step.get(), stream, kSteps);
      MEDLEY_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
      MEDLEY_CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
      const double us =
          timer.median_us(stream, [&] { MEDLEY_CUDA_CHECK(cudaGraphLaunch(exec, stream)); });
      results.push_back({{"method", name},
                         {"layout", medley::name_of(layout)},
                         {"us_per_batch", us / static_cast<double>(kSteps)}});
      MEDLEY_CUDA_CHECK(cudaGraphExecDestroy(exec));
      MEDLEY_CUDA_CHECK(cudaGraphDestroy(graph));
    }
  }
  return results;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> wanted(argv + 1, argv + argc);
    const auto devices = medley::cuda::devices();
    if (devices.empty()) {
      std::cerr << "bench_cuda: no CUDA device\n";
      return 1;
    }
    cudaStream_t stream = nullptr;
    MEDLEY_CUDA_CHECK(cudaStreamCreate(&stream));
    Timer timer;
    DeviceArray<std::byte> in(static_cast<std::size_t>(kShape.values() * 4));
    DeviceArray<std::byte> out(static_cast<std::size_t>(kShape.values() * 4));
    fill(in.get(), kShape.values() * 4, DType::f32);
    const double before = copy_bandwidth(timer, stream, in.get(), out.get());
    Json json{{"schema", "medley.bench-cuda/1"},
              {"device", devices[0].name},
              {"shape", "512x3x224x224"},
              {"repetitions", kRepetitions},
              {"copy_tb_per_s", nullptr}};
    json["methods"] = bench_methods(timer, stream, kShape, in.get(), out.get(), wanted);
    for (Json& row : bench_methods(timer, stream, kSmallerBatch, in.get(), out.get(), wanted)) {
      json["methods"].push_back(std::move(row));
    }
    // The better of two, before and after the methods: clocks take their time.
    const double copy = std::max(before, copy_bandwidth(timer, stream, in.get(), out.get()));
    json["copy_tb_per_s"] = copy;
    for (Json& row : json["methods"]) {
      row["share_of_copy"] = row["tb_per_s"].get<double>() / copy;
    }
    if (wanted.empty()) {
      fill(in.get(), kShape.values() * 4, DType::f32);
      json["per_sample"] = bench_per_sample(timer, stream, in.get(), out.get());
    }
    if (wanted.empty() || wanted[0] == "small") json["small"] = bench_small(timer, stream);
    std::cout << json.dump(1) << "\n";
  } catch (const std::exception& error) {
    std::cerr << "bench_cuda: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
