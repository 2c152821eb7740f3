#include "medley/theory/loss.h"

#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "moments/beta_law.h"
#include "theory/check_loss.h"

namespace medley::theory {
namespace {

constexpr double kMostTerms = 1e9;

void check_alpha(std::span<const double> alpha) {
  if (alpha.size() < 2) {
    fail_argument(fmt::format("n-Mixup takes at least two alphas, got {}", alpha.size()));
  }
  for (const double value : alpha) {
    if (!(std::isfinite(value) && value > 0)) {
      fail_argument(fmt::format("alpha must be > 0, got {}", value));
    }
  }
}

/// Points of the weights with their probabilities: l_k = v_k times what the sticks before left
/// over.
void break_sticks(std::span<const double> alpha, int nodes, std::vector<double>& weights,
                  double left, double probability,
                  std::vector<std::pair<std::vector<double>, double>>& to) {
  if (weights.size() + 1 == alpha.size()) {
    weights.push_back(left);
    to.emplace_back(weights, probability);
    weights.pop_back();
    return;
  }
  const auto rest = alpha.subspan(weights.size() + 1);
  const double after = std::accumulate(rest.begin(), rest.end(), 0.0);
  for (const Node& node : beta_nodes(alpha[weights.size()], after, nodes)) {
    weights.push_back(left * node.x);
    break_sticks(alpha, nodes, weights, left * (1 - node.x), probability * node.weight, to);
    weights.pop_back();
  }
}

}  // namespace

NMixupMoments nmixup_moments(std::span<const double> alpha) {
  check_alpha(alpha);
  double sum = 0, two = 0, three = 0;
  for (const double a : alpha) {
    sum += a;
    two += a * (a + 1);
    three += a * (a + 1) * (a + 2);
  }
  const double m2 = two / (sum * (sum + 1));
  const double m3 = three / (sum * (sum + 1) * (sum + 2));
  return {1 - m2, m2 - m3, 1 - 2 * m2 + m3};
}

LossTerms nmixup_loss(const Glm& model, const Samples& samples, std::span<const double> y,
                      std::span<const double> alpha) {
  check_model(model, samples, y);
  const NMixupMoments n = nmixup_moments(alpha);
  const auto d = static_cast<std::size_t>(samples.dimension);
  // Gamma_i gets weight s2 and the mean's difference t2 - s2 besides.
  const CoordinateMoments constant{std::vector<double>(d, n.others),
                                   std::vector<double>(d * d, n.others_squares)};
  LossTerms terms = approximate_loss(model, samples, y, constant);
  std::vector<double> mean(d);
  for (std::int64_t i = 0; i < samples.count; ++i) {
    for (std::size_t k = 0; k < d; ++k) {
      mean[k] += samples.row(i)[k] / static_cast<double>(samples.count);
    }
  }
  for (std::int64_t i = 0; i < samples.count; ++i) {
    double score = model.bias;
    double towards = 0;
    for (std::size_t k = 0; k < d; ++k) {
      score += model.theta[k] * samples.row(i)[k];
      towards += model.theta[k] * (mean[k] - samples.row(i)[k]);
    }
    terms.r2 += link_values(model.link, score).d2 * (n.others_squared - n.others_squares) *
                towards * towards / (2 * static_cast<double>(samples.count));
  }
  return terms;
}

double nmixup_exact_loss(const Glm& model, const Samples& samples, std::span<const double> y,
                         std::span<const double> alpha, int nodes) {
  check_alpha(alpha);
  check_model(model, samples, y);
  const auto n = static_cast<double>(alpha.size());
  const double tuples = std::pow(static_cast<double>(samples.count), n);
  if (tuples * std::pow(nodes, n - 1) > kMostTerms) {
    fail_argument(
        fmt::format("the exact n-Mixup loss takes m^n nodes^(n-1) terms, at most {:.0e}, "
                    "got {:.1e}; use nmixup_loss",
                    kMostTerms, tuples * std::pow(nodes, n - 1)));
  }
  std::vector<double> scores;
  for (std::int64_t i = 0; i < samples.count; ++i) {
    const auto row = samples.row(i);
    scores.push_back(std::inner_product(row.begin(), row.end(), model.theta.begin(), 0.0));
  }
  std::vector<std::pair<std::vector<double>, double>> points;
  std::vector<double> weights;
  break_sticks(alpha, nodes, weights, 1, 1, points);
  double loss = 0;
  for (const auto& [l, probability] : points) {
    std::vector<std::size_t> tuple(alpha.size());
    for (std::int64_t t = 0; t < static_cast<std::int64_t>(tuples); ++t) {
      std::int64_t rest = t;
      double score = model.bias;
      double label = 0;
      for (std::size_t k = 0; k < tuple.size(); ++k) {
        const auto i = static_cast<std::size_t>(rest % samples.count);
        rest /= samples.count;
        score += l[k] * scores[i];
        label += l[k] * y[i];
      }
      loss += probability * (link_values(model.link, score).h - label * score) / tuples;
    }
  }
  return loss;
}

}  // namespace medley::theory
