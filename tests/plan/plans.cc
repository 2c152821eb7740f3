#include "plan/plans.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <numeric>
#include <ostream>

namespace medley {
namespace {

struct PrintMask {
  std::ostream& out;

  void operator()(const FlatMask& m) const { out << "flat " << m.value; }
  void operator()(const BoxMask& m) const {
    out << "box " << m.height << "x" << m.width << " at " << m.top << ", " << m.left << ", inside "
        << m.inside << ", outside " << m.outside;
  }
  void operator()(const GaussianMask& m) const {
    out << "gaussian at " << m.cy << ", " << m.cx << ", tau " << m.tau << ", peak "
        << (m.peak == Peak::own ? "own" : "partner");
  }
  void operator()(const FieldMask& m) const { out << "field from " << m.offset; }
  void operator()(const GridMask& m) const {
    out << "grid " << m.rows << "x" << m.columns << " from " << m.offset;
  }
  void operator()(const OpenMask& /*m*/) const { out << "open"; }
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const MixEntry& entry) {
  const auto precision = out.precision(17);
  out << "{" << entry.own.index << " with " << entry.partner.index << ", lam " << entry.lam
      << ", label " << entry.label_weight << ", " << entry.term_count << " terms, ";
  std::visit(PrintMask{out}, entry.mask);
  out.precision(precision);
  return out << "}";
}

std::ostream& operator<<(std::ostream& out, const MixPlan& plan) {
  return out << to_json(plan, true);
}

}  // namespace medley

namespace medley::test {

MixPolicy policy_of(std::string_view method, ImageSize size) {
  MixPolicy policy;
  policy.method = method;
  if (method == "custom") {
    constexpr std::int64_t kMasks = 3;
    auto masks = std::make_shared<MaskSet>();
    masks->size = size;
    for (std::int64_t i = 0; i < kMasks * size.pixels(); ++i) {
      masks->values.push_back(static_cast<float>(i * 7 % 16) / 16.0f);
    }
    policy.method.set("masks", masks);
  }
  return policy;
}

MixPlan draw_samples(MixPolicy policy, ImageSize size, std::uint64_t seed, std::int64_t count) {
  policy.mode = Mode::sample;
  policy.pairing = Pairing::dataset;
  PlanRequest request;
  request.batch = count;
  request.dataset_size = count;
  return Sampler(std::move(policy), size, seed).plan(request);
}

std::vector<double> values_of(const MixPlan& plan, const MixEntry& entry) {
  std::vector<double> values(static_cast<std::size_t>(plan.size.pixels()));
  mask_values(plan, entry, values);
  return values;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const MethodInfo* info : methods()) names.emplace_back(info->name);
  return names;
}

std::string test_name(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace medley::test
