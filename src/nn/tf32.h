#pragma once

#include <ATen/Context.h>

namespace medley::nn {

/// Whether products of f32 on a GPU may round their inputs to tf32. Holds for the whole process;
/// LibTorch lets convolutions do so unless it is told.
inline void allow_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuDNN(allowed);
  at::globalContext().setAllowTF32CuBLAS(allowed);
}

}  // namespace medley::nn
