#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "data/file.h"
#include "medley/error.h"

namespace medley::data {
namespace {

namespace fs = std::filesystem;

const std::vector<std::uint8_t> kBytes = {1, 2, 3};

class Writing : public testing::Test {
 protected:
  Writing() : folder_(fs::temp_directory_path() / ("medley-writing-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Writing() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string content(const char* name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
};

TEST_F(Writing, TakesAFreeNameWhereProcessNumbersRepeat) {
  for (int i = 0; i < 100; ++i) {
    std::ofstream(folder_ /
                  (".medley-" + std::to_string(getpid()) + "-" + std::to_string(i) + ".tmp"));
  }
  EXPECT_NO_THROW(write_file(folder_ / "a", kBytes));
  EXPECT_EQ(content("a"), "\1\2\3");
}

TEST_F(Writing, DurablyFollowsNoLinks) {
  std::ofstream(folder_ / "other") << "mine";
  fs::create_symlink("other", folder_ / "a.part");
  write_file_durably(folder_ / "a", kBytes);
  EXPECT_EQ(content("other"), "mine");
  EXPECT_EQ(content("a"), "\1\2\3");
  EXPECT_FALSE(fs::is_symlink(folder_ / "a"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(folder_ / "a.part")));
}

TEST_F(Writing, DurablyReplacesWhatAKilledProcessLeft) {
  std::ofstream(folder_ / "a.part") << "much longer than the three bytes";
  write_file_durably(folder_ / "a", kBytes);
  EXPECT_EQ(content("a"), "\1\2\3");
}

TEST_F(Writing, DurablyLeavesTheOldFileOnAnError) {
  std::ofstream(folder_ / "a") << "old";
  fs::create_directories(folder_ / "a.part");
  EXPECT_THROW(write_file_durably(folder_ / "a", kBytes), IoError);
  EXPECT_EQ(content("a"), "old");
}

TEST_F(Writing, NewFilesAreNoOnesElse) {
  std::ofstream(folder_ / "a") << "old";
  fs::create_symlink("nowhere", folder_ / "link");
  EXPECT_EQ(create_file(folder_ / "a"), -1);
  EXPECT_EQ(create_file(folder_ / "link"), -1);
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
}

}  // namespace
}  // namespace medley::data
