#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "medley/types.h"

namespace medley::theory {

/// How the channels of a gradient become one magnitude per pixel.
enum class Magnitude : std::uint8_t {
  euclidean,   ///< root of the sum of squares
  absolute,    ///< sum of absolute values
  signed_sum,  ///< absolute value of the sum
  each,        ///< a map per channel, of absolute values, and their maximum
};

/// What is divided by its sum: the gradient magnitudes, the finished map, or nothing.
enum class Normalise : std::uint8_t { gradient, map, none };

struct GradProdOptions {
  Magnitude magnitude = Magnitude::euclidean;
  Normalise normalise = Normalise::gradient;
};

/// PartialGradProd of a gradient field (channels x height x width): for every displacement p the
/// greatest product g_v g_(v+p) of magnitudes. Row-major over dy = 1-height .. height-1 and dx =
/// 1-width .. width-1; symmetric. Exact: products that cannot be the greatest are skipped by bounds
/// that hold, never by sampling. Throws InvalidArgument if the field does not fit or is not finite.
[[nodiscard]] std::vector<double> partial_grad_prod(std::span<const double> gradient,
                                                    std::int32_t channels, ImageSize size,
                                                    const GradProdOptions& options = {});

/// Elementwise maximum and mean of that map over the images of a data set.
class GradProdSummary {
 public:
  explicit GradProdSummary(ImageSize size, GradProdOptions options = {});

  void add(std::span<const double> gradient, std::int32_t channels);

  [[nodiscard]] std::int64_t images() const noexcept { return images_; }
  [[nodiscard]] const std::vector<double>& maximum() const noexcept { return maximum_; }
  [[nodiscard]] std::vector<double> mean() const;

 private:
  ImageSize size_;
  GradProdOptions options_;
  std::int64_t images_ = 0;
  std::vector<double> maximum_;
  std::vector<double> sum_;
};

/// The definition in four loops, for comparison.
[[nodiscard]] std::vector<double> partial_grad_prod_loops(std::span<const double> magnitudes,
                                                          ImageSize size);

}  // namespace medley::theory
