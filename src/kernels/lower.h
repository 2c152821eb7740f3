#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/gaussian_profile.h"
#include "kernels/pixel.h"
#include "medley/mix.h"
#include "medley/plan.h"

namespace medley {

// A plan as the kernels want it: indices relative to the input, weights in single precision, no
// variants. Plain data that can be copied to another device as it is.

struct LoweredSource {
  std::int64_t image = 0;
  std::int32_t dy = 0;
  std::int32_t dx = 0;
  std::int32_t flip = 0;

  [[nodiscard]] MEDLEY_HOST_DEVICE bool whole() const noexcept {
    return dy == 0 && dx == 0 && flip == 0;
  }
};

enum class MaskKind : std::int32_t { flat, box, gaussian, field };

struct LoweredEntry {
  LoweredSource own;
  LoweredSource partner;
  MaskKind kind = MaskKind::flat;
  Resample resample = Resample::none;
  // box: its place; gaussian: the centre in top and left
  std::int32_t top = 0;
  std::int32_t left = 0;
  std::int32_t height = 0;
  std::int32_t width = 0;
  Weights inside{};   // box
  Weights outside{};  // box, flat
  std::int32_t peak_own = 0;
  double gaussian_scale = 0;
  std::int64_t field = 0;  // offset in the plan's fields
  std::int64_t term_begin = 0;
  std::int32_t term_count = 0;  // 0: own and partner
};

struct LoweredTerm {
  LoweredSource source;
  float weight = 0;
};

struct LoweredPlan {
  ImageSize size;
  std::vector<LoweredEntry> entries;
  std::vector<LoweredTerm> terms;
  const float* fields = nullptr;  // the plan's own
};

/// Everything a kernel needs besides the plan.
struct MixJob {
  ImageBatchView in;
  MutableImageBatchView out;
  std::span<const Affine> affine;  // one per channel, or none
  PadMode pad_mode = PadMode::constant;
  float pad_value = 0;
  int threads = 0;
  bool streaming = false;
  bool in_place = false;
};

/// Throws InvalidArgument if a source lies outside the `images` images of the input.
[[nodiscard]] LoweredPlan lower(const MixPlan& plan, std::int64_t images);
/// The same into a plan whose memory serves again.
void lower(const MixPlan& plan, std::int64_t images, LoweredPlan& lowered);

/// Weights at pixel (y, x). `row` and `column` are the Gaussian factors of y and x, `field` the
/// field's value there; each only matters for its kind of mask.
MEDLEY_HOST_DEVICE inline Weights weights_at(const LoweredEntry& e, ImageSize size, std::int32_t y,
                                             std::int32_t x, float row, float column,
                                             float field) noexcept {
  switch (e.kind) {
    case MaskKind::box:
      return in_interval(y, e.top, e.height, size.height) &&
                     in_interval(x, e.left, e.width, size.width)
                 ? e.inside
                 : e.outside;
    case MaskKind::gaussian: {
      const float k = row * column;
      const float rest = 1.0f - k;
      return e.peak_own != 0 ? Weights{k, rest} : Weights{rest, k};
    }
    case MaskKind::field:
      return {field, 1.0f - field};
    case MaskKind::flat:
      break;
  }
  return e.outside;
}

// The backends. Arguments have been checked.
void mix_reference(const LoweredPlan& plan, const MixJob& job);
void mix_cpu(const LoweredPlan& plan, const MixJob& job);

}  // namespace medley
