#include "medley/gaussian_design.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "core/check.h"
#include "core/portable_math.h"

namespace medley {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

constexpr std::int64_t kMaxDensePixels = 4096;
constexpr double kLeftOut = 1e-12;
constexpr double kSymmetry = 1e-9;  // relative; matrices come from files with rounded decimals

Matrix read_symmetric(const char* name, std::span<const double> values, std::int64_t n) {
  if (std::ssize(values) != n * n) {
    fail_argument(fmt::format("{} must be {}x{}, got {} values", name, n, n, values.size()));
  }
  const Matrix m = Eigen::Map<const Matrix>(values.data(), n, n);
  if (!m.allFinite()) fail_argument(fmt::format("{} must be finite", name));
  const double skew = (m - m.transpose()).cwiseAbs().maxCoeff();
  if (skew > kSymmetry * std::max(1e-300, m.cwiseAbs().maxCoeff())) {
    fail_argument(fmt::format("{} must be symmetric, got entries {} apart", name, skew));
  }
  return (m + m.transpose()) / 2;
}

Matrix cholesky(const char* name, const Matrix& m) {
  const Eigen::LLT<Matrix> llt(m);
  if (llt.info() != Eigen::Success) {
    fail_argument(fmt::format("{} must be positive definite; its smallest eigenvalue is {:.3g}",
                              name, Eigen::SelfAdjointEigenSolver<Matrix>(m).eigenvalues()(0)));
  }
  return llt.matrixL();
}

void check_size(ImageSize size) {
  if (size.height < 1 || size.width < 1) {
    fail_argument(
        fmt::format("a design needs a size of at least 1x1, got {}x{}", size.height, size.width));
  }
}

/// Correlation of pixels d apart.
double smooth_correlation_at(double d, double length) {
  const double t = d / length;
  return exp_nonpositive(-0.5 * t * t);
}

/// F with F F^T = the correlation of `smooth` along n pixels but for kLeftOut of each variance, and
/// as many columns as that takes, few where the correlation is long: Cholesky with pivots.
Matrix smooth_factor(std::int32_t n, double length) {
  Matrix factor(0, n);  // a row for each column of F, so that the loops run along memory
  Vector rest = Vector::Ones(n);
  Eigen::Index rank = 0;
  for (; rank < n; ++rank) {
    Eigen::Index pivot = 0;
    if (rest.maxCoeff(&pivot) < kLeftOut) break;
    if (rank == factor.rows()) {
      factor.conservativeResize(std::min<Eigen::Index>(n, 2 * rank + 8), Eigen::NoChange);
    }
    Vector column(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      column[i] = smooth_correlation_at(static_cast<double>(i - pivot), length * n);
    }
    for (Eigen::Index k = 0; k < rank; ++k) column -= factor(k, pivot) * factor.row(k).transpose();
    column /= std::sqrt(column[pivot]);
    factor.row(rank) = column.transpose();
    rest -= column.cwiseAbs2();
    rest[pivot] = 0;
  }
  return factor.topRows(rank).transpose();
}

}  // namespace

std::vector<double> smooth_correlation(std::int32_t n, double length) {
  std::vector<double> m;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j) m.push_back(smooth_correlation_at(i - j, length * n));
  }
  return m;
}

struct GaussianDesign::Impl {
  ImageSize size;
  Vector nu;
  double mean = 0;
  Matrix dense;          // S, if the design is dense
  Matrix rows, columns;  // else S = (rows (x) columns) (I - shrink * unit unit^T)
  Vector unit;           // empty: no shrinking
  double shrink = 0;
};

GaussianDesign GaussianDesign::dense(ImageSize size, std::span<const double> matrix,
                                     std::span<const double> nu) {
  check_size(size);
  const std::int64_t pixels = size.pixels();
  if (pixels > kMaxDensePixels) {
    fail_argument(
        fmt::format("a dense design costs pixels^2 numbers and takes at most {} pixels, got {}x{}; "
                    "use a Kronecker design",
                    kMaxDensePixels, size.height, size.width));
  }
  auto impl = std::make_shared<Impl>();
  impl->size = size;
  const Matrix a = read_symmetric("the matrix", matrix, pixels);
  if (std::ssize(nu) != pixels) {
    fail_argument(fmt::format("the mean must have {} values, got {}", pixels, nu.size()));
  }
  impl->nu = Eigen::Map<const Vector>(nu.data(), pixels);
  if (!impl->nu.allFinite()) fail_argument("the mean must be finite");
  impl->mean = impl->nu.mean();
  const Matrix covariance = a - impl->nu * impl->nu.transpose();
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(covariance);
  const double largest = std::max(solver.eigenvalues()(pixels - 1), 0.0);
  const double smallest = solver.eigenvalues()(0);
  // Rounding alone makes eigenvalues this negative; they count as zero.
  const double rounding = 1e-10 * std::max(largest, a.cwiseAbs().maxCoeff());
  if (smallest < -rounding) {
    fail_argument(
        fmt::format("the matrix minus mean*mean^T must be positive semi-definite, but its "
                    "smallest eigenvalue is {:.6g} (largest {:.6g})",
                    smallest, largest));
  }
  impl->dense = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return GaussianDesign(std::move(impl));
}

GaussianDesign GaussianDesign::kronecker(std::span<const double> rows, std::int32_t height,
                                         std::span<const double> columns, std::int32_t width,
                                         double mean) {
  check_size({height, width});
  require_finite("the mean", mean);
  auto impl = std::make_shared<Impl>();
  impl->size = {height, width};
  impl->mean = mean;
  impl->nu = Vector::Constant(impl->size.pixels(), mean);
  impl->rows = cholesky("the row matrix", read_symmetric("the row matrix", rows, height));
  impl->columns =
      cholesky("the column matrix", read_symmetric("the column matrix", columns, width));
  // A - nu nu^T = L (I - u u^T) L^T with u = L^-1 nu; its root shrinks the direction of u.
  const Vector uh = impl->rows.triangularView<Eigen::Lower>().solve(Vector::Ones(height));
  const Vector uw = impl->columns.triangularView<Eigen::Lower>().solve(Vector::Ones(width));
  const double norm2 = mean * mean * uh.squaredNorm() * uw.squaredNorm();
  if (norm2 > 1 + 1e-10) {
    fail_argument(
        fmt::format("the matrix minus mean*mean^T must be positive semi-definite: "
                    "mean^T A^-1 mean must be <= 1, got {:.6g}",
                    norm2));
  }
  if (mean != 0) {
    impl->unit = Vector(impl->size.pixels());
    Eigen::Map<Matrix>(impl->unit.data(), height, width) =
        (uh / uh.norm()) * (uw / uw.norm()).transpose();
    impl->shrink = 1 - std::sqrt(std::max(0.0, 1 - norm2));
  }
  return GaussianDesign(std::move(impl));
}

GaussianDesign GaussianDesign::smooth(ImageSize size, double sigma, double length, double mean) {
  check_size(size);
  if (!(std::isfinite(sigma) && sigma >= 0 && sigma <= kMaxSigma)) {
    fail_argument(fmt::format("sigma must be in [0, {:g}], got {}", kMaxSigma, sigma));
  }
  if (!(std::isfinite(length) && length > 0)) {
    fail_argument(fmt::format("length must be > 0, got {}", length));
  }
  require_finite("the mean", mean);
  auto impl = std::make_shared<Impl>();
  impl->size = size;
  impl->mean = mean;
  impl->nu = Vector::Constant(size.pixels(), mean);
  impl->rows = sigma * smooth_factor(size.height, length);
  impl->columns = smooth_factor(size.width, length);
  return GaussianDesign(std::move(impl));
}

ImageSize GaussianDesign::size() const noexcept { return impl_->size; }

double GaussianDesign::mean() const noexcept { return impl_->mean; }

std::int64_t GaussianDesign::dimension() const noexcept {
  const Impl& d = *impl_;
  return d.dense.size() > 0 ? d.size.pixels() : d.rows.cols() * d.columns.cols();
}

void GaussianDesign::mask(std::span<const double> z, double shift, std::span<double> mask) const {
  const Impl& d = *impl_;
  const std::int64_t pixels = d.size.pixels();
  if (std::ssize(z) != dimension() || std::ssize(mask) != pixels) {
    fail_argument(fmt::format("a mask of this design takes {} normals and {} values, got {} and {}",
                              dimension(), pixels, z.size(), mask.size()));
  }
  Eigen::Map<Vector> out(mask.data(), pixels);
  Vector normals = Eigen::Map<const Vector>(z.data(), std::ssize(z));
  if (d.dense.size() > 0) {
    out = d.dense * normals;
  } else {
    if (d.unit.size() > 0) normals -= d.unit * (d.shrink * d.unit.dot(normals));
    const Eigen::Map<const Matrix> square(normals.data(), d.rows.cols(), d.columns.cols());
    Eigen::Map<Matrix> image(mask.data(), d.size.height, d.size.width);
    image.noalias() = (d.rows * square).eval() * d.columns.transpose();
  }
  out = (out - d.nu).array() + (1 + shift);
}

}  // namespace medley
