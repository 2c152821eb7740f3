#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "medley/plan.h"
#include "plan/enums.h"

namespace medley {
namespace {

using Json = nlohmann::ordered_json;  // for writing
using Input = nlohmann::json;         // for reading

constexpr const char* kSchema = "medley.plan/1";

// ---- writing ----

Json window_json(const Source& source) {
  return {{"dy", source.dy}, {"dx", source.dx}, {"flip", source.flip}};
}

/// Numbers of the fields that a plan's entries use, in the order of their places.
std::map<std::int64_t, std::int64_t> field_numbers(const MixPlan& plan) {
  std::map<std::int64_t, std::int64_t> numbers;
  for (const MixEntry& entry : plan.entries) {
    if (const auto* field = std::get_if<FieldMask>(&entry.mask)) numbers[field->offset] = 0;
  }
  std::int64_t next = 0;
  for (auto& [offset, number] : numbers) number = next++;
  return numbers;
}

struct MaskToJson {
  const std::map<std::int64_t, std::int64_t>& fields;

  Json operator()(const FlatMask& m) const { return {{"kind", "flat"}, {"value", m.value}}; }
  Json operator()(const BoxMask& m) const {
    return {{"kind", "box"},    {"top", m.top},       {"left", m.left},      {"height", m.height},
            {"width", m.width}, {"inside", m.inside}, {"outside", m.outside}};
  }
  Json operator()(const GaussianMask& m) const {
    return {{"kind", "gaussian"},
            {"cy", m.cy},
            {"cx", m.cx},
            {"tau", m.tau},
            {"peak", word_of(kPeaks, m.peak)}};
  }
  Json operator()(const FieldMask& m) const {
    return {{"kind", "field"}, {"field", fields.at(m.offset)}};
  }
};

Json entry_json(const MixPlan& plan, const MixEntry& entry,
                const std::map<std::int64_t, std::int64_t>& fields, bool with_values) {
  Json json;
  if (entry.term_count > 0) {
    Json sources = Json::array(), weights = Json::array(), windows = Json::array();
    bool whole = true;
    for (std::int32_t k = 0; k < entry.term_count; ++k) {
      const MixTerm& term = plan.terms[static_cast<std::size_t>(entry.term_begin + k)];
      sources.push_back(term.source.index);
      weights.push_back(term.weight);
      windows.push_back(window_json(term.source));
      whole = whole && term.source.whole();
    }
    json["sources"] = std::move(sources);
    json["weights"] = std::move(weights);
    if (!whole) json["windows"] = std::move(windows);
  } else {
    json["own"] = entry.own.index;
    json["partner"] = entry.partner.index;
    if (!entry.own.whole()) json["window"] = window_json(entry.own);
    if (!entry.partner.whole()) json["partner_window"] = window_json(entry.partner);
  }
  json["lam"] = entry.lam;
  json["label_weight"] = entry.label_weight;
  json["mask"] = std::visit(MaskToJson{fields}, entry.mask);
  if (entry.resample != Resample::none) {
    json["mask"]["resample"] = word_of(kResamples, entry.resample);
  }
  if (with_values) {
    std::vector<double> values(static_cast<std::size_t>(plan.size.pixels()));
    mask_values(plan, entry, values);
    for (const double value : values) require_finite("a mask", value);
    Json rows = Json::array();
    for (auto row = values.begin(); row != values.end(); row += plan.size.width) {
      rows.push_back(Json(std::vector<double>(row, row + plan.size.width)));
    }
    json["values"] = std::move(rows);
  }
  return json;
}

// ---- reading ----

/// A JSON object together with how to name it in an error.
struct Object {
  const Input& json;
  std::string where;

  [[noreturn]] void fail(const std::string& reason) const {
    fail_argument(fmt::format("{}: {}", where, reason));
  }
  [[nodiscard]] const Input* find(const char* key) const {
    const auto it = json.find(key);
    return it == json.end() ? nullptr : &*it;
  }
  [[nodiscard]] const Input& at(const char* key) const {
    const Input* value = find(key);
    if (value == nullptr) fail(fmt::format("\"{}\" is missing", key));
    return *value;
  }
  [[nodiscard]] Object object(const char* key) const {
    const Input& value = at(key);
    if (!value.is_object()) fail(fmt::format("\"{}\" must be an object", key));
    return {value, fmt::format("{}, \"{}\"", where, key)};
  }
  [[nodiscard]] const Input& array(const char* key) const {
    const Input& value = at(key);
    if (!value.is_array()) fail(fmt::format("\"{}\" must be an array", key));
    return value;
  }
  [[nodiscard]] double number(const char* key) const { return number(key, at(key)); }
  [[nodiscard]] double number(const char* key, const Input& value) const {
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      fail(fmt::format("\"{}\" must be a finite number", key));
    }
    return value.get<double>();
  }
  template <typename T>
  [[nodiscard]] T integer(const char* key, const Input& value) const {
    using Limits = std::numeric_limits<T>;
    const bool fits =
        value.is_number_unsigned()
            ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max())
        : value.is_number_integer()
            ? std::is_signed_v<T> &&
                  value.get<std::int64_t>() >= static_cast<std::int64_t>(Limits::min()) &&
                  value.get<std::int64_t>() <= static_cast<std::int64_t>(Limits::max())
            : false;
    if (!fits) fail(fmt::format("\"{}\" must be a whole number in range", key));
    return value.get<T>();
  }
  template <typename T>
  [[nodiscard]] T integer(const char* key) const {
    return integer<T>(key, at(key));
  }
  [[nodiscard]] std::string word(const char* key) const {
    const Input& value = at(key);
    if (!value.is_string()) fail(fmt::format("\"{}\" must be a string", key));
    return value.get<std::string>();
  }
};

Source read_window(const Object& window, std::int64_t index) {
  const Input& flip = window.at("flip");
  if (!flip.is_boolean()) window.fail("\"flip\" must be true or false");
  return {index, window.integer<std::int32_t>("dy"), window.integer<std::int32_t>("dx"),
          flip.get<bool>()};
}

Source read_source(const Object& entry, const char* key, const char* window_key) {
  const auto index = entry.integer<std::int64_t>(key);
  if (entry.find(window_key) == nullptr) return {index, 0, 0, false};
  return read_window(entry.object(window_key), index);
}

std::vector<float> read_values(const Object& entry, ImageSize size) {
  if (entry.find("values") == nullptr) {
    entry.fail("a field mask needs its \"values\"; write the plan with them");
  }
  const Input& rows = entry.array("values");
  if (std::ssize(rows) != size.height) {
    entry.fail(fmt::format("\"values\" must have {} rows, got {}", size.height, rows.size()));
  }
  std::vector<float> values;
  for (const Input& row : rows) {
    if (!row.is_array() || std::ssize(row) != size.width) {
      entry.fail(fmt::format("a row of \"values\" must have {} numbers", size.width));
    }
    for (const Input& value : row) {
      const auto as_float = static_cast<float>(entry.number("values", value));
      if (!std::isfinite(as_float)) entry.fail("\"values\" must fit in single precision");
      values.push_back(as_float);
    }
  }
  return values;
}

class Reader {
 public:
  MixPlan read(const Input& json) {
    if (!json.is_object()) fail_argument("a plan must be a JSON object");
    const Object top{json, "the plan"};
    if (const std::string schema = top.word("schema"); schema != kSchema) {
      top.fail(fmt::format("\"schema\" must be \"{}\", got \"{}\"", kSchema, schema.substr(0, 40)));
    }
    plan_.method = top.word("method");
    plan_.draws =
        top.find("draws") == nullptr ? kFirstDrawsVersion : top.integer<std::int32_t>("draws");
    plan_.seed = top.integer<std::uint64_t>("seed");
    plan_.epoch = top.integer<std::uint64_t>("epoch");
    plan_.first = top.integer<std::int64_t>("first");
    plan_.size = {top.integer<std::int32_t>("height"), top.integer<std::int32_t>("width")};
    plan_.base = top.find("base") == nullptr ? plan_.first : top.integer<std::int64_t>("base");
    validate(plan_);
    for (const Input& entry : top.array("entries")) {
      const auto number = plan_.entries.size();
      if (!entry.is_object()) top.fail(fmt::format("entry {} must be an object", number));
      plan_.entries.push_back(read_entry({entry, fmt::format("entry {} of the plan", number)}));
    }
    for (std::int64_t k = 0; k < std::ssize(fields_); ++k) {
      const auto field = fields_.find(k);
      if (field == fields_.end()) top.fail(fmt::format("field {} is missing", k));
      plan_.fields.insert(plan_.fields.end(), field->second.begin(), field->second.end());
    }
    validate(plan_);
    return std::move(plan_);
  }

 private:
  MixEntry read_entry(const Object& object) {
    MixEntry entry;
    if (object.find("sources") != nullptr) {
      read_terms(object, entry);
    } else {
      entry.own = read_source(object, "own", "window");
      entry.partner = read_source(object, "partner", "partner_window");
    }
    entry.lam = object.number("lam");
    entry.label_weight = object.number("label_weight");
    const Object mask = object.object("mask");
    entry.mask = read_mask(object, mask);
    if (mask.find("resample") != nullptr) {
      const std::string word = mask.word("resample");
      if (word != "bilinear" && word != "nearest") {
        mask.fail("\"resample\" must be \"bilinear\" or \"nearest\"");
      }
      entry.resample = word == "bilinear" ? Resample::bilinear : Resample::nearest;
    }
    return entry;
  }

  void read_terms(const Object& object, MixEntry& entry) {
    const Input& sources = object.array("sources");
    const Input& weights = object.array("weights");
    const Input* windows = object.find("windows") == nullptr ? nullptr : &object.array("windows");
    if (sources.size() < 2 || weights.size() != sources.size() ||
        (windows != nullptr && windows->size() != sources.size())) {
      object.fail("\"sources\", \"weights\" and \"windows\" must be of one length, at least 2");
    }
    entry.term_begin = std::ssize(plan_.terms);
    entry.term_count = static_cast<std::int32_t>(std::min<std::size_t>(sources.size(), 1 << 20));
    for (std::size_t k = 0; k < sources.size(); ++k) {
      MixTerm term;
      term.source.index = object.integer<std::int64_t>("sources", sources[k]);
      if (windows != nullptr) {
        if (!(*windows)[k].is_object()) object.fail("\"windows\" must hold objects");
        term.source = read_window({(*windows)[k], object.where + ", a window"}, term.source.index);
      }
      term.weight = object.number("weights", weights[k]);
      plan_.terms.push_back(term);
    }
    entry.own = plan_.terms[static_cast<std::size_t>(entry.term_begin)].source;
    entry.partner = plan_.terms[static_cast<std::size_t>(entry.term_begin) + 1].source;
  }

  Mask read_mask(const Object& entry, const Object& mask) {
    const std::string kind = mask.word("kind");
    if (kind == "flat") return FlatMask{mask.number("value")};
    if (kind == "box") {
      return BoxMask{mask.integer<std::int32_t>("top"),
                     mask.integer<std::int32_t>("left"),
                     mask.integer<std::int32_t>("height"),
                     mask.integer<std::int32_t>("width"),
                     mask.number("inside"),
                     mask.number("outside")};
    }
    if (kind == "gaussian") {
      const std::string peak = mask.word("peak");
      if (peak != "own" && peak != "partner") {
        mask.fail("\"peak\" must be \"own\" or \"partner\"");
      }
      return GaussianMask{mask.integer<std::int32_t>("cy"), mask.integer<std::int32_t>("cx"),
                          mask.number("tau"), peak == "own" ? Peak::own : Peak::partner};
    }
    if (kind == "field") {
      const std::int64_t k =
          mask.find("field") == nullptr ? std::ssize(fields_) : mask.integer<std::int64_t>("field");
      constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
      if (k < 0 || k > kMost) {
        mask.fail(fmt::format("\"field\" must be in [0, {}], got {}", kMost, k));
      }
      std::vector<float> values = read_values(entry, plan_.size);
      const auto [known, is_new] = fields_.try_emplace(k, values);
      if (!is_new && known->second != values) {
        mask.fail(fmt::format("field {} has other values than before", k));
      }
      return FieldMask{k * plan_.size.pixels()};
    }
    mask.fail(fmt::format("\"kind\" must be flat, box, gaussian or field, got \"{}\"",
                          kind.substr(0, 40)));
  }

  MixPlan plan_;
  std::map<std::int64_t, std::vector<float>> fields_;  // by number; entries may share one
};

}  // namespace

std::string to_json(const MixPlan& plan, bool with_values) {
  validate(plan);
  Json json;
  json["schema"] = kSchema;
  json["method"] = plan.method;
  json["draws"] = plan.draws;
  json["seed"] = plan.seed;
  json["epoch"] = plan.epoch;
  json["first"] = plan.first;
  json["height"] = plan.size.height;
  json["width"] = plan.size.width;
  json["base"] = plan.base;
  json["entries"] = Json::array();
  const std::map<std::int64_t, std::int64_t> fields = field_numbers(plan);
  for (const MixEntry& entry : plan.entries) {
    json["entries"].push_back(entry_json(plan, entry, fields, with_values));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

MixPlan plan_from_json(std::string_view text) {
  return Reader().read(parse_json(text, "the plan", JsonError::argument));
}

}  // namespace medley
