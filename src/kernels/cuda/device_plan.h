#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/memory.h"
#include "kernels/cuda/params.h"
#include "kernels/cuda/tile.h"
#include "kernels/lower.h"
#include "medley/cuda.h"

namespace medley::cuda {

/// What the label kernels need of an entry's source.
struct LabelTerm {
  std::int64_t image;
  double weight;
};

struct DevicePlan::Impl {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t images = 0;
  ImageSize size;
  std::int32_t label_terms = 2;
  PlanNeeds needs;
  DeviceArray<DeviceEntry> entries;  // steps x batch
  DeviceArray<LoweredTerm> terms;
  DeviceArray<float> fields;
  DeviceArray<LabelTerm> label_weights;  // steps x batch x label_terms
};

}  // namespace medley::cuda
