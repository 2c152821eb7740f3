#include "medley/sampler.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/mutex.h"
#include "core/parallel.h"
#include "medley/random.h"
#include "plan/check_policy.h"
#include "plan/pairing.h"
#include "plan/plan_builder.h"

namespace medley {
namespace {

constexpr std::int64_t kMaxBatch = std::int64_t{1} << 32;

/// How many samples are wanted. Throws InvalidArgument if the request breaks a rule.
std::int64_t checked_count(const MixPolicy& policy, const PlanRequest& r) {
  check_threads(r.threads);
  if (r.batch < 1 || r.batch > kMaxBatch) {
    fail_argument(fmt::format("batch must be in [1, {}], got {}", kMaxBatch, r.batch));
  }
  const std::int64_t count = r.count < 0 ? r.batch : r.count;
  const bool per_sample = policy.mode == Mode::sample && policy.pairing == Pairing::dataset;
  if (count < 1 || count > kMaxBatch) {
    fail_argument(fmt::format("count must be in [1, {}], got {}", kMaxBatch, count));
  }
  if (r.first < 0 || static_cast<std::uint64_t>(r.first) > kMaxOrdinal - kMaxBatch) {
    fail_argument(
        fmt::format("first must be in [0, {}], got {}", kMaxOrdinal - kMaxBatch, r.first));
  }
  if (r.epoch > kMaxEpoch) {
    fail_argument(fmt::format("epoch must be at most {}, got {}", kMaxEpoch, r.epoch));
  }
  if (!per_sample) {
    if (count > r.batch) {
      fail_argument(fmt::format("count must be at most the batch size {}, got {}", r.batch, count));
    }
    if (r.first % r.batch != 0) {
      fail_argument(fmt::format(
          "first must be a multiple of the batch size {} for mode {} and pairing {}, got {}",
          r.batch, name_of(policy.mode), name_of(policy.pairing), r.first));
    }
  }
  if (r.dataset_size < 0) {
    fail_argument(fmt::format("dataset_size must be >= 0, got {}", r.dataset_size));
  }
  if (policy.pairing == Pairing::dataset && r.dataset_size == 0) {
    fail_argument("pairing dataset needs the size of the data set (dataset_size), got none");
  }
  if (!r.order.empty()) {
    if (r.first + count > std::ssize(r.order)) {
      fail_argument(fmt::format("samples {} to {} lie outside the order of {} samples", r.first,
                                r.first + count - 1, r.order.size()));
    }
    for (std::int64_t i = r.first; i < r.first + count; ++i) {
      const std::int64_t index = r.order[static_cast<std::size_t>(i)];
      if (index < 0 || (r.dataset_size > 0 && index >= r.dataset_size)) {
        fail_argument(fmt::format("order must hold data-set indices in [0, {}), got {}",
                                  r.dataset_size, index));
      }
    }
  } else if (r.dataset_size > 0 && r.first + count > r.dataset_size) {
    fail_argument(fmt::format("samples {} to {} lie outside the data set of {} samples", r.first,
                              r.first + count - 1, r.dataset_size));
  }
  if (policy.classes != ClassRule::any) {
    const std::int64_t wanted = r.dataset_size > 0 ? r.dataset_size : count;
    if (std::ssize(r.labels) != wanted) {
      fail_argument(fmt::format("{}_class needs {} labels, got {}", name_of(policy.classes), wanted,
                                r.labels.size()));
    }
    const auto negative = std::ranges::find_if(r.labels, [](std::int64_t l) { return l < 0; });
    if (negative != r.labels.end()) {
      fail_argument(
          fmt::format("labels must be >= 0, got {} at {}", *negative, negative - r.labels.begin()));
    }
  }
  return count;
}

/// The class index of the last data set, which serves again as long as the labels are the same.
class LastClassIndex {
 public:
  [[nodiscard]] std::shared_ptr<const ClassIndex> of(std::span<const std::int64_t> labels) const {
    std::shared_ptr<const ClassIndex> index;
    {
      const Lock lock(mutex_);
      index = last_;
    }
    if (index && std::ranges::equal(index->labels, labels)) return index;
    index = std::make_shared<const ClassIndex>(labels);
    const Lock lock(mutex_);
    last_ = index;
    return index;
  }

 private:
  mutable Mutex mutex_;
  mutable std::shared_ptr<const ClassIndex> last_;
};

}  // namespace

struct Sampler::Impl {
  MixPolicy policy;
  ImageSize size;
  std::uint64_t seed;
  std::unique_ptr<MaskSampler> masks;
  std::unique_ptr<const LastClassIndex> classes;
};

Sampler::Sampler(MixPolicy policy, ImageSize size, std::uint64_t seed) {
  check_policy(policy);
  if (size.height < 1 || size.width < 1 || size.height > kMaxSide || size.width > kMaxSide) {
    fail_argument(fmt::format("height and width must be in [1, {}], got {}x{}", kMaxSide,
                              size.height, size.width));
  }
  auto masks = policy.method.bind(size, policy.label);
  impl_ = std::make_unique<const Impl>(Impl{std::move(policy), size, seed, std::move(masks),
                                            std::make_unique<const LastClassIndex>()});
}

Sampler::~Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;

const MixPolicy& Sampler::policy() const noexcept { return impl_->policy; }
ImageSize Sampler::size() const noexcept { return impl_->size; }
std::uint64_t Sampler::seed() const noexcept { return impl_->seed; }

MixPlan Sampler::plan(const PlanRequest& request) const {
  const std::int64_t count = checked_count(impl_->policy, request);
  const MixPolicy& policy = impl_->policy;
  std::shared_ptr<const ClassIndex> classes;
  if (policy.pairing == Pairing::dataset && policy.classes != ClassRule::any) {
    classes = impl_->classes->of(request.labels);
  }
  return PlanBuilder({impl_->policy, *impl_->masks, impl_->size, impl_->seed, request, count,
                      classes.get()})
      .build();
}

}  // namespace medley
