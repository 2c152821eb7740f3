#include "train/run_record.h"

#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "data/file.h"
#include "train/json_fields.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;  // for writing
using Input = nlohmann::json;         // for reading

constexpr std::string_view kSchema = "medley.run/1";

Json json_of(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json json_of(const std::optional<std::string>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<std::int64_t> count_of(JsonFields& fields, std::string_view name) {
  if (fields.at(name).is_null()) return std::nullopt;
  return fields.whole(name, 1);
}

bool flag_of(JsonFields& fields, std::string_view name) {
  if (!fields.at(name).is_boolean()) fields.wrong(name, "true or false");
  return fields.at(name).get<bool>();
}

DataChoice data_of(JsonFields fields) {
  DataChoice data{fields.text("source"), count_of(fields, "train_images"),
                  count_of(fields, "test_images"), flag_of(fields, "skip_broken")};
  fields.refuse_others();
  return data;
}

RunRecord record_of(std::string_view text, const std::string& name) {
  const Input json = parse_json(text, name, JsonError::io);
  JsonFields fields(json, name);
  if (fields.at("schema") != kSchema) fields.wrong("schema", fmt::format("\"{}\"", kSchema));
  RunRecord record;
  record.seed = fields.seed("seed");
  record.data = data_of(fields.object("data"));
  record.weights = fields.text("weights");
  record.weights_hash = fields.text_or_null("weights_hash");
  record.threads = static_cast<std::int32_t>(fields.whole("threads", 0, 4096));
  record.device = fields.word("device");
  record.precision = fields.word("precision");
  record.deterministic = flag_of(fields, "deterministic");
  record.version = fields.text("version");
  record.libtorch = fields.text("libtorch");
  for (const Input& word : fields.list("command")) {
    if (!word.is_string()) fields.wrong("command", "a list of texts");
    record.command.push_back(word.get<std::string>());
  }
  record.directory = fields.text("directory");
  fields.refuse_others();
  return record;
}

}  // namespace

const std::vector<OptionSpec>& data_options() {
  static const std::vector<OptionSpec> options =
      OptionTable<DataChoice>()
          .add(&DataChoice::source, "data",
               "synthetic[:train=2000,test=500,size=32,classes=10,scale=0.5,seed=1], "
               "fashion-mnist[:DIR], cifar100:DIR, cifar10:DIR, idx:DIR, npy:DIR or folder:DIR")
          .add(&DataChoice::train_images, "train_images",
               "the first N training images, as many of each class", {.absent = "all"})
          .add(&DataChoice::test_images, "test_images",
               "the first N test images, as many of each class", {.absent = "all"})
          .add(&DataChoice::skip_broken, "skip_broken",
               "folders: leave out images that cannot be decoded");
  return options;
}

std::string to_text(const DataChoice& data) {
  std::string text = data.source;
  if (data.train_images) text += fmt::format(" --train-images {}", *data.train_images);
  if (data.test_images) text += fmt::format(" --test-images {}", *data.test_images);
  if (data.skip_broken) text += " --skip-broken";
  return text;
}

std::string to_json(const RunRecord& r) {
  const Json json = {{"schema", kSchema},
                     {"seed", r.seed},
                     {"data",
                      {{"source", r.data.source},
                       {"train_images", json_of(r.data.train_images)},
                       {"test_images", json_of(r.data.test_images)},
                       {"skip_broken", r.data.skip_broken}}},
                     {"weights", r.weights},
                     {"weights_hash", json_of(r.weights_hash)},
                     {"threads", r.threads},
                     {"device", r.device},
                     {"precision", r.precision},
                     {"deterministic", r.deterministic},
                     {"version", r.version},
                     {"libtorch", r.libtorch},
                     {"command", r.command},
                     {"directory", r.directory}};
  // Names of files may have any bytes.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<RunRecord> read_run_record(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  std::error_code problem;
  const fs::file_status status = fs::status(file, problem);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (fs::status_known(status) && !fs::is_regular_file(status)) {
    fail_io(fmt::format("{} is not a regular file", file.string()));
  }
  const std::vector<std::uint8_t> bytes = data::read_file(file);
  return record_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
}

}  // namespace medley::train
