#include "kernels/cuda/mix_vectors.cuh"

namespace medley::cuda {

void launch_mix_vectors_bf16(const MixCall& call, cudaStream_t stream) {
  launch_vectors_from<BF16>(call, stream);
}

}  // namespace medley::cuda
