#include "train/checkpoint.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "medley/error.h"
#include "train/durable_file.h"

namespace medley {
namespace {

namespace fs = std::filesystem;

class CheckpointFiles : public testing::Test {
 protected:
  CheckpointFiles()
      : folder_(fs::temp_directory_path() / ("medley-ck-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~CheckpointFiles() override { fs::remove_all(folder_); }

  static Checkpoint numbered(int i) {
    return {"{\"i\":" + std::to_string(i) + "}", {{"weights", {1, 2, 3}}, {"more", {}}}};
  }

  fs::path folder_;
};

TEST_F(CheckpointFiles, ComeBackAsTheyWere) {
  const Checkpoint back = decode_checkpoint(encode_checkpoint(numbered(5)), "c");
  EXPECT_EQ(back.state, "{\"i\":5}");
  EXPECT_THAT(back.section("weights").bytes, testing::ElementsAre(1, 2, 3));
  EXPECT_TRUE(back.section("more").bytes.empty());
  EXPECT_THROW((void)back.section("none"), IoError);
}

TEST_F(CheckpointFiles, AnyDamageIsFound) {
  const std::vector<std::uint8_t> good = encode_checkpoint(numbered(1));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::uint8_t> bad = good;
    bad[i] ^= 0x10;
    EXPECT_THROW((void)decode_checkpoint(bad, "c"), IoError) << i;
    bad = good;
    bad.resize(i);
    EXPECT_THROW((void)decode_checkpoint(bad, "c"), IoError) << i;
  }
}

TEST_F(CheckpointFiles, TheLastTwoAreKept) {
  const CheckpointFolder folder(folder_);
  for (int i = 1; i <= 5; ++i) folder.save(100 * i, numbered(i));
  EXPECT_EQ(folder.files().size(), 2);
  std::vector<std::string> problems;
  EXPECT_EQ(folder.load_newest(problems)->checkpoint.state, "{\"i\":5}");
  EXPECT_TRUE(problems.empty());
}

TEST_F(CheckpointFiles, ADamagedOneIsPassedOver) {
  const CheckpointFolder folder(folder_);
  folder.save(1, numbered(1));
  folder.save(2, numbered(2));
  std::ofstream(folder.files().front(), std::ios::trunc) << "not a checkpoint";
  std::vector<std::string> problems;
  EXPECT_EQ(folder.load_newest(problems)->checkpoint.state, "{\"i\":1}");
  ASSERT_EQ(problems.size(), 1);
  EXPECT_THAT(problems[0], testing::HasSubstr("is not a Medley checkpoint"));
}

TEST_F(CheckpointFiles, AnEmptyFolderHasNone) {
  std::vector<std::string> problems;
  EXPECT_FALSE(CheckpointFolder(folder_).load_newest(problems));
}

TEST_F(CheckpointFiles, AFailedWriteLeavesWhatWasThere) {
  const fs::path file = folder_ / "f";
  write_durably(file, std::string_view("old"));
  fs::create_directory(folder_ / "f.part");  // the temporary file cannot be made
  EXPECT_THROW(write_durably(file, std::string_view("new")), IoError);
  std::string text;
  std::getline(std::ifstream(file), text);
  EXPECT_EQ(text, "old");
}

}  // namespace
}  // namespace medley
