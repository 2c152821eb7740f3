#include "train/option_hash.h"

#include <cstring>
#include <memory>
#include <vector>

#include "data/content_hash.h"
#include "medley/gaussian_design.h"

namespace medley::train {
namespace {

template <typename T>
void append(std::vector<std::uint8_t>& bytes, const std::vector<T>& values) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + values.size() * sizeof(T));
  std::memcpy(bytes.data() + begin, values.data(), values.size() * sizeof(T));
}

std::vector<std::uint8_t> bytes_of(ImageSize size) {
  std::vector<std::uint8_t> bytes;
  append(bytes, std::vector{size.height, size.width});
  return bytes;
}

std::string hash_of(const MaskSet& masks) {
  std::vector<std::uint8_t> bytes = bytes_of(masks.size);
  append(bytes, masks.values);
  return data::content_hash(bytes);
}

/// Of two masks: the mean, and one whose normals all differ, which tells square roots apart.
std::string hash_of(const GaussianDesign& design) {
  std::vector<std::uint8_t> bytes = bytes_of(design.size());
  std::vector<double> normals(static_cast<std::size_t>(design.dimension()), 0);
  std::vector<double> mask(static_cast<std::size_t>(design.size().pixels()));
  design.mask(normals, 0, mask);
  append(bytes, mask);
  std::uint64_t state = 1;
  for (double& z : normals) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    z = static_cast<double>(state >> 40) / (1 << 24) - 0.5;
  }
  design.mask(normals, 0, mask);
  append(bytes, mask);
  return data::content_hash(bytes);
}

}  // namespace

std::string hash_of(const OptionValue& value) {
  const OptionValue::Variant& v = value.variant();
  if (const auto* masks = std::get_if<std::shared_ptr<const MaskSet>>(&v)) {
    return *masks ? hash_of(**masks) : "";
  }
  if (const auto* design = std::get_if<std::shared_ptr<const GaussianDesign>>(&v)) {
    return *design ? hash_of(**design) : "";
  }
  return "";
}

}  // namespace medley::train
