// Builds without CUDA: arrays in CUDA memory are refused.

#include "medley/error.h"
#include "python/device.h"

namespace medley::python {
namespace {

[[noreturn]] void fail_no_cuda() {
  throw InvalidArgument("this build has no cuda backend; build with MEDLEY_BUILD_CUDA=ON");
}

}  // namespace

void mix_on_device(const Plan& /*plan*/, const ImageBatchView& /*in*/,
                   const MutableImageBatchView& /*out*/, const MixOptions& /*options*/,
                   Device /*device*/, std::int64_t /*stream*/) {
  fail_no_cuda();
}

void mix_labels_on_device(const Plan& /*plan*/, std::span<const std::int64_t> /*labels*/,
                          std::span<std::int64_t> /*classes*/, std::span<float> /*weights*/,
                          Device /*device*/, std::int64_t /*stream*/) {
  fail_no_cuda();
}

void synchronize(int /*device*/, std::int64_t /*stream*/) { fail_no_cuda(); }

}  // namespace medley::python
