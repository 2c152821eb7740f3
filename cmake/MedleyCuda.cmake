# CUDA sources: nvcc, the same no-contraction rule as everywhere, explicit architectures.
set(CMAKE_CUDA_ARCHITECTURES ${MEDLEY_CUDA_ARCHITECTURES})
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
