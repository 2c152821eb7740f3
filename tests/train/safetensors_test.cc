#include "train/safetensors.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "medley/error.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint8_t> file_of(const std::string& header, std::size_t values) {
  std::vector<std::uint8_t> file(8);
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<std::uint8_t>(header.size() >> (8 * i));
  file.insert(file.end(), header.begin(), header.end());
  file.resize(file.size() + values);
  return file;
}

TEST(Safetensors, ComeBackAsTheyWere) {
  const std::vector<std::uint8_t> a = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<std::uint8_t> b = {9, 8, 7, 6};
  const TensorView tensors[] = {
      {"layer.weight", "F32", {2}, a}, {"n", "I16", {2, 1}, b}, {"none", "F32", {0, 3}, {}}};
  const std::vector<std::uint8_t> file = write_safetensors(tensors, {{"format", "pt"}});
  const SafetensorsFile read = read_safetensors(file, "f");
  ASSERT_EQ(read.tensors.size(), 3);
  EXPECT_EQ(read.metadata.at("format"), "pt");
  const TensorView* weight = read.find("layer.weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->dtype, "F32");
  EXPECT_THAT(weight->shape, testing::ElementsAre(2));
  EXPECT_TRUE(std::equal(a.begin(), a.end(), weight->bytes.begin(), weight->bytes.end()));
  EXPECT_EQ(read.find("missing"), nullptr);
}

TEST(Safetensors, ValuesStartAtAMultipleOfEight) {
  for (const char* name : {"a", "ab", "abc", "abcdefgh"}) {
    const std::vector<std::uint8_t> bytes(4);
    const TensorView tensor{name, "F32", {1}, bytes};
    EXPECT_EQ((write_safetensors({&tensor, 1}).size() - 4) % 8, 0) << name;
  }
}

struct Flaw {
  std::string header;
  std::size_t values;
  std::string reason;
};

TEST(Safetensors, BrokenFilesAreRefusedWithTheReason) {
  const std::string good = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  const Flaw flaws[] = {
      {"{" + good + "}", 7, "there are 7"},
      {"{" + good + "}", 9, "belong to no tensor"},
      {"{" + good + "," + good + "}", 8, "twice"},
      {"[1]", 0, "not a JSON object"},
      {"{", 0, "the header of weights is not JSON"},
      {R"({"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", 8, "unknown dtype"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8, "needs 12 bytes"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})", 8, "whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8, "broken data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12, "starts at byte 4"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", 8, "nothing else"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0, "a"},
      {R"({"__metadata__":{"a":1}})", 0, "not text"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
       6, "starts at byte 2"},
  };
  for (const Flaw& flaw : flaws) {
    try {
      (void)read_safetensors(file_of(flaw.header, flaw.values), "weights");
      ADD_FAILURE() << flaw.header;
    } catch (const IoError& problem) {
      EXPECT_THAT(problem.what(), testing::HasSubstr(flaw.reason)) << flaw.header;
      EXPECT_THAT(problem.what(), testing::HasSubstr("weights"));
    }
  }
}

TEST(Safetensors, HostileHeadersAreRefused) {
  std::string many = "{";
  for (int i = 0; i < 100'000; ++i) {
    many += "\"t" + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)";
  }
  many.back() = '}';
  const Flaw flaws[] = {{many, 0, "more than 65537 keys"},
                        {std::string(100'000, '['), 0, "within each other"},
                        {R"({"a":)" + std::string(100'000, '['), 0, "within each other"}};
  for (const Flaw& flaw : flaws) {
    EXPECT_THAT([&] { (void)read_safetensors(file_of(flaw.header, flaw.values), "weights"); },
                testing::ThrowsMessage<IoError>(testing::HasSubstr(flaw.reason)));
  }
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::vector<std::uint8_t> bytes(8);
  const TensorView tensor{"a", "F32", {2}, bytes};
  const std::vector<std::uint8_t> file = write_safetensors({&tensor, 1});
  for (std::size_t n = 0; n < file.size(); ++n) {
    EXPECT_THROW((void)read_safetensors({file.data(), n}, "f"), IoError) << n;
  }
}

/// Files of any length that take no room.
class SafetensorsOnDisk : public testing::Test {
 protected:
  SafetensorsOnDisk()
      : path_(fs::temp_directory_path() / ("medley-weights-" + std::to_string(getpid()))) {}
  ~SafetensorsOnDisk() override { fs::remove(path_); }

  [[nodiscard]] std::string refusal(std::span<const std::uint8_t> start, std::uint64_t size) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(start.data()), std::ssize(start));
    fs::resize_file(path_, size);
    try {
      (void)read_safetensors_file(path_, [](const SafetensorsFile& file) {
        EXPECT_EQ(file.tensors.at(0).name, "a");
        EXPECT_TRUE(file.tensors.at(0).bytes.empty());
        throw IoError("judged");
      });
    } catch (const IoError& problem) {
      return problem.what();
    }
    return "not refused";
  }

  fs::path path_;
};

TEST_F(SafetensorsOnDisk, AreJudgedBeforeTheyAreRead) {
  constexpr std::uint64_t kHuge = std::uint64_t{5} << 40;  // could not be read
  EXPECT_THAT(refusal({}, kHuge), testing::HasSubstr("is not JSON"));
  const std::string good = R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})";
  EXPECT_THAT(refusal(file_of(good, 0), kHuge), testing::HasSubstr("belong to no tensor"));
  EXPECT_THAT(refusal(file_of(good, 0), 8 + good.size() + 7), testing::HasSubstr("there are 7"));
  const std::string huge =
      R"({"a":{"dtype":"U8","shape":[5497558138880],"data_offsets":[0,5497558138880]}})";
  EXPECT_EQ(refusal(file_of(huge, 0), kHuge + 8 + huge.size()), "judged");
  const std::vector<std::uint8_t> long_header = {255, 255, 255, 255, 0, 0, 0, 0};
  EXPECT_THAT(refusal(long_header, kHuge), testing::HasSubstr("says its header has 4294967295"));
}

TEST_F(SafetensorsOnDisk, ComeBackAsTheyWere) {
  const std::vector<std::uint8_t> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const TensorView tensor{"a", "U8", {8}, values};
  const std::vector<std::uint8_t> file = write_safetensors({&tensor, 1});
  std::ofstream(path_, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), std::ssize(file));
  EXPECT_EQ(read_safetensors_file(path_, [](const SafetensorsFile&) {}), file);
}

}  // namespace
}  // namespace medley::train
