#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/nearest_word.h"
#include "plan/beta.h"
#include "plan/enums.h"
#include "plan/method.h"

namespace medley {
namespace {

constexpr const MethodEntry* kEntries[] = {
    &registry::kNone, &registry::kMixup,     &registry::kCutmix,        &registry::kStochastic,
    &registry::kHmix, &registry::kGmix,      &registry::kBernoulli,     &registry::kNmixup,
    &registry::kFmix, &registry::kResizemix, &registry::kGaussianField, &registry::kCustom,
};

}  // namespace

const std::vector<const MethodInfo*>& methods() {
  static const std::vector<const MethodInfo*> infos = [] {
    std::vector<const MethodInfo*> list;
    for (const MethodEntry* entry : kEntries) list.push_back(&entry->info);
    return list;
  }();
  return infos;
}

bool MethodInfo::uses(std::string_view option) const noexcept {
  if (option == "lam") return uses_lam;
  return std::ranges::any_of(options, [&](const OptionInfo& info) { return info.name == option; });
}

Form form_of(const MixPolicy& policy) {
  if (policy.form) return *policy.form;
  for (const OptionInfo& option : get_method(policy.method).options) {
    if (option.name != "form") continue;
    return static_cast<Form>(std::ranges::find(kForms, option.default_value) - kForms.begin());
  }
  return Form::code;
}

const MethodInfo* find_method(std::string_view name) {
  for (const MethodInfo* info : methods()) {
    if (info->name == name) return info;
  }
  return nullptr;
}

const MethodInfo& get_method(std::string_view name) {
  if (const MethodInfo* info = find_method(name)) return *info;
  std::vector<std::string_view> names;
  for (const MethodInfo* info : methods()) names.push_back(info->name);
  const std::string near = suggestion(name, names);
  fail_argument(
      fmt::format("unknown method \"{}\"{}", name.substr(0, 40),
                  near.empty() ? fmt::format("; methods are {}", fmt::join(names, ", ")) : near));
}

const MethodEntry& method_entry(const MixPolicy& policy) {
  const MethodInfo& info = get_method(policy.method);
  const MethodEntry* found = kEntries[0];
  for (const MethodEntry* entry : kEntries) {
    if (&entry->info == &info) found = entry;
  }
  return *found;
}

LamLaw::LamLaw(const MixPolicy& policy, double default_alpha)
    : fixed_(policy.lam),
      alpha_(policy.alpha.value_or(default_alpha)),
      beta_(policy.beta.value_or(alpha_)) {}

double LamLaw::draw(const UnitRandom& random) const noexcept {
  if (fixed_) return *fixed_;
  RandomStream stream = random.stream(Purpose::lam);
  return draw_beta(stream, alpha_, beta_);
}

double field_mean(std::span<const float> field) noexcept {
  return std::accumulate(field.begin(), field.end(), 0.0) / static_cast<double>(field.size());
}

}  // namespace medley
