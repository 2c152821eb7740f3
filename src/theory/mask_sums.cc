#include "theory/mask_sums.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <Eigen/Dense>

#include "core/gaussian_factor.h"
#include "plan/inverse_transform.h"
#include "theory/fft.h"
#include "theory/gaussian_factors.h"

namespace medley::theory {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MapOf = Eigen::Map<const Matrix>;

constexpr std::size_t kWaiting = 64;  // Gaussians per matrix product

std::size_t at(std::int64_t row, std::int64_t column, std::int64_t width) {
  return static_cast<std::size_t>(row * width + column);
}

/// Turns the corners of boxes into an image, H x W, and adds it to `image`.
void add_integrated(const std::vector<double>& change, ImageSize size, std::vector<double>& image) {
  std::vector<double> above(static_cast<std::size_t>(size.width));
  for (std::int32_t y = 0; y < size.height; ++y) {
    double row = 0;
    for (std::int32_t x = 0; x < size.width; ++x) {
      row += change[at(y, x, size.width + 1)];
      above[static_cast<std::size_t>(x)] += row;
      image[at(y, x, size.width)] += above[static_cast<std::size_t>(x)];
    }
  }
}

/// Sums over the rectangle from the origin, with a border of zeros.
Matrix summed_area(const std::vector<double>& image, ImageSize size) {
  Matrix sums = Matrix::Zero(size.height + 1, size.width + 1);
  for (std::int32_t y = 0; y < size.height; ++y) {
    double row = 0;
    for (std::int32_t x = 0; x < size.width; ++x) {
      row += image[at(y, x, size.width)];
      sums(y + 1, x + 1) = sums(y, x + 1) + row;
    }
  }
  return sums;
}

/// sum over lengths l > d of weight(l, .) (l - d), for both axes in turn.
Matrix patch_pairs(const std::vector<double>& patches, ImageSize size) {
  Matrix sums = MapOf(patches.data(), size.height + 1, size.width + 1);
  const auto ramp = [](Matrix& m) {  // down the columns
    Eigen::RowVectorXd longer = Eigen::RowVectorXd::Zero(m.cols());
    Eigen::RowVectorXd pairs = Eigen::RowVectorXd::Zero(m.cols());
    for (Eigen::Index d = m.rows() - 2; d >= 0; --d) {
      longer += m.row(d + 1);
      pairs += longer;
      m.row(d + 1) = pairs;  // shifted by one: row d + 1 holds distance d
    }
  };
  ramp(sums);
  Matrix turned = sums.transpose();
  ramp(turned);
  return turned.transpose().bottomRightCorner(size.height, size.width);
}

/// Adds the profile exp(-s (i - c)^2) on n pixels, and its autocorrelation for every distance: one
/// subtraction each, of running sums (see AxisLaw). `factors` holds exp(-s m^2 / 2).
void append_factors(const std::vector<double>& factors, std::int32_t c, std::int32_t n,
                    std::vector<double>& profiles, std::vector<double>& pairs) {
  thread_local std::vector<double> sums;
  const std::size_t before = profiles.size();
  profiles.resize(before + static_cast<std::size_t>(n));
  pairs.resize(profiles.size());
  double* const profile = profiles.data() + before;
  double* const pair = pairs.data() + before;
  for (std::int32_t i = 0; i < n; ++i) {
    const double root = factors[static_cast<std::size_t>(std::abs(i - c))];
    profile[i] = root * root;
  }
  const std::int32_t low = -2 * c;  // smallest and greatest 2 x + d
  const std::int32_t high = 2 * (n - 1 - c);
  sums.assign(static_cast<std::size_t>(high - low) + 3, 0);
  double* const sum = sums.data() - low + 2;  // by 2 x + d
  for (std::int32_t m = low; m <= high; ++m) {
    sum[m] = sum[m - 2] + factors[static_cast<std::size_t>(std::abs(m))];
  }
  for (std::int32_t d = 0; d < n; ++d) {
    pair[d] =
        factors[static_cast<std::size_t>(d)] * (sum[2 * (n - 1 - c) - d] - sum[d - 2 * c - 2]);
  }
}

/// Pairs at each distance within a stretch that may run over the end of the axis.
std::vector<double> axis_pairs(std::int32_t begin, std::int32_t length, std::int32_t n) {
  std::vector<double> pairs(static_cast<std::size_t>(n));
  const std::int32_t over = std::max(begin + length - n, 0);
  const std::int32_t first = length - over;
  for (std::int32_t d = 0; d < n; ++d) {
    // Within the last part, within the part at the beginning, and from this to that.
    const std::int32_t across =
        std::max(std::min(over, n - d) - std::max(begin - d, 0), 0) * (over > 0 ? 1 : 0);
    pairs[static_cast<std::size_t>(d)] =
        std::max(first - d, 0) + std::max(over - d, 0) + (d > 0 ? across : 0);
  }
  return pairs;
}

}  // namespace

MaskSums::MaskSums(ImageSize size, bool effective)
    : size_(size),
      effective_(effective),
      linear_change_(at(size.height + 1, 0, size.width + 1)),
      mean_change_(linear_change_.size()),
      linear_(static_cast<std::size_t>(size.pixels())),
      mean_(linear_.size()),
      patches_(linear_change_.size()),
      pairs_(linear_.size()) {}

MaskSums::Weights MaskSums::weights(double p, double q, double share) const noexcept {
  if (!effective_) return {p * q, q};
  return {p * q - share * q, q - 2 * share * q};
}

void MaskSums::add_flat(double n, double share) {
  constant_ += n * n;
  mean_constant_ += n;
  if (!effective_) return;
  const double shift = share - 2 * share * n;
  constant_ += shift;
  mean_constant_ += shift;
}

void MaskSums::add_rectangle(std::int32_t top, std::int32_t left, std::int32_t bottom,
                             std::int32_t right, Weights w) {
  const std::int64_t width = size_.width + 1;
  const std::size_t corners[] = {at(top, left, width), at(bottom, right, width),
                                 at(top, right, width), at(bottom, left, width)};
  for (std::size_t i = 0; i < 4; ++i) {
    const double sign = i < 2 ? 1 : -1;
    linear_change_[corners[i]] += sign * w.linear;
    mean_change_[corners[i]] += sign * w.mean;
  }
}

void MaskSums::add_patch(std::int32_t height, std::int32_t width, double square) {
  patches_[at(height, width, size_.width + 1)] += square;
}

void MaskSums::add_box(const BoxMask& box, double share, bool clip) {
  double inside = 1 - box.inside;
  double outside = 1 - box.outside;
  if (clip) {
    inside = std::clamp(inside, 0.0, 1.0);
    outside = std::clamp(outside, 0.0, 1.0);
  }
  const double q = inside - outside;
  add_flat(outside, share);
  if (box.height == 0 || box.width == 0 || q == 0) return;
  // A wrapped box is up to four rectangles; pairs across them are those of the complement's sides.
  const Weights w = weights(outside, q, share);
  const std::int32_t over_rows = std::max(box.top + box.height - size_.height, 0);
  const std::int32_t over_columns = std::max(box.left + box.width - size_.width, 0);
  const std::int32_t bottom = box.top + box.height - over_rows;
  const std::int32_t right = box.left + box.width - over_columns;
  add_rectangle(box.top, box.left, bottom, right, w);
  if (over_rows > 0) add_rectangle(0, box.left, over_rows, right, w);
  if (over_columns > 0) add_rectangle(box.top, 0, bottom, over_columns, w);
  if (over_rows > 0 && over_columns > 0) add_rectangle(0, 0, over_rows, over_columns, w);
  if (over_rows == 0 && over_columns == 0) {
    add_patch(box.height, box.width, q * q);
    return;
  }
  const std::vector<double> rows = axis_pairs(box.top, box.height, size_.height);
  const std::vector<double> columns = axis_pairs(box.left, box.width, size_.width);
  for (std::size_t y = 0; y < rows.size(); ++y) {
    for (std::size_t x = 0; x < columns.size(); ++x) {
      pairs_[y * columns.size() + x] += q * q * rows[y] * columns[x];
    }
  }
}

void MaskSums::add_gaussian(const GaussianMask& mask, double share) {
  const double scale = gaussian_scale(mask.tau, static_cast<double>(size_.pixels()));
  const double p = mask.peak == Peak::own ? 1 : 0;
  const double q = mask.peak == Peak::own ? -1 : 1;
  add_flat(p, share);
  thread_local std::vector<double> factors;
  const std::int32_t far =
      std::max({mask.cy, size_.height - 1 - mask.cy, mask.cx, size_.width - 1 - mask.cx});
  fill_factors(scale / 2, 2 * far, factors);
  append_factors(factors, mask.cy, size_.height, rows_, row_pairs_);
  append_factors(factors, mask.cx, size_.width, columns_, column_pairs_);
  waiting_.push_back(weights(p, q, share));
  if (waiting_.size() == kWaiting) flush_gaussians();
}

void MaskSums::flush_gaussians() {
  if (waiting_.empty()) return;
  const auto count = std::ssize(waiting_);
  std::vector<double> weighted(rows_.size());
  const auto add = [&](double Weights::*field, std::vector<double>& image) {
    const auto is_zero = [&](const Weights& w) { return w.*field == 0; };
    if (std::ranges::all_of(waiting_, is_zero)) return;
    std::size_t at = 0;
    for (const Weights& w : waiting_) {
      const double weight = w.*field;
      for (std::int32_t y = 0; y < size_.height; ++y, ++at) weighted[at] = weight * rows_[at];
    }
    add_outer_products(weighted.data(), columns_.data(), count, size_.height, size_.width,
                       image.data());
  };
  add(&Weights::linear, linear_);
  add(&Weights::mean, mean_);
  add_outer_products(row_pairs_.data(), column_pairs_.data(), count, size_.height, size_.width,
                     pairs_.data());
  rows_.clear();
  columns_.clear();
  row_pairs_.clear();
  column_pairs_.clear();
  waiting_.clear();
}

void MaskSums::add_field(std::span<const float> field, double share, bool clip) {
  if (power_.empty()) {
    fft_height_ = transform_length(2 * size_.height - 1);
    fft_width_ = transform_length(2 * size_.width - 1);
    power_.resize(at(fft_height_, 0, fft_width_ / 2 + 1));
  }
  const Weights w = weights(0, 1, share);
  std::vector<double> n(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    const double own = clip ? std::clamp(field[i], 0.0f, 1.0f) : field[i];
    n[i] = 1 - own;
    linear_[i] += w.linear * n[i];
    mean_[i] += w.mean * n[i];
  }
  add_flat(0, share);
  add_power_spectrum(n, size_, fft_height_, fft_width_, power_);
}

void MaskSums::add_fields_to(std::vector<double>& map) const {
  if (power_.empty()) return;
  const std::vector<double> pairs = autocorrelation(power_, size_, fft_height_, fft_width_);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] += pairs[i];
}

void MaskSums::add(const MixPlan& plan, const MixEntry& entry, bool clip) {
  ++count_;
  const double share = 1 - entry.label_weight;
  if (const auto* flat = std::get_if<FlatMask>(&entry.mask)) {
    add_flat(clip ? std::clamp(1 - flat->value, 0.0, 1.0) : 1 - flat->value, share);
  } else if (const auto* box = std::get_if<BoxMask>(&entry.mask)) {
    add_box(*box, share, clip);
  } else if (const auto* gaussian = std::get_if<GaussianMask>(&entry.mask)) {
    add_gaussian(*gaussian, share);
  } else {
    const std::int64_t offset = std::get<FieldMask>(entry.mask).offset;
    add_field(std::span(plan.fields).subspan(static_cast<std::size_t>(offset), linear_.size()),
              share, clip);
  }
}

MaskSums::Result MaskSums::finish() {
  flush_gaussians();
  Result result;
  const auto count = static_cast<double>(count_);
  add_integrated(linear_change_, size_, linear_);
  add_integrated(mean_change_, size_, mean_);
  for (const double value : mean_) result.means.push_back((value + mean_constant_) / count);

  std::vector<double> pairs = pairs_;
  add_fields_to(pairs);
  const Matrix boxes = patch_pairs(patches_, size_);
  const Matrix sums = summed_area(linear_, size_);
  const auto [height, width] = size_;
  for (std::int32_t dy = 0; dy < height; ++dy) {
    for (std::int32_t dx = 0; dx < width; ++dx) {
      const double before = sums(height - dy, width - dx);
      const double after = sums(height, width) - sums(dy, width) - sums(height, dx) + sums(dy, dx);
      const double pixels = static_cast<double>(height - dy) * (width - dx);
      const double sum = pairs[at(dy, dx, width)] + boxes(dy, dx) + before + after;
      result.map.push_back((constant_ + sum / pixels) / count);
    }
  }
  return result;
}

}  // namespace medley::theory
