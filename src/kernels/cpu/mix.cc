#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/parallel.h"
#include "kernels/cpu/entry.h"
#include "kernels/cpu/in_place.h"
#include "kernels/cpu/scratch.h"
#include "kernels/lower.h"

namespace medley {
namespace {

/// Below this many bytes of output waking other threads costs more than it saves.
constexpr std::int64_t kParallelBytes = 1 << 17;

Scratch& thread_scratch() {
  thread_local Scratch scratch;
  scratch.reset();
  return scratch;
}

/// Cuts `rows` into `parts`; part i is [bound(i), bound(i+1)).
struct Bands {
  std::int32_t rows;
  std::int64_t parts;
  [[nodiscard]] std::int32_t bound(std::int64_t i) const {
    return static_cast<std::int32_t>(rows * i / parts);
  }
};

/// Copies rows [y0, y1) of an image of the batch to the same places of `copy`.
void save_rows(const MixJob& job, std::int64_t image, std::int32_t y0, std::int32_t y1,
               std::byte* copy) {
  const BatchShape& shape = job.in.shape;
  const BatchStrides& s = job.in.strides;
  const std::int64_t size = size_of(job.in.dtype);
  const bool nhwc = job.in.layout == Layout::nhwc;
  const std::int64_t planes = nhwc ? 1 : shape.channels;
  const auto row = static_cast<std::size_t>(shape.width * (nhwc ? shape.channels : 1) * size);
  const auto* from = static_cast<const std::byte*>(job.in.data) + image * s.image * size;
  for (std::int64_t c = 0; c < planes; ++c) {
    for (std::int32_t y = y0; y < y1; ++y) {
      const std::int64_t at = (c * (nhwc ? 0 : s.channel) + y * s.row) * size;
      std::memcpy(copy + at, from + at, row);
    }
  }
}

void mix_in_place(const EntryContext& context, int threads) {
  const MixJob& job = context.job;
  const std::vector<InPlaceStep> steps = in_place_order(context.plan);
  std::vector<std::byte> saved;
  if (std::ranges::any_of(steps, &InPlaceStep::save)) {
    saved.resize(static_cast<std::size_t>(job.in.strides.image * size_of(job.in.dtype)));
  }
  // No windows here, so rows do not depend on other rows: each thread takes a band of every image.
  const Bands bands{context.plan.size.height,
                    std::min<std::int64_t>(threads, context.plan.size.height)};
  parallel_for(bands.parts, threads, [&](std::int64_t part) {
    EntryMixer mixer(context, thread_scratch());
    const std::int32_t y0 = bands.bound(part);
    const std::int32_t y1 = bands.bound(part + 1);
    for (const InPlaceStep& step : steps) {
      if (step.save) save_rows(job, step.entry, y0, y1, saved.data());
      mixer.mix_rows(step.entry, y0, y1, step.partner_saved ? saved.data() : nullptr);
    }
  });
}

}  // namespace

void mix_cpu(const LoweredPlan& plan, const MixJob& job) {
  const EntryContext context(plan, job);
  const std::int64_t bytes = job.out.shape.values() * size_of(job.out.dtype);
  const int wanted = job.threads > 0 ? job.threads : hardware_threads();
  const int threads = bytes < kParallelBytes ? 1 : wanted;
  if (job.in_place) return mix_in_place(context, threads);

  const std::int64_t count = std::ssize(plan.entries);
  // Few images are cut into bands of rows, so that every thread has work.
  const std::int64_t wanted_items = threads == 1 ? 1 : std::int64_t{4} * threads;
  const Bands bands{plan.size.height,
                    std::clamp<std::int64_t>((wanted_items + count - 1) / count, 1,
                                             std::max(1, plan.size.height / 8))};
  // Small images are taken several at a time.
  const std::int64_t together =
      std::clamp<std::int64_t>(count * bands.parts / wanted_items, 1,
                               std::max<std::int64_t>(1, kParallelBytes * count / bytes));
  const std::int64_t items = count * bands.parts;
  parallel_for((items + together - 1) / together, threads, [&](std::int64_t chunk) {
    EntryMixer mixer(context, thread_scratch());
    const std::int64_t end = std::min(items, (chunk + 1) * together);
    for (std::int64_t item = chunk * together; item < end; ++item) {
      const std::int64_t part = item % bands.parts;
      mixer.mix_rows(item / bands.parts, bands.bound(part), bands.bound(part + 1));
    }
    if (job.streaming) context.common.stream_fence();
  });
}

}  // namespace medley
