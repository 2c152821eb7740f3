// The safetensors and checkpoint readers take any bytes: tensors that lie in them, or IoError.

#include <cstdint>
#include <cstdlib>

#include "medley/error.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const medley::SafetensorsFile file = medley::read_safetensors({data, size}, "fuzz");
    for (const medley::TensorView& tensor : file.tensors) {
      if (tensor.bytes.data() < data || tensor.bytes.data() + tensor.bytes.size() > data + size) {
        std::abort();
      }
    }
  } catch (const medley::IoError&) {
  }
  try {
    (void)medley::decode_checkpoint({data, data + size}, "fuzz");
  } catch (const medley::IoError&) {
  }
  return 0;
}
