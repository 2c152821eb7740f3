#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <vector>

#include "core/parallel.h"
#include "kernels/cpu/call.h"
#include "kernels/cpu/entry.h"
#include "kernels/cpu/order.h"
#include "kernels/cpu/scratch.h"
#include "kernels/lower.h"

namespace medley {
namespace {

/// Below this many bytes of output waking other threads costs more than it saves.
constexpr std::int64_t kParallelBytes = 1 << 17;
/// Large images are mixed in bands of rows of about this many bytes of input, so that the partner's
/// band is still in a near cache when the next output has it as its own. Reading and writing on for
/// longer is worth more than staying in the nearest one.
constexpr std::int64_t kBandBytes = 640 << 10;
/// In place, bands are narrower: boxes of a batch may lie in a few rows, and all threads shall have
/// some of them.
constexpr std::int64_t kInPlaceBandBytes = 200 << 10;
/// Outputs in a row that one thread takes.
constexpr std::int64_t kChain = 16;

// A thread keeps the working memory of its calls, so that a call like the last one allocates
// nothing.

/// Of one item.
Scratch& thread_scratch() {
  thread_local Scratch scratch;
  scratch.reset();
  return scratch;
}

/// Of a whole call.
struct CallMemory {
  /// Larger images are not kept.
  static constexpr std::size_t kMostSaved = std::size_t{1} << 22;

  Scratch scratch;
  ChainedOrder chained;
  InPlaceOrder in_place;
  std::vector<std::byte> saved;  // rows of an image
};

CallMemory& call_memory() {
  thread_local CallMemory memory;
  memory.scratch.reset();
  return memory;
}

/// Cuts `rows` into `parts`; part i is [bound(i), bound(i+1)).
struct Bands {
  std::int32_t rows;
  std::int64_t parts;
  [[nodiscard]] std::int32_t bound(std::int64_t i) const {
    return static_cast<std::int32_t>(rows * i / parts);
  }
};

std::int64_t image_bytes(const MixJob& job) {
  return job.in.shape.channels * job.in.shape.size().pixels() * size_of(job.in.dtype);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Copies what output `reader` needs of rows [y0, y1) of an image of the batch, its partner, to the
/// same places of `copy`.
void save_rows(const MixJob& job, const LoweredEntry& reader, std::int64_t image, std::int32_t y0,
               std::int32_t y1, std::byte* copy) {
  const BatchShape& shape = job.in.shape;
  const BatchStrides& s = job.in.strides;
  const std::int64_t size = size_of(job.in.dtype);
  const bool nhwc = job.in.layout == Layout::nhwc;
  const std::int64_t pixel = size * (nhwc ? shape.channels : 1);
  const bool only_box = reader.kind == MaskKind::box && reader.outside.partner == 0;
  const bool some_columns = only_box && reader.left + reader.width <= shape.width;
  const std::int64_t begin = (some_columns ? reader.left : 0) * pixel;
  const auto bytes = static_cast<std::size_t>((some_columns ? reader.width : shape.width) * pixel);
  const auto* from = static_cast<const std::byte*>(job.in.data) + image * s.image * size;
  for (std::int64_t c = 0; c < (nhwc ? 1 : shape.channels); ++c) {
    for (std::int32_t y = y0; y < y1; ++y) {
      if (only_box && !in_interval(y, reader.top, reader.height, shape.height)) continue;
      const std::int64_t at = (c * (nhwc ? 0 : s.channel) + y * s.row) * size + begin;
      std::memcpy(copy + at, from + at, bytes);
    }
  }
}

void mix_in_place(const CpuCall& call, int threads, CallMemory& memory) {
  const MixJob& job = call.job;
  const std::vector<InPlaceStep>& steps = memory.in_place.of(call.plan);
  std::vector<std::byte>& saved = memory.saved;
  if (std::ranges::any_of(steps, [](const InPlaceStep& step) { return step.save_for >= 0; })) {
    saved.resize(static_cast<std::size_t>(job.in.strides.image * size_of(job.in.dtype)));
  }
  // No windows here, so rows do not depend on other rows: each thread takes bands of every image.
  const std::int64_t rounds = ceil_div(ceil_div(image_bytes(job), kInPlaceBandBytes), threads);
  const Bands bands{call.plan.size.height,
                    std::min<std::int64_t>(rounds * threads, call.plan.size.height)};
  const auto body = [&](std::int64_t part) {
    EntryMixer mixer(call, thread_scratch());
    const std::int32_t y0 = bands.bound(part);
    const std::int32_t y1 = bands.bound(part + 1);
    for (const InPlaceStep& step : steps) {
      if (step.save_for >= 0) {
        save_rows(job, call.plan.entries[static_cast<std::size_t>(step.save_for)], step.entry, y0,
                  y1, saved.data());
      }
      mixer.mix_rows(step.entry, y0, y1, step.partner_saved ? saved.data() : nullptr);
    }
  };
  parallel_for(bands.parts, threads, std::cref(body));
  if (saved.size() > CallMemory::kMostSaved) std::vector<std::byte>().swap(saved);
}

/// Outputs too large for the caches.
void mix_chained(const CpuCall& call, int threads, CallMemory& memory) {
  const std::int64_t count = std::ssize(call.plan.entries);
  const std::vector<std::int64_t>& order = memory.chained.of(call.plan);
  const std::int32_t height = call.plan.size.height;
  const std::int64_t wanted = threads == 1 ? 1 : std::int64_t{8} * threads;
  const std::int64_t parts =
      std::max(ceil_div(image_bytes(call.job), kBandBytes), ceil_div(wanted, count));
  const Bands bands{height, std::clamp<std::int64_t>(parts, 1, std::max(1, height / 8))};
  const std::int64_t chain = std::clamp<std::int64_t>(count * bands.parts / wanted, 1, kChain);
  const std::int64_t chains = ceil_div(count, chain);
  const auto body = [&](std::int64_t item) {
    EntryMixer mixer(call, thread_scratch());
    const std::int64_t begin = item % chains * chain;
    const std::int64_t part = item / chains;
    const std::int64_t end = std::min(begin + chain, count);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t next = i + 1 < end ? order[static_cast<std::size_t>(i + 1)] : -1;
      mixer.mix_rows(order[static_cast<std::size_t>(i)], bands.bound(part), bands.bound(part + 1),
                     nullptr, next);
    }
    if (call.job.streaming) call.lines.stream_fence();
  };
  parallel_for(chains * bands.parts, threads, std::cref(body));
}

}  // namespace

void mix_cpu(const LoweredPlan& plan, const MixJob& job) {
  CallMemory& memory = call_memory();
  const CpuCall call(plan, job, memory.scratch);
  const std::int64_t bytes = job.out.shape.values() * size_of(job.out.dtype);
  const int wanted = job.threads > 0 ? job.threads : hardware_threads();
  const int threads = bytes < kParallelBytes ? 1 : wanted;
  if (job.in_place) return mix_in_place(call, threads, memory);
  if (job.streaming) return mix_chained(call, threads, memory);

  const std::int64_t count = std::ssize(plan.entries);
  // Few images are cut into bands of rows, so that every thread has work.
  const std::int64_t wanted_items = threads == 1 ? 1 : std::int64_t{4} * threads;
  const Bands bands{plan.size.height, std::clamp<std::int64_t>(ceil_div(wanted_items, count), 1,
                                                               std::max(1, plan.size.height / 8))};
  const std::int64_t items = count * bands.parts;
  // Small images are taken several at a time.
  const std::int64_t most = std::max<std::int64_t>(1, kParallelBytes * count / bytes);
  const std::int64_t together =
      threads == 1 ? items : std::clamp<std::int64_t>(items / wanted_items, 1, most);
  const auto body = [&](std::int64_t chunk) {
    EntryMixer mixer(call, thread_scratch());
    const std::int64_t end = std::min(items, (chunk + 1) * together);
    for (std::int64_t item = chunk * together; item < end; ++item) {
      const std::int64_t part = item % bands.parts;
      mixer.mix_rows(item / bands.parts, bands.bound(part), bands.bound(part + 1));
    }
  };
  parallel_for(ceil_div(items, together), threads, std::cref(body));
}

}  // namespace medley
