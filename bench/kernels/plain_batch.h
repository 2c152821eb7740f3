#pragma once

#include <memory>
#include <vector>

#include "kernels/plain_loop.h"
#include "medley/medley.h"

namespace medley::bench {

/// A plan as the plain loop takes it: boxes, and tables of Gaussians, taps and grids. Throws
/// medley::Error for masks that the plain loop does not know (fields, boxes that wrap).
class PlainPlan {
 public:
  PlainPlan(const MixPlan& plan, const Normalize& normalize);

  /// The batch for these images; valid as long as this is.
  [[nodiscard]] PlainBatch batch(const ImageBatchView& in, const MutableImageBatchView& out) const;

 private:
  const float* gaussian(double scale, std::int32_t center, std::int32_t length);
  const PlainTap* taps(std::int32_t length, std::int32_t image_length);

  void grid(const MixPlan& plan, const MixEntry& entry, PlainEntry& e);

  std::vector<PlainEntry> entries_;
  std::vector<std::unique_ptr<std::int32_t[]>> rows_;
  std::vector<std::unique_ptr<float[]>> factors_;
  std::vector<std::unique_ptr<PlainTap[]>> taps_;
  std::vector<float> scale_;
  std::vector<float> bias_;
};

/// Mixes with a build of the plain loop on `threads` threads.
void mix_plainly(PlainLoop loop, const PlainBatch& batch, int threads);

}  // namespace medley::bench
