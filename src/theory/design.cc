#include "medley/theory/design.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "core/check.h"
#include "medley/theory/coefficients.h"

namespace medley::theory {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::int64_t kMostPixels = 1024;  // eigenvalues take pixels^3 steps
constexpr double kRounding = 1e-10;         // relative; as in GaussianDesign

void check_target(const DesignTarget& target) {
  const std::int64_t pixels = target.size.pixels();
  if (target.size.height < 1 || target.size.width < 1 || pixels > kMostPixels) {
    fail_argument(
        fmt::format("a design over all pairs of pixels takes pixels^3 steps and 1 to {} pixels, "
                    "got {}x{}; for more, give rows and columns to --method gaussian-field",
                    kMostPixels, target.size.height, target.size.width));
  }
  require_finite("the mean", target.mean);
  if (std::ssize(target.matrix) != pixels * pixels) {
    fail_argument(fmt::format("the matrix must have {} values, got {}", pixels * pixels,
                              target.matrix.size()));
  }
}

/// Symmetric part of matrix - mean^2.
Matrix covariance_of(const DesignTarget& target) {
  check_target(target);
  const Eigen::Index pixels = target.size.pixels();
  const Eigen::Map<const Matrix> a(target.matrix.data(), pixels, pixels);
  if (!a.allFinite()) fail_argument("the wanted coefficients must be finite");
  return ((a + a.transpose()) / 2).array() - target.mean * target.mean;
}

}  // namespace

DesignTarget target_of_profile(std::span<const double> profile, ImageSize size, double mean) {
  if (size.height < 1 || size.width < 1 || std::ssize(profile) != size.pixels()) {
    fail_argument(fmt::format("a profile for {}x{} has {} values, got {}", size.height, size.width,
                              size.pixels(), profile.size()));
  }
  DesignTarget target{size, mean, {}};
  if (size.pixels() <= kMostPixels) {
    for (std::int32_t j = 0; j < size.pixels(); ++j) {
      for (std::int32_t k = 0; k < size.pixels(); ++k) {
        const std::int32_t dy = std::abs(j / size.width - k / size.width);
        const std::int32_t dx = std::abs(j % size.width - k % size.width);
        target.matrix.push_back(
            profile[static_cast<std::size_t>(std::int64_t{dy} * size.width + dx)]);
      }
    }
  }
  check_target(target);
  return target;
}

std::vector<double> preset_profile(std::string_view name, double lam, ImageSize size) {
  const std::string_view method = name == "smooth"       ? "gaussian-field"
                                  : name == "gmix-plane" ? "gmix"
                                                         : name;
  MixPolicy policy{.method = method};
  policy.method.set("lam", lam);
  policy.method.set_if_used("placement", Placement::inside);
  policy.method.set_if_used("form", Form::paper);
  if (name != "gmix-plane") return coefficients(policy, size).map();
  (void)coefficients(policy, {1, 1});  // checks
  std::vector<double> profile;
  for (std::int32_t dy = 0; dy < size.height; ++dy) {
    for (std::int32_t dx = 0; dx < size.width; ++dx) {
      profile.push_back(gmix_plane(Form::paper, lam, size, dy, dx));
    }
  }
  return profile;
}

Feasibility check_design(const DesignTarget& target) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(covariance_of(target), Eigen::EigenvaluesOnly);
  const auto& values = solver.eigenvalues();
  Feasibility result;
  result.smallest = values(0);
  result.largest = values(values.size() - 1);
  double scale = std::max(result.largest, 0.0);
  for (const double entry : target.matrix) scale = std::max(scale, std::abs(entry));
  result.feasible = result.smallest >= -kRounding * scale;
  result.distance = values.cwiseMin(0.0).norm();
  return result;
}

DesignTarget nearest_feasible(const DesignTarget& target) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(covariance_of(target));
  Matrix possible = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).asDiagonal() *
                    solver.eigenvectors().transpose();
  possible.array() += target.mean * target.mean;
  DesignTarget result{target.size, target.mean, {}};
  result.matrix.assign(possible.data(), possible.data() + possible.size());
  return result;
}

std::vector<double> map_of(const DesignTarget& target) {
  check_target(target);
  const auto [height, width] = target.size;
  const std::int64_t pixels = target.size.pixels();
  std::vector<double> map;
  for (std::int32_t dy = 0; dy < height; ++dy) {
    for (std::int32_t dx = 0; dx < width; ++dx) {
      double sum = 0;
      for (std::int64_t y = 0; y + dy < height; ++y) {
        for (std::int64_t x = 0; x + dx < width; ++x) {
          sum += target.matrix[static_cast<std::size_t>((y * width + x) * pixels +
                                                        (y + dy) * width + x + dx)];
        }
      }
      map.push_back(sum / (static_cast<double>(height - dy) * (width - dx)));
    }
  }
  return map;
}

}  // namespace medley::theory
