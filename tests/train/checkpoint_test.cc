#include "train/checkpoint.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "medley/error.h"

namespace medley::train {
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

/// A checkpoint with this header, whose hash fits.
std::vector<std::uint8_t> with_header(const std::string& header) {
  std::vector<std::uint8_t> file = {'M', 'E', 'D', 'L', 'E', 'Y', 'C', 'K'};
  for (int i = 0; i < 8; ++i) file.push_back(static_cast<std::uint8_t>(header.size() >> (8 * i)));
  file.insert(file.end(), header.begin(), header.end());
  const std::uint64_t hash = XXH3_64bits(file.data(), file.size());
  for (int i = 0; i < 8; ++i) file.push_back(static_cast<std::uint8_t>(hash >> (8 * i)));
  return file;
}

TEST_F(CheckpointFiles, HostileHeadersAreRefused) {
  const std::string start = R"({"schema":"medley.checkpoint/1","state":"","sections":)";
  EXPECT_TRUE(decode_checkpoint(with_header(start + "[]}"), "c").sections.empty());
  const std::pair<std::string, const char*> flaws[] = {
      {start + std::string(100'000, '['), "within each other"},
      {start + R"([],"state":""})", "\"state\" is there twice"},
      {start + "{}}", "sections must be a list"},
      {start + R"([{"size":1e300,"name":"a","xxh3":""}]})", "sections[0].size must be a whole"},
      {start + R"([{"size":4611686018427387904,"name":"a","xxh3":""}]})", "at most the 0 bytes"},
      {"[]", "must be a JSON object"},
      {"{", "it ends early"}};
  for (const auto& [header, reason] : flaws) {
    const auto read = [file = with_header(header)] { (void)decode_checkpoint(file, "c"); };
    EXPECT_THAT(read, testing::ThrowsMessage<IoError>(testing::AllOf(
                          testing::StartsWith("the header of c"), testing::HasSubstr(reason))));
  }
}

TEST_F(CheckpointFiles, AreJudgedBeforeTheyAreRead) {
  constexpr std::uint64_t kHuge = std::uint64_t{5} << 40;  // could not be read
  const std::vector<std::uint8_t> good = encode_checkpoint(numbered(1));
  const std::vector<std::uint8_t> zip = {'P', 'K', 3, 4};
  std::vector<std::uint8_t> long_header(good.begin(), good.begin() + 8);
  long_header.insert(long_header.end(), {0, 0, 0, 0, 4, 0, 0, 0});
  const std::pair<std::vector<std::uint8_t>, const char*> flaws[] = {
      {zip, "is not a Medley checkpoint"},
      {good, "is damaged or truncated"},
      {long_header, "is damaged or truncated"}};
  for (const auto& [start, reason] : flaws) {
    const fs::path file = folder_ / "checkpoint-1.medley";
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(start.data()), std::ssize(start));
    fs::resize_file(file, kHuge);
    EXPECT_THAT([&] { (void)read_checkpoint(file); },
                testing::ThrowsMessage<IoError>(testing::HasSubstr(reason)));
    std::vector<std::string> problems;
    EXPECT_FALSE(CheckpointFolder(folder_).load_newest(problems).has_value());
    EXPECT_THAT(problems, testing::ElementsAre(testing::HasSubstr(reason)));
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

TEST_F(CheckpointFiles, APipeOfThatNameIsNotWaitedFor) {
  const CheckpointFolder folder(folder_);
  folder.save(1, numbered(1));
  ASSERT_EQ(mkfifo((folder_ / "checkpoint-0000000002.medley").c_str(), 0600), 0);
  std::vector<std::string> problems;
  EXPECT_EQ(folder.load_newest(problems)->checkpoint.state, "{\"i\":1}");
  EXPECT_THAT(problems, testing::ElementsAre(testing::HasSubstr("is not a regular file")));
}

TEST_F(CheckpointFiles, OneThatCannotBeReadIsNotAbsent) {
  const CheckpointFolder folder(folder_);
  const fs::path name = folder_ / "checkpoint-0000000002.medley";
  fs::create_symlink(name.filename(), name);  // leads to itself
  std::vector<std::string> problems;
  EXPECT_THROW((void)folder.load_newest(problems), IoError);
  folder.save(1, numbered(1));
  EXPECT_EQ(folder.load_newest(problems)->checkpoint.state, "{\"i\":1}");
}

TEST_F(CheckpointFiles, DamagedOnesAheadDoNotCostNewOnes) {
  const CheckpointFolder folder(folder_);
  for (const int i : {8, 9}) {
    folder.save(i, numbered(i));
    std::ofstream(folder.files().front(), std::ios::trunc) << "not a checkpoint";
  }
  for (int i = 1; i < 12; ++i) {
    folder.save(i, numbered(i));
    std::vector<std::string> problems;
    const auto found = folder.load_newest(problems);
    ASSERT_TRUE(found) << i;
    EXPECT_EQ(found->checkpoint.state, numbered(i).state);
  }
  EXPECT_EQ(folder.files().size(), 2);
}

TEST_F(CheckpointFiles, CopiesOfTheUserAreNone) {
  const CheckpointFolder folder(folder_);
  folder.save(1, numbered(1));
  for (const char* name : {"checkpoint-old.medley", "checkpoint-.medley", "checkpoint-1b.medley"}) {
    fs::copy_file(folder.files().front(), folder_ / name);
    EXPECT_FALSE(is_checkpoint(name));
  }
  for (int i = 2; i < 5; ++i) folder.save(i, numbered(i));
  EXPECT_EQ(folder.files().size(), 2);
  EXPECT_TRUE(fs::exists(folder_ / "checkpoint-old.medley"));
}

TEST_F(CheckpointFiles, AnEmptyFolderHasNone) {
  std::vector<std::string> problems;
  EXPECT_FALSE(CheckpointFolder(folder_).load_newest(problems));
}

TEST_F(CheckpointFiles, AFailedSaveLeavesWhatWasThere) {
  const CheckpointFolder folder(folder_);
  folder.save(1, numbered(1));
  // The temporary file of the next cannot be made.
  fs::create_directory(folder_ / "checkpoint-0000000002.medley.part");
  EXPECT_THROW(folder.save(2, numbered(2)), IoError);
  std::vector<std::string> problems;
  EXPECT_EQ(folder.load_newest(problems)->checkpoint.state, "{\"i\":1}");
}

TEST_F(CheckpointFiles, AFullDiskLeavesWhatWasThere) {
  const CheckpointFolder folder(folder_);
  folder.save(1, numbered(1));
  // Files of this process may not grow beyond a few bytes, as if the disk were full.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{16, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(folder.save(2, numbered(2)), IoError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  std::vector<std::string> problems;
  EXPECT_EQ(folder.load_newest(problems)->checkpoint.state, "{\"i\":1}");
  EXPECT_TRUE(problems.empty());
}

}  // namespace
}  // namespace medley::train
