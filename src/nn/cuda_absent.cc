#include "core/check.h"
#include "nn/engine.h"

// Builds without CUDA.

namespace medley::nn {

std::unique_ptr<Engine> make_cuda_engine(const EngineParts& /*parts*/) {
  fail_argument("this build of medley cannot train on a GPU; use --device cpu");
}

bool is_available(Device device) { return device == Device::cpu; }

}  // namespace medley::nn
