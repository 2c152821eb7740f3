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
  DeviceArray<std::byte> memory;
  /// Places in it, the last one its end.
  std::size_t label_begin = 0;
  std::size_t terms_begin = 0;
  std::size_t tiles_begin = 0;
  std::size_t fields_begin = 0;
  std::size_t end = 0;

  /// steps x batch
  [[nodiscard]] const DeviceEntry* entries() const { return at<DeviceEntry>(0); }
  /// steps x batch x label_terms
  [[nodiscard]] const LabelTerm* labels() const { return at<LabelTerm>(label_begin); }
  [[nodiscard]] const LoweredTerm* terms() const { return at<LoweredTerm>(terms_begin); }
  [[nodiscard]] const std::int32_t* tiles() const { return at<std::int32_t>(tiles_begin); }
  [[nodiscard]] const float* fields() const { return at<float>(fields_begin); }

 private:
  template <typename T>
  [[nodiscard]] const T* at(std::size_t place) const {
    return reinterpret_cast<const T*>(memory.get() + place);
  }
};

}  // namespace medley::cuda
