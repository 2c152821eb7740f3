#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "medley/plan.h"
#include "medley/types.h"

namespace medley::theory {

/// Sums over masks from which their displacement map and pixel means follow. A box costs a few
/// additions, a Gaussian two rows of a matrix, a field one Fourier transform; `finish` does the
/// rest for all masks at once.
class MaskSums {
 public:
  /// `effective`: sums for ~a and nu.
  MaskSums(ImageSize size, bool effective);

  /// Adds a mask. `clip` limits it to [0, 1] first.
  void add(const MixPlan& plan, const MixEntry& entry, bool clip);

  struct Result {
    std::vector<double> map;
    std::vector<double> means;
  };
  /// Averages over all masks that were added.
  [[nodiscard]] Result finish();

 private:
  /// What a mask N = p + q b, with label share s, adds to the two images of b.
  struct Weights {
    double linear;
    double mean;
  };
  [[nodiscard]] Weights weights(double p, double q, double share) const noexcept;
  void add_flat(double n, double share);
  void add_box(const BoxMask& box, double share, bool clip);
  void add_gaussian(const GaussianMask& mask, double share);
  void add_field(std::span<const float> field, double share, bool clip);
  void add_rectangle(std::int32_t top, std::int32_t left, std::int32_t bottom, std::int32_t right,
                     Weights weights);
  void add_patch(std::int32_t height, std::int32_t width, double square);
  void flush_gaussians();
  void add_fields_to(std::vector<double>& map) const;

  ImageSize size_;
  bool effective_;
  std::int64_t count_ = 0;
  double constant_ = 0;
  double mean_constant_ = 0;
  std::vector<double> linear_change_;  // (H+1) x (W+1): corners of boxes
  std::vector<double> mean_change_;
  std::vector<double> linear_;  // H x W images of what is not a box
  std::vector<double> mean_;
  std::vector<double> patches_;         // (H+1) x (W+1): weight of boxes by height and width
  std::vector<double> pairs_;           // H x W: sum over pixels of b(i) b(i + d)
  std::vector<double> rows_, columns_;  // profiles of Gaussians that wait
  std::vector<double> row_pairs_, column_pairs_;  // and their autocorrelations
  std::vector<Weights> waiting_;
  std::vector<double> power_;  // spectrum of the fields, zero-padded to twice the size
  std::int32_t fft_height_ = 0, fft_width_ = 0;
};

}  // namespace medley::theory
