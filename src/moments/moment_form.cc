#include "moments/moment_form.h"

#include <algorithm>

#include <Eigen/Dense>

namespace medley::theory {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Part = MomentForm::Part;
using Block = MomentForm::Block;

/// A row per law, a column per pixel or distance.
template <typename Fill>
Matrix table(const std::vector<AxisLaw>& laws, std::int32_t n, Fill fill) {
  Matrix values(std::ssize(laws), n);
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    fill(laws[static_cast<std::size_t>(i)], values.row(i).data());
  }
  return values;
}

/// Average over the first (or last) n - d pixels, for every distance d.
Matrix average_before(const Matrix& values) {
  Matrix result(values.rows(), values.cols());
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    double sum = 0;
    for (Eigen::Index k = 0; k < values.cols(); ++k) {
      sum += values(i, k);
      result(i, values.cols() - 1 - k) = sum / static_cast<double>(k + 1);
    }
  }
  return result;
}

Matrix average_after(const Matrix& values) {
  return average_before(values.rowwise().reverse().eval());
}

/// sum over parts of coefficient * rows(part.row) outer columns(part.column), added to `map`.
void add_products(const std::vector<Part>& parts, double Part::*coefficient, const Matrix& rows,
                  const Matrix& columns, Matrix& map) {
  Matrix weighted = Matrix::Zero(rows.rows(), columns.cols());
  for (const Part& part : parts) {
    weighted.row(part.row) += part.*coefficient * columns.row(part.column);
  }
  map.noalias() += rows.transpose() * weighted;
}

bool any(const std::vector<Part>& parts, double Part::*coefficient) {
  return std::any_of(parts.begin(), parts.end(),
                     [=](const Part& part) { return part.*coefficient != 0; });
}

bool mirrored(const Block& block) {
  const auto law_is = [](const AxisLaw& law) { return law.mirrored(); };
  return std::all_of(block.rows.begin(), block.rows.end(), law_is) &&
         std::all_of(block.columns.begin(), block.columns.end(), law_is);
}

/// Adds L(i) + L(i + d), averaged over the pixels, for one kind of linear term.
void add_linear(const Block& block, double Part::*coefficient, const Matrix& rows,
                const Matrix& columns, Matrix& map) {
  const Matrix before_rows = average_before(rows);
  const Matrix before_columns = average_before(columns);
  if (mirrored(block)) {
    add_products(block.parts, coefficient, 2 * before_rows, before_columns, map);
    return;
  }
  add_products(block.parts, coefficient, before_rows, before_columns, map);
  add_products(block.parts, coefficient, average_after(rows), average_after(columns), map);
}

Matrix joint_table(const AxisLaw& law) {
  Matrix values(law.size(), law.size());
  for (std::int32_t j = 0; j < law.size(); ++j) {
    for (std::int32_t k = j; k < law.size(); ++k) values(j, k) = values(k, j) = law.joint(j, k);
  }
  return values;
}

/// Adds a vector over the pixels to every row and every column.
void add_to_both(const Matrix& image, Matrix& second) {
  const Eigen::Map<const Eigen::VectorXd> vector(image.data(), image.size());
  second.colwise() += vector;
  second.rowwise() += vector.transpose();
}

std::vector<double> values_of(const Matrix& m) { return {m.data(), m.data() + m.size()}; }

}  // namespace

LambdaMoments& LambdaMoments::operator+=(const LambdaMoments& other) noexcept {
  m0 += other.m0;
  m1 += other.m1;
  m2 += other.m2;
  return *this;
}

ScalarMoments& ScalarMoments::operator+=(const ScalarMoments& other) noexcept {
  p += other.p;
  q += other.q;
  pp += other.pp;
  pq += other.pq;
  qq += other.qq;
  s += other.s;
  sp += other.sp;
  sq += other.sq;
  return *this;
}

ScalarMoments& ScalarMoments::operator*=(double weight) noexcept {
  for (double* value : {&p, &q, &pp, &pq, &qq, &s, &sp, &sq}) *value *= weight;
  return *this;
}

ScalarMoments fixed_scalars(double weight, double p, double q, double s) noexcept {
  return {weight * p,     weight * q, weight * p * p, weight * p * q,
          weight * q * q, weight * s, weight * s * p, weight * s * q};
}

void MomentForm::add(Block& block, std::int32_t row, std::int32_t column, ScalarMoments m,
                     LabelMoments label) {
  m *= weight;
  Part part{row, column, m.qq, m.pq, 0, m.q, 0};
  constant += m.pp;
  mean_constant += m.p;
  if (label == LabelMoments::fixed) {
    constant += m.s - 2 * m.sp;
    mean_constant += m.s - 2 * m.sp;
    part.linear -= m.sq;
    part.mean -= 2 * m.sq;
  } else if (label == LabelMoments::mean) {
    // The share is p + q mean(b) mean(c), and differs between the draws of the laws.
    const double covered = block.rows[static_cast<std::size_t>(row)].average() *
                           block.columns[static_cast<std::size_t>(column)].average();
    const double shift = m.p + m.q * covered - 2 * (m.pp + m.pq * covered);
    constant += shift;
    mean_constant += shift;
    part.linear -= m.pq;
    part.cross -= m.qq;
    part.mean -= 2 * m.pq;
    part.mean_cross -= 2 * m.qq;
  }
  block.parts.push_back(part);
}

void MomentForm::add_flat(ScalarMoments m, LabelMoments label) {
  m *= weight;
  add_weighted_flat(m, label);
}

void MomentForm::add_weighted_flat(const ScalarMoments& m, LabelMoments label) {
  constant += m.pp;
  mean_constant += m.p;
  const double shift = label == LabelMoments::fixed  ? m.s - 2 * m.sp
                       : label == LabelMoments::mean ? m.p - 2 * m.pp
                                                     : 0;
  constant += shift;
  mean_constant += shift;
}

void MomentForm::add_lambda(const LambdaMoments& m, LabelMoments label) {
  const double m0 = weight * m.m0;
  const double m1 = weight * m.m1;
  const double m2 = weight * m.m2;
  const double share = m0 - m1;
  const double share2 = m0 - 2 * m1 + m2;
  add_weighted_flat({share, 0, share2, 0, 0, share, share2, 0}, label);
}

void MomentForm::add_pixel_noise(double variance, LabelMoments label) {
  diagonal += weight * variance;
  if (label != LabelMoments::mean) return;
  // The mean of the mask moves with each pixel: E[q N_j] grows by variance / pixels.
  const double shift = 2 * (weight * variance) / static_cast<double>(size.pixels());
  constant -= shift;
  mean_constant -= shift;
}

void MomentForm::scale(double factor) {
  constant *= factor;
  diagonal *= factor;
  mean_constant *= factor;
  for (Block& block : blocks) {
    for (Part& part : block.parts) {
      part.quadratic *= factor;
      part.linear *= factor;
      part.cross *= factor;
      part.mean *= factor;
      part.mean_cross *= factor;
    }
  }
}

std::vector<double> MomentForm::map() const {
  Matrix map = Matrix::Constant(size.height, size.width, constant);
  map(0, 0) += diagonal;
  for (const Block& block : blocks) {
    const auto both = [&](auto fill) {
      return std::pair(table(block.rows, size.height, fill),
                       table(block.columns, size.width, fill));
    };
    if (any(block.parts, &Part::quadratic)) {
      const auto [rows, columns] = both([](const AxisLaw& law, double* v) { law.lags(v); });
      add_products(block.parts, &Part::quadratic, rows, columns, map);
    }
    if (any(block.parts, &Part::linear)) {
      const auto [rows, columns] = both([](const AxisLaw& law, double* v) { law.means(v); });
      add_linear(block, &Part::linear, rows, columns, map);
    }
    if (any(block.parts, &Part::cross)) {
      const auto [rows, columns] = both([](const AxisLaw& law, double* v) { law.crosses(v); });
      add_linear(block, &Part::cross, rows, columns, map);
    }
  }
  return values_of(map);
}

std::vector<double> MomentForm::means() const {
  Matrix image = Matrix::Constant(size.height, size.width, mean_constant);
  for (const Block& block : blocks) {
    const auto both = [&](auto fill) {
      return std::pair(table(block.rows, size.height, fill),
                       table(block.columns, size.width, fill));
    };
    if (any(block.parts, &Part::mean)) {
      const auto [rows, columns] = both([](const AxisLaw& law, double* v) { law.means(v); });
      add_products(block.parts, &Part::mean, rows, columns, image);
    }
    if (any(block.parts, &Part::mean_cross)) {
      const auto [rows, columns] = both([](const AxisLaw& law, double* v) { law.crosses(v); });
      add_products(block.parts, &Part::mean_cross, rows, columns, image);
    }
  }
  return values_of(image);
}

double MomentForm::quadratic(std::span<const double> v) const {
  const Eigen::Map<const Matrix> image(v.data(), size.height, size.width);
  const double total = image.sum();
  double sum = constant * total * total + diagonal * image.squaredNorm();
  for (const Block& block : blocks) {
    std::vector<Matrix> columns;
    for (const AxisLaw& law : block.columns) columns.push_back(joint_table(law));
    // Column laws that share a row law are summed first.
    std::vector<Matrix> summed(block.rows.size());
    for (const Part& part : block.parts) {
      if (part.quadratic == 0) continue;
      Matrix& to = summed[static_cast<std::size_t>(part.row)];
      if (to.size() == 0) to = Matrix::Zero(size.width, size.width);
      to += part.quadratic * columns[static_cast<std::size_t>(part.column)];
    }
    for (std::size_t i = 0; i < summed.size(); ++i) {
      if (summed[i].size() == 0) continue;
      const Matrix right = image * summed[i];
      sum += image.cwiseProduct(joint_table(block.rows[i]) * right).sum();
    }
    const auto both = [&](auto fill) {
      return std::pair(table(block.rows, size.height, fill),
                       table(block.columns, size.width, fill));
    };
    Matrix linear = Matrix::Zero(size.height, size.width);
    const auto [rows_mean, columns_mean] = both([](const AxisLaw& l, double* d) { l.means(d); });
    add_products(block.parts, &Part::linear, rows_mean, columns_mean, linear);
    const auto [rows_cross, columns_cross] =
        both([](const AxisLaw& l, double* d) { l.crosses(d); });
    add_products(block.parts, &Part::cross, rows_cross, columns_cross, linear);
    sum += 2 * total * image.cwiseProduct(linear).sum();
  }
  return sum;
}

std::vector<double> MomentForm::matrix() const {
  const Eigen::Index pixels = size.pixels();
  Matrix second = Matrix::Constant(pixels, pixels, constant);
  second.diagonal().array() += diagonal;
  for (const Block& block : blocks) {
    std::vector<Matrix> rows;
    std::vector<Matrix> columns;
    for (const AxisLaw& law : block.rows) rows.push_back(joint_table(law));
    for (const AxisLaw& law : block.columns) columns.push_back(joint_table(law));
    for (const Part& part : block.parts) {
      const Matrix& row = rows[static_cast<std::size_t>(part.row)];
      const Matrix& column = columns[static_cast<std::size_t>(part.column)];
      for (Eigen::Index j = 0; j < size.height; ++j) {
        for (Eigen::Index k = 0; k < size.height; ++k) {
          second.block(j * size.width, k * size.width, size.width, size.width) +=
              part.quadratic * row(j, k) * column;
        }
      }
    }
    const auto both = [&](auto fill) {
      return std::pair(table(block.rows, size.height, fill),
                       table(block.columns, size.width, fill));
    };
    Matrix image = Matrix::Zero(size.height, size.width);
    const auto [rows_mean, columns_mean] = both([](const AxisLaw& l, double* v) { l.means(v); });
    add_products(block.parts, &Part::linear, rows_mean, columns_mean, image);
    const auto [rows_cross, columns_cross] =
        both([](const AxisLaw& l, double* v) { l.crosses(v); });
    add_products(block.parts, &Part::cross, rows_cross, columns_cross, image);
    add_to_both(image, second);
  }
  return values_of(second);
}

}  // namespace medley::theory
