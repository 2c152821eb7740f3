#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

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

constexpr const char* kSchema = "medley.plan/2";
/// What is read as well: it has neither tiles, grids, masks of terms nor open masks.
constexpr const char* kFirstSchema = "medley.plan/1";

// ---- writing ----

Json window_json(const Source& source) {
  Json json = {{"dy", source.dy}, {"dx", source.dx}, {"flip", source.flip}};
  if (source.tiles >= 0) json["tiles"] = source.tiles;
  return json;
}

/// Values in rows of `width`.
template <typename T>
Json rows_json(std::span<const T> values, std::int64_t width) {
  for (const T value : values) require_finite("a mask", static_cast<double>(value));
  Json rows = Json::array();
  for (auto row = values.begin(); row != values.end(); row += width) {
    rows.push_back(Json(std::vector<double>(row, row + width)));
  }
  return rows;
}

/// A grid's place in the plan's fields, by which it is told from others.
struct GridPlace {
  std::int64_t offset;
  std::int32_t rows;
  std::int32_t columns;
  friend auto operator<=>(const GridPlace&, const GridPlace&) = default;
};

/// Numbers of the fields and grids that a plan's entries use, in the order of their places.
struct Numbers {
  std::map<std::int64_t, std::int64_t> fields;
  std::map<GridPlace, std::int64_t> grids;
  std::set<std::int64_t> of_terms;  // the fields among them that terms use

  explicit Numbers(const MixPlan& plan) {
    for (const MixEntry& entry : plan.entries) {
      note(entry.mask);
      for (std::int64_t k = 0; k < entry.term_count; ++k) {
        const MixTerm& term = plan.terms[static_cast<std::size_t>(entry.term_begin + k)];
        note(term.mask);
        if (const auto* field = std::get_if<FieldMask>(&term.mask)) of_terms.insert(field->offset);
      }
    }
    std::int64_t next = 0;
    for (auto& [offset, number] : fields) number = next++;
    next = 0;
    for (auto& [place, number] : grids) number = next++;
  }
  [[nodiscard]] std::int64_t of(const GridMask& m) const {
    return grids.at({m.offset, m.rows, m.columns});
  }

 private:
  template <typename AnyMask>
  void note(const AnyMask& mask) {
    if (const auto* field = std::get_if<FieldMask>(&mask)) fields[field->offset] = 0;
    if (const auto* grid = std::get_if<GridMask>(&mask)) {
      grids[{grid->offset, grid->rows, grid->columns}] = 0;
    }
  }
};

struct MaskToJson {
  const Numbers& numbers;

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
    return {{"kind", "field"}, {"field", numbers.fields.at(m.offset)}};
  }
  Json operator()(const GridMask& m) const {
    return {{"kind", "grid"},
            {"grid", numbers.of(m)},
            {"interpolation", word_of(kGridInterpolations, m.interpolation)}};
  }
  Json operator()(const OpenMask& /*m*/) const { return {{"kind", "open"}}; }
  Json operator()(std::monostate /*m*/) const { return nullptr; }
};

Json entry_json(const MixPlan& plan, const MixEntry& entry, const Numbers& numbers,
                bool with_values) {
  Json json;
  if (entry.term_count > 0) {
    Json sources = Json::array(), weights = Json::array(), windows = Json::array();
    Json masks = Json::array();
    bool whole = true;
    bool masked = false;
    for (std::int32_t k = 0; k < entry.term_count; ++k) {
      const MixTerm& term = plan.terms[static_cast<std::size_t>(entry.term_begin + k)];
      sources.push_back(term.source.index);
      weights.push_back(term.weight);
      windows.push_back(window_json(term.source));
      masks.push_back(std::visit(MaskToJson{numbers}, term.mask));
      whole = whole && term.source.whole();
      masked = masked || !std::holds_alternative<std::monostate>(term.mask);
    }
    json["sources"] = std::move(sources);
    json["weights"] = std::move(weights);
    if (!whole) json["windows"] = std::move(windows);
    if (masked) json["masks"] = std::move(masks);
  } else {
    json["own"] = entry.own.index;
    json["partner"] = entry.partner.index;
    if (!entry.own.whole()) json["window"] = window_json(entry.own);
    if (!entry.partner.whole()) json["partner_window"] = window_json(entry.partner);
  }
  json["lam"] = entry.lam;
  json["label_weight"] = entry.label_weight;
  json["mask"] = std::visit(MaskToJson{numbers}, entry.mask);
  if (entry.resample != Resample::none) {
    json["mask"]["resample"] = word_of(kResamples, entry.resample);
  }
  if (with_values && !std::holds_alternative<OpenMask>(entry.mask)) {
    std::vector<double> values(static_cast<std::size_t>(plan.size.pixels()));
    mask_values(plan, entry, values);
    json["values"] = rows_json(std::span<const double>(values), plan.size.width);
  }
  return json;
}

Json tile_maps_json(const MixPlan& plan) {
  Json maps = Json::array();
  for (const TileMap& map : plan.tile_maps) {
    maps.push_back({{"rows", map.rows}, {"columns", map.columns}, {"tiles", map.tiles}});
  }
  return maps;
}

Json grids_json(const MixPlan& plan, const Numbers& numbers) {
  Json grids = Json::array();
  for (const auto& [place, number] : numbers.grids) {
    const std::int64_t count = std::int64_t{place.rows} * place.columns;
    const auto values =
        std::span(plan.fields)
            .subspan(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(count));
    grids.push_back({{"rows", place.rows},
                     {"columns", place.columns},
                     {"values", rows_json(values, place.columns)}});
  }
  return grids;
}

/// Of terms: those of entries stand as their values.
Json fields_json(const MixPlan& plan, const Numbers& numbers) {
  Json fields = Json::array();
  for (const std::int64_t offset : numbers.of_terms) {
    const auto values = std::span(plan.fields)
                            .subspan(static_cast<std::size_t>(offset),
                                     static_cast<std::size_t>(plan.size.pixels()));
    fields.push_back(
        {{"field", numbers.fields.at(offset)}, {"values", rows_json(values, plan.size.width)}});
  }
  return fields;
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
          flip.get<bool>(),
          window.find("tiles") == nullptr ? -1 : window.integer<std::int32_t>("tiles")};
}

Source read_source(const Object& entry, const char* key, const char* window_key) {
  const auto index = entry.integer<std::int64_t>(key);
  if (entry.find(window_key) == nullptr) return {index, 0, 0, false};
  return read_window(entry.object(window_key), index);
}

std::vector<float> read_rows(const Object& object, ImageSize size) {
  const Input& rows = object.array("values");
  if (std::ssize(rows) != size.height) {
    object.fail(fmt::format("\"values\" must have {} rows, got {}", size.height, rows.size()));
  }
  std::vector<float> values;
  for (const Input& row : rows) {
    if (!row.is_array() || std::ssize(row) != size.width) {
      object.fail(fmt::format("a row of \"values\" must have {} numbers", size.width));
    }
    for (const Input& value : row) {
      const auto as_float = static_cast<float>(object.number("values", value));
      if (!std::isfinite(as_float)) object.fail("\"values\" must fit in single precision");
      values.push_back(as_float);
    }
  }
  return values;
}

/// A grid of the plan, and where its values will be after the fields.
struct ReadGrid {
  ImageSize size;
  std::int64_t begin;
};

class Reader {
 public:
  MixPlan read(const Input& json) {
    if (!json.is_object()) fail_argument("a plan must be a JSON object");
    const Object top{json, "the plan"};
    if (const std::string schema = top.word("schema");
        schema != kSchema && schema != kFirstSchema) {
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
    read_tile_maps(top);
    read_grids(top);
    read_fields(top);
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
    place_grids();
    validate(plan_);
    return std::move(plan_);
  }

 private:
  /// Calls visit(object) for each element of an array that may be missing.
  template <typename Visit>
  static void for_each_object(const Object& top, const char* key, const Visit& visit) {
    if (top.find(key) == nullptr) return;
    std::size_t number = 0;
    for (const Input& json : top.array(key)) {
      const Object object{json, fmt::format("{}, element {} of \"{}\"", top.where, number++, key)};
      if (!json.is_object()) object.fail("it must be an object");
      visit(object);
    }
  }

  void read_tile_maps(const Object& top) {
    for_each_object(top, "tile_maps", [&](const Object& object) {
      TileMap map{
          object.integer<std::int32_t>("rows"), object.integer<std::int32_t>("columns"), {}};
      for (const Input& tile : object.array("tiles")) {
        map.tiles.push_back(object.integer<std::int32_t>("tiles", tile));
      }
      plan_.tile_maps.push_back(std::move(map));
    });
  }

  void read_grids(const Object& top) {
    for_each_object(top, "grids", [&](const Object& object) {
      const ImageSize size{object.integer<std::int32_t>("rows"),
                           object.integer<std::int32_t>("columns")};
      const std::vector<float> values = read_rows(object, size);
      grids_.push_back({size, std::ssize(grid_values_)});
      grid_values_.insert(grid_values_.end(), values.begin(), values.end());
    });
  }

  void read_fields(const Object& top) {
    for_each_object(top, "fields", [&](const Object& object) {
      add_field(object, read_number(object, "field"), read_rows(object, plan_.size));
    });
  }

  /// Grids come after the fields, whose number is known only now.
  void place_grids() {
    const std::int64_t begin = std::ssize(plan_.fields);
    plan_.fields.insert(plan_.fields.end(), grid_values_.begin(), grid_values_.end());
    const auto place = [&](auto& mask) {
      if (auto* grid = std::get_if<GridMask>(&mask)) grid->offset += begin;
    };
    for (MixEntry& entry : plan_.entries) place(entry.mask);
    for (MixTerm& term : plan_.terms) place(term.mask);
  }

  [[nodiscard]] static std::int64_t read_number(const Object& object, const char* key) {
    const auto k = object.integer<std::int64_t>(key);
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (k < 0 || k > kMost) {
      object.fail(fmt::format("\"{}\" must be in [0, {}], got {}", key, kMost, k));
    }
    return k;
  }

  void add_field(const Object& object, std::int64_t k, const std::vector<float>& values) {
    const auto [known, is_new] = fields_.try_emplace(k, values);
    if (!is_new && known->second != values) {
      object.fail(fmt::format("field {} has other values than before", k));
    }
  }

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
    const Input* masks = object.find("masks") == nullptr ? nullptr : &object.array("masks");
    if (sources.size() < 2 || weights.size() != sources.size() ||
        (windows != nullptr && windows->size() != sources.size()) ||
        (masks != nullptr && masks->size() != sources.size())) {
      object.fail(
          "\"sources\", \"weights\", \"windows\" and \"masks\" must be of one length, at least 2");
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
      if (masks != nullptr) term.mask = read_term_mask(object, (*masks)[k]);
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
          mask.find("field") == nullptr ? std::ssize(fields_) : read_number(mask, "field");
      if (entry.find("values") != nullptr) add_field(mask, k, read_rows(entry, plan_.size));
      require_field(entry, k);
      return FieldMask{k * plan_.size.pixels()};
    }
    if (kind == "grid") return read_grid(mask);
    if (kind == "open") return OpenMask{};
    mask.fail(fmt::format("\"kind\" must be flat, box, gaussian, field, grid or open, got \"{}\"",
                          kind.substr(0, 40)));
  }

  TermMask read_term_mask(const Object& entry, const Input& json) {
    if (json.is_null()) return {};
    if (!json.is_object()) entry.fail("\"masks\" must hold objects or null");
    const Object mask{json, entry.where + ", a mask"};
    const std::string kind = mask.word("kind");
    if (kind == "grid") return read_grid(mask);
    if (kind != "field") {
      mask.fail(fmt::format("\"kind\" must be field or grid, got \"{}\"", kind.substr(0, 40)));
    }
    const std::int64_t k = read_number(mask, "field");
    require_field(entry, k);
    return FieldMask{k * plan_.size.pixels()};
  }

  void require_field(const Object& entry, std::int64_t k) const {
    if (fields_.contains(k)) return;
    entry.fail("a field mask needs its \"values\"; write the plan with them");
  }

  GridMask read_grid(const Object& mask) const {
    const auto k = mask.integer<std::int64_t>("grid");
    if (k < 0 || k >= std::ssize(grids_)) {
      mask.fail(fmt::format("\"grid\" must be in [0, {}), got {}", grids_.size(), k));
    }
    const std::string word = mask.word("interpolation");
    if (word != "constant" && word != "bilinear") {
      mask.fail("\"interpolation\" must be \"constant\" or \"bilinear\"");
    }
    const ReadGrid& grid = grids_[static_cast<std::size_t>(k)];
    return {grid.begin, grid.size.height, grid.size.width,
            word == "bilinear" ? GridInterpolation::bilinear : GridInterpolation::constant};
  }

  MixPlan plan_;
  std::map<std::int64_t, std::vector<float>> fields_;  // by number; entries may share one
  std::vector<ReadGrid> grids_;
  std::vector<float> grid_values_;
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
  const Numbers numbers(plan);
  if (!plan.tile_maps.empty()) json["tile_maps"] = tile_maps_json(plan);
  if (!numbers.grids.empty()) json["grids"] = grids_json(plan, numbers);
  if (with_values && !numbers.of_terms.empty()) json["fields"] = fields_json(plan, numbers);
  json["entries"] = Json::array();
  for (const MixEntry& entry : plan.entries) {
    json["entries"].push_back(entry_json(plan, entry, numbers, with_values));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

MixPlan plan_from_json(std::string_view text) {
  return Reader().read(parse_json(text, "the plan", JsonError::argument));
}

}  // namespace medley
