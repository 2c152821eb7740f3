#include "medley/train/result.h"

#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "data/file.h"
#include "train/epoch_metrics.h"
#include "train/json_fields.h"
#include "train/run_folder.h"

namespace medley::train {
namespace {

using Json = nlohmann::ordered_json;  // for writing
using Input = nlohmann::json;         // for reading

constexpr std::string_view kSchema = "medley.result/1";
/// Between "seconds" and the sum over the epochs, for files that rounded them.
constexpr double kSecondsTolerance = 0.01;

Json json_of(const DataSummary& d) {
  return {{"name", d.name},
          {"train", d.train},
          {"test", d.test},
          {"classes", d.classes},
          {"hash", d.hash}};
}

Json json_of(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

DataSummary data_of(JsonFields fields) {
  DataSummary data{fields.word("name"), fields.whole("train", 1), fields.whole("test", 1),
                   fields.whole("classes", 1), fields.text("hash")};
  fields.refuse_others();
  return data;
}

RunVersions versions_of(JsonFields fields) {
  RunVersions versions{fields.text("medley"), fields.text("libtorch"), fields.text_or_null("cuda")};
  fields.refuse_others();
  return versions;
}

Recipe recipe_of(JsonFields& fields, const std::string& name) {
  Recipe recipe;
  const std::string text = fields.at("recipe").dump();
  try {
    recipe = recorded_recipe(text, fmt::format("{}: recipe", name));
  } catch (const InvalidArgument& problem) {
    fail_io(problem.what());
  }
  try {
    check_recipe(recipe);
  } catch (const InvalidArgument& problem) {
    fail_io(fmt::format("{}: recipe: {}", name, problem.what()));
  }
  if (fields.word("model") != recipe.model) fields.wrong("model", "that of the recipe");
  if (fields.word("method") != recipe.mix.method.name())
    fields.wrong("method", "that of the recipe");
  return recipe;
}

std::vector<EpochMetrics> all_metrics(const Input& list, std::int64_t epochs,
                                      const std::string& name) {
  if (!list.is_array()) fail_io(fmt::format("{}: metrics must be a list", name));
  if (std::cmp_not_equal(list.size(), epochs)) {
    fail_io(fmt::format("{}: metrics must have the {} epochs of the recipe, got {}", name, epochs,
                        list.size()));
  }
  std::vector<EpochMetrics> metrics;
  for (const Input& one : list) {
    JsonFields fields(one, name, fmt::format("metrics[{}]", metrics.size()));
    const std::int64_t epoch = std::ssize(metrics) + 1;
    if (epoch == epochs) (void)fields.at("test_top1");  // the last has a score
    metrics.push_back(epoch_metrics(fields, epoch));
    fields.refuse_others();
  }
  return metrics;
}

}  // namespace

DataSummary summary_of(const data::ImageData& data, std::string name) {
  return {std::move(name), data.train.count(), data.test.count(), data.num_classes(),
          fingerprint(data.train)};
}

double RunResult::seconds() const noexcept {
  double sum = 0;
  for (const EpochMetrics& m : metrics) sum += m.seconds;
  return sum;
}

std::string to_json(const RunResult& r) {
  Recipe recipe = r.recipe;
  for (auto& [option, files] : recipe.files) files.paths.clear();
  Json head = {
      {"schema", kSchema},
      {"model", r.model()},
      {"method", r.method()},
      {"seed", r.seed},
      {"recipe", Json::parse(to_json(recipe))},
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
  if (r.weights_hash) head["weights_hash"] = *r.weights_hash;
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
  const Input json = parse_json(text, name, JsonError::io);
  JsonFields fields(json, name);
  if (fields.at("schema") != kSchema) fields.wrong("schema", fmt::format("\"{}\"", kSchema));
  RunResult result;
  result.recipe = recipe_of(fields, name);
  result.seed = fields.seed("seed");
  result.data = data_of(fields.object("data"));
  result.gpu = fields.text_or_null("gpu");
  if (fields.has("precision")) result.precision = fields.word("precision");
  result.versions = versions_of(fields.object("versions"));
  if (fields.has("weights")) result.weights = fields.word("weights");
  if (fields.has("weights_hash")) result.weights_hash = fields.word("weights_hash");
  if (fields.has("lengthened_from")) {
    result.lengthened_from = fields.whole("lengthened_from", 1);
    if (*result.lengthened_from >= result.recipe.epochs) {
      fields.wrong("lengthened_from", "less than the epochs of the recipe");
    }
  }
  const double seconds = fields.number("seconds", 0);
  result.metrics = all_metrics(fields.at("metrics"), result.recipe.epochs, name);
  if (std::abs(seconds - result.seconds()) > kSecondsTolerance) {
    fields.wrong("seconds", fmt::format("{}, the sum of the epochs", result.seconds()));
  }
  fields.refuse_others();
  return result;
}

RunResult read_result(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> bytes = data::read_file(file);
  return result_from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                          file.string());
}

void write_result(const std::filesystem::path& file, const RunResult& result) {
  const std::string text = to_json(result);
  data::write_file_durably(file, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::optional<RunResult> finished_result(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "result.json";
  const std::filesystem::path recipe = folder / "recipe.json";
  if (!std::filesystem::exists(file)) return std::nullopt;
  RunResult result = read_result(file);
  if (!std::filesystem::exists(recipe)) return result;
  const Recipe beside = read_recorded_recipe(recipe);
  const bool same =
      beside.draws == result.recipe.draws && differences(beside, result.recipe).empty();
  return same ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace medley::train
