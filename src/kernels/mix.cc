#include "medley/mix.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "core/cache_size.h"
#include "core/check.h"
#include "kernels/check_views.h"
#include "kernels/enums.h"
#include "kernels/lower.h"
#if MEDLEY_HAS_CUDA
#include "kernels/cuda/host.h"
#endif

namespace medley {
namespace {

bool same_memory(const ImageBatchView& a, const ImageBatchView& b) {
  return a.data == b.data && a.dtype == b.dtype && a.layout == b.layout && a.shape == b.shape &&
         a.strides == b.strides;
}

void check_in_place(const LoweredPlan& plan) {
  for (std::size_t b = 0; b < plan.entries.size(); ++b) {
    const LoweredEntry& e = plan.entries[b];
    const char* reason = nullptr;
    if (e.term_count > 0) reason = "it sums more than two sources";
    if (e.resample != Resample::none) reason = "it resamples its partner";
    if (!e.own.whole() || !e.partner.whole()) reason = "it crops, shifts, flips or moves tiles";
    if (e.own.image != static_cast<std::int64_t>(b)) reason = "its own image is at another place";
    if (reason != nullptr) {
      fail_argument(
          fmt::format("entry {} cannot be mixed in place: {}; use separate memory for "
                      "the output",
                      b, reason));
    }
  }
}

/// What a call needs before it mixes. A thread keeps it, so that its next call allocates nothing.
struct CallBuffers {
  LoweredPlan lowered;
  std::vector<Affine> affine;
};

CallBuffers& call_buffers() {
  thread_local CallBuffers buffers;
  return buffers;
}

}  // namespace

Normalize Normalize::of_unit_range(std::span<const float> mean, std::span<const float> stddev) {
  Normalize result;
  for (float value : mean) result.mean.push_back(value * 255.0f);
  for (float value : stddev) result.stddev.push_back(value * 255.0f);
  return result;
}

void mix(const MixPlan& plan, const ImageBatchView& in, const MutableImageBatchView& out,
         const MixOptions& options) {
  validate(plan);
  require_enumerator("backend", kBackends, options.backend);
  require_enumerator("pad_mode", kPadModes, options.pad_mode);
  require_enumerator("stores", kStores, options.stores);
  check_view("the input", in);
  check_view("the output", out);
  check_output(out, std::ssize(plan.entries), in.shape.channels, plan.size);
  check_input_size(in, plan.size, options);
  CallBuffers& buffers = call_buffers();
  LoweredPlan& lowered = buffers.lowered;
  lower(plan, in.shape.count, lowered);
  MixJob job;
  job.in = in;
  job.out = out;
  affine_of(options.normalize, in.shape.channels, buffers.affine);
  job.affine = buffers.affine;
  job.pad_mode = options.pad_mode;
  job.pad_value = static_cast<float>(require_finite("pad_value", options.pad_value));
  check_threads(options.threads);
  job.threads = options.threads;
  if (same_memory(in, out)) {
    check_in_place(lowered);
    job.in_place = true;
  } else if (overlap(in, out)) {
    fail_argument(
        "input and output overlap: they must be the same view, or the memory from the first to the "
        "last value of each must be separate");
  }
  const std::int64_t bytes = out.shape.values() * size_of(out.dtype);
  job.streaming =
      !job.in_place && (options.stores == Stores::streaming ||
                        (options.stores == Stores::automatic && bytes > last_level_cache() / 2));
  switch (options.backend) {
    case Backend::reference:
      return mix_reference(lowered, job);
    case Backend::cuda:
#if MEDLEY_HAS_CUDA
      if (job.in_place) fail_argument("backend cuda does not mix in place");
      return cuda::mix_host_images(plan, in, out, options);
#else
      fail_argument("this build has no cuda backend; build with MEDLEY_BUILD_CUDA=ON");
#endif
    case Backend::cpu:
    case Backend::automatic:
      return mix_cpu(lowered, job);
  }
}

}  // namespace medley
