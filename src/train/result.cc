#include "medley/train/result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "data/file.h"

namespace medley {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "medley.result/1";
constexpr double kAny = std::numeric_limits<double>::max();
/// Between "seconds" and the sum over the epochs, for files that rounded them.
constexpr double kSecondsTolerance = 0.01;

struct MetricField {
  const char* name;
  double EpochMetrics::*value;
  double low;
  double high;
};
constexpr std::array<MetricField, 7> kMetricFields = {{
    {"lr", &EpochMetrics::lr, 0, kAny},
    {"train_loss", &EpochMetrics::train_loss, -kAny, kAny},
    {"test_top1", &EpochMetrics::test_top1, 0, 100},
    {"test_top5", &EpochMetrics::test_top5, 0, 100},
    {"clean_train_top1", &EpochMetrics::clean_train_top1, 0, 100},
    {"seconds", &EpochMetrics::seconds, 0, kAny},
    {"images_per_s", &EpochMetrics::images_per_s, 0, kAny},
}};

/// Takes an object apart; what is wrong is said with the file and the field.
class Fields {
 public:
  Fields(const Json& object, std::string file, std::string path)
      : object_(object), file_(std::move(file)), path_(std::move(path)) {
    if (!object.is_object()) fail_io(fmt::format("{}: {} must be an object", file_, here()));
  }

  [[nodiscard]] bool has(const char* name) const { return object_.contains(name); }

  const Json& at(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end()) fail_io(fmt::format("{}: {}{} is missing", file_, path_, name));
    known_.emplace_back(name);
    return *found;
  }
  double number(const char* name, double low, double high) {
    const Json& value = at(name);
    if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high)) {
      wrong(name, high == kAny ? (low == 0 ? "a number from 0" : "a number")
                               : fmt::format("a number from {} to {}", low, high));
    }
    return value.get<double>();
  }
  std::int64_t whole(const char* name, std::int64_t low) {
    const Json& value = at(name);
    if (!value.is_number_integer() || value.get<std::int64_t>() < low) {
      wrong(name, fmt::format("a whole number from {}", low));
    }
    return value.get<std::int64_t>();
  }
  std::uint64_t seed(const char* name) {
    const Json& value = at(name);
    if (!value.is_number_unsigned()) wrong(name, "a whole number from 0");
    return value.get<std::uint64_t>();
  }
  std::string text(const char* name) {
    const Json& value = at(name);
    if (!value.is_string()) wrong(name, "text");
    return value.get<std::string>();
  }
  /// Text that is safe in file names and tables.
  std::string word(const char* name) {
    std::string value = text(name);
    const auto plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_' || c == '.';
    };
    if (!std::ranges::all_of(value, plain)) wrong(name, "letters, digits, \"-\", \"_\" and \".\"");
    return value;
  }
  std::optional<std::string> text_or_null(const char* name) {
    const Json& value = at(name);
    if (value.is_null()) return std::nullopt;
    if (!value.is_string()) wrong(name, "text or null");
    return value.get<std::string>();
  }
  Fields object(const char* name) { return {at(name), file_, path_ + name + "."}; }

  [[noreturn]] void wrong(const char* name, const std::string& wanted) const {
    const std::string shown = object_[name].dump(-1, ' ', true).substr(0, 60);
    fail_io(fmt::format("{}: {}{} must be {}, got {}", file_, path_, name, wanted, shown));
  }
  void refuse_others() const {
    for (const auto& [name, value] : object_.items()) {
      if (std::ranges::find(known_, name) == known_.end()) {
        fail_io(fmt::format("{}: results have no field \"{}{}\"", file_, path_, name));
      }
    }
  }

 private:
  [[nodiscard]] std::string here() const {
    return path_.empty() ? "a result" : path_.substr(0, path_.size() - 1);
  }

  const Json& object_;
  std::string file_;
  std::string path_;  // "metrics[3]."
  std::vector<std::string> known_;
};

Json json_of(const DataSummary& d) {
  return {{"name", d.name},
          {"train", d.train},
          {"test", d.test},
          {"classes", d.classes},
          {"hash", d.hash}};
}

Json json_of(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

DataSummary data_of(Fields fields) {
  DataSummary data{fields.word("name"), fields.whole("train", 1), fields.whole("test", 1),
                   fields.whole("classes", 1), fields.text("hash")};
  fields.refuse_others();
  return data;
}

RunVersions versions_of(Fields fields) {
  RunVersions versions{fields.text("medley"), fields.text("libtorch"), fields.text_or_null("cuda")};
  fields.refuse_others();
  return versions;
}

Recipe recipe_of(Fields& fields, const std::string& name) {
  Recipe recipe;
  try {
    recipe = recipe_from_json(fields.at("recipe").dump(), "it");
    check_recipe(recipe);
  } catch (const InvalidArgument& problem) {
    fail_io(fmt::format("{}: recipe: {}", name, problem.what()));
  }
  if (fields.word("model") != recipe.model) fields.wrong("model", "that of the recipe");
  if (fields.word("method") != recipe.mix.method) fields.wrong("method", "that of the recipe");
  return recipe;
}

EpochMetrics metrics_of(Fields fields, std::int64_t epoch) {
  EpochMetrics m;
  m.epoch = fields.whole("epoch", 1);
  if (m.epoch != epoch) fields.wrong("epoch", fmt::format("{}", epoch));
  for (const MetricField& f : kMetricFields) m.*f.value = fields.number(f.name, f.low, f.high);
  if (fields.has("ema_test_top1")) m.ema_test_top1 = fields.number("ema_test_top1", 0, 100);
  fields.refuse_others();
  return m;
}

std::vector<EpochMetrics> all_metrics(const Json& list, std::int64_t epochs,
                                      const std::string& name) {
  if (!list.is_array()) fail_io(fmt::format("{}: metrics must be a list", name));
  if (std::cmp_not_equal(list.size(), epochs)) {
    fail_io(fmt::format("{}: metrics must have the {} epochs of the recipe, got {}", name, epochs,
                        list.size()));
  }
  std::vector<EpochMetrics> metrics;
  for (const Json& one : list) {
    const std::string path = fmt::format("metrics[{}].", metrics.size());
    metrics.push_back(metrics_of({one, name, path}, std::ssize(metrics) + 1));
  }
  return metrics;
}

}  // namespace

DataSummary summary_of(const ImageData& data, std::string name) {
  return {std::move(name), data.train.count(), data.test.count(), data.num_classes(),
          fingerprint(data.train)};
}

double RunResult::seconds() const noexcept {
  double sum = 0;
  for (const EpochMetrics& m : metrics) sum += m.seconds;
  return sum;
}

std::string to_json(const RunResult& r) {
  Json head = {
      {"schema", kSchema},
      {"model", r.model()},
      {"method", r.method()},
      {"seed", r.seed},
      {"recipe", Json::parse(to_json(r.recipe))},
      {"data", json_of(r.data)},
      {"gpu", json_of(r.gpu)},
      {"versions",
       {{"medley", r.versions.medley},
        {"libtorch", r.versions.libtorch},
        {"cuda", json_of(r.versions.cuda)}}},
      {"seconds", r.seconds()},
  };
  if (r.precision) head["precision"] = *r.precision;
  if (r.weights) head["weights"] = *r.weights;
  if (r.lengthened_from) head["lengthened_from"] = *r.lengthened_from;
  std::string text = "{\n";
  for (const auto& [name, value] : head.items()) {
    text += fmt::format("\"{}\": {},\n", name, value.dump());
  }
  text += "\"metrics\": [";
  for (std::size_t i = 0; i < r.metrics.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + metrics_line(r.metrics[i]);
  }
  return text + "\n]}\n";
}

RunResult result_from_json(std::string_view text, const std::string& name) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) fail_io(fmt::format("{} is not JSON", name));
  Fields fields(json, name, "");
  if (fields.at("schema") != kSchema) fields.wrong("schema", fmt::format("\"{}\"", kSchema));
  RunResult result;
  result.recipe = recipe_of(fields, name);
  result.seed = fields.seed("seed");
  result.data = data_of(fields.object("data"));
  result.gpu = fields.text_or_null("gpu");
  if (fields.has("precision")) result.precision = fields.word("precision");
  result.versions = versions_of(fields.object("versions"));
  if (fields.has("weights")) result.weights = fields.word("weights");
  if (fields.has("lengthened_from")) {
    result.lengthened_from = fields.whole("lengthened_from", 1);
    if (*result.lengthened_from >= result.recipe.epochs) {
      fields.wrong("lengthened_from", "less than the epochs of the recipe");
    }
  }
  const double seconds = fields.number("seconds", 0, kAny);
  result.metrics = all_metrics(fields.at("metrics"), result.recipe.epochs, name);
  if (std::abs(seconds - result.seconds()) > kSecondsTolerance) {
    fields.wrong("seconds", fmt::format("{}, the sum of the epochs", result.seconds()));
  }
  fields.refuse_others();
  return result;
}

RunResult read_result(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> bytes = read_file(file);
  return result_from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                          file.string());
}

void write_result(const std::filesystem::path& file, const RunResult& result) {
  const std::string text = to_json(result);
  write_file_durably(file, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::optional<RunResult> finished_result(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "result.json";
  const std::filesystem::path recipe = folder / "recipe.json";
  if (!std::filesystem::exists(file)) return std::nullopt;
  RunResult result = read_result(file);
  if (std::filesystem::exists(recipe) &&
      to_json(find_recipe(recipe.string())) != to_json(result.recipe)) {
    return std::nullopt;
  }
  return result;
}

}  // namespace medley
