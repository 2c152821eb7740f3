#include "kernels/cuda/mix_vectors.cuh"

namespace medley::cuda {

void launch_mix_vectors_f32(const MixParams& params, cudaStream_t stream) {
  launch_vectors_from<float>(params, stream);
}

}  // namespace medley::cuda
