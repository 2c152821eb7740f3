#include "moments/box_moments.h"

#include <algorithm>
#include <cmath>

#include "plan/box.h"

namespace medley::theory {
namespace {

void add_outside(BoxMoments& at, OutsideWeight outside, double lam, double rest, double weight) {
  const double o = outside(lam, rest);
  at.scalars += fixed_scalars(weight, 1 - o, o, 1 - lam);
}

/// The weight outside has a pole at -distance, in lam as well as in 1 - r. Rules shrink towards 0,
/// so only a panel that touches 0 can be too wide for it: [lo, hi] is cut there.
std::vector<Interval> cut_beside_pole(double lo, double hi, double distance) {
  constexpr double kGrowth = 3;  // as panels of beta_nodes_between
  const double cut = (kGrowth - 1) * distance;
  if (lo > 0 || !(cut > 0 && cut < hi)) return {{lo, hi}};
  return {{lo, cut}, {cut, hi}};
}

BoxMoments& entry(BoxTable& table, ImageSize sides) { return table[{sides.height, sides.width}]; }

/// Adds ratio ~ Beta(gamma, gamma). Everything is in terms of rest = 1 - ratio, which has the same
/// law and keeps its digits next to 0.
class DrawnRatio {
 public:
  /// Relative areas of boxes are at most `most`.
  DrawnRatio(BoxTable& table, ImageSize size, double gamma, double tolerance, double most,
             OutsideWeight outside)
      : gamma_(gamma), rounded_(beta_cdf(gamma, gamma, kRounded)), outside_(outside) {
    if (rounded_ < kNegligible) rounded_ = 0;
    for (const Interval& area : equal_boxes(size, 1, tolerance)) {
      if (area.from > 0 && area.from >= most) break;
      cells_.push_back({area, &entry(table, box_sides(size, (area.from + area.to) / 2))});
      add_steps(area.from);
    }
    std::sort(steps_.begin(), steps_.end());
  }

  /// Adds one lam.
  void add_fixed(double lam, double weight) {
    for (const Cell& cell : cells_) {
      const Interval rest{rest_at(cell.area.to, lam), rest_at(cell.area.from, lam)};
      if (!(rest.from < rest.to)) return;
      add(*cell.at, lam, rest, weight);
    }
  }

  /// Adds lam ~ Beta.
  void add_drawn(const LamFamily& lam) {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const double lo = 1 - cells_[i].area.to;
      const double hi = 1 - cells_[i].area.from;
      const bool singular = outside_ != nullptr && lo <= 0;
      if (singular || i == 0) {
        for (const auto& [from, to] : pieces(lo, hi, i, lam)) {
          for (const Node& node : nodes(lam, from, to)) add_fixed(node.x, node.weight);
        }
        continue;
      }
      // Of the sides that a ratio can give only the largest have a probability that is not smooth:
      // they are left out first and then taken from the next, so that few integrals need many
      // lambdas.
      for (const Node& node : nodes(lam, lo, hi)) add_smaller(i, node);
      for (const auto& [from, to] : pieces(lo, hi, i, lam)) {
        for (const Node& node : nodes(lam, from, to)) {
          const Interval rest{0, rest_at(cells_[i].area.from, node.x)};
          add(*cells_[i].at, node.x, rest, node.weight);
          add(*cells_[i - 1].at, node.x, rest, -node.weight);
        }
      }
    }
  }

 private:
  struct Cell {
    Interval area;
    BoxMoments* at;
  };

  /// 1 - ratio at which a box has the relative area.
  static double rest_at(double area, double lam) {
    if (area <= 0) return 1;
    return lam < 1 ? std::clamp((1 - area - lam) / (1 - lam), 0.0, 1.0) : 0;
  }

  /// A ratio of large gamma is close to 1/2, and a box gains a pixel within few lambdas: panels are
  /// cut at as many deviations. Beyond 8 of them the probability is 1e-15.
  void add_steps(double area) {
    constexpr double kLargeGamma = 20;
    if (gamma_ <= kLargeGamma) return;
    const double deviation = 0.5 / std::sqrt(2 * gamma_ + 1);
    for (const int z : {-8, -4, 0, 4, 8}) {
      const double ratio = 0.5 + z * deviation;
      if (ratio > area) steps_.push_back(1 - area / ratio);
    }
  }

  [[nodiscard]] std::vector<Node> nodes(const LamFamily& lam, double lo, double hi) const {
    auto step = std::upper_bound(steps_.begin(), steps_.end(), lo);
    if (step == steps_.end() || *step >= hi) return lam.nodes(lo, hi);
    std::vector<Node> result;
    for (double from = lo; from < hi; ++step) {
      const double to = step == steps_.end() ? hi : std::min(hi, *step);
      for (const Node& node : lam.nodes(from, to)) result.push_back(node);
      from = to;
    }
    return result;
  }

  void add(BoxMoments& at, double lam, Interval rest, double weight) const {
    if (outside_ != nullptr) {
      if (rounded_ > 0 && rest.from < kRounded) {
        const double mass = rest.to < kRounded ? beta_cdf(gamma_, gamma_, rest.to) : rounded_;
        add_outside(at, outside_, lam, 0, weight * (mass - beta_cdf(gamma_, gamma_, rest.from)));
        rest.from = std::min(kRounded, rest.to);
      }
      for (const auto& [from, to] : cut_beside_pole(rest.from, rest.to, lam / (1 - lam))) {
        for (const Node& node : beta_nodes_between(gamma_, gamma_, from, to)) {
          add_outside(at, outside_, lam, node.x, weight * node.weight);
        }
      }
      return;
    }
    const double mass = weight * beta_cell_moment(gamma_, gamma_, rest.from, rest.to, 0);
    at.lam += {mass, mass * lam, mass * lam * lam};
  }

  /// All sides below those of cell i, which count as the next smaller.
  void add_smaller(std::size_t i, const Node& lam) {
    for (std::size_t k = 0; k < i; ++k) {
      const double from = k + 1 < i ? rest_at(cells_[k].area.to, lam.x) : 0;
      add(*cells_[k].at, lam.x, {from, rest_at(cells_[k].area.from, lam.x)}, lam.weight);
    }
  }

  /// Pieces of [lo, hi] that shrink towards the ends where moments are powers. At hi the sides of
  /// cell i have the probability (hi - lam)^gamma. At 0 a weight outside goes like lam^gamma.
  [[nodiscard]] std::vector<Interval> pieces(double lo, double hi, std::size_t i,
                                             const LamFamily& lam) const {
    std::vector<Interval> result;
    double from = lo;
    if (outside_ != nullptr && lo <= 0) {
      // On what is left the probability times the power is 1e-12; or, if small rests are rounded to
      // 0, nothing changes fast.
      const double cut =
          std::max(std::exp(-28 / (lam.alpha + gamma_)), rounded_ > 0 ? 2 * kRounded : 0);
      if (cut < hi / 2) {
        result.push_back({lo, cut});
        from = cut;
      }
    }
    double end = hi - lo;
    for (int k = i > 0 ? end_panels() : 0; k > 0; --k) {
      end /= kEndFactor;
      if (!(hi - end > from)) continue;
      result.push_back({from, hi - end});
      from = hi - end;
    }
    result.push_back({from, hi});
    return result;
  }

  /// The panel's distance to its end grows by this; 20 nodes are then exact to 1e-12.
  static constexpr double kEndFactor = 9;

  /// Panels until the last, on which 20 nodes have an error of 20^-(2 gamma + 2), has 1e-12 of it.
  [[nodiscard]] int end_panels() const {
    if (gamma_ == std::floor(gamma_)) return 0;  // a polynomial
    const double logs = std::log(1e12) / (1 + gamma_) - 2 * std::log(20.0);
    return std::max(0, static_cast<int>(std::ceil(logs / std::log(kEndFactor))));
  }

  std::vector<Cell> cells_;
  std::vector<double> steps_;  // lambdas
  double gamma_;
  double rounded_;  // probability of a ratio that is rounded to 1
  OutsideWeight outside_;
};

/// The laws of a block, made once per side.
class AxisPool {
 public:
  AxisPool(std::vector<AxisLaw>& laws, std::int32_t n, Placement placement)
      : laws_(laws), n_(n), placement_(placement) {}

  std::int32_t operator[](std::int32_t side) {
    if (placement_ == Placement::clipped) side = clipped_side(n_, side);
    const auto [found, added] = index_.try_emplace(side, static_cast<std::int32_t>(laws_.size()));
    if (added) laws_.push_back(AxisLaw::box(n_, side, placement_));
    return found->second;
  }

 private:
  std::vector<AxisLaw>& laws_;
  std::int32_t n_;
  Placement placement_;
  std::map<std::int32_t, std::int32_t> index_;
};

/// Clipped boxes are split by the size that is left. Within a class rows and columns are
/// independent.
void add_clipped_classes(MomentForm& form, const BoxTable& table, LabelMoments label,
                         const BoxScalars& scalars) {
  BoxTable even;
  for (const auto& [sides, m] : table) {
    even[{clipped_side(form.size.height, sides.first), clipped_side(form.size.width, sides.second)}]
        .lam += m.lam;
  }
  struct Classes {
    std::vector<AxisLaw::Class> classes;
    std::int32_t first = 0;
  };
  const auto classes_of = [](std::map<std::int32_t, Classes>& pool, std::vector<AxisLaw>& laws,
                             std::int32_t n, std::int32_t side) -> const Classes& {
    const auto [found, added] = pool.try_emplace(side);
    if (added) {
      found->second = {AxisLaw::clipped_classes(n, side), static_cast<std::int32_t>(laws.size())};
      for (const AxisLaw::Class& c : found->second.classes) laws.push_back(c.law);
    }
    return found->second;
  };
  std::map<std::int32_t, Classes> rows;
  std::map<std::int32_t, Classes> columns;
  MomentForm::Block& block = form.blocks.emplace_back();
  for (const auto& [sides, m] : even) {
    const Classes& r = classes_of(rows, block.rows, form.size.height, sides.first);
    const Classes& c = classes_of(columns, block.columns, form.size.width, sides.second);
    for (std::size_t i = 0; i < r.classes.size(); ++i) {
      for (std::size_t k = 0; k < c.classes.size(); ++k) {
        const double area = static_cast<double>(r.classes[i].length) * c.classes[k].length;
        ScalarMoments s = scalars(m, area);
        s *= r.classes[i].probability * c.classes[k].probability;
        form.add(block, r.first + static_cast<std::int32_t>(i),
                 c.first + static_cast<std::int32_t>(k), s, label);
      }
    }
  }
}

}  // namespace

double area_tolerance(double alpha, double beta) {
  return beta_cdf(alpha, beta, kAreaTolerance) < kNegligible ? 0 : kAreaTolerance;
}

std::vector<Interval> equal_boxes(ImageSize size, double most, double tolerance) {
  std::vector<double> areas = {1};  // at which a side gains a pixel, and the end
  for (const std::int32_t n : {size.height, size.width}) {
    for (std::int32_t s = 1; s <= n; ++s) {
      const double share = static_cast<double>(s) / n;
      areas.push_back((size.one_row() ? share : share * share) / (1 + tolerance));
    }
  }
  std::sort(areas.begin(), areas.end());
  std::vector<Interval> intervals;
  double from = 0;
  for (const double area : areas) {
    const double to = most > 0 ? std::min(1.0, area / most) : 1;
    if (to > from) intervals.push_back({from, to});
    from = to;
  }
  return intervals;
}

std::vector<Node> nodes_beside_pole(const LamFamily& lam, double lo, double hi, double ratio) {
  std::vector<Node> nodes;
  for (const auto& [from, to] : cut_beside_pole(lo, hi, (1 - ratio) / ratio)) {
    for (const Node& node : lam.nodes(from, to)) nodes.push_back(node);
  }
  return nodes;
}

BoxTable one_box(ImageSize sides, double lam, double ratio, OutsideWeight outside) {
  BoxTable table;
  BoxMoments& at = entry(table, sides);
  at.lam = {1, lam, lam * lam};
  if (outside != nullptr) add_outside(at, outside, lam, 1 - ratio, 1);
  return table;
}

BoxTable drawn_boxes(ImageSize size, const LamFamily& lam, double ratio, OutsideWeight outside) {
  BoxTable table;
  const double tolerance = area_tolerance(lam.alpha, lam.beta);
  for (const auto& [from, to] : equal_boxes(size, ratio, tolerance)) {  // of the share 1 - lam
    BoxMoments& at = entry(table, box_sides(size, ratio * (from + to) / 2));
    const double lo = 1 - to;
    const double hi = 1 - from;
    at.lam += lam.moments(lo, hi);
    if (outside == nullptr) continue;
    for (const auto& [x, weight] : nodes_beside_pole(lam, lo, hi, ratio)) {
      add_outside(at, outside, x, 1 - ratio, weight);
    }
  }
  return table;
}

BoxTable boxes_of_drawn_ratio(ImageSize size, const LamFamily& lam, double gamma,
                              OutsideWeight outside) {
  BoxTable table;
  const double tolerance = area_tolerance(gamma, gamma);
  if (lam.fixed) {
    DrawnRatio(table, size, gamma, tolerance, 1 - *lam.fixed, outside).add_fixed(*lam.fixed, 1);
    return table;
  }
  // A full box takes a tiny lam and a ratio close to 1, and is rare if one of them is.
  const double both = std::min(tolerance, area_tolerance(lam.alpha, lam.beta));
  DrawnRatio(table, size, gamma, both, 1, outside).add_drawn(lam);
  return table;
}

void add_boxes(MomentForm& form, const BoxTable& table, Placement placement, LabelMoments label,
               const BoxScalars& scalars) {
  MomentForm::Block& block = form.blocks.emplace_back();
  AxisPool rows(block.rows, form.size.height, placement);
  AxisPool columns(block.columns, form.size.width, placement);
  for (const auto& [sides, m] : table) {
    const double area = static_cast<double>(sides.first) * sides.second;
    const std::int32_t row = rows[sides.first];
    form.add(block, row, columns[sides.second], scalars(m, area), label);
  }
}

void add_boxes_by_area(MomentForm& form, const BoxTable& table, Placement placement,
                       LabelMoments label, const BoxScalars& scalars) {
  if (placement == Placement::clipped) {
    add_clipped_classes(form, table, label, scalars);
  } else {
    add_boxes(form, table, placement, label, scalars);
  }
}

void add_cut_boxes(MomentForm& form, const LamFamily& lam, Placement placement) {
  const BoxTable table = lam.fixed
                             ? one_box(box_sides(form.size, 1 - *lam.fixed), *lam.fixed, 1, nullptr)
                             : drawn_boxes(form.size, lam, 1, nullptr);
  add_boxes(form, table, placement, lam.label_moments(LabelMoments::mean),
            [](const BoxMoments& box, double /*area*/) {
              const double mass = box.lam.m0;
              const double s = mass - box.lam.m1;
              return ScalarMoments{0, mass, 0, 0, mass, s, 0, s};
            });
}

void add_box(MomentForm& form, ImageSize sides, double outside, Placement placement) {
  BoxTable table;
  entry(table, sides);
  add_boxes(form, table, placement, LabelMoments::none,
            [&](const BoxMoments&, double) { return fixed_scalars(1, 1 - outside, outside, 0); });
}

}  // namespace medley::theory
