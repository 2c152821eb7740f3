#include "train/run_record.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "medley/error.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;

class RunRecords : public testing::Test {
 protected:
  RunRecords() : folder_(fs::temp_directory_path() / ("medley-rec-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~RunRecords() override { fs::remove_all(folder_); }

  void write(const std::string& text) const { std::ofstream(folder_ / "run.json") << text; }

  fs::path folder_;
};

RunRecord some_record() {
  RunRecord record;
  record.seed = 18446744073709551615ULL;
  record.data = {"cifar100:/data/cifar", 300, {}, true};
  record.weights = "/data/w.safetensors";
  record.weights_hash = "0123456789abcdef";
  record.threads = 3;
  record.device = "cuda";
  record.precision = "bf16";
  record.deterministic = true;
  record.version = "0.1.0";
  record.libtorch = "1.13.1";
  record.command = {"medley", "train", "--out", "a b"};
  record.directory = "/data";
  return record;
}

TEST_F(RunRecords, ComeBackAsTheyWere) {
  EXPECT_EQ(read_run_record(folder_), std::nullopt);
  for (const RunRecord& record : {some_record(), RunRecord()}) {
    write(to_json(record));
    EXPECT_EQ(read_run_record(folder_), record);
  }
}

TEST_F(RunRecords, AreReadStrictly) {
  const auto refuses = [&](const char* was, const char* is, const char* why) {
    std::string text = to_json(some_record());
    const std::size_t at = text.find(was);
    ASSERT_NE(at, std::string::npos) << was;
    write(text.replace(at, std::string(was).size(), is));
    EXPECT_THAT([&] { (void)read_run_record(folder_); },
                testing::ThrowsMessage<IoError>(
                    testing::AllOf(testing::HasSubstr("run.json"), testing::HasSubstr(why))));
  };
  refuses("medley.run/1", "medley.run/2", "schema must be \"medley.run/1\"");
  refuses("\"threads\": 3", "\"threads\": -1", "threads must be a whole number from 0 to 4096");
  refuses("\"skip_broken\": true", "\"skip_broken\": 1", "data.skip_broken must be true or false");
  refuses("\"seed\"", "\"sead\"", "seed is missing");
  refuses("\"version\"", "\"more\": 1, \"version\"", "there is no field \"more\"");
  write("");
  EXPECT_THROW((void)read_run_record(folder_), IoError);
  fs::remove(folder_ / "run.json");
  fs::create_directory(folder_ / "run.json");
  EXPECT_THROW((void)read_run_record(folder_), IoError);
}

TEST_F(RunRecords, NameTheirDataAsOptionsDo) {
  EXPECT_EQ(to_text(some_record().data), "cifar100:/data/cifar --train-images 300 --skip-broken");
}

TEST_F(RunRecords, MayNameFilesOfAnyBytes) {
  RunRecord record;
  record.command = {"medley", "caf\xe9"};
  write(to_json(record));
  EXPECT_EQ(read_run_record(folder_)->command[1], "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace medley::train
