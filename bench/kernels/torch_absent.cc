#include "kernels/torch_mix.h"

namespace medley::bench {

std::string torch_description() { return {}; }

void use_cached_torch_memory() {}

std::vector<TorchContender> torch_contenders(const MixPlan& /*plan*/, const ImageBatchView& /*in*/,
                                             float* /*work*/, const Normalize& /*normalize*/,
                                             int /*threads*/) {
  return {};
}

}  // namespace medley::bench
