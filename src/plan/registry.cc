#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
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

/// Number of single-letter changes that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row.back();
}

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
  const auto nearest = std::min_element(
      methods().begin(), methods().end(), [&](const MethodInfo* a, const MethodInfo* b) {
        return edit_distance(name, a->name) < edit_distance(name, b->name);
      });
  fail_argument(fmt::format("unknown method \"{}\"; did you mean \"{}\"?", name.substr(0, 40),
                            (*nearest)->name));
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
