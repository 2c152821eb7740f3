#include "moments/axis_law.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/gaussian_factor.h"
#include "plan/box.h"

namespace medley::theory {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

AxisLaw AxisLaw::box(std::int32_t n, std::int32_t side, Placement placement) {
  if (placement == Placement::wrap) {
    AxisLaw law(Kind::wrap, n);
    law.side_ = side;
    return law;
  }
  AxisLaw law(Kind::intervals, n);
  for (std::int32_t place = 0; place < box_places(n, side, placement); ++place) {
    const auto [begin, length] = box_interval(n, side, placement, place);
    law.intervals_.push_back({begin, begin + length});
  }
  // An even length has no pixel in its middle.
  law.mirrored_ = placement == Placement::inside || n == 1 || clipped_side(n, side) == 0;
  return law;
}

std::vector<AxisLaw::Class> AxisLaw::clipped_classes(std::int32_t n, std::int32_t side) {
  const AxisLaw all = box(n, side, Placement::clipped);
  std::map<std::int32_t, AxisLaw> by_length;
  for (const Interval interval : all.intervals_) {
    const std::int32_t length = interval.end - interval.begin;
    AxisLaw& law = by_length.try_emplace(length, AxisLaw(Kind::intervals, n)).first->second;
    law.intervals_.push_back(interval);
    law.mirrored_ = false;
  }
  std::vector<Class> classes;
  for (auto& [length, law] : by_length) {
    const double probability = ratio(std::ssize(law.intervals_), n);
    classes.push_back({std::move(law), length, probability});
  }
  return classes;
}

AxisLaw AxisLaw::gaussian(std::int32_t n, double scale, std::vector<std::int32_t> centers) {
  AxisLaw law(Kind::gaussian, n);
  law.scale_ = scale;
  law.centers_ = std::move(centers);
  for (std::int32_t d = 0; d < n; ++d) law.profile_.push_back(gaussian_factor(scale, d));
  std::vector<double> sums(static_cast<std::size_t>(n) + 1);  // of the first values of the profile
  std::partial_sum(law.profile_.begin(), law.profile_.end(), sums.begin() + 1);
  for (const std::int32_t c : law.centers_) {
    const double sum = sums[static_cast<std::size_t>(c) + 1] +
                       sums[static_cast<std::size_t>(n - c)] - law.profile_[0];
    law.profile_mean_.push_back(sum / n);
    const auto opposite = std::find(law.centers_.begin(), law.centers_.end(), n - 1 - c);
    if (opposite == law.centers_.end()) law.mirrored_ = false;
  }
  return law;
}

AxisLaw AxisLaw::gaussian(std::int32_t n, double scale) {
  std::vector<std::int32_t> centers(static_cast<std::size_t>(n));
  std::iota(centers.begin(), centers.end(), 0);
  return gaussian(n, scale, std::move(centers));
}

AxisLaw AxisLaw::noise(std::int32_t n, std::vector<double> matrix) {
  AxisLaw law(Kind::noise, n);
  law.matrix_ = std::move(matrix);
  return law;
}

double AxisLaw::mean(std::int32_t j) const {
  if (kind_ == Kind::noise) return 0;
  if (kind_ != Kind::gaussian) return joint(j, j);
  double sum = 0;
  for (const std::int32_t c : centers_) sum += profile_[static_cast<std::size_t>(std::abs(j - c))];
  return sum / static_cast<double>(centers_.size());
}

double AxisLaw::joint(std::int32_t j, std::int32_t k) const {
  const std::int32_t lo = std::min(j, k);
  const std::int32_t hi = std::max(j, k);
  switch (kind_) {
    case Kind::wrap: {
      const std::int32_t d = hi - lo;
      const std::int32_t around = d > 0 ? std::max(side_ - (n_ - d), 0) : 0;
      return ratio(std::max(side_ - d, 0) + around, n_);
    }
    case Kind::gaussian: {
      double sum = 0;
      for (const std::int32_t c : centers_) {
        sum += profile_[static_cast<std::size_t>(std::abs(lo - c))] *
               profile_[static_cast<std::size_t>(std::abs(hi - c))];
      }
      return sum / static_cast<double>(centers_.size());
    }
    case Kind::noise:
      return matrix_[static_cast<std::size_t>(std::int64_t{lo} * n_ + hi)];
    case Kind::intervals:
      break;
  }
  const auto covers = [=](Interval s) { return s.begin <= lo && hi < s.end; };
  return ratio(std::count_if(intervals_.begin(), intervals_.end(), covers), std::ssize(intervals_));
}

double AxisLaw::cross(std::int32_t j) const {
  std::vector<double> values(static_cast<std::size_t>(n_));
  crosses(values.data());
  return values[static_cast<std::size_t>(j)];
}

double AxisLaw::average() const {
  switch (kind_) {
    case Kind::wrap:
      return ratio(side_, n_);
    case Kind::gaussian:
      return std::accumulate(profile_mean_.begin(), profile_mean_.end(), 0.0) /
             static_cast<double>(profile_mean_.size());
    case Kind::noise:
      return 0;
    case Kind::intervals:
      break;
  }
  std::int64_t sum = 0;
  for (const Interval s : intervals_) sum += s.end - s.begin;
  return ratio(sum, std::int64_t{n_} * std::ssize(intervals_));
}

void AxisLaw::add_intervals(double* values, bool times_length) const {
  // A difference array of whole numbers, so nothing is rounded before the division.
  std::vector<std::int64_t> change(static_cast<std::size_t>(n_) + 1);
  for (const Interval s : intervals_) {
    const std::int64_t weight = times_length ? s.end - s.begin : 1;
    change[static_cast<std::size_t>(s.begin)] += weight;
    change[static_cast<std::size_t>(s.end)] -= weight;
  }
  const std::int64_t whole = std::ssize(intervals_) * (times_length ? n_ : 1);
  std::int64_t sum = 0;
  for (std::int32_t i = 0; i < n_; ++i) {
    sum += change[static_cast<std::size_t>(i)];
    values[i] = ratio(sum, whole);
  }
}

void AxisLaw::means(double* values) const {
  if (kind_ == Kind::intervals) return add_intervals(values, false);
  for (std::int32_t i = 0; i < n_; ++i) values[i] = mean(i);
}

void AxisLaw::crosses(double* values) const {
  if (kind_ == Kind::intervals) return add_intervals(values, true);
  for (std::int32_t i = 0; i < n_; ++i) {
    double sum = 0;
    if (kind_ == Kind::wrap) {
      sum = ratio(side_, n_) * ratio(side_, n_);
    } else if (kind_ == Kind::noise) {
      for (std::int32_t k = 0; k < n_; ++k) sum += joint(i, k);
      sum /= n_;
    } else {
      for (std::size_t c = 0; c < centers_.size(); ++c) {
        sum += profile_mean_[c] * profile_[static_cast<std::size_t>(std::abs(i - centers_[c]))];
      }
      sum /= static_cast<double>(centers_.size());
    }
    values[i] = sum;
  }
}

void AxisLaw::lags(double* values) const {
  if (kind_ == Kind::gaussian) return gaussian_lags(values);
  if (kind_ == Kind::wrap) {  // the same for every pair at a distance
    for (std::int32_t d = 0; d < n_; ++d) values[d] = joint(0, d);
    return;
  }
  if (kind_ == Kind::noise) {
    for (std::int32_t d = 0; d < n_; ++d) {
      double sum = 0;
      for (std::int32_t i = 0; i + d < n_; ++i) sum += joint(i, i + d);
      values[d] = sum / (n_ - d);
    }
    return;
  }
  // An interval of length l holds l - d pairs at distance d: two running sums over the lengths.
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(n_) + 1);
  for (const Interval s : intervals_) ++lengths[static_cast<std::size_t>(s.end - s.begin)];
  std::int64_t longer = 0;
  std::int64_t pairs = 0;
  for (std::int32_t d = n_ - 1; d >= 0; --d) {
    longer += lengths[static_cast<std::size_t>(d) + 1];
    pairs += longer;
    values[d] = ratio(pairs, std::ssize(intervals_) * (n_ - d));
  }
}

void AxisLaw::gaussian_lags(double* values) const {
  // exp(-s(x^2 + (x+d)^2)) = exp(-s d^2/2) exp(-s m^2/2) with m = 2x + d, so one table of running
  // sums over m of equal parity serves every center and distance.
  const std::int32_t reach = 2 * n_;
  std::vector<double> factors(static_cast<std::size_t>(reach) + 1);
  for (std::int32_t m = 0; m <= reach; ++m) {
    factors[static_cast<std::size_t>(m)] = gaussian_factor(scale_ / 2, m);
  }
  std::vector<double> sums(2 * static_cast<std::size_t>(reach) + 3);
  const auto sum_to = [&](std::int32_t m) -> double& {
    return sums[static_cast<std::size_t>(std::int64_t{m} + reach + 2)];
  };
  for (std::int32_t m = -reach; m <= reach; ++m) {
    sum_to(m) = sum_to(m - 2) + factors[static_cast<std::size_t>(std::abs(m))];
  }
  for (std::int32_t d = 0; d < n_; ++d) {
    double sum = 0;
    for (const std::int32_t c : centers_) {
      sum += sum_to(2 * (n_ - 1 - d - c) + d) - sum_to(d - 2 * c - 2);
    }
    values[d] = factors[static_cast<std::size_t>(d)] * sum /
                (static_cast<double>(centers_.size()) * (n_ - d));
  }
}

}  // namespace medley::theory
