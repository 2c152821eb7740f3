#include "kernels/cuda/mix_vectors.cuh"

namespace medley::cuda {

void launch_mix_vectors_f16(const MixCall& call, cudaStream_t stream) {
  launch_vectors_from<F16>(call, stream);
}

}  // namespace medley::cuda
