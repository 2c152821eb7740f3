// The safetensors and checkpoint readers take any bytes: tensors that lie in them, or IoError. A
// checkpoint gets the beginning and the hash that let its reader look at what is between them.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "medley/error.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"

namespace {

std::vector<std::uint8_t> checkpoint_around(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kMagic = "MEDLEYCK";
  std::vector<std::uint8_t> bytes(kMagic.begin(), kMagic.end());
  bytes.insert(bytes.end(), data, data + size);
  const std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(hash >> (8 * i)));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const medley::train::SafetensorsFile file =
        medley::train::read_safetensors({data, size}, "fuzz");
    for (const medley::train::TensorView& tensor : file.tensors) {
      if (tensor.bytes.data() < data || tensor.bytes.data() + tensor.bytes.size() > data + size) {
        std::abort();
      }
    }
  } catch (const medley::IoError&) {
  }
  try {
    const medley::train::Checkpoint checkpoint =
        medley::train::decode_checkpoint(checkpoint_around(data, size), "fuzz");
    std::size_t held = checkpoint.state.size();
    for (const medley::train::CheckpointSection& section : checkpoint.sections) {
      held += section.bytes.size();
    }
    if (held > size) std::abort();
  } catch (const medley::IoError&) {
  }
  return 0;
}
