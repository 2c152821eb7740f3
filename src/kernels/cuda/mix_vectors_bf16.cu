#include "kernels/cuda/mix_vectors.cuh"

namespace medley::cuda {

void launch_mix_vectors_bf16(const MixParams& params, cudaStream_t stream) {
  launch_vectors_from<BF16>(params, stream);
}

}  // namespace medley::cuda
