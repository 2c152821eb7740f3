#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "medley/plan.h"
#include "medley/policy.h"
#include "medley/theory/enumerate_masks.h"

namespace medley::theory {

/// The masks of a method with their probabilities, as the method lists them. A label weight that is
/// not given is the mean of the mask.
class MaskList {
 public:
  /// Throws InvalidArgument, naming the method, when there are more than `most` masks.
  MaskList(std::string method, ImageSize size, std::int64_t most);

  double weight = 1;  ///< probability of what is added, of a method that draws one of several

  [[nodiscard]] ImageSize size() const noexcept { return size_; }
  [[nodiscard]] double pixels() const noexcept { return static_cast<double>(size_.pixels()); }

  /// A mask by its pixels. Those of probability 0 are left out, here and below.
  void add(double probability, std::vector<double> own, std::optional<double> label_weight);

  void add_flat(double probability, double own, std::optional<double> label_weight);

  /// Every place of a box with M = 0; outside it M follows from the area that clipping leaves.
  void add_boxes(double probability, ImageSize sides, Placement placement,
                 const std::function<double(double area)>& outside,
                 std::optional<double> label_weight);

  /// A Gaussian; of tau 0 the peak's image has no pixel.
  void add_gaussian(double probability, const GaussianMask& mask,
                    std::optional<double> label_weight);

  /// The masks, where a draw mixes with probability `prob`.
  [[nodiscard]] std::vector<WeightedMask> take(double prob) &&;

 private:
  /// `probability` is that of the list, with the weight.
  void push(double probability, std::vector<double> own, std::optional<double> label_weight);

  std::string method_;
  ImageSize size_;
  std::int64_t most_;
  std::vector<WeightedMask> masks_;
};

/// The label weight that a rule fixes; none if it is that of the mask.
[[nodiscard]] inline std::optional<double> drawn_label(LabelRule rule, double lam) {
  return rule == LabelRule::drawn ? std::optional(lam) : std::nullopt;
}

}  // namespace medley::theory
