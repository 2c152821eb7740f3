#include "kernels/cuda/mix_vectors.cuh"

namespace medley::cuda {

void launch_mix_vectors_u8(const MixCall& call, cudaStream_t stream) {
  launch_vectors_from<std::uint8_t>(call, stream);
}

}  // namespace medley::cuda
