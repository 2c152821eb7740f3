#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "medley/theory/coefficients.h"
#include "medley/theory/loss.h"
#include "medley/theory/two_moons.h"
#include "moments/beta_law.h"
#include "theory/errata/numbers.h"

namespace medley::theory::errata_numbers {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// Four images of 2x2 with h(u) = u and f = x^T B x: the expansion is exact.
struct QuadraticScore {
  ImageSize size{2, 2};
  std::vector<double> data = normals(16, 11);
  std::array<double, 4> y = {0.2, 0.9, 0.4, 0.7};
  Eigen::Map<const Matrix> x{data.data(), 4, 4};
  Matrix b;
  Vector mean = x.colwise().mean();

  QuadraticScore() {
    const std::vector<double> values = normals(16, 12);
    const Eigen::Map<const Matrix> m(values.data(), 4, 4);
    b = (m + m.transpose()) / 2;
  }

  [[nodiscard]] Vector row(Eigen::Index i) const { return x.row(i); }
  [[nodiscard]] double label(Eigen::Index i) const { return y[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Matrix gamma(Eigen::Index i) const {
    Matrix sum = Matrix::Zero(4, 4);
    for (Eigen::Index r = 0; r < 4; ++r) {
      const Vector d = row(r) - row(i);
      sum += d * d.transpose() / 4;
    }
    return sum;
  }
};

/// The printed second moments: a(lam) averaged over the size-biased law of lam, uniform at first.
std::vector<double> printed_moments(MixPolicy policy, ImageSize size) {
  constexpr int kPanels = 400;
  std::vector<double> sum(static_cast<std::size_t>(size.pixels() * size.pixels()));
  for (int i = 0; i < kPanels; ++i) {
    const double lam = (i + 0.5) / kPanels;
    policy.method.set("lam", lam);
    const auto own = coefficients(policy, size).matrix();
    policy.method.set("lam", 1 - lam);
    const auto swapped = coefficients(policy, size).matrix();
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] += (lam * own[k] + (1 - lam) * swapped[k]) / kPanels;
    }
  }
  return sum;
}

double logistic_loss(double score, double label) {
  return std::log1p(std::exp(score)) - label * score;
}

/// The mixed loss on two moons by Simpson's rule in lam, masks of the two features written out.
double moons_loss(const TwoMoons& task, const PlaneModel& model, bool bernoulli) {
  constexpr int kPanels = 64;
  const Samples points = task.samples();
  const std::vector<double>& y = task.labels();
  const auto at_lam = [&](double lam) {
    double sum = 0;
    for (std::int64_t i = 0; i < points.count; ++i) {
      for (std::int64_t j = 0; j < points.count; ++j) {
        const auto a = points.row(i);
        const auto b = points.row(j);
        const double label =
            lam * y[static_cast<std::size_t>(i)] + (1 - lam) * y[static_cast<std::size_t>(j)];
        const auto loss = [&](double m0, double m1) {
          return logistic_loss(model[0] * (m0 * a[0] + (1 - m0) * b[0]) +
                                   model[1] * (m1 * a[1] + (1 - m1) * b[1]) + model[2],
                               label);
        };
        sum += bernoulli ? lam * lam * loss(1, 1) + (1 - lam) * (1 - lam) * loss(0, 0) +
                               lam * (1 - lam) * (loss(1, 0) + loss(0, 1))
                         : loss(lam, lam);
      }
    }
    return sum / static_cast<double>(points.count * points.count);
  };
  double integral = 0;
  for (int k = 0; k <= kPanels; ++k) {
    const double weight = k == 0 || k == kPanels ? 1 : k % 2 == 1 ? 4 : 2;
    integral += weight * at_lam(static_cast<double>(k) / kPanels) / (3 * kPanels);
  }
  return integral;
}

}  // namespace

Numbers swapped_mask() {
  // Squared loss and linear scores: the expansion is exact if its coefficients are right.
  constexpr ImageSize kSize{4, 3};
  const std::vector<double> x = normals(5 * 12, 1);
  const std::vector<double> y = normals(5, 2);
  const Glm model{Link::squared, normals(12, 3), 0};
  const Samples samples{x, 5, 12};
  Numbers numbers;
  for (const char* method : {"cutmix", "hmix"}) {
    const MixPolicy policy = inside_drawn(method);
    const CoordinateMoments printed{std::vector<double>(12, kept_label_moments(1, 1).partner),
                                    printed_moments(policy, kSize)};
    const CoordinateMoments corrected = coordinate_moments(effective_coefficients(policy, kSize));
    numbers.push_back({.quantity = numbers.empty()
                                       ? "mixed squared loss of a linear model, CutMix inside, 4×3"
                                       : "the same, HMix",
                       .printed = approximate_loss(model, samples, y, printed).approximate(),
                       .corrected = approximate_loss(model, samples, y, corrected).approximate(),
                       .truth = exact_loss(model, samples, y, enumerate_masks(policy, kSize))});
  }
  return numbers;
}

Numbers hessian_residual() {
  const QuadraticScore q;
  const MixPolicy policy = inside_drawn("cutmix");
  double truth = 0;
  for (const WeightedMask& mask : enumerate_masks(policy, q.size)) {
    const Eigen::Map<const Vector> m(mask.own.data(), 4);
    for (Eigen::Index i = 0; i < 4; ++i) {
      for (Eigen::Index k = 0; k < 4; ++k) {
        const Vector mixed =
            m.cwiseProduct(q.row(i)) + (Vector::Ones(4) - m).cwiseProduct(q.row(k));
        const double label = mask.label_weight * q.label(i) + (1 - mask.label_weight) * q.label(k);
        truth += mask.probability * (1 - label) * mixed.dot(q.b * mixed) / 16;
      }
    }
  }
  const CoordinateMoments moments = coordinate_moments(effective_coefficients(policy, q.size));
  const Eigen::Map<const Vector> nu(moments.mean.data(), 4);
  const Eigen::Map<const Matrix> a(moments.second.data(), 4, 4);
  double first = 0, with = 0, without = 0;
  for (Eigen::Index i = 0; i < 4; ++i) {
    const double residual = 1 - q.label(i);
    const Vector own = q.row(i);
    const double hessian = 2 * a.cwiseProduct(q.gamma(i)).cwiseProduct(q.b).sum();
    first +=
        residual * (own.dot(q.b * own) + 2 * (q.b * own).dot(nu.cwiseProduct(q.mean - own))) / 4;
    with += residual * hessian / 8;
    without += hessian / 8;
  }
  return {{.quantity = "mixed loss of a quadratic score, h(u) = u, CutMix inside, 2×2",
           .printed = first + without,
           .corrected = first + with,
           .truth = truth}};
}

Numbers nmixup_factor() {
  const QuadraticScore q;
  const std::vector<double> alpha = {0.8, 1.2, 0.6};
  // A quadratic in x times a label that is linear: third moments of the Dirichlet law.
  const double sum = 2.6;
  const auto third = [&](std::size_t i, std::size_t j, std::size_t k) {
    return alpha[i] * (alpha[j] + (j == i ? 1 : 0)) *
           (alpha[k] + (k == i ? 1 : 0) + (k == j ? 1 : 0)) / (sum * (sum + 1) * (sum + 2));
  };
  double truth = 0;
  for (Eigen::Index tuple = 0; tuple < 64; ++tuple) {
    const std::array<Eigen::Index, 3> at = {tuple % 4, tuple / 4 % 4, tuple / 16};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        for (std::size_t k = 0; k < 3; ++k) {
          truth +=
              third(i, j, k) * q.row(at[i]).dot(q.b * q.row(at[j])) * (1 - q.label(at[k])) / 64;
        }
      }
    }
  }
  const NMixupMoments n = nmixup_moments(alpha);
  double first = 0, corrected = 0, printed = 0;
  for (Eigen::Index i = 0; i < 4; ++i) {
    const Vector own = q.row(i);
    const Vector towards = q.mean - own;
    const double hessian = 2 * (n.others_squares * q.gamma(i).cwiseProduct(q.b).sum() +
                                (n.others_squared - n.others_squares) * towards.dot(q.b * towards));
    first += (1 - q.label(i)) * (own.dot(q.b * own) + 2 * n.others * (q.b * own).dot(towards)) / 4;
    corrected += (1 - q.label(i)) * hessian / 8;
    printed += -q.label(i) * hessian / 8;
  }
  return {{.quantity = "n-Mixup loss of a quadratic score, h(u) = u, n = 3",
           .printed = first + printed,
           .corrected = first + corrected,
           .truth = truth}};
}

Numbers far_minima() {
  Numbers numbers;
  for (const char* method : {"mixup", "bernoulli"}) {
    const TwoMoons task(method);
    const TrainingStep least = minimize(task, Objective::approximate);
    const bool bernoulli = !numbers.empty();
    numbers.push_back({.quantity = bernoulli ? "the same, Bernoulli-CutMix"
                                             : "mixed loss on two moons where the expansion is "
                                               "least, Mixup",
                       .printed = least.approximate,
                       .corrected = least.exact,
                       .truth = moons_loss(task, least.model, bernoulli),
                       .tolerance = 1e-6});
  }
  return numbers;
}

Numbers light_mixing() {
  const std::vector<double> x = {1, -1}, y = {1, 0};
  const Samples samples{x, 2, 1};
  const Glm model{Link::logistic, {4}, 0};
  constexpr double kAlpha = 0.03;
  const MixPolicy policy{.method = {"mixup", {{"alpha", kAlpha}}}};
  const LossTerms terms = approximate_loss(
      model, samples, y, coordinate_moments(effective_coefficients(policy, {1, 1})));
  const auto unexplained = [&](double exact, double approximate) {
    return (exact - approximate) / (exact - terms.plain);
  };
  // Pairs of equal points are not changed by mixing; the others have the score 4 (2 lam - 1).
  double apart = 0, slope = 0, curvature = 0;
  const LinkValues own = link_values(Link::logistic, 4);
  for (const auto& [from, to] : {std::pair(0.0, 0.5), std::pair(0.5, 1.0)}) {
    for (const Node& node : beta_nodes_between(kAlpha, kAlpha, from, to)) {
      const double lam = node.x;
      apart += node.weight * logistic_loss(4 * (2 * lam - 1), lam);
      // Of the point 1 with weight lam, and with weight 1 - lam after the swap.
      slope += node.weight * 2 * lam * (1 - lam);
      curvature += node.weight * (lam * (1 - lam) * (1 - lam) + (1 - lam) * lam * lam);
    }
  }
  const double exact = terms.plain / 2 + apart / 2;
  const double approximate =
      terms.plain + (own.d1 - 1) * -8 * slope / 2 + own.d2 * 64 * curvature / 4;
  return {{.quantity = "share of the effect of Mixup that the expansion leaves out, α = 0.03, "
                       "x = ±1, f = 4x",
           .printed = 0,
           .corrected = unexplained(exact_loss(model, samples, y, enumerate_masks(policy, {1, 1})),
                                    terms.approximate()),
           .truth = unexplained(exact, approximate),
           .tolerance = 1e-6}};
}

}  // namespace medley::theory::errata_numbers
