#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "medley/data/image.h"
#include "medley/types.h"

namespace medley::data {

/// Labeled images: of one size in memory, u8 without gaps, or of any sizes in files.
struct ImageSet {
  BatchShape shape;  ///< height and width are 0 if the images are in files
  Layout layout = Layout::nchw;
  std::vector<std::uint8_t> pixels;  ///< empty if the images are in files
  std::vector<std::int64_t> labels;  ///< one class per image
  std::shared_ptr<const ImageFiles> files = nullptr;

  /// Number of images.
  [[nodiscard]] std::int64_t count() const noexcept { return shape.count; }
};

/// For `mix`; valid as long as the set is, which must be in memory.
[[nodiscard]] ImageBatchView view_of(const ImageSet& images);

/// An image to be looked at: gray ones in three channels, of one in a file the middle, 96 pixels
/// wide (white if it cannot be decoded and such are skipped). Throws InvalidArgument, IoError.
[[nodiscard]] Image image_at(const ImageSet& images, std::int64_t index);

/// Sixteen digits that change if pixels (or the fingerprint of files) or labels do.
[[nodiscard]] std::string fingerprint(const ImageSet& images);

/// What a network is trained and tested on. Both sets have the same classes and, in memory, the
/// same image size.
struct ImageData {
  ImageSet train;
  ImageSet test;
  std::vector<std::string> classes;  ///< names, by label

  /// Number of classes.
  [[nodiscard]] std::int64_t num_classes() const noexcept { return std::ssize(classes); }
};

/// What is read of a data set. Of `test` the training images are not looked at and need not be
/// there; the classes are those of the training set where its labels or class folders are, else
/// those of the test images.
enum class Parts : std::uint8_t { all, test };

// Readers of the usual files. All throw IoError with the file and the place if something is
// missing, truncated or out of range. Sizes and headers are judged before what follows is read.

/// data_batch_1.bin … data_batch_5.bin, test_batch.bin and, if there, batches.meta.txt.
[[nodiscard]] ImageData read_cifar10(const std::filesystem::path& folder, Parts parts = Parts::all);

/// train.bin, test.bin and, if there, fine_label_names.txt. Labels are the 100 fine ones.
[[nodiscard]] ImageData read_cifar100(const std::filesystem::path& folder,
                                      Parts parts = Parts::all);

/// MNIST and its relatives: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-…,
/// t10k-labels-…, each also as .gz.
[[nodiscard]] ImageData read_idx(const std::filesystem::path& folder, Parts parts = Parts::all);

/// Where Debian's package dataset-fashion-mnist puts Fashion-MNIST.
inline constexpr const char* kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";

/// Fashion-MNIST with the names of its classes: the files of `read_idx`.
[[nodiscard]] ImageData read_fashion_mnist(
    const std::filesystem::path& folder = kFashionMnistFolder, Parts parts = Parts::all);

/// train_images.npy, train_labels.npy, test_images.npy, test_labels.npy: u8 images N×H×W,
/// N×H×W×C or N×C×H×W (C is 1 or 3), labels of any integer type.
[[nodiscard]] ImageData read_npy(const std::filesystem::path& folder, Parts parts = Parts::all);

/// train/CLASS/….jpg (or .jpeg, .png; folders within are entered), and the same in val, validation
/// or test, or Tiny ImageNet's val/images with val/val_annotations.txt, which may name only files
/// within val/images. Names that begin with a dot are passed over. Of the images only names, sizes
/// and samples of the bytes are read now (`ImageFiles::fingerprint`).
[[nodiscard]] ImageData read_folder(const std::filesystem::path& folder,
                                    ImageFiles::Broken broken = ImageFiles::Broken::refuse,
                                    Parts parts = Parts::all);

/// The embedded data set: drawn objects among pieces of others, any number of images from a seed.
struct SyntheticOptions {
  std::int64_t train = 2000;
  std::int64_t test = 500;
  std::int32_t size = 32;     ///< side in pixels, from 8
  std::int32_t classes = 10;  ///< from 2 to kSyntheticClasses
  /// Radius of the object as a share of half the picture, in (0, 1]: small objects are told apart
  /// by short-range cues, large ones by long-range cues.
  double scale = 0.5;
  std::uint64_t seed = 1;
};

/// Classes take turns, so that each has as many images. The test images are none of the training
/// images. Throws InvalidArgument.
[[nodiscard]] ImageData make_synthetic(const SyntheticOptions& options, Parts parts = Parts::all);

/// The first images of each class in equal shares, `count` in all and in their order; the first
/// classes have one more where it does not divide. Throws InvalidArgument if a class has fewer.
[[nodiscard]] ImageSet first_of_each_class(const ImageSet& images, std::int64_t count,
                                           const std::vector<std::string>& classes);

/// "fashion-mnist" (or "fashion-mnist:DIR"), "cifar100:DIR", "cifar10:DIR", "idx:DIR", "npy:DIR",
/// "folder:DIR", or "synthetic" with any of its options:
/// "synthetic:train=2000,test=500,size=32,classes=10,scale=0.5,seed=1". A DIR that begins with ~/
/// is in the folder that HOME names. Throws InvalidArgument, IoError.
[[nodiscard]] ImageData open_data(const std::string& text,
                                  ImageFiles::Broken broken = ImageFiles::Broken::refuse,
                                  Parts parts = Parts::all);

/// Number of things that the generator can draw.
inline constexpr std::int32_t kSyntheticClasses = 12;

/// "cat", "fish", …; throws InvalidArgument unless 0 <= object_class < kSyntheticClasses.
[[nodiscard]] std::string_view synthetic_class_name(std::int32_t object_class);

/// Draws a picture: one object of the class in the middle of a patterned background. Pose, colors,
/// surface and background follow from (seed, index); the class only chooses the object, so equal
/// (seed, index) share colors and background across classes.
///
/// The picture is defined on the plane and anti-aliased, so one (seed, index, class) shows the same
/// scene at every size; the shorter side frames the object. The bits do not depend on the machine.
/// index >= 0; size within the limits of image.h. Throws InvalidArgument.
[[nodiscard]] Image synthetic_image(std::uint64_t seed, std::int64_t index,
                                    std::int32_t object_class, ImageSize size);

}  // namespace medley::data
