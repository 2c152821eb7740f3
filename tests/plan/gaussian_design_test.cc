#include "medley/gaussian_design.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "core/statistics.h"
#include "medley/error.h"
#include "medley/random.h"

namespace medley {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

constexpr double kExact = 1e-12;

std::span<const double> span_of(const Matrix& m) {
  return {m.data(), static_cast<std::size_t>(m.size())};
}
std::span<const double> span_of(const Vector& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

/// N = 1 - M for the given normals.
Vector partner_weights(const GaussianDesign& design, const Vector& z) {
  Vector mask(design.size().pixels());
  design.mask(span_of(z), 0, {mask.data(), static_cast<std::size_t>(mask.size())});
  return Vector::Ones(mask.size()) - mask;
}

/// E[N] and E[N N^T], exactly: masks are linear in the normals, so unit vectors show the factor S.
struct Moments {
  Vector mean;
  Matrix second;
};

Moments moments_of(const GaussianDesign& design) {
  const std::int64_t n = design.dimension();
  const Vector mean = partner_weights(design, Vector::Zero(n));
  Matrix factor(mean.size(), n);
  for (std::int64_t k = 0; k < n; ++k) {
    factor.col(k) = partner_weights(design, Vector::Unit(n, k)) - mean;
  }
  return {mean, factor * factor.transpose() + mean * mean.transpose()};
}

Matrix random_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  RandomStream random(seed, 0, 0, Purpose::picture);
  return Matrix::NullaryExpr(rows, columns, [&] { return random.normal(); });
}

/// Correlations that fall with the distance, plus a level that leaves room for a mean.
Matrix falling(std::int32_t n, double length, double level) {
  return Matrix::NullaryExpr(n, n, [=](Eigen::Index i, Eigen::Index j) {
    return level + std::exp(-static_cast<double>(std::abs(i - j)) / length);
  });
}

Matrix kronecker_product(const Matrix& rows, const Matrix& columns) {
  const Eigen::Index h = rows.rows(), w = columns.rows();
  return Matrix::NullaryExpr(h * w, h * w, [&](Eigen::Index j, Eigen::Index k) {
    return rows(j / w, k / w) * columns(j % w, k % w);
  });
}

TEST(DenseDesign, HasThePrescribedMoments) {
  constexpr ImageSize kSize{3, 4};
  const Vector nu = Vector::LinSpaced(12, 0.1, 0.9);
  const Matrix root = random_matrix(12, 12, 1);
  const Matrix a = root * root.transpose() + nu * nu.transpose();
  const auto design = GaussianDesign::dense(kSize, span_of(a), span_of(nu));
  const Moments moments = moments_of(design);
  EXPECT_LT((moments.mean - nu).cwiseAbs().maxCoeff(), kExact);
  EXPECT_LT((moments.second - a).cwiseAbs().maxCoeff(), kExact * a.cwiseAbs().maxCoeff());
  EXPECT_NEAR(design.mean(), 0.5, kExact);
}

TEST(DenseDesign, TakesAMatrixOfLowRank) {
  const Vector nu = Vector::Constant(9, 0.4);
  const Matrix root = random_matrix(9, 2, 2);
  const Matrix a = root * root.transpose() + nu * nu.transpose();
  const Moments moments = moments_of(GaussianDesign::dense({3, 3}, span_of(a), span_of(nu)));
  // Eigenvalues that should be 0 come out up to 1e-16 of the largest; their roots are 1e-8 of its.
  EXPECT_LT((moments.second - a).cwiseAbs().maxCoeff(), kExact * a.cwiseAbs().maxCoeff());
}

/// E[N N^T] and E[N] of cutmix with inside boxes at lam = 1/2 on 8x8 (theory 2.0 and 2.2).
struct BoxMoments {
  Vector mean{64};
  Matrix second{64, 64};
  BoxMoments() {
    constexpr int kN = 8, kSide = 5;
    const auto axis = [](int j, int k) {
      const int lo = std::min(j, k), hi = std::max(j, k);
      return std::max(std::min(lo, kN - kSide) - std::max(hi - kSide + 1, 0) + 1, 0) /
             static_cast<double>(kN - kSide + 1);
    };
    for (int j = 0; j < 64; ++j) {
      for (int k = 0; k < 64; ++k) {
        second(j, k) = axis(j / kN, k / kN) * axis(j % kN, k % kN);
      }
      mean(j) = second(j, j);
    }
  }
};

TEST(DenseDesign, TakesTheMatrixOfABoxWithItsTrueMean) {
  const BoxMoments box;
  const Moments moments =
      moments_of(GaussianDesign::dense({8, 8}, span_of(box.second), span_of(box.mean)));
  EXPECT_LT((moments.second - box.second).cwiseAbs().maxCoeff(), kExact);
}

TEST(DenseDesign, RefusesTheMatrixOfABoxWithAFlatMean) {
  const BoxMoments box;
  const Vector flat = Vector::Constant(64, 0.5);
  EXPECT_THAT(
      [&] {
        (void)GaussianDesign::dense({8, 8}, span_of(box.second), span_of(flat));
      },
      ThrowsMessage<InvalidArgument>(
          AllOf(HasSubstr("positive semi-definite"), HasSubstr("-9.2"))));
}

TEST(KroneckerDesign, HasThePrescribedMoments) {
  constexpr double kMean = 0.35;
  const Matrix rows = falling(3, 2, 0.3), columns = falling(5, 1.5, 0.2);
  const auto design = GaussianDesign::kronecker(span_of(rows), 3, span_of(columns), 5, kMean);
  const Matrix a = kronecker_product(rows, columns);
  const Moments moments = moments_of(design);
  EXPECT_LT((moments.mean - Vector::Constant(15, kMean)).cwiseAbs().maxCoeff(), kExact);
  EXPECT_LT((moments.second - a).cwiseAbs().maxCoeff(), kExact);
}

TEST(KroneckerDesign, AgreesWithTheDenseDesign) {
  constexpr double kMean = 0.35;
  const Matrix rows = falling(3, 2, 0.3), columns = falling(5, 1.5, 0.2);
  const Matrix a = kronecker_product(rows, columns);
  const Vector nu = Vector::Constant(15, kMean);
  const Moments kronecker =
      moments_of(GaussianDesign::kronecker(span_of(rows), 3, span_of(columns), 5, kMean));
  const Moments dense = moments_of(GaussianDesign::dense({3, 5}, span_of(a), span_of(nu)));
  EXPECT_LT((kronecker.second - dense.second).cwiseAbs().maxCoeff(), kExact);
}

TEST(KroneckerDesign, OfMeanZeroIsTheMatrixItself) {
  const Matrix rows = falling(2, 1, 0), columns = falling(3, 1, 0);
  const Moments moments =
      moments_of(GaussianDesign::kronecker(span_of(rows), 2, span_of(columns), 3, 0));
  EXPECT_LT((moments.second - kronecker_product(rows, columns)).cwiseAbs().maxCoeff(), kExact);
}

TEST(KroneckerDesign, RefusesAMeanThatIsTooLarge) {
  const Matrix rows = falling(3, 2, 0), columns = falling(3, 2, 0);
  EXPECT_THAT([&] { (void)GaussianDesign::kronecker(span_of(rows), 3, span_of(columns), 3, 1.5); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("must be <= 1"), HasSubstr("got "))));
}

TEST(KroneckerDesign, RefusesAMatrixThatIsNotPositiveDefinite) {
  const Matrix good = falling(2, 1, 0);
  Matrix bad(2, 2);
  bad << 1, 2, 2, 1;  // eigenvalues 3 and -1
  EXPECT_THAT([&] { (void)GaussianDesign::kronecker(span_of(good), 2, span_of(bad), 2, 0.1); },
              ThrowsMessage<InvalidArgument>(AllOf(
                  HasSubstr("column matrix"), HasSubstr("positive definite"), HasSubstr("-1"))));
}

TEST(SmoothDesign, HasASquaredExponentialCovariance) {
  constexpr double kSigma = 0.3, kLength = 0.25, kMean = 0.4;
  constexpr ImageSize kSize{4, 6};
  const auto design = GaussianDesign::smooth(kSize, kSigma, kLength, kMean);
  const Moments moments = moments_of(design);
  EXPECT_LT((moments.mean - Vector::Constant(24, kMean)).cwiseAbs().maxCoeff(), kExact);
  for (int j = 0; j < 24; ++j) {
    for (int k = 0; k < 24; ++k) {
      const int rows = j / 6 - k / 6, columns = j % 6 - k % 6;
      const double dy = rows / (kLength * 4), dx = columns / (kLength * 6);
      const double expected = kSigma * kSigma * std::exp(-0.5 * (dy * dy + dx * dx));
      EXPECT_NEAR(moments.second(j, k) - kMean * kMean, expected, kExact) << j << ", " << k;
    }
  }
}

TEST(SmoothDesign, OfNoDeviationIsFlat) {
  const auto design = GaussianDesign::smooth({3, 3}, 0, 0.25, 0.25);
  EXPECT_EQ(partner_weights(design, Vector::Ones(design.dimension())), Vector::Constant(9, 0.25));
}

TEST(SmoothDesign, WorksForLongImages) {
  // Kernels this long make nearly singular matrices; few normals tell all of them.
  for (const ImageSize size : {ImageSize{1, 1}, ImageSize{1, 200}, ImageSize{64, 3}}) {
    const auto design = GaussianDesign::smooth(size, 1, 2.0, 0);
    EXPECT_LE(design.dimension(), std::min<std::int64_t>(size.pixels(), 20));
    const Vector variances = moments_of(design).second.diagonal();
    EXPECT_NEAR(variances.minCoeff(), 1, 1e-11) << size.height << "x" << size.width;
    EXPECT_NEAR(variances.maxCoeff(), 1, 1e-11) << size.height << "x" << size.width;
  }
}

TEST(GaussianDesign, AddsTheShiftToEveryPixel) {
  const auto design = GaussianDesign::smooth({2, 2}, 0, 0.5, 0.25);
  const std::vector<double> z(static_cast<std::size_t>(design.dimension()));
  std::vector<double> mask(4);
  design.mask(z, 0.5, mask);
  EXPECT_THAT(mask, testing::Each(testing::DoubleEq(1.25)));
}

TEST(GaussianDesign, MasksOfNormalsHaveTheMomentsInTheSample) {
  constexpr std::size_t kMasks = 20000;
  constexpr double kMean = 0.35;
  const Matrix rows = falling(2, 2, 0.3), columns = falling(3, 1.5, 0.2);
  const auto design = GaussianDesign::kronecker(span_of(rows), 2, span_of(columns), 3, kMean);
  const Matrix a = kronecker_product(rows, columns);
  RandomStream random(3, 0, 0, Purpose::mask);
  Vector sum = Vector::Zero(6);
  Matrix squares = Matrix::Zero(6, 6);
  for (std::size_t i = 0; i < kMasks; ++i) {
    const Vector z = Vector::NullaryExpr(6, [&] { return random.normal(); });
    const Vector n = partner_weights(design, z);
    sum += n;
    squares += n * n.transpose();
  }
  const auto draws = static_cast<double>(kMasks);
  for (int j = 0; j < 6; ++j) {
    EXPECT_NEAR(sum(j) / draws, kMean, test::kSigmas * std::sqrt(a(j, j) / draws));
    for (int k = 0; k < 6; ++k) {
      // Var(N_j N_k) <= sqrt(E N_j^4 E N_k^4) <= 3 A_jj A_kk for Gaussians of any mean.
      EXPECT_NEAR(squares(j, k) / draws, a(j, k),
                  test::kSigmas * std::sqrt(3 * a(j, j) * a(k, k) / draws));
    }
  }
}

TEST(DenseDesign, RefusesWrongSizes) {
  const Vector nu = Vector::Zero(4);
  const Matrix a = Matrix::Identity(4, 4);
  EXPECT_THAT(
      [&] {
        (void)GaussianDesign::dense({2, 3}, span_of(a), span_of(nu));
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("6x6"), HasSubstr("16"))));
  EXPECT_THAT(
      [&] {
        (void)GaussianDesign::dense({2, 2}, span_of(a), span_of(nu).first(3));
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("4 values"), HasSubstr("got 3"))));
  EXPECT_THAT(
      [&] {
        (void)GaussianDesign::dense({0, 2}, {}, {});
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("1x1"), HasSubstr("0x2"))));
  EXPECT_THAT(
      [&] {
        (void)GaussianDesign::dense({65, 64}, span_of(a), span_of(nu));
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("4096"), HasSubstr("65x64"))));
}

TEST(DenseDesign, RefusesAMatrixThatIsNotSymmetric) {
  const Vector nu = Vector::Zero(2);
  Matrix a = Matrix::Identity(2, 2);
  a(0, 1) = 0.5;
  EXPECT_THAT(
      [&] {
        (void)GaussianDesign::dense({1, 2}, span_of(a), span_of(nu));
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("symmetric"), HasSubstr("0.5"))));
}

TEST(DenseDesign, RefusesNumbersThatAreNotFinite) {
  Vector nu = Vector::Zero(2);
  Matrix a = Matrix::Identity(2, 2);
  a(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(
      [&] {
        (void)GaussianDesign::dense({1, 2}, span_of(a), span_of(nu));
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("finite")));
  a(1, 1) = 1;
  nu(0) = std::numeric_limits<double>::infinity();
  EXPECT_THAT(
      [&] {
        (void)GaussianDesign::dense({1, 2}, span_of(a), span_of(nu));
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("finite")));
}

TEST(SmoothDesign, RefusesWrongParameters) {
  EXPECT_THAT(
      [] {
        (void)GaussianDesign::smooth({2, 2}, -1, 0.25, 0);
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("sigma"), HasSubstr("-1"))));
  EXPECT_THAT(
      [] {
        (void)GaussianDesign::smooth({2, 2}, 1, 0, 0);
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("length"), HasSubstr("0"))));
  EXPECT_THAT(
      [] {
        (void)GaussianDesign::smooth({2, 2}, 1, 1, std::nan(""));
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("finite")));
}

TEST(GaussianDesign, RefusesSpansOfAnotherSize) {
  const auto design = GaussianDesign::smooth({2, 2}, 1, 1, 0);
  const std::vector<double> z(3);
  std::vector<double> mask(4);
  EXPECT_THAT([&] { design.mask(z, 0, mask); },
              ThrowsMessage<InvalidArgument>(
                  AllOf(HasSubstr("takes 4 normals and 4 values"), HasSubstr("3 and 4"))));
}

}  // namespace
}  // namespace medley
