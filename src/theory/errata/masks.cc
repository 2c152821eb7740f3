#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include <Eigen/Dense>

#include "medley/plan.h"
#include "medley/sampler.h"
#include "medley/theory/coefficients.h"
#include "medley/theory/design.h"
#include "theory/errata/numbers.h"

namespace medley::theory::errata_numbers {
namespace {

constexpr ImageSize kFigure{64, 64};  // the paper's

/// E[N] of the mean pixel over the listed masks.
double listed_mean(const MixPolicy& policy, ImageSize size) {
  return over_masks(enumerate_masks(policy, size), mean_of);
}

/// The average over pixels of the mean and of the square of the kernel exp(-pi |i - p|^2 / (tau
/// n^2)) with its center p on any pixel, by sums along an axis.
struct KernelSums {
  double mean = 0;
  double square = 0;
};

KernelSums kernel_sums(int n, double tau) {
  KernelSums axis;
  for (int i = 0; i < n; ++i) {
    for (int p = 0; p < n; ++p) {
      const double weight = std::exp(-std::numbers::pi * (i - p) * (i - p) / (tau * n * n));
      axis.mean += weight / (n * n);
      axis.square += weight * weight / (n * n);
    }
  }
  return {axis.mean * axis.mean, axis.square * axis.square};
}

double gmix_at_zero(Form form, double lam) {
  return coefficients({.method = {"gmix", {{"lam", lam}, {"form", form}}}}, kFigure).map().front();
}

double smallest_eigenvalue(std::span<const double> values, Eigen::Index d) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(Eigen::Map<const Matrix>(values.data(), d, d),
                                                     Eigen::EigenvaluesOnly);
  return solver.eigenvalues()(0);
}

/// A - nu nu^T.
std::vector<double> covariance(std::vector<double> second, std::span<const double> nu) {
  for (std::size_t j = 0; j < nu.size(); ++j) {
    for (std::size_t k = 0; k < nu.size(); ++k) second[j * nu.size() + k] -= nu[j] * nu[k];
  }
  return second;
}

}  // namespace

Numbers pixel_means() {
  const MixPolicy policy = inside("cutmix", 0.5);
  const double listed =
      over_masks(enumerate_masks(policy, kFigure), [](std::span<const double> n) { return n[0]; });
  return {{.quantity = "E[1 − M] of the corner pixel, CutMix inside, 64×64, λ = ½",
           .printed = 0.5,
           .corrected = coefficients(policy, kFigure).mean({0, 0}),
           .truth = listed}};
}

Numbers box_places() {
  constexpr int kN = 8, kSide = 5;
  const MixPolicy policy = inside("cutmix", 0.5);
  // Read at the center of the last pixel, where the formula is right for boxes at any real place.
  const double t = kN - 0.5;
  const double high = std::min<double>(t, kN - kSide);
  const double low = std::max<double>(t - kSide, 0);
  const double printed = std::max(high - low, 0.0) / (kN - kSide);
  const double listed = over_masks(enumerate_masks(policy, {kN, kN}),
                                   [](std::span<const double> n) { return n[63] * n[63]; });
  return {{.quantity = "a of the last pixel with itself, CutMix inside, 8×8, λ = ½",
           .printed = printed * printed,
           .corrected = coefficients(policy, {kN, kN}).second({7, 7}, {7, 7}),
           .truth = listed}};
}

Numbers squared_outside() {
  constexpr ImageSize kSize{8, 8};
  constexpr double kOutside = 0.5 * 64 / (64 - 16);
  MixPolicy policy = inside("hmix", 0.5);
  policy.method.set("ratio", 0.5);
  const Pixel j{3, 3};
  const MaskMoments box = box_coefficients({4, 4, 1, Placement::inside}, kSize);
  const double listed = over_masks(enumerate_masks(policy, kSize),
                                   [](std::span<const double> n) { return n[27] * n[27]; });
  return {{.quantity = "a of pixel (3, 3) with itself, HMix inside, 8×8, λ = r = ½",
           .printed = (1 - kOutside) * (1 - kOutside) +
                      2 * kOutside * (1 - kOutside) * box.mean(j) + kOutside * box.second(j, j),
           .corrected = coefficients(policy, kSize).second(j, j),
           .truth = listed}};
}

Numbers outside_weight() {
  constexpr ImageSize kSize{32, 32};
  MixPolicy policy = inside("hmix", 0.5);
  policy.method.set("ratio", 0.75);
  const double corrected = 1 - mean_of(coefficients(policy, kSize).means());
  policy.method.set("form", Form::paper);
  const double printed = 1 - mean_of(coefficients(policy, kSize).means());
  return {{.quantity = "mean of M, HMix, 32×32, λ = ½, r = ¾; wanted is λ",
           .printed = printed,
           .corrected = corrected,
           .truth = 0.5}};
}

Numbers gaussian_mean() {
  const MixPolicy policy{.method = {"gmix", {{"lam", 0.5}, {"form", Form::paper}}}};
  return {{.quantity = "mean of 1 − M, GMix, 64×64, λ = ½",
           .printed = 0.5,
           .corrected = mean_of(coefficients(policy, kFigure).means()),
           .truth = kernel_sums(64, 1).mean}};
}

Numbers finite_grid() {
  return {{.quantity = "a at displacement 0, GMix, 64×64, λ = ½",
           .printed = gmix_plane(Form::paper, 0.5, kFigure, 0, 0),
           .corrected = gmix_at_zero(Form::paper, 0.5),
           .truth = kernel_sums(64, 1).square}};
}

Numbers published_gmix() {
  // The kernel of the code is half as wide. Below 1/2 it is the own image's weight.
  const KernelSums code = kernel_sums(64, 0.5);
  const double printed = gmix_at_zero(Form::paper, 0.5);
  return {{.quantity = "a at displacement 0, 64×64, published code at λ = ½",
           .printed = printed,
           .corrected = gmix_at_zero(Form::code, 0.5),
           .truth = code.square},
          {.quantity = "the same just below λ = ½",
           .printed = printed,
           .corrected = gmix_at_zero(Form::code, 0.5 - 1e-12),
           .truth = 1 - 2 * code.mean + code.square}};
}

Numbers design_mean() {
  constexpr ImageSize kSize{8, 8};
  const MixPolicy policy = inside("cutmix", 0.5);
  const std::vector<double> a = coefficients(policy, kSize).matrix();
  const std::vector<double> nu = coefficients(policy, kSize).means();
  const auto masks = enumerate_masks(policy, kSize);
  std::vector<double> listed_mean(64), listed(64 * 64);
  (void)over_masks(masks, [&](std::span<const double> n) {
    for (std::size_t j = 0; j < 64; ++j) {
      const double probability = 1.0 / static_cast<double>(masks.size());  // all places are alike
      listed_mean[j] += probability * n[j];
      for (std::size_t k = 0; k < 64; ++k) listed[j * 64 + k] += probability * n[j] * n[k];
    }
    return 0.0;
  });
  const MonteCarloMoments drawn =
      monte_carlo({.method = {"gaussian-field", {{"lam", 0.3}}}}, {4, 4}, {.draws = 20000});
  return {
      {.quantity = "smallest eigenvalue of what must be positive, A of CutMix inside, 8×8, λ = ½",
       .printed = check_design({kSize, 0.5, a}).smallest,
       .corrected = smallest_eigenvalue(covariance(a, nu), 64),
       .truth = smallest_eigenvalue(covariance(listed, listed_mean), 64)},
      {.quantity = "mean of M, λ = 0.3",
       .printed = 0.7,
       .corrected = 0.3,
       .truth = 1 - drawn.means[0].value,
       .tolerance = 5 * drawn.means[0].error}};
}

Numbers stochastic_weights() {
  constexpr ImageSize kSize{6, 6};
  MixPolicy policy = inside("stochastic", 0.4);
  policy.method.set("q_mix", 0.2);
  const double mix = 0.6 * 0.6;
  const double cut = coefficients(inside("cutmix", 0.4), kSize).map().front();
  const double listed = over_masks(enumerate_masks(policy, kSize), [](std::span<const double> n) {
    double sum = 0;
    for (const double value : n) sum += value * value / 36;
    return sum;
  });
  return {{.quantity = "a at displacement 0, Mixup with chance q = 0.2, 6×6, λ = 0.4",
           .printed = 0.2 * cut + 0.8 * mix,
           .corrected = coefficients(policy, kSize).map().front(),
           .truth = listed}};
}

Numbers box_area() {
  const MixPolicy policy = inside("cutmix", 0.75);
  return {{.quantity = "mean of 1 − M, CutMix inside, 32×32, λ = ¾",
           .printed = 0.75,
           .corrected = mean_of(coefficients(policy, {32, 32}).means()),
           .truth = listed_mean(policy, {32, 32})}};
}

}  // namespace medley::theory::errata_numbers
