// Files that are not what they say, or no files: refused by what they begin with and how long they
// are, in little memory.

#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "data/file.h"
#include "data/picture_files.h"
#include "medley/data/dataset.h"
#include "medley/error.h"
#include "plan/check_policy.h"

namespace medley::data {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

static_assert(kMaxImageSide == kMaxSide, "what can be read can be mixed");

constexpr std::uint64_t kHuge = std::uint64_t{5} << 30;

/// While it lives, the process may take 32 MiB more than it has, unless a sanitizer counts on more.
class LittleMemory {
 public:
  LittleMemory() {
    ::getrlimit(RLIMIT_AS, &before_);
    if (MEDLEY_SANITIZED != 0) return;
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * 4096 + (std::uint64_t{32} << 20);
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~LittleMemory() { ::setrlimit(RLIMIT_AS, &before_); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  rlimit before_{};
};

template <typename Call>
std::string refusal(const Call& call) {
  const LittleMemory little;
  try {
    call();
  } catch (const Error& problem) {
    return problem.what();
  } catch (const std::bad_alloc&) {
    return "took much memory";
  }
  return "not refused";
}

class HostileFile : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  void write_sparse(const std::string& name, const std::string& start, std::uint64_t size) const {
    const std::vector<std::uint8_t> bytes(start.begin(), start.end());
    test::write_sparse(path(name), bytes, size);
  }
  /// Zeros behind a start, packed.
  void write_bomb(const std::string& name, const std::string& start, int mebibytes) const {
    const std::string zeros(std::size_t{1} << 20, '\0');
    gzFile file = gzopen(path(name).c_str(), "wb1");
    gzwrite(file, start.data(), static_cast<unsigned>(start.size()));
    for (int i = 0; i < mebibytes; ++i) {
      gzwrite(file, zeros.data(), static_cast<unsigned>(zeros.size()));
    }
    gzclose(file);
  }
  [[nodiscard]] fs::path path(const std::string& name) const { return directory_.path() / name; }

  test::TemporaryDirectory directory_;
};

std::string npy_header(const std::string& shape) {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(118, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
}

TEST_F(HostileFile, NpyIsJudgedByItsHeader) {
  const auto read = [&] { (void)read_npy(directory_.path()); };
  write("train_labels.npy", npy_header("2,") + "ab");
  write_sparse("train_images.npy", "", kHuge);
  EXPECT_THAT(refusal(read), HasSubstr("train_images.npy is not a .npy file"));
  write_sparse("train_images.npy", npy_header("2, 2, 3"), kHuge);
  EXPECT_THAT(refusal(read), HasSubstr("must hold 12 bytes after byte 128, but has 5368708992"));
  // All of it belongs together, but for the labels.
  write_sparse("train_images.npy", npy_header("5368708, 10, 100"), 128 + 5368708000);
  EXPECT_THAT(refusal(read), HasSubstr("must hold one label for each of the 5368708 images"));
  write_sparse("train_images.npy", std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\x7F", 12), kHuge);
  EXPECT_THAT(refusal(read), HasSubstr("has a header of 2147483647 bytes, at most"));
}

std::string idx_header(std::initializer_list<std::uint32_t> axes) {
  std::string header = {0, 0, 8, static_cast<char>(axes.size())};
  for (const std::uint32_t n : axes) {
    for (const int shift : {24, 16, 8, 0}) header.push_back(static_cast<char>(n >> shift));
  }
  return header;
}

TEST_F(HostileFile, IdxIsJudgedByItsHeader) {
  const auto read = [&] { (void)read_idx(directory_.path()); };
  write("train-labels-idx1-ubyte", idx_header({2}) + "ab");
  write_sparse("train-images-idx3-ubyte", "", kHuge);
  EXPECT_THAT(refusal(read), HasSubstr("is not an IDX file"));
  write_sparse("train-images-idx3-ubyte", idx_header({2, 2, 3}), kHuge);
  EXPECT_THAT(refusal(read), HasSubstr("must hold 12 values after byte 16, but has more"));
  write_sparse("train-images-idx3-ubyte", idx_header({1u << 31, 1, 1}), (1u << 31) + 16);
  EXPECT_THAT(refusal(read), HasSubstr("has 2147483648 images"));
  write_sparse("train-images-idx3-ubyte", idx_header({1u << 31, 2, 1}), kHuge);
  EXPECT_THAT(refusal(read), HasSubstr("is too large: at most 2147483648 values"));
}

TEST_F(HostileFile, GzipIsUnpackedAsFarAsItsHeaderSays) {
  const auto read = [&] { (void)read_idx(directory_.path()); };
  write("train-labels-idx1-ubyte", idx_header({2}) + "ab");
  write_bomb("train-images-idx3-ubyte.gz", idx_header({2, 2, 3}), 64);
  EXPECT_THAT(refusal(read), HasSubstr("must hold 12 values after byte 16, but has more"));
  write("train-labels-idx1-ubyte", idx_header({1u << 31}) + "ab");
  write_bomb("train-images-idx3-ubyte.gz", idx_header({1u << 31, 1, 1}), 1);
  EXPECT_THAT(refusal(read), HasSubstr("must hold 2147483648 values after byte 16, but has at "));
  write_bomb("train-images-idx3-ubyte.gz", "", 64);
  EXPECT_THAT(refusal(read), HasSubstr("is not an IDX file"));
}

TEST_F(HostileFile, CifarIsJudgedByItsSize) {
  const auto read = [&] { (void)read_cifar100(directory_.path()); };
  write_sparse("train.bin", "", kHuge);
  EXPECT_THAT(refusal(read), HasSubstr("must hold records of 3074 bytes, but has 5368709120"));
  write_sparse("train.bin", "", 3074ull * 1'000'000);
  EXPECT_THAT(refusal(read), HasSubstr("is too large: expected at most 1073741824 bytes"));
}

TEST_F(HostileFile, PicturesAreJudgedByTheirStart) {
  const auto read = [&] { (void)read_image(path("a.png")); };
  write_sparse("a.png", "", kHuge);
  EXPECT_THAT(refusal(read), EndsWith("a.png is neither PNG nor JPEG"));
  const std::vector<std::uint8_t> good = encode_png(test::gradient_image({8, 8}));
  std::string png(good.begin(), good.end());
  write_sparse("a.png", png, kHuge);
  EXPECT_THAT(refusal(read),
              EndsWith("a.png is too large: expected at most 1073741824 bytes, got 5368709120"));
  png.replace(16, 4, std::string("\x00\x00\x80\x01", 4));
  write_sparse("a.png", png, 900'000'000);
  EXPECT_THAT(refusal(read), EndsWith("a.png is too large: expected at most 134217728 pixels and "
                                      "32768 on a side, got 32769 x 8"));
  const std::vector<std::uint8_t> jpeg =
      test::jpeg_file({}, {8, 8}, test::gradient_image({8, 8}).rgb);
  write_sparse("a.png", {jpeg.begin(), jpeg.end()}, kHuge);
  EXPECT_THAT(refusal(read), HasSubstr("at most 1073741824 bytes"));
}

TEST_F(HostileFile, OnlyRegularFilesAreRead) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", path("zero"));
  fs::create_symlink("pipe", path("link"));
  for (const char* name : {"pipe", "zero", "link"}) {
    EXPECT_THAT(refusal([&] { (void)read_file(path(name)); }),
                path(name).string() + " is not a regular file");
    EXPECT_THAT(refusal([&] { (void)read_image(path(name)); }), EndsWith("not a regular file"));
  }
  for (const char* name : {"train.bin", "test.bin"}) write(name, std::string(3074, '\0'));
  fs::create_symlink("/dev/zero", path("fine_label_names.txt"));
  EXPECT_THAT(refusal([&] { (void)read_cifar100(directory_.path()); }),
              EndsWith("fine_label_names.txt is not a regular file"));
  fs::remove(path("fine_label_names.txt"));
  write_sparse("fine_label_names.txt", "", kHuge);
  EXPECT_THAT(refusal([&] { (void)read_cifar100(directory_.path()); }), HasSubstr("is too large"));
}

TEST_F(HostileFile, AnnotationsNameImagesWithinTheFolder) {
  const std::vector<std::uint8_t> png = encode_png(test::gradient_image({8, 8}));
  for (const char* name : {"train/a", "train/b", "val/images"}) fs::create_directories(path(name));
  for (const char* name : {"train/a/1.png", "train/b/1.png", "val/images/1.png", "outside.png"}) {
    test::write_bytes(path(name), png);
  }
  const auto read = [&] { (void)read_folder(directory_.path()); };
  for (const std::string& name :
       {std::string("../../outside.png"), std::string("x/../../../outside.png"),
        path("outside.png").string()}) {
    write("val/val_annotations.txt", "1.png a\n" + name + " b\n");
    EXPECT_THAT(refusal(read), AllOf(HasSubstr("val_annotations.txt, line 2: expected an image "
                                               "within "),
                                     EndsWith("val/images, got \"" + name + '"')));
  }
  fs::remove(path("val/val_annotations.txt"));
  fs::create_symlink("/dev/zero", path("val/val_annotations.txt"));
  EXPECT_THAT(refusal(read), EndsWith("val_annotations.txt is not a regular file"));
}

}  // namespace
}  // namespace medley::data
