#include "train/json_fields.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"

namespace medley::train {
namespace {

using Json = nlohmann::json;

constexpr double kAny = std::numeric_limits<double>::max();

}  // namespace

JsonFields::JsonFields(const Json& object, std::string file, std::string path)
    : object_(object), file_(std::move(file)), path_(std::move(path)) {
  if (object.is_object()) return;
  fail_io(path_.empty() ? fmt::format("{} must be a JSON object", file_)
                        : fmt::format("{}: {} must be an object", file_, path_));
}

const Json& JsonFields::at(std::string_view name) {
  const auto found = object_.find(name);
  if (found == object_.end()) fail_io(fmt::format("{}: {} is missing", file_, path_of(name)));
  known_.emplace_back(name);
  return *found;
}

JsonFields JsonFields::object(std::string_view name) { return {at(name), file_, path_of(name)}; }

const Json& JsonFields::list(std::string_view name) {
  const Json& value = at(name);
  if (!value.is_array()) wrong(name, "a list");
  return value;
}

double JsonFields::number(std::string_view name, double low, double high) {
  const Json& value = at(name);
  if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high)) {
    if (high == kAny) wrong(name, low == 0 ? "a number from 0" : "a number");
    wrong(name, fmt::format("a number from {} to {}", low, high));
  }
  return value.get<double>();
}

std::int64_t JsonFields::whole(std::string_view name, std::int64_t low, std::int64_t high) {
  const Json& value = at(name);
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<std::int64_t>(value.get<std::uint64_t>())
                        : value.is_number_integer();
  if (!fits || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high) {
    wrong(name, high == std::numeric_limits<std::int64_t>::max()
                    ? fmt::format("a whole number from {}", low)
                    : fmt::format("a whole number from {} to {}", low, high));
  }
  return value.get<std::int64_t>();
}

std::uint64_t JsonFields::seed(std::string_view name) {
  const Json& value = at(name);
  if (!value.is_number_unsigned()) wrong(name, "a whole number from 0");
  return value.get<std::uint64_t>();
}

std::string JsonFields::text(std::string_view name) {
  const Json& value = at(name);
  if (!value.is_string()) wrong(name, "text");
  return value.get<std::string>();
}

std::optional<std::string> JsonFields::text_or_null(std::string_view name) {
  const Json& value = at(name);
  if (value.is_null()) return std::nullopt;
  if (!value.is_string()) wrong(name, "text or null");
  return value.get<std::string>();
}

std::string JsonFields::word(std::string_view name) {
  std::string value = text(name);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!std::ranges::all_of(value, plain)) wrong(name, "letters, digits, \"-\", \"_\" and \".\"");
  return value;
}

void JsonFields::wrong(std::string_view name, std::string_view wanted) const {
  const std::string shown = object_.at(name).dump(-1, ' ', true).substr(0, 60);
  fail_io(fmt::format("{}: {} must be {}, got {}", file_, path_of(name), wanted, shown));
}

void JsonFields::refuse_others() const {
  for (const auto& [name, value] : object_.items()) {
    if (std::ranges::find(known_, name) == known_.end()) {
      fail_io(fmt::format("{}: there is no field \"{}\"", file_, path_of(name)));
    }
  }
}

std::string JsonFields::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

}  // namespace medley::train
