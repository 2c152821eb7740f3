#include "medley/method.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/nearest_word.h"
#include "plan/beta.h"

namespace medley {
namespace {

constexpr double kMaxLam = 1e6;  // beyond, products with pixels lose all their digits

const OptionSpec& option_of(const MethodInfo& method, std::string_view option) {
  if (const OptionSpec* spec = find_option(method.options, option)) return *spec;
  std::vector<std::string_view> names;
  for (const OptionSpec& spec : method.options) names.push_back(spec.name);
  if (names.empty()) {
    fail_argument(
        fmt::format("method {} has no options, got \"{}\"", method.name, option.substr(0, 40)));
  }
  const std::string near = suggestion(option, names);
  fail_argument(
      fmt::format("method {} has no option \"{}\"{}", method.name, option.substr(0, 40),
                  near.empty() ? fmt::format("; it takes {}", fmt::join(names, ", ")) : near));
}

}  // namespace

std::vector<OptionSpec> LambdaDistribution::options(bool unbounded) {
  return OptionTable<LambdaDistribution>()
      .add(&LambdaDistribution::alpha, "alpha", "lam is drawn from Beta(alpha, beta)",
           {.range = above(0), .overridden_by = {"lam"}})
      .add(&LambdaDistribution::beta, "beta", "second parameter of that distribution",
           {.range = above(0), .absent = "alpha", .overridden_by = {"lam"}})
      .add(&LambdaDistribution::lam, "lam",
           unbounded ? "a fixed share of the own image, which may be any number"
                     : "a fixed share of the own image",
           {.range = unbounded ? between(-kMaxLam, kMaxLam) : between(0, 1), .absent = "drawn"});
}

double LambdaDistribution::draw(const UnitRandom& random) const noexcept {
  if (lam) return *lam;
  RandomStream stream = random.stream(Purpose::lam);
  return draw_beta(stream, alpha, beta.value_or(alpha));
}

void MaskSampler::draw_many(std::span<const UnitRandom> units, std::span<float> fields,
                            std::span<MaskDraw> draws) const {
  const std::size_t values = fields.size() / std::max<std::size_t>(units.size(), 1);
  for (std::size_t i = 0; i < units.size(); ++i) {
    draws[i] = draw(units[i], fields.subspan(i * values, values), {});
  }
}

std::string title_of(std::string_view name) {
  std::string title;
  bool begins = true;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || (c >= '0' && c <= '9')) {
      title += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    begins = !letter;
  }
  return title;
}

bool MethodInfo::uses(std::string_view option) const noexcept {
  return find_option(options, option) != nullptr;
}

bool MethodInfo::unbounded_lam() const noexcept {
  const OptionSpec* lam = find_option(options, "lam");
  return lam != nullptr && lam->rules.range.high > 1;
}

Method::Method(std::shared_ptr<const MethodBase> base) : base_(std::move(base)) {}

Method::Method(std::string_view name, std::initializer_list<Setting> settings) : Method(name) {
  for (const auto& [option, value] : settings) set(option, value);
}

OptionValue Method::get(std::string_view option) const {
  return option_of(info(), option).get(base_->fields());
}

Method& Method::set(std::string_view option, const OptionValue& value) {
  const OptionSpec& spec = option_of(info(), option);
  std::shared_ptr<MethodBase> changed = base_->clone();
  set_option(spec, changed->fields(), value);
  base_ = std::move(changed);
  return *this;
}

bool Method::set_if_used(std::string_view option, const OptionValue& value) {
  if (!uses(option)) return false;
  set(option, value);
  return true;
}

double field_mean(std::span<const float> field) noexcept {
  return std::accumulate(field.begin(), field.end(), 0.0) / static_cast<double>(field.size());
}

}  // namespace medley
