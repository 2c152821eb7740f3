#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/picture_files.h"
#include "medley/data/image.h"
#include "medley/error.h"

namespace medley::data {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

template <typename Call>
std::string io_error(const Call& call) {
  try {
    call();
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

std::string read_error(const fs::path& path) {
  return io_error([&] { (void)read_image(path); });
}

/// While it lives, files cannot grow beyond a few bytes: a disk that is full.
class FullDisk {
 public:
  FullDisk() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before_;
    limit.rlim_cur = 64;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*old_handler_)(int) = nullptr;
};

/// While it lives, the process has the rights of nobody in particular.
class PlainUser {
 public:
  PlainUser() : before_(::geteuid()) {
    constexpr uid_t kNobody = 65534;
    if (before_ == 0) plain_ = ::seteuid(kNobody) == 0;
  }
  ~PlainUser() {
    if (before_ == 0 && plain_ && ::seteuid(before_) != 0) std::abort();
  }
  PlainUser(const PlainUser&) = delete;
  PlainUser& operator=(const PlainUser&) = delete;

  [[nodiscard]] bool plain() const { return plain_; }

 private:
  uid_t before_;
  bool plain_ = true;
};

TEST(ReadImage, GoesByContentNotByName) {
  const TemporaryDirectory directory;
  const Image image = test::gradient_image({6, 7});
  write_png(directory.path() / "picture.jpg", image);
  EXPECT_EQ(read_image(directory.path() / "picture.jpg"), image);
  test::write_bytes(directory.path() / "picture.png", test::jpeg_file({}, image.size, image.rgb));
  EXPECT_EQ(read_image(directory.path() / "picture.png").size, image.size);
}

TEST(ReadImage, SaysWhatIsWrongWithTheFile) {
  const TemporaryDirectory directory;
  const fs::path text = directory.path() / "x.txt";
  std::ofstream(text) << "no picture";
  EXPECT_EQ(read_error(text), text.string() + " is neither PNG nor JPEG");
  const fs::path empty = directory.path() / "empty.png";
  test::write_bytes(empty, {});
  EXPECT_EQ(read_error(empty), empty.string() + " is empty, expected a PNG or JPEG file");
  EXPECT_EQ(read_error(directory.path()),
            directory.path().string() + " is a directory, expected a file");
  const fs::path missing = directory.path() / "missing.png";
  EXPECT_EQ(read_error(missing), "cannot open " + missing.string() + ": No such file or directory");
}

TEST(ReadImage, SaysThatAFileIsNotReadable) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "secret.png";
  write_png(path, test::gradient_image({2, 2}));
  fs::permissions(path, fs::perms::none);
  fs::permissions(directory.path(), fs::perms(0755));
  const PlainUser user;
  if (!user.plain()) GTEST_SKIP() << "the superuser may read everything";
  EXPECT_EQ(read_error(path), "cannot open " + path.string() + ": Permission denied");
}

TEST(WritePng, ReplacesAFileAndLeavesNothingElse) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a.png";
  write_png(path, test::gradient_image({3, 3}));
  write_png(path, test::gradient_image({5, 4}));
  EXPECT_EQ(read_image(path), test::gradient_image({5, 4}));
  EXPECT_EQ(directory.entries(), 1);
}

TEST(WritePng, WorksInTheCurrentDirectory) {
  const TemporaryDirectory directory;
  const fs::path before = fs::current_path();
  fs::current_path(directory.path());
  write_png_gray("mask.png", {1, 2}, std::vector<std::uint8_t>{0, 255});
  fs::current_path(before);
  EXPECT_EQ(read_image(directory.path() / "mask.png").rgb,
            (std::vector<std::uint8_t>{0, 0, 0, 255, 255, 255}));
}

TEST(WritePng, FullDiskLeavesTheOldFileAndNoOther) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a.png";
  const Image old = test::gradient_image({3, 3});
  write_png(path, old);
  std::string text;
  {
    const FullDisk full;
    text = io_error([&] { write_png(path, test::gradient_image({64, 64})); });
  }
  EXPECT_EQ(text, "cannot write " + path.string() + ": File too large");
  EXPECT_EQ(directory.entries(), 1);
  EXPECT_EQ(read_image(path), old);
}

TEST(WritePng, ImpossibleTargetsAreRefused) {
  const TemporaryDirectory directory;
  const Image image = test::gradient_image({3, 3});
  const fs::path nowhere = directory.path() / "no" / "such" / "a.png";
  EXPECT_EQ(io_error([&] { write_png(nowhere, image); }),
            "cannot write " + nowhere.string() + ": No such file or directory");
  EXPECT_EQ(io_error([&] { write_png(directory.path(), image); }),
            "cannot write " + directory.path().string() + ": it is a directory");
  EXPECT_EQ(io_error([&] { write_png("/dev/null", image); }),
            "cannot write /dev/null: it is not a regular file");
  EXPECT_EQ(directory.entries(), 0);
}

TEST(WritePng, UnwritableDirectoryStaysEmpty) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a.png";
  fs::permissions(directory.path(), fs::perms(0555));
  const PlainUser user;
  if (!user.plain()) GTEST_SKIP() << "the superuser may write everywhere";
  EXPECT_EQ(io_error([&] {
              write_png(path, test::gradient_image({3, 3}));
            }),
            "cannot write " + path.string() + ": Permission denied");
  EXPECT_EQ(directory.entries(), 0);
}

TEST(ListImages, SortsPicturesAndLeavesOutTheRest) {
  const TemporaryDirectory directory;
  for (const char* name : {"b.PNG", "a.jpg", "c.JpEg", "notes.txt", "png", ".jpg"}) {
    test::write_bytes(directory.path() / name, {});
  }
  fs::create_directory(directory.path() / "folder.png");
  fs::create_symlink("nowhere", directory.path() / "d.png");  // to be complained about
  fs::create_symlink("nowhere", directory.path() / "link");
  const auto paths = list_images(directory.path());
  ASSERT_EQ(paths.size(), 4u);
  EXPECT_EQ(paths[0].filename(), "a.jpg");
  EXPECT_EQ(paths[1].filename(), "b.PNG");
  EXPECT_EQ(paths[2].filename(), "c.JpEg");
  EXPECT_EQ(paths[3].filename(), "d.png");
}

TEST(ListImages, NeedsADirectory) {
  const TemporaryDirectory directory;
  EXPECT_THROW((void)list_images(directory.path() / "missing"), IoError);
  test::write_bytes(directory.path() / "file", {});
  EXPECT_THROW((void)list_images(directory.path() / "file"), IoError);
}

TEST(ViewOfImage, IsABatchOfOne) {
  const Image image = test::gradient_image({4, 5});
  const ImageBatchView view = view_of(image);
  EXPECT_EQ(view.data, image.rgb.data());
  EXPECT_EQ(view.shape, (BatchShape{1, 3, 4, 5}));
  EXPECT_EQ(view.strides, dense_strides(view.shape, Layout::nhwc));
  EXPECT_THROW((void)view_of(Image{{4, 5}, {}}), InvalidArgument);
}

}  // namespace
}  // namespace medley::data
