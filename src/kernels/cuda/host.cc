#include "kernels/cuda/host.h"

#include <cstddef>

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "core/check.h"
#include "kernels/check_views.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/memory.h"
#include "medley/cuda.h"

namespace medley::cuda {

std::vector<DeviceInfo> devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return {};
  }
  std::vector<DeviceInfo> list;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    list.push_back(
        {i, properties.name, properties.major, properties.minor, properties.totalGlobalMem});
  }
  return list;
}

bool device_has_room(std::size_t bytes) noexcept {
  int count = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  const bool ok = cudaGetDeviceCount(&count) == cudaSuccess && count > 0 &&
                  cudaMemGetInfo(&free, &total) == cudaSuccess && free > bytes;
  (void)cudaGetLastError();
  return ok;
}

void mix_host_images(const MixPlan& plan, const ImageBatchView& in,
                     const MutableImageBatchView& out, const MixOptions& options) {
  if (devices().empty()) {
    fail_cuda("backend cuda needs a CUDA device, but none was found; use backend cpu");
  }
  const std::size_t in_bytes = static_cast<std::size_t>(extent_of(in).value());
  const std::size_t out_bytes = static_cast<std::size_t>(extent_of(out).value());
  if (!device_has_room(in_bytes + out_bytes)) {
    fail_cuda(
        fmt::format("backend cuda needs {} MiB on the device, which are not free; "
                    "use backend cpu or smaller batches",
                    (in_bytes + out_bytes) >> 20));
  }
  const DevicePlan device_plan(plan, in.shape.count);
  const DeviceArray<std::byte> device_in(
      std::span(static_cast<const std::byte*>(in.data), in_bytes));
  // The gaps between rows keep what they hold.
  const DeviceArray<std::byte> device_out(
      std::span<const std::byte>(static_cast<const std::byte*>(out.data), out_bytes));
  ImageBatchView from = in;
  from.data = device_in.get();
  MutableImageBatchView to = out;
  to.data = device_out.get();
  mix(device_plan, from, to, options, nullptr);
  MEDLEY_CUDA_CHECK(cudaMemcpy(out.data, device_out.get(), out_bytes, cudaMemcpyDeviceToHost));
}

}  // namespace medley::cuda
