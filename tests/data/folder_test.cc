#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "data/picture_files.h"
#include "medley/data/dataset.h"
#include "medley/error.h"

namespace medley::data {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImageFolder : public testing::Test {
 protected:
  ImageFolder() : path_(fs::temp_directory_path() / ("medley-folder-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
  }
  ~ImageFolder() override { fs::remove_all(path_); }

  void write(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  void write_text(const std::string& name, const std::string& text) const {
    write(name, {text.begin(), text.end()});
  }
  void write_jpeg(const std::string& name, ImageSize size = {20, 30}) const {
    write(name, test::jpeg_file({.components = 3}, size, test::gradient_image(size).rgb));
  }
  void write_png(const std::string& name) const {
    write(name, encode_png(test::gradient_image({16, 16})));
  }
  [[nodiscard]] std::string refusal() const {
    try {
      (void)read_folder(path_);
    } catch (const IoError& problem) {
      return problem.what();
    }
    return "not refused";
  }

  fs::path path_;
};

TEST_F(ImageFolder, HasAFolderPerClass) {
  write_jpeg("train/dog/2.JPEG");
  write_png("train/dog/1.png");
  write_jpeg("train/cat/images/x.jpg");
  write_text("train/cat/readme.txt", "no picture");
  write_jpeg("val/dog/9.jpg");
  const ImageData data = read_folder(path_);
  EXPECT_THAT(data.classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(data.train.labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(data.test.labels, ElementsAre(1));
  EXPECT_EQ(data.train.files->path(1).filename(), "1.png");
  EXPECT_EQ(open_data("folder:" + path_.string()).train.count(), 3);
}

TEST_F(ImageFolder, KeepsTheFirstOfEachClass) {
  for (const char* name : {"train/a/1.png", "train/a/2.png", "train/b/3.png", "train/b/4.png"}) {
    write_png(name);
  }
  write_png("val/a/5.png");
  const ImageData data = read_folder(path_, ImageFiles::Broken::skip);
  const ImageSet two = first_of_each_class(data.train, 2, data.classes);
  EXPECT_THAT(two.labels, ElementsAre(0, 1));
  EXPECT_EQ(two.files->count(), 2);
  EXPECT_EQ(two.files->path(1).filename(), "3.png");
  EXPECT_EQ(two.files->broken(), ImageFiles::Broken::skip);
  EXPECT_EQ(image_at(two, 1).size, (ImageSize{96, 96}));
}

TEST_F(ImageFolder, FollowsLinksOnce) {
  write_jpeg("train/cat/1.jpg");
  write_jpeg("elsewhere/2.jpg");
  write_jpeg("val/cat/9.jpg");
  fs::create_directory_symlink(".", path_ / "train/cat/loop");
  fs::create_directory_symlink("../../elsewhere", path_ / "train/cat/more");
  fs::create_directory_symlink("../elsewhere", path_ / "train/dog");
  const ImageData data = read_folder(path_);
  EXPECT_THAT(data.train.labels, ElementsAre(0, 0, 1));
}

TEST_F(ImageFolder, MayBeTinyImageNet) {
  write_jpeg("train/n01/images/n01_0.JPEG");
  write_jpeg("train/n02/images/n02_0.JPEG");
  write_jpeg("val/images/val_0.JPEG");
  write_jpeg("val/images/val_1.JPEG");
  write_text("val/val_annotations.txt",
             "val_1.JPEG\tn02\t0\t32\t44\t62\nval_0.JPEG\tn01\t1\t1\t2\t2\n");
  const ImageData data = read_folder(path_);
  EXPECT_THAT(data.test.labels, ElementsAre(1, 0));
  EXPECT_EQ(data.test.files->path(0).filename(), "val_1.JPEG");
  write_text("val/val_annotations.txt", "val_0.JPEG\tn01\nval_1.JPEG\tn07\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("val_annotations.txt, line 2"), HasSubstr("n07")));
  write_text("val/val_annotations.txt", "\n");
  EXPECT_THAT(refusal(), HasSubstr("lists no images"));
  write_text("val/val_annotations.txt", "val_5.JPEG\tn01\n");
  EXPECT_THAT(refusal(), HasSubstr("val_5.JPEG"));
}

TEST_F(ImageFolder, HiddenNamesArePassedOver) {
  for (const char* name :
       {"train/cat/1.jpg", "train/cat/._1.jpg", "train/cat/.trash/2.jpg", "train/dog/1.jpg",
        "train/.ipynb_checkpoints/1-checkpoint.jpg", "val/.hidden/1.jpg", "val/dog/1.jpg"}) {
    write_jpeg(name);
  }
  const ImageData data = read_folder(path_);
  EXPECT_THAT(data.classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(data.train.labels, ElementsAre(0, 1));
  EXPECT_THAT(data.test.labels, ElementsAre(1));
}

TEST_F(ImageFolder, TestsDoNotLookAtTrainingImages) {
  write_jpeg("val/dog/9.jpg");
  write_jpeg("val/cat/9.jpg");
  const auto tests = [&] { return read_folder(path_, ImageFiles::Broken::refuse, Parts::test); };
  EXPECT_THAT(tests().classes, ElementsAre("cat", "dog"));
  fs::create_directories(path_ / "train/cat");
  fs::create_directories(path_ / "train/dog");
  fs::create_directories(path_ / "train/eel");
  const ImageData data = tests();
  EXPECT_THAT(data.classes, ElementsAre("cat", "dog", "eel"));
  EXPECT_THAT(data.test.labels, ElementsAre(0, 1));
  EXPECT_EQ(data.train.count(), 0);
}

TEST_F(ImageFolder, TinyImageNetTestsNeedNoTrainingFolder) {
  write_jpeg("val/images/val_0.JPEG");
  write_jpeg("val/images/val_1.JPEG");
  write_text("val/val_annotations.txt", "val_1.JPEG\tn02\nval_0.JPEG\tn01\n");
  const ImageData data =
      open_data("folder:" + path_.string(), ImageFiles::Broken::refuse, Parts::test);
  EXPECT_THAT(data.classes, ElementsAre("n01", "n02"));
  EXPECT_THAT(data.test.labels, ElementsAre(1, 0));
}

TEST_F(ImageFolder, MayBeInTheHomeFolder) {
  for (const char* name : {"pets/train/a/1.png", "pets/train/b/1.png", "pets/val/a/1.png"}) {
    write_png(name);
  }
  const char* const home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  setenv("HOME", path_.c_str(), 1);
  EXPECT_EQ(open_data("folder:~/pets").train.count(), 2);
  EXPECT_THROW((void)open_data("folder:~nobody/pets"), IoError);
  setenv("HOME", before.c_str(), 1);
}

TEST_F(ImageFolder, SaysWhatIsMissing) {
  EXPECT_THAT(refusal(), HasSubstr("not a folder"));
  fs::create_directories(path_);
  EXPECT_THAT(refusal(), HasSubstr("no folder train"));
  write_jpeg("train/a/1.jpg");
  EXPECT_THAT(refusal(), HasSubstr("at least 2"));
  write_jpeg("train/b/1.jpg");
  EXPECT_THAT(refusal(), HasSubstr("no folder val"));
  write_jpeg("val/c/1.jpg");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("val/c"), HasSubstr("training images do not have")));
  fs::remove_all(path_ / "val");
  fs::create_directories(path_ / "val/a");
  EXPECT_THAT(refusal(), HasSubstr("has no images"));
}

TEST_F(ImageFolder, TellsBrokenImages) {
  write_jpeg("a.jpg");
  write_text("b.jpg", "no JPEG");
  const auto whole = [](ImageSize size) { return PixelBox{0, 0, size.height, size.width}; };
  std::vector<std::uint8_t> rgb(48);
  const ImageFiles strict({path_ / "a.jpg", path_ / "b.jpg"}, ImageFiles::Broken::refuse);
  EXPECT_TRUE(strict.read(0, whole, {4, 4}, rgb));
  try {
    (void)strict.read(1, whole, {4, 4}, rgb);
    FAIL() << "was read";
  } catch (const IoError& problem) {
    EXPECT_THAT(problem.what(), AllOf(HasSubstr("b.jpg is neither"), HasSubstr("--skip-broken")));
  }
  const ImageFiles lenient({path_ / "a.jpg", path_ / "b.jpg"}, ImageFiles::Broken::skip);
  EXPECT_FALSE(lenient.read(1, whole, {4, 4}, rgb));
  EXPECT_FALSE(lenient.read(1, whole, {4, 4}, rgb));
  EXPECT_EQ(lenient.broken_count(), 1);
  EXPECT_EQ(lenient.new_notes().size(), 1u);
  EXPECT_TRUE(lenient.new_notes().empty());
}

TEST_F(ImageFolder, HasAFingerprintOfItsOwn) {
  write_jpeg("a/1.jpg");
  write_jpeg("a/2.jpg");
  const auto print = [&](const std::vector<fs::path>& paths) {
    return ImageFiles(paths, ImageFiles::Broken::refuse).fingerprint();
  };
  const std::string here = print({path_ / "a/1.jpg", path_ / "a/2.jpg"});
  fs::copy(path_ / "a", path_ / "elsewhere");
  EXPECT_EQ(print({path_ / "elsewhere/1.jpg", path_ / "elsewhere/2.jpg"}), here);
  EXPECT_NE(print({path_ / "a/2.jpg", path_ / "a/1.jpg"}), here);
  write_jpeg("a/2.jpg", {21, 30});
  EXPECT_NE(print({path_ / "a/1.jpg", path_ / "a/2.jpg"}), here);
}

TEST_F(ImageFolder, FingerprintsSeeOtherBytesOfTheSameNumber) {
  constexpr std::size_t kBytes = 100'000;
  const auto print = [&] {
    return ImageFiles({path_ / "1.jpg", path_ / "2.jpg"}, ImageFiles::Broken::refuse).fingerprint();
  };
  const std::vector<std::uint8_t> zeros(kBytes);
  write("1.jpg", zeros);
  write("2.jpg", zeros);
  const std::string before = print();
  EXPECT_EQ(print(), before);
  for (const std::size_t at : {std::size_t{0}, kBytes / 2, kBytes - 1}) {
    std::vector<std::uint8_t> other = zeros;
    other[at] = 1;
    write("2.jpg", other);
    EXPECT_NE(print(), before) << at;
  }
}

TEST_F(ImageFolder, DamagedImagesAreNotedOnce) {
  std::vector<std::uint8_t> bytes =
      test::jpeg_file({.components = 3}, {20, 30}, test::gradient_image({20, 30}).rgb);
  bytes[bytes.size() - 30] = 0xFF;
  bytes[bytes.size() - 29] = 0xD9;
  write("a.jpg", bytes);
  const ImageFiles files({path_ / "a.jpg"}, ImageFiles::Broken::refuse);
  const auto whole = [](ImageSize size) { return PixelBox{0, 0, size.height, size.width}; };
  std::vector<std::uint8_t> rgb(48);
  EXPECT_TRUE(files.read(0, whole, {4, 4}, rgb));
  EXPECT_TRUE(files.read(0, whole, {4, 4}, rgb));
  EXPECT_THAT(files.new_notes(), ElementsAre(HasSubstr("a.jpg is damaged, but was decoded")));
  EXPECT_TRUE(files.new_notes().empty());
  EXPECT_EQ(files.broken_count(), 0);
}

TEST(RandomCrop, IsWithinThePictureAndTheAskedArea) {
  const RandomCrop crop{0.25, 2};
  const ImageSize whole{375, 500};
  std::set<std::int32_t> tops;
  double mean_area = 0;
  constexpr int kCrops = 2000;
  for (int i = 0; i < kCrops; ++i) {
    const PixelBox box = crop.box(whole, 1, 2, i);
    ASSERT_GE(box.top, 0);
    ASSERT_GE(box.left, 0);
    ASSERT_LE(box.top + box.height, whole.height);
    ASSERT_LE(box.left + box.width, whole.width);
    const double area = static_cast<double>(box.height) * box.width / 187500;
    EXPECT_GE(area, 0.245);
    EXPECT_LE(static_cast<double>(box.width) / box.height, 2.02);
    EXPECT_GE(static_cast<double>(box.width) / box.height, 0.495);
    mean_area += area / kCrops;
    tops.insert(box.top);
  }
  EXPECT_GT(tops.size(), 50u);
  // Below the middle of the range, 0.625: large crops of an unlucky ratio do not fit.
  EXPECT_NEAR(mean_area, 0.55, 0.05);
  EXPECT_EQ(crop.box(whole, 1, 2, 7), crop.box(whole, 1, 2, 7));
  EXPECT_NE(crop.box(whole, 1, 2, 7), crop.box(whole, 1, 3, 7));
}

TEST(RandomCrop, HasAGreatestArea) {
  const RandomCrop crop{.least_area = 0.25, .aspect = 1, .most_area = 0.4};
  double least = 1;
  double most = 0;
  for (int i = 0; i < 2000; ++i) {
    const PixelBox box = crop.box({500, 500}, 1, 2, i);
    const double area = static_cast<double>(box.height) * box.width / 250000;
    least = std::min(least, area);
    most = std::max(most, area);
  }
  EXPECT_NEAR(least, 0.25, 0.003);
  EXPECT_NEAR(most, 0.4, 0.003);
}

TEST(RandomCrop, TakesTheMiddleOfVeryLongPictures) {
  const PixelBox box = RandomCrop{0.9, 1.5}.box({10, 1000}, 1, 1, 1);
  EXPECT_EQ(box, (PixelBox{0, 492, 10, 15}));
}

TEST(CentralBox, IsTheMiddleSquareOfTheResizedPicture) {
  EXPECT_EQ(central_box({256, 512}, 224, 256), (PixelBox{16, 144, 224, 224}));
  EXPECT_EQ(central_box({500, 375}, 224, 256), (PixelBox{86, 23, 328, 328}));
  EXPECT_EQ(central_box({3, 1}, 224, 256), (PixelBox{1, 0, 1, 1}));
}

}  // namespace
}  // namespace medley::data
