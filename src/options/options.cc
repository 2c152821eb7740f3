#include "medley/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "options/old_words.h"

namespace medley {
namespace {

std::string number_text(double value) { return fmt::format("{}", value); }

struct TextOf {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<double>& value) const {
    return fmt::format("[{}]", fmt::join(value, ", "));
  }
  std::string operator()(const std::shared_ptr<const MaskSet>& value) const {
    return value ? fmt::format("{} masks", value->count()) : "";
  }
  std::string operator()(const std::shared_ptr<const GaussianDesign>& value) const {
    return value ? "a design" : "";
  }
};

/// As error texts show what was given.
std::string shown(const OptionValue& value) {
  if (value.empty()) return "nothing";
  if (std::holds_alternative<std::string>(value.variant())) {
    return fmt::format("\"{}\"", value.as<std::string>().substr(0, 60));
  }
  return to_text(value);
}

[[noreturn]] void refuse(const OptionSpec& spec, const OptionValue& value) {
  if (spec.type == OptionType::name &&
      std::holds_alternative<std::int64_t>(value.variant())) {  // a cast enumerator
    fail_argument(fmt::format("{} must be {}, got the number {}", spec.name, allowed_values(spec),
                              to_text(value)));
  }
  fail_argument(
      fmt::format("{} must be {}, got {}", spec.name, allowed_values(spec), shown(value)));
}

bool in_range(const OptionRange& range, double value) {
  if (!std::isfinite(value)) return false;
  return (range.above_low ? value > range.low : value >= range.low) && value <= range.high;
}

/// The value in the type that the option has. Throws InvalidArgument if it can have no such value.
OptionValue checked(const OptionSpec& spec, OptionValue value) {
  if (value.empty()) {
    if (!spec.optional) refuse(spec, value);
    return value;
  }
  const OptionValue::Variant& v = value.variant();
  switch (spec.type) {
    case OptionType::flag:
      if (!std::holds_alternative<bool>(v)) refuse(spec, value);
      break;
    case OptionType::integer:
      if (!std::holds_alternative<std::int64_t>(v)) refuse(spec, value);
      if (!in_range(spec.rules.range, static_cast<double>(value.as<std::int64_t>()))) {
        refuse(spec, value);
      }
      break;
    case OptionType::real:
      if (std::holds_alternative<std::int64_t>(v)) {
        value = static_cast<double>(value.as<std::int64_t>());
      }
      if (!std::holds_alternative<double>(value.variant()) ||
          !in_range(spec.rules.range, value.as<double>())) {
        refuse(spec, value);
      }
      break;
    case OptionType::name:
      if (std::holds_alternative<std::string>(v)) value = current_word(value.as<std::string>());
      if (!std::holds_alternative<std::string>(value.variant()) ||
          std::ranges::find(spec.names, value.as<std::string>()) == spec.names.end()) {
        refuse(spec, value);
      }
      break;
    case OptionType::text:
      if (!std::holds_alternative<std::string>(v)) refuse(spec, value);
      break;
    case OptionType::numbers:
      if (!std::holds_alternative<std::vector<double>>(v)) refuse(spec, value);
      for (const double number : value.as<std::vector<double>>()) {
        if (!in_range(spec.rules.range, number)) refuse(spec, number);
      }
      break;
    case OptionType::masks:
      if (!std::holds_alternative<std::shared_ptr<const MaskSet>>(v)) refuse(spec, value);
      break;
    case OptionType::design:
      if (!std::holds_alternative<std::shared_ptr<const GaussianDesign>>(v)) refuse(spec, value);
      break;
  }
  return value;
}

template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc() && stop == end;
}

std::string listed(std::span<const std::string_view> names) {
  if (names.size() < 2) return std::string(names.empty() ? "" : names.front());
  return fmt::format("{} or {}", fmt::join(names.first(names.size() - 1), ", "), names.back());
}

}  // namespace

std::string OptionSpec::default_text() const {
  return default_value.empty() || to_text(default_value).empty() ? rules.absent
                                                                 : to_text(default_value);
}

void set_option(const OptionSpec& spec, void* object, const OptionValue& value) {
  spec.set(object, checked(spec, value));
}

void check_options(const std::vector<OptionSpec>& specs, const void* object) {
  for (const OptionSpec& spec : specs) static_cast<void>(checked(spec, spec.get(object)));
}

const OptionSpec* find_option(const std::vector<OptionSpec>& specs, std::string_view name) {
  const auto found = std::ranges::find(specs, name, &OptionSpec::name);
  return found == specs.end() ? nullptr : &*found;
}

std::string to_text(const OptionValue& value) { return std::visit(TextOf{}, value.variant()); }

OptionValue parse_option(const OptionSpec& spec, std::string_view text) {
  OptionValue value(text);
  switch (spec.type) {
    case OptionType::flag:
      if (text == "true" || text == "false") value = text == "true";
      break;
    case OptionType::integer: {
      std::int64_t number = 0;
      if (parse_number(text, number)) value = number;
      break;
    }
    case OptionType::real: {
      double number = 0;
      if (parse_number(text, number)) value = number;
      break;
    }
    case OptionType::numbers: {
      std::vector<double> numbers;
      for (std::string_view rest = text; !rest.empty();) {
        const std::string_view part = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        if (!parse_number(part, numbers.emplace_back())) refuse(spec, value);
      }
      value = numbers;
      break;
    }
    case OptionType::name:
    case OptionType::text:
    case OptionType::masks:
    case OptionType::design:
      break;
  }
  return checked(spec, std::move(value));
}

std::string value_syntax(const OptionSpec& spec) {
  switch (spec.type) {
    case OptionType::flag:
      return "true|false";
    case OptionType::integer:
      return "N";
    case OptionType::real:
      return "X";
    case OptionType::name:
      return fmt::format("{}", fmt::join(spec.names, "|"));
    case OptionType::text:
      return "TEXT";
    case OptionType::numbers:
      return "X,X,...";
    case OptionType::masks:
    case OptionType::design:
      break;
  }
  return "FILE";
}

std::string allowed_values(const OptionSpec& spec) {
  const OptionRange& range = spec.rules.range;
  const bool low = std::isfinite(range.low);
  const bool high = std::isfinite(range.high);
  switch (spec.type) {
    case OptionType::flag:
      return "true or false";
    case OptionType::integer:
    case OptionType::real:
    case OptionType::numbers:
      if (low && high) {
        return fmt::format("in {}{:g}, {:g}]", range.above_low ? '(' : '[', range.low, range.high);
      }
      if (low) return fmt::format("{} {:g}", range.above_low ? ">" : ">=", range.low);
      if (high) return fmt::format("<= {:g}", range.high);
      return spec.type == OptionType::integer ? "a whole number"
             : spec.type == OptionType::real  ? "a finite number"
                                              : "finite numbers";
    case OptionType::name:
      return listed(spec.names);
    case OptionType::text:
      return "text";
    case OptionType::masks:
      return "a set of masks";
    case OptionType::design:
      break;
  }
  return "a design";
}

}  // namespace medley
