#include "medley/data/dataset.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include "medley/error.h"

namespace medley::data {
namespace {

namespace fs = std::filesystem;

class DataFolder : public testing::Test {
 protected:
  DataFolder() : path_(fs::temp_directory_path() / ("medley-data-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~DataFolder() override { fs::remove_all(path_); }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  void write_gz(const std::string& name, const std::string& bytes) const {
    gzFile file = gzopen((path_ / name).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }
  template <typename Call>
  static std::string refusal(const Call& call) {
    try {
      call();
    } catch (const Error& problem) {
      return problem.what();
    }
    return "not refused";
  }

  fs::path path_;
};

std::string cifar_record(std::initializer_list<int> labels, int value) {
  std::string record;
  for (const int label : labels) record.push_back(static_cast<char>(label));
  return record + std::string(3072, static_cast<char>(value));
}

TEST_F(DataFolder, Cifar100HasFineLabels) {
  write("train.bin", cifar_record({1, 7}, 10) + cifar_record({2, 99}, 20));
  write("test.bin", cifar_record({0, 3}, 30));
  const ImageData data = read_cifar100(path_);
  EXPECT_THAT(data.train.labels, testing::ElementsAre(7, 99));
  EXPECT_EQ(data.train.shape, (BatchShape{2, 3, 32, 32}));
  EXPECT_EQ(data.train.pixels[3072], 20);
  EXPECT_EQ(data.num_classes(), 100);
  EXPECT_EQ(data.test.labels[0], 3);
}

TEST_F(DataFolder, Cifar10ComesInFiveFiles) {
  for (int i = 1; i <= 5; ++i) {
    write("data_batch_" + std::to_string(i) + ".bin", cifar_record({i}, i));
  }
  write("test_batch.bin", cifar_record({9}, 9));
  write("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  const ImageData data = read_cifar10(path_);
  EXPECT_THAT(data.train.labels, testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(data.classes[9], "j");
}

TEST_F(DataFolder, BrokenCifarNamesFileAndPlace) {
  write("train.bin", cifar_record({1, 7}, 10).substr(0, 100));
  EXPECT_THAT(refusal([&] { (void)read_cifar100(path_); }),
              testing::AllOf(testing::HasSubstr("train.bin"), testing::HasSubstr("100 bytes")));
  write("train.bin", cifar_record({1, 7}, 1) + cifar_record({1, 100}, 1));
  EXPECT_THAT(refusal([&] { (void)read_cifar100(path_); }), testing::HasSubstr("byte 3075"));
  EXPECT_THAT(refusal([&] { (void)read_cifar10(path_); }), testing::HasSubstr("data_batch_1.bin"));
}

std::string idx(std::initializer_list<int> axes, const std::string& values) {
  std::string file = {0, 0, 8, static_cast<char>(axes.size())};
  for (const int n : axes) file += {0, 0, 0, static_cast<char>(n)};
  return file + values;
}

TEST_F(DataFolder, IdxFilesMayBeGzipped) {
  write_gz("train-images-idx3-ubyte.gz", idx({2, 2, 3}, "abcdefghijkl"));
  write("train-labels-idx1-ubyte", idx({2}, {1, 4}));
  write("t10k-images-idx3-ubyte", idx({1, 2, 3}, "ABCDEF"));
  write_gz("t10k-labels-idx1-ubyte.gz", idx({1}, {4}));
  const ImageData data = read_idx(path_);
  EXPECT_EQ(data.train.shape, (BatchShape{2, 1, 2, 3}));
  EXPECT_EQ(data.train.pixels[6], 'g');
  EXPECT_EQ(data.num_classes(), 5);
}

TEST_F(DataFolder, BrokenIdxIsRefused) {
  write("train-images-idx3-ubyte", idx({2, 2, 3}, "abc"));
  EXPECT_THAT(refusal([&] { (void)read_idx(path_); }), testing::HasSubstr("must hold 12 values"));
  write("train-images-idx3-ubyte", "hello");
  EXPECT_THAT(refusal([&] { (void)read_idx(path_); }), testing::HasSubstr("not an IDX file"));
  write("train-images-idx3-ubyte", idx({1, 1, 1}, "a"));
  write("train-labels-idx1-ubyte", idx({2}, {1, 4}));
  EXPECT_THAT(refusal([&] { (void)read_idx(path_); }), testing::HasSubstr("2 labels"));
}

std::string npy(const std::string& type, const std::string& shape, const std::string& values) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(118, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
         values;
}

TEST_F(DataFolder, NpyArraysAreRead) {
  write("train_images.npy", npy("|u1", "2, 1, 2, 3", "abcdefghijkl"));
  write("train_labels.npy", npy("<i2", "2,", std::string("\x03\0\x01\0", 4)));
  write("test_images.npy", npy("|u1", "1, 1, 2, 3", "ABCDEF"));
  write("test_labels.npy", npy("|u1", "1,", "\x02"));
  EXPECT_THAT(refusal([&] { (void)read_npy(path_); }), testing::HasSubstr("class 2, which"));
  write("test_labels.npy", npy("|u1", "1,", "\x03"));
  const ImageData data = read_npy(path_);
  EXPECT_EQ(data.train.shape, (BatchShape{2, 3, 1, 2}));
  EXPECT_EQ(data.train.layout, Layout::nhwc);
  EXPECT_THAT(data.train.labels, testing::ElementsAre(3, 1));
  write("train_labels.npy", npy("<i2", "2,", std::string("\xFF\xFF\x01\0", 4)));
  EXPECT_THAT(refusal([&] { (void)read_npy(path_); }), testing::HasSubstr("label -1"));
  write("train_images.npy", npy("<f4", "1,", "abcd"));
  EXPECT_THAT(refusal([&] { (void)read_npy(path_); }), testing::HasSubstr("whole numbers"));
  const std::string header = "{'fortran_order': False, 'shape': (2,), 'descr':    ";
  write("train_images.npy",
        std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header);
  EXPECT_THAT(refusal([&] { (void)read_npy(path_); }), testing::HasSubstr("broken 'descr'"));
}

/// Images of one pixel each, as IDX files: pixel values count up, labels are given.
class IdxFolder : public DataFolder {
 protected:
  void write_set(const std::string& stem, const std::string& labels) const {
    const auto count = static_cast<char>(labels.size());
    std::string pixels;
    for (char i = 0; i < count; ++i) pixels.push_back(i);
    const std::string zeros(3, '\0');
    write_gz(stem + "-images-idx3-ubyte.gz", std::string("\0\0\x08\x03", 4) + zeros + count +
                                                 zeros + '\x01' + zeros + '\x01' + pixels);
    write_gz(stem + "-labels-idx1-ubyte.gz",
             std::string("\0\0\x08\x01", 4) + zeros + count + labels);
  }
};

TEST_F(IdxFolder, FashionMnistNamesItsClasses) {
  const std::string each("\0\1\2\3\4\5\6\7\x08\x09", 10);
  write_set("train", each);
  write_set("t10k", each);
  const ImageData data = open_data("fashion-mnist:" + path_.string());
  EXPECT_EQ(data.train.shape, (BatchShape{10, 1, 1, 1}));
  EXPECT_EQ(data.classes.at(0), "T-shirt/top");
  EXPECT_EQ(data.classes.at(9), "ankle boot");
  write_set("train", each.substr(0, 5));
  write_set("t10k", each.substr(0, 5));
  EXPECT_THAT(refusal([&] { (void)read_fashion_mnist(path_); }),
              testing::HasSubstr("has 5 classes, Fashion-MNIST has 10"));
}

TEST(FashionMnist, IsWhereDebianPutsIt) {
  if (!fs::exists(kFashionMnistFolder)) {
    EXPECT_THAT([] { (void)open_data("fashion-mnist"); },
                testing::ThrowsMessage<IoError>(testing::HasSubstr("dataset-fashion-mnist")));
    return;
  }
  const ImageData data = open_data("fashion-mnist");
  EXPECT_EQ(data.train.shape, (BatchShape{60000, 1, 28, 28}));
  EXPECT_EQ(data.test.shape, (BatchShape{10000, 1, 28, 28}));
  EXPECT_EQ(data.classes.at(static_cast<std::size_t>(data.train.labels[0])), "ankle boot");
}

TEST_F(IdxFolder, TestsDoNotLookAtTrainingImages) {
  write_set("t10k", std::string("\0\2", 2));
  const auto tests = [&] {
    return open_data("idx:" + path_.string(), ImageFiles::Broken::refuse, Parts::test);
  };
  EXPECT_EQ(tests().num_classes(), 3);
  write_set("train", std::string("\2\0\2\4", 4));
  fs::remove(path_ / "train-images-idx3-ubyte.gz");
  const ImageData data = tests();
  EXPECT_EQ(data.num_classes(), 5) << "as many as the training labels have";
  EXPECT_EQ(data.test.count(), 2);
  EXPECT_EQ(data.train.count(), 0);
}

TEST_F(DataFolder, TestsOfOtherFormatsDoNotLookAtTrainingImages) {
  write("test.bin", cifar_record({0, 3}, 30));
  EXPECT_EQ(read_cifar100(path_, Parts::test).test.count(), 1);
  write("test_batch.bin", cifar_record({9}, 9));
  EXPECT_EQ(read_cifar10(path_, Parts::test).num_classes(), 10);
  write("test_images.npy", npy("|u1", "1, 1, 2, 3", "ABCDEF"));
  write("test_labels.npy", npy("|u1", "1,", "\x03"));
  EXPECT_EQ(read_npy(path_, Parts::test).num_classes(), 4);
  write("train_labels.npy", npy("|u1", "2,", "\x03\x07"));
  EXPECT_EQ(read_npy(path_, Parts::test).num_classes(), 8);
  write("train_labels.npy", npy("|u1", "1,", "\x02"));
  EXPECT_THAT(refusal([&] { (void)read_npy(path_, Parts::test); }),
              testing::HasSubstr("class 3, which"));
  const SyntheticOptions options{.train = 20, .test = 10, .size = 16};
  EXPECT_EQ(make_synthetic(options, Parts::test).test.pixels, make_synthetic(options).test.pixels);
  EXPECT_EQ(make_synthetic(options, Parts::test).train.count(), 0);
}

TEST_F(IdxFolder, FirstOfEachClassInEqualShares) {
  write_set("train", std::string("\2\0\2\2\0\0\2", 7));
  write_set("t10k", std::string("\0\2", 2));
  const ImageData data = read_idx(path_);  // class 1 has no images
  const ImageSet four = first_of_each_class(data.train, 4, data.classes);
  EXPECT_THAT(four.labels, testing::ElementsAre(2, 0, 2, 0));
  EXPECT_THAT(four.pixels, testing::ElementsAre(0, 1, 2, 4));
  EXPECT_EQ(four.shape, (BatchShape{4, 1, 1, 1}));
  EXPECT_THAT(first_of_each_class(data.train, 5, data.classes).labels,
              testing::ElementsAre(2, 0, 2, 0, 0));
  EXPECT_THAT(refusal([&] { (void)first_of_each_class(data.train, 8, data.classes); }),
              "8 images in equal shares need 4 of class 0, which has 3; ask for fewer");
  EXPECT_THAT(refusal([&] { (void)first_of_each_class(data.train, 0, data.classes); }),
              "the number of images must be >= 1, got 0");
}

TEST(ImagesOfSets, AreTheirPixelsInThreeChannels) {
  const ImageSet gray{{2, 1, 1, 2}, Layout::nchw, {1, 2, 3, 4}, {0, 0}};
  EXPECT_EQ(image_at(gray, 1), (Image{{1, 2}, {3, 3, 3, 4, 4, 4}}));
  const ImageSet planes{{1, 3, 1, 2}, Layout::nchw, {1, 2, 3, 4, 5, 6}, {0}};
  EXPECT_EQ(image_at(planes, 0), (Image{{1, 2}, {1, 3, 5, 2, 4, 6}}));
  const ImageSet pixels{{1, 3, 1, 2}, Layout::nhwc, {1, 2, 3, 4, 5, 6}, {0}};
  EXPECT_EQ(image_at(pixels, 0), (Image{{1, 2}, {1, 2, 3, 4, 5, 6}}));
  EXPECT_THROW((void)image_at(gray, 2), InvalidArgument);
}

TEST(SyntheticData, TakesEachOptionOnce) {
  EXPECT_THAT([] { (void)open_data("synthetic:train=20,train=30"); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("given twice")));
}

TEST(SyntheticData, DependsOnItsOptionsAlone) {
  const SyntheticOptions options{.train = 20, .test = 10, .size = 16};
  const ImageData a = make_synthetic(options);
  const ImageData b = open_data("synthetic:train=20,test=10,size=16");
  EXPECT_EQ(a.train.pixels, b.train.pixels);
  EXPECT_EQ(a.num_classes(), 10);
  EXPECT_EQ(a.train.labels[13], 3);
  EXPECT_NE(open_data("synthetic:train=20,test=10,size=16,seed=2").train.pixels, a.train.pixels);
  // More images do not change those that were there.
  const ImageData more = open_data("synthetic:train=40,test=10,size=16");
  EXPECT_TRUE(std::equal(a.train.pixels.begin(), a.train.pixels.end(), more.train.pixels.begin()));
}

TEST(DataText, WrongOnesAreRefused) {
  for (const char* text : {"", "cifar", "cifar100", "synthetic:train=x", "synthetic:speed=1",
                           "synthetic:scale=0", "synthetic:classes=99"}) {
    EXPECT_THROW((void)open_data(text), InvalidArgument) << text;
  }
  EXPECT_THROW((void)open_data("cifar100:/no/such/folder"), IoError);
}

}  // namespace
}  // namespace medley::data
