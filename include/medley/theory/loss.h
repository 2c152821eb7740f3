#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "medley/policy.h"
#include "medley/theory/coefficients.h"
#include "medley/theory/enumerate_masks.h"
#include "medley/types.h"

namespace medley::theory {

/// m samples of d numbers, row-major; not owned.
struct Samples {
  std::span<const double> x;
  std::int64_t count = 0;      ///< m
  std::int64_t dimension = 0;  ///< d

  /// Sample i.
  [[nodiscard]] std::span<const double> row(std::int64_t i) const {
    return x.subspan(static_cast<std::size_t>(i * dimension), static_cast<std::size_t>(dimension));
  }
};

/// The expansion of the mixed loss to second order: the plain loss and what mixing adds to it.
struct LossTerms {
  double plain = 0;  ///< L_m, the loss without mixing
  double r1 = 0;     ///< pulls scores towards what they are at the mean image
  double r2 = 0;     ///< penalizes gradients, weighted by the coefficients ~a
  double r3 = 0;     ///< penalizes curvature of the score; 0 for linear and ReLU models

  /// The mixed loss to second order.
  [[nodiscard]] double approximate() const noexcept { return plain + r1 + r2 + r3; }
};

/// nu and ~a for every coordinate of an input: images are channel after channel, a mask is shared
/// by the channels.
struct CoordinateMoments {
  std::vector<double> mean;    ///< nu, d values
  std::vector<double> second;  ///< ~a, d x d
};
/// Repeats the moments of pixels for every channel.
[[nodiscard]] CoordinateMoments coordinate_moments(const MaskMoments& moments,
                                                   std::int32_t channels = 1);

/// The loss h(f) - y f of a score f.
enum class Link : std::uint8_t {
  logistic,  ///< h = log(1 + e^f), y in {0, 1} or between
  squared,   ///< h = f^2 / 2
};

/// h and its first three derivatives.
struct LinkValues {
  double h = 0, d1 = 0, d2 = 0, d3 = 0;
};
/// Their values at a score.
[[nodiscard]] LinkValues link_values(Link link, double score) noexcept;

/// f = theta^T x + bias; the bias is not mixed.
struct Glm {
  Link link = Link::logistic;
  std::vector<double> theta;
  double bias = 0;
};

/// The expansion for a generalized linear model, exact in data and masks; R3 is 0. O(m d^2).
/// `gradient`, if not empty, gets the derivatives of the sum by theta and bias (d + 1 values).
[[nodiscard]] LossTerms approximate_loss(const Glm& model, const Samples& samples,
                                         std::span<const double> y,
                                         const CoordinateMoments& moments,
                                         std::span<double> gradient = {});

/// The mixed loss itself: all ordered pairs, every mask of the list. O(m^2) per mask. Masks have a
/// weight per coordinate; see above for `gradient`.
[[nodiscard]] double exact_loss(const Glm& model, const Samples& samples, std::span<const double> y,
                                std::span<const WeightedMask> masks,
                                std::span<double> gradient = {});

/// Your model, as the expansion of its loss sees it: K scores (logits) of an input of d numbers,
/// and their derivatives along a direction. Must be safe to call from one thread at a time.
class Model {
 public:
  virtual ~Model() = default;
  /// d, the length of an input.
  [[nodiscard]] virtual std::int64_t inputs() const = 0;
  /// K, the number of scores.
  [[nodiscard]] virtual std::int64_t classes() const = 0;

  /// f(x), K values.
  virtual void value(std::span<const double> x, std::span<double> scores) const = 0;
  /// The derivative of f along u: J u, K values. The default takes central differences of `value`.
  virtual void jvp(std::span<const double> x, std::span<const double> u,
                   std::span<double> scores) const;
  /// u^T (Hessian of f_c) u for every class. The default takes central differences of `value`.
  virtual void hvp(std::span<const double> x, std::span<const double> u,
                   std::span<double> scores) const;
};

/// Labels: m x K rows that sum to 1. The loss is logsumexp(f) - y^T f.
/// The mixed loss over all ordered pairs and every mask of the list; masks have a weight per
/// coordinate. m^2 * masks evaluations of the model.
[[nodiscard]] double exact_loss(const Model& model, const Samples& samples,
                                std::span<const double> labels,
                                std::span<const WeightedMask> masks);

/// The expansion, exact in data and masks: both branches of every mask for every pair.
[[nodiscard]] LossTerms approximate_loss(const Model& model, const Samples& samples,
                                         std::span<const double> labels,
                                         std::span<const WeightedMask> masks);

/// The expansion as an estimate.
struct LossEstimate {
  LossTerms terms;
  LossTerms errors;  ///< standard errors; `plain` is exact
};

/// The expansion for a policy on images of `size`, for networks: `draws` masks of the sampler, each
/// with a sample and a partner drawn from all samples, both branches weighted with the label.
/// Inputs are images, channel after channel: d = channels * height * width.
[[nodiscard]] LossEstimate estimate_loss(const Model& model, const Samples& samples,
                                         std::span<const double> labels, const MixPolicy& policy,
                                         ImageSize size, std::int64_t draws, std::uint64_t seed);

/// Repeats the weights of every mask for `channels` channels.
[[nodiscard]] std::vector<WeightedMask> for_channels(std::vector<WeightedMask> masks,
                                                     std::int32_t channels);

/// Moments of the weights of n-Mixup, (l_1 .. l_n) ~ Dirichlet(alpha), after the sample whose label
/// is kept was put first (its law is size-biased).
struct NMixupMoments {
  double others = 0;          ///< E[1 - l_1]
  double others_squares = 0;  ///< E[sum over j >= 2 of l_j^2]
  double others_squared = 0;  ///< E[(1 - l_1)^2]
};

/// In closed form; at least two alphas, all > 0.
[[nodiscard]] NMixupMoments nmixup_moments(std::span<const double> alpha);

/// The expansion of the n-Mixup loss of a generalized linear model; R3 is 0.
[[nodiscard]] LossTerms nmixup_loss(const Glm& model, const Samples& samples,
                                    std::span<const double> y, std::span<const double> alpha);

/// The n-Mixup loss itself: all m^n tuples, weights by stick breaking and quadrature with `nodes`
/// points per stick: for tiny data.
[[nodiscard]] double nmixup_exact_loss(const Glm& model, const Samples& samples,
                                       std::span<const double> y, std::span<const double> alpha,
                                       int nodes = 24);

/// How the channels of a gradient become one magnitude per pixel.
enum class Magnitude : std::uint8_t {
  euclidean,   ///< root of the sum of squares
  absolute,    ///< sum of absolute values
  signed_sum,  ///< absolute value of the sum
  each,        ///< a map per channel, of absolute values, and their maximum
};

/// What is divided by its sum: the gradient magnitudes, the finished map, or nothing.
enum class Normalize : std::uint8_t { gradient, map, none };

/// Which gradient products to take.
struct GradProdOptions {
  Magnitude magnitude = Magnitude::euclidean;
  Normalize normalize = Normalize::gradient;
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
  /// Of gradients of that size. Throws InvalidArgument if it is empty.
  explicit GradProdSummary(ImageSize size, GradProdOptions options = {});

  /// Takes the gradient of an image, as `partial_grad_prod` does.
  void add(std::span<const double> gradient, std::int32_t channels);

  /// Images that were added.
  [[nodiscard]] std::int64_t images() const noexcept { return images_; }
  /// The maps so far, 0 without an image.
  [[nodiscard]] const std::vector<double>& maximum() const noexcept { return maximum_; }
  [[nodiscard]] std::vector<double> mean() const;

 private:
  ImageSize size_;
  GradProdOptions options_;
  std::int64_t images_ = 0;
  std::vector<double> maximum_;
  std::vector<double> sum_;
};

}  // namespace medley::theory
