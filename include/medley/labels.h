#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "medley/plan.h"
#include "medley/types.h"

namespace medley {

// Labels follow the plan's label weights (or, for maps, the masks themselves). Inputs are indexed
// like the images handed to `mix`. Nothing is mixed in place: outputs are separate memory.

/// Class labels of a mixed batch: `terms` (class, weight) pairs per sample, two unless the method
/// mixes more. Weights of a sample sum to 1.
struct MixedLabels {
  std::int64_t count = 0;
  std::int32_t terms = 2;
  std::vector<std::int64_t> classes;  ///< count x terms
  std::vector<double> weights;        ///< count x terms

  /// Class of the first term, the own image, and of the second, the partner.
  [[nodiscard]] std::int64_t y_a(std::int64_t sample) const { return classes[index(sample)]; }
  [[nodiscard]] std::int64_t y_b(std::int64_t sample) const { return classes[index(sample) + 1]; }
  /// Weight of the first term.
  [[nodiscard]] double weight(std::int64_t sample) const { return weights[index(sample)]; }

 private:
  [[nodiscard]] std::size_t index(std::int64_t sample) const {
    return static_cast<std::size_t>(sample * terms);
  }
};

/// Mixes class indices. Every label used must be >= 0 and, if `num_classes` > 0, below that, or
/// `ignore`: such labels are passed on for a loss that leaves them out.
[[nodiscard]] MixedLabels mix_labels(const MixPlan& plan, std::span<const std::int64_t> labels,
                                     std::int64_t num_classes = 0,
                                     std::optional<std::int64_t> ignore = {});

/// Mixed labels as rows of probabilities, count x num_classes. With label smoothing e a class gets
/// 1-e+e/C instead of 1 and e/C instead of 0, before mixing.
void soft_labels(const MixedLabels& labels, std::int64_t num_classes, std::span<float> rows,
                 double smoothing = 0);

/// Mixes vectors linearly: soft labels, multi-label targets, regression targets. `in` holds rows of
/// `width` numbers, one per image; `out` one row per plan entry.
void mix_vectors(const MixPlan& plan, std::span<const float> in, std::int64_t width,
                 std::span<float> out);

/// Per-pixel class maps (segmentation), one height x width map per image.
struct ClassMaps {
  std::span<const std::int64_t> values;
  std::int64_t count = 0;
  ImageSize size;
  /// Takes maps of another size than the plan's: the windows of its sources cut or pad them, as
  /// MixOptions::windows does with images. Without it such maps are refused.
  bool windows = false;
};

/// Each output pixel takes the class of the image with the greatest weight there (a tie goes to the
/// own image). Where a window leaves the image the class is `padding`.
void mix_class_maps(const MixPlan& plan, const ClassMaps& in, std::span<std::int64_t> out,
                    std::int64_t padding = -1);

/// Probability maps count x num_classes x height x width: each pixel's classes weighted by the
/// mask. Pixels of class `ignore` (and padding) add nothing, so such columns sum to less than 1.
/// Soft maps that exist already are mixed like images, with `mix`.
void mix_class_maps_soft(const MixPlan& plan, const ClassMaps& in, std::int64_t num_classes,
                         std::span<float> out, std::int64_t ignore = -1);

}  // namespace medley
