#include "medley/sampler.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "core/enums.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "plan/method.h"
#include "plan/pairing.h"

namespace medley {
namespace {

constexpr std::int32_t kMaxSide = 1 << 15;
constexpr std::int64_t kMaxBatch = std::int64_t{1} << 32;

void check_positive(const char* name, double value) {
  if (!(std::isfinite(value) && value > 0)) {
    fail_argument(fmt::format("{} must be > 0, got {}", name, value));
  }
}

void check_unit(const char* name, double value) {
  if (!(value >= 0 && value <= 1)) {
    fail_argument(fmt::format("{} must be in [0, 1], got {}", name, value));
  }
}

void check_policy(const MixPolicy& p, const MethodInfo& info) {
  if (p.alpha) check_positive("alpha", *p.alpha);
  if (p.beta) check_positive("beta", *p.beta);
  if (p.gamma) check_positive("gamma", *p.gamma);
  if (p.power) check_positive("power", *p.power);
  check_unit("ratio", p.ratio);
  check_unit("q_mix", p.q_mix);
  check_unit("prob", p.prob);
  check_unit("soft", p.soft);
  check_unit("flip", p.augment.flip);
  if (!(std::isfinite(p.decay) && p.decay >= 0)) {
    fail_argument(fmt::format("decay must be >= 0, got {}", p.decay));
  }
  if (!(p.scale_min > 0 && p.scale_min <= p.scale_max && p.scale_max <= 1)) {
    fail_argument(
        fmt::format("scale_min and scale_max must satisfy 0 < min <= max <= 1, "
                    "got {} and {}",
                    p.scale_min, p.scale_max));
  }
  if (!(std::isfinite(p.sigma) && p.sigma >= 0)) {
    fail_argument(fmt::format("sigma must be >= 0, got {}", p.sigma));
  }
  check_positive("length", p.length);
  if (p.n < 2 || p.n > 1024) {
    fail_argument(fmt::format("n must be in [2, 1024], got {}", p.n));
  }
  if (p.augment.pad < 0 || p.augment.pad > kMaxSide) {
    fail_argument(fmt::format("pad must be in [0, {}], got {}", kMaxSide, p.augment.pad));
  }
  if (p.lam) {
    require_finite("lam", *p.lam);
    if (!info.unbounded_lam && !(*p.lam >= 0 && *p.lam <= 1)) {
      fail_argument(fmt::format("lam must be in [0, 1] for method {}, got {}", info.name, *p.lam));
    }
  }
  if (p.classes != ClassRule::any && p.pairing != Pairing::batch && p.pairing != Pairing::dataset) {
    fail_argument(fmt::format("class rule {} needs pairing batch or dataset, got {}",
                              name_of(p.classes), name_of(p.pairing)));
  }
}

/// The sample at `index`, seen through a random window.
Source draw_window(std::int64_t index, const Augment& augment, RandomStream& random) {
  Source source;
  source.index = index;
  if (augment.pad > 0) {
    const auto positions = static_cast<std::uint32_t>(2 * augment.pad + 1);
    source.dy = static_cast<std::int32_t>(random.below(positions)) - augment.pad;
    source.dx = static_cast<std::int32_t>(random.below(positions)) - augment.pad;
  }
  source.flip = augment.flip > 0 && random.uniform() < augment.flip;
  return source;
}

/// A request with its defaults filled in and its rules checked.
struct Job {
  const PlanRequest& request;
  std::int64_t count;
  std::uint64_t batch_ordinal;
  std::int64_t base;  // what a batch position counts from in the plan's indices
};

}  // namespace

struct Sampler::Impl {
  MixPolicy policy;
  ImageSize size;
  std::uint64_t seed;
  std::unique_ptr<MaskLaw> law;

  [[nodiscard]] Job check(const PlanRequest& request) const;
  [[nodiscard]] std::vector<std::vector<std::int64_t>> partners(const Job& job) const;
  [[nodiscard]] std::vector<std::int64_t> units(const Job& job,
                                                const std::vector<std::int64_t>& partner) const;
  [[nodiscard]] std::int64_t index_of(const Job& job, std::int64_t position) const;
};

Job Sampler::Impl::check(const PlanRequest& r) const {
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
  } else if (policy.pairing == Pairing::dataset && r.first + count > r.dataset_size) {
    fail_argument(fmt::format("samples {} to {} lie outside the data set of {} samples", r.first,
                              r.first + count - 1, r.dataset_size));
  }
  if (policy.classes != ClassRule::any) {
    const std::int64_t wanted = r.dataset_size > 0 ? r.dataset_size : count;
    if (std::ssize(r.labels) != wanted) {
      fail_argument(fmt::format("class rule {} needs {} labels, got {}", name_of(policy.classes),
                                wanted, r.labels.size()));
    }
    if (r.dataset_size > 0 && r.order.empty() && r.first + count > r.dataset_size) {
      fail_argument(fmt::format("samples {} to {} lie outside the data set of {} samples", r.first,
                                r.first + count - 1, r.dataset_size));
    }
  }
  return {r, count, static_cast<std::uint64_t>(r.first / r.batch), r.first};
}

std::int64_t Sampler::Impl::index_of(const Job& job, std::int64_t position) const {
  const std::int64_t ordinal = job.base + position;
  return job.request.order.empty() ? ordinal : job.request.order[static_cast<std::size_t>(ordinal)];
}

/// For each partner of an output, its index (data-set pairing) or its position in the batch.
std::vector<std::vector<std::int64_t>> Sampler::Impl::partners(const Job& job) const {
  const std::int32_t others = law->sources() - 1;
  std::vector<std::vector<std::int64_t>> result(static_cast<std::size_t>(others));
  const PlanRequest& r = job.request;
  if (policy.pairing == Pairing::dataset) {
    const DatasetPairing pairing(r.dataset_size, policy.no_self, policy.classes, r.labels);
    for (std::int32_t k = 0; k < others; ++k) {
      auto& column = result[static_cast<std::size_t>(k)];
      column.reserve(static_cast<std::size_t>(job.count));
      for (std::int64_t i = 0; i < job.count; ++i) {
        column.push_back(pairing.draw(index_of(job, i), k + 1, seed, r.epoch,
                                      static_cast<std::uint64_t>(r.first + i)));
      }
    }
    return result;
  }
  std::vector<std::int64_t> labels;
  if (policy.classes != ClassRule::any) {
    for (std::int64_t i = 0; i < job.count; ++i) {
      const std::int64_t at = r.dataset_size > 0 ? index_of(job, i) : i;
      labels.push_back(r.labels[static_cast<std::size_t>(at)]);
    }
  }
  const BatchPairing rules{policy.pairing, policy.mode == Mode::pair, policy.no_self,
                           policy.classes, labels};
  for (std::int32_t k = 0; k < others; ++k) {
    result[static_cast<std::size_t>(k)] =
        draw_batch_partners(rules, job.count, k + 1, seed, r.epoch, job.batch_ordinal);
  }
  return result;
}

/// The position whose draw a sample shares: its own, the first of its pair, or the batch's first.
std::vector<std::int64_t> Sampler::Impl::units(const Job& job,
                                               const std::vector<std::int64_t>& partner) const {
  std::vector<std::int64_t> unit(static_cast<std::size_t>(job.count));
  for (std::int64_t i = 0; i < job.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (policy.mode == Mode::sample) {
      unit[at] = i;
    } else if (policy.mode == Mode::batch) {
      unit[at] = 0;
    } else if (policy.pairing == Pairing::dataset ||
               partner[static_cast<std::size_t>(partner[at])] != i) {
      unit[at] = i - i % 2;  // no mutual partner: neighbours share
    } else {
      unit[at] = std::min(i, partner[at]);
    }
  }
  return unit;
}

Sampler::Sampler(MixPolicy policy, ImageSize size, std::uint64_t seed) {
  const MethodEntry& entry = method_entry(policy);
  check_policy(policy, entry.info);
  if (size.height < 1 || size.width < 1 || size.height > kMaxSide || size.width > kMaxSide) {
    fail_argument(fmt::format("height and width must be in [1, {}], got {}x{}", kMaxSide,
                              size.height, size.width));
  }
  auto law = entry.make(policy, size);
  impl_ = std::make_unique<const Impl>(Impl{std::move(policy), size, seed, std::move(law)});
}

Sampler::~Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;

const MixPolicy& Sampler::policy() const noexcept { return impl_->policy; }
ImageSize Sampler::size() const noexcept { return impl_->size; }
std::uint64_t Sampler::seed() const noexcept { return impl_->seed; }

MixPlan Sampler::plan(const PlanRequest& request) const {
  const Job job = impl_->check(request);
  const MixPolicy& policy = impl_->policy;
  const MaskLaw& law = *impl_->law;
  const bool dataset = policy.pairing == Pairing::dataset;

  MixPlan plan;
  plan.method = policy.method;
  plan.seed = impl_->seed;
  plan.epoch = request.epoch;
  plan.first = request.first;
  plan.size = impl_->size;
  plan.base = dataset || !request.order.empty() ? 0 : request.first;
  const auto count = static_cast<std::size_t>(job.count);
  plan.entries.resize(count);

  const auto partners = impl_->partners(job);
  const auto units = impl_->units(job, partners[0]);

  // Draw what units share; `slot` numbers the units in the order of their first sample.
  std::vector<std::int64_t> slot(count, -1);
  std::vector<std::int64_t> firsts;
  for (std::int64_t unit : units) {
    auto& s = slot[static_cast<std::size_t>(unit)];
    if (s < 0) {
      s = std::ssize(firsts);
      firsts.push_back(unit);
    }
  }
  const auto unit_of = [&](std::int64_t position) {
    const std::int64_t first = units[static_cast<std::size_t>(position)];
    return static_cast<std::size_t>(slot[static_cast<std::size_t>(first)]);
  };
  const auto random_of = [&](std::size_t unit) {
    const auto key = policy.mode == Mode::batch
                         ? job.batch_ordinal
                         : static_cast<std::uint64_t>(request.first + firsts[unit]);
    return UnitRandom(impl_->seed, request.epoch, key);
  };

  // A unit of which no sample mixes is not drawn and has no field.
  std::vector<char> mixes(firsts.size());
  for (std::size_t unit = 0; unit < firsts.size(); ++unit) {
    mixes[unit] = policy.prob >= 1 || random_of(unit).stream(Purpose::prob).uniform() < policy.prob;
  }
  std::vector<char> mixed(count);
  std::vector<char> needed(firsts.size());
  const bool may_be_alone = policy.no_self || policy.classes == ClassRule::other;
  for (std::int64_t i = 0; i < job.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t own = dataset ? impl_->index_of(job, i) : i;
    const bool alone = may_be_alone && partners[0][at] == own;
    mixed[at] = mixes[unit_of(i)] != 0 && !alone;
    if (mixed[at] != 0) needed[unit_of(i)] = 1;
  }
  const auto pixels = static_cast<std::size_t>(law.makes_field() ? plan.size.pixels() : 0);
  const auto sources = static_cast<std::size_t>(law.lists_terms() ? law.sources() : 0);
  std::vector<std::size_t> field_at(firsts.size());
  std::size_t field_values = 0;
  for (std::size_t unit = 0; unit < firsts.size(); ++unit) {
    field_at[unit] = field_values;
    if (needed[unit] != 0) field_values += pixels;
  }
  plan.fields.resize(field_values);
  std::vector<MaskDraw> draws(firsts.size());
  std::vector<double> weights(firsts.size() * sources);
  const auto draw_unit = [&](std::int64_t i) {
    const auto unit = static_cast<std::size_t>(i);
    if (needed[unit] == 0) return;
    draws[unit] = law.draw(random_of(unit), std::span(plan.fields).subspan(field_at[unit], pixels),
                           std::span(weights).subspan(unit * sources, sources));
    if (auto* field = std::get_if<FieldMask>(&draws[unit].mask)) {
      field->offset = static_cast<std::int64_t>(field_at[unit]);
    }
  };
  // Parametric masks take about a microsecond each: a thread is only woken for many of them.
  const std::int64_t together = law.makes_field() ? 1 : 256;
  const std::int64_t chunks = (std::ssize(firsts) + together - 1) / together;
  parallel_for(chunks, request.threads, [&](std::int64_t chunk) {
    const std::int64_t end = std::min((chunk + 1) * together, std::ssize(firsts));
    for (std::int64_t unit = chunk * together; unit < end; ++unit) draw_unit(unit);
  });

  const auto own_source = [&](std::int64_t position) {
    RandomStream random(impl_->seed, request.epoch,
                        static_cast<std::uint64_t>(request.first + position), Purpose::window);
    return draw_window(impl_->index_of(job, position), policy.augment, random);
  };
  const auto partner_source = [&](std::int64_t position, std::size_t k) {
    const std::int64_t partner = partners[k][static_cast<std::size_t>(position)];
    // Within a batch the partner is seen as it sees itself.
    if (!dataset) return own_source(partner);
    RandomStream random(impl_->seed, request.epoch,
                        static_cast<std::uint64_t>(request.first + position),
                        Purpose::partner_window);
    Source source;
    for (std::size_t round = 0; round <= k; ++round) {
      source = draw_window(partner, policy.augment, random);
    }
    return source;
  };

  for (std::int64_t i = 0; i < job.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    MixEntry& entry = plan.entries[at];
    const std::size_t unit = unit_of(i);
    entry.own = own_source(i);
    if (policy.method == "none") {
      entry.partner = entry.own;
    } else {
      entry.partner = partner_source(i, 0);
    }
    if (mixed[at] != 0) {
      const MaskDraw& draw = draws[unit];
      entry.mask = draw.mask;
      entry.resample = draw.resample;
      entry.lam = draw.lam;
      entry.label_weight = policy.label == LabelRule::drawn ? draw.lam : draw.realised;
    }
    if (law.lists_terms()) {
      entry.term_begin = std::ssize(plan.terms);
      entry.term_count = law.sources();
      for (std::size_t k = 0; k < sources; ++k) {
        const double weight = mixed[at] != 0 ? weights[unit * sources + k] : (k == 0 ? 1.0 : 0.0);
        plan.terms.push_back({k == 0 ? entry.own : partner_source(i, k - 1), weight});
      }
    }
  }
  return plan;
}

}  // namespace medley
