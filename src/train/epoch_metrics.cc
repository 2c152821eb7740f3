#include "train/epoch_metrics.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "data/file.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;  // for writing
using Input = nlohmann::json;         // for reading

constexpr double kAny = std::numeric_limits<double>::max();

struct MetricField {
  const char* name;
  double EpochMetrics::*value;
  double low;
};
constexpr std::array<MetricField, 4> kMetricFields = {{
    {"lr", &EpochMetrics::lr, 0},
    {"train_loss", &EpochMetrics::train_loss, -kAny},
    {"seconds", &EpochMetrics::seconds, 0},
    {"images_per_s", &EpochMetrics::images_per_s, 0},
}};

struct ScoreField {
  const char* name;
  double Score::*value;
};
constexpr std::array<ScoreField, 3> kScoreFields = {
    {{"test_top1", &Score::test_top1},
     {"test_top5", &Score::test_top5},
     {"clean_train_top1", &Score::clean_train_top1}}};

Json json_of(const EpochMetrics& m) {
  Json json = {{"epoch", m.epoch}, {"lr", m.lr}, {"train_loss", m.train_loss}};
  if (m.score) {
    for (const ScoreField& f : kScoreFields) json[f.name] = (*m.score).*f.value;
    if (m.score->ema_test_top1) json["ema_test_top1"] = *m.score->ema_test_top1;
  }
  json["seconds"] = m.seconds;
  json["images_per_s"] = m.images_per_s;
  return json;
}

}  // namespace

EpochMetrics epoch_metrics(JsonFields& fields, std::int64_t epoch) {
  EpochMetrics m;
  m.epoch = fields.whole("epoch", 1);
  if (m.epoch != epoch) fields.wrong("epoch", fmt::format("{}", epoch));
  for (const MetricField& f : kMetricFields) m.*f.value = fields.number(f.name, f.low);
  if (!fields.has("test_top1")) return m;
  m.score.emplace();
  for (const ScoreField& f : kScoreFields) (*m.score).*f.value = fields.number(f.name, 0, 100);
  if (fields.has("ema_test_top1")) m.score->ema_test_top1 = fields.number("ema_test_top1", 0, 100);
  return m;
}

std::string metrics_line(const EpochMetrics& metrics) { return json_of(metrics).dump(); }

std::string encode_metrics(const std::vector<EpochMetrics>& metrics) {
  Json all = Json::array();
  for (const EpochMetrics& m : metrics) {
    Json json = json_of(m);
    json["wall_time"] = m.wall_time;
    all.push_back(std::move(json));
  }
  return all.dump();
}

std::vector<EpochMetrics> decode_metrics(std::string_view text, const std::string& name) {
  const Input all = parse_json(text, name, JsonError::io);
  if (!all.is_array()) fail_io(fmt::format("{} must be a list", name));
  std::vector<EpochMetrics> metrics;
  for (const Input& one : all) {
    JsonFields fields(one, name, fmt::format("metrics[{}]", metrics.size()));
    metrics.push_back(epoch_metrics(fields, std::ssize(metrics) + 1));
    if (fields.has("wall_time")) metrics.back().wall_time = fields.number("wall_time", 0);
  }
  return metrics;
}

std::vector<EpochMetrics> read_metrics(const fs::path& file) {
  const std::vector<std::uint8_t> bytes = data::read_file(file);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<EpochMetrics> metrics;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string name = fmt::format("line {} of {}", metrics.size() + 1, file.string());
    const Input one = parse_json(line, name, JsonError::io);
    JsonFields fields(one, name);
    metrics.push_back(epoch_metrics(fields, std::ssize(metrics) + 1));
  }
  return metrics;
}

}  // namespace medley::train
