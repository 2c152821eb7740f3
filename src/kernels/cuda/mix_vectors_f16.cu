#include "kernels/cuda/mix_vectors.cuh"

namespace medley::cuda {

void launch_mix_vectors_f16(const MixParams& params, cudaStream_t stream) {
  launch_vectors_from<F16>(params, stream);
}

}  // namespace medley::cuda
