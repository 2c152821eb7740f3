#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "medley/theory/beta_law.h"
#include "plan/box.h"
#include "theory/families.h"

namespace medley::theory {
namespace {

using Sides = std::pair<std::int32_t, std::int32_t>;

/// What is integrated over the lams (and ratios) that give a box the same sides.
struct SideMoments {
  double m0 = 0, m1 = 0, m2 = 0;  // of lam
  ScalarMoments paper;            // with the outside value that the paper prints
};

using SideTable = std::map<Sides, SideMoments>;

/// lam / (1 - (1 - lam) r) for r = 1 - rest: of a ratio close to 1 only the rest has all digits.
double paper_outside(double lam, double rest) {
  const double below = lam * (1 - rest) + rest;
  return below > 0 ? lam / below : 1;
}

void add_paper(SideMoments& at, double lam, double rest, double weight) {
  const double o = paper_outside(lam, rest);
  at.paper += fixed_scalars(weight, 1 - o, o, 1 - lam);
}

/// The paper's outside weight has a pole at -distance, in lam as well as in 1 - r. Rules shrink
/// towards 0, so only a panel that touches 0 can be too wide for it: [lo, hi] is cut there.
std::vector<Stretch> cut_beside_pole(double lo, double hi, double distance) {
  constexpr double kGrowth = 3;  // as panels of beta_nodes_between
  const double cut = (kGrowth - 1) * distance;
  if (lo > 0 || !(cut > 0 && cut < hi)) return {{lo, hi}};
  return {{lo, cut}, {cut, hi}};
}

SideMoments& entry(SideTable& table, ImageSize sides) { return table[{sides.height, sides.width}]; }

/// Adds fixed lam and ratio.
void add_point(SideTable& table, ImageSize size, double lam, double ratio, double weight) {
  SideMoments& at = entry(table, hmix_sides(size, 1 - lam, ratio));
  at.m0 += weight;
  at.m1 += weight * lam;
  at.m2 += weight * lam * lam;
  add_paper(at, lam, 1 - ratio, weight);
}

/// Adds lam ~ Beta for a fixed ratio: cells of constant sides, whose moments of lam are exact.
void add_beta_lam(SideTable& table, ImageSize size, const LamFamily& lam, double ratio,
                  bool paper) {
  const double tolerance = area_tolerance(lam.alpha, lam.beta);
  for (const auto& [from, to] : equal_boxes(size, ratio, tolerance)) {  // of the share 1 - lam
    SideMoments& at = entry(table, box_sides(size, ratio * (from + to) / 2));
    const double lo = 1 - to;
    const double hi = 1 - from;
    at.m0 += lam.moment(lo, hi, 0);
    at.m1 += lam.moment(lo, hi, 1);
    at.m2 += lam.moment(lo, hi, 2);
    if (!paper) continue;
    for (const auto& [x, weight] : paper_nodes(lam, lo, hi, ratio)) {
      add_paper(at, x, 1 - ratio, weight);
    }
  }
}

/// Adds ratio ~ Beta(gamma, gamma). Everything is in terms of rest = 1 - ratio, which has the same
/// law and keeps its digits next to 0.
class DrawnRatio {
 public:
  /// Relative areas of boxes are at most `most`.
  DrawnRatio(SideTable& table, ImageSize size, double gamma, double tolerance, double most,
             bool paper)
      : gamma_(gamma), rounded_(beta_cdf(gamma, gamma, kRounded)), paper_(paper) {
    if (rounded_ < kRare) rounded_ = 0;
    for (const Stretch& area : equal_boxes(size, 1, tolerance)) {
      if (area.from > 0 && area.from >= most) break;
      cells_.push_back({area, &entry(table, box_sides(size, (area.from + area.to) / 2))});
      add_steps(area.from);
    }
    std::sort(steps_.begin(), steps_.end());
  }

  /// Adds one lam.
  void add_fixed(double lam, double weight) {
    for (const Cell& cell : cells_) {
      const Stretch rest{rest_at(cell.area.to, lam), rest_at(cell.area.from, lam)};
      if (!(rest.from < rest.to)) return;
      add(*cell.at, lam, rest, weight);
    }
  }

  /// Adds lam ~ Beta.
  void add_drawn(const LamFamily& lam) {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const double lo = 1 - cells_[i].area.to;
      const double hi = 1 - cells_[i].area.from;
      const bool singular = paper_ && lo <= 0;
      if (singular || i == 0) {
        for (const auto& [from, to] : pieces(lo, hi, i, lam)) {
          for (const Node& node : nodes(lam, from, to)) add_fixed(node.x, node.weight);
        }
        continue;
      }
      // Of the sides that a ratio can give only the largest have a chance that is not smooth: they
      // are left out first and then taken from the next, so that few integrals need many lams.
      for (const Node& node : nodes(lam, lo, hi)) add_smaller(i, node);
      for (const auto& [from, to] : pieces(lo, hi, i, lam)) {
        for (const Node& node : nodes(lam, from, to)) {
          const Stretch rest{0, rest_at(cells_[i].area.from, node.x)};
          add(*cells_[i].at, node.x, rest, node.weight);
          add(*cells_[i - 1].at, node.x, rest, -node.weight);
        }
      }
    }
  }

 private:
  struct Cell {
    Stretch area;
    SideMoments* at;
  };

  /// 1 - ratio at which a box has the relative area.
  static double rest_at(double area, double lam) {
    if (area <= 0) return 1;
    return lam < 1 ? std::clamp((1 - area - lam) / (1 - lam), 0.0, 1.0) : 0;
  }

  /// A ratio of large gamma is close to 1/2, and a box gains a pixel within few lams: panels are
  /// cut at as many deviations. Beyond 8 of them the chance is 1e-15.
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

  void add(SideMoments& at, double lam, Stretch rest, double weight) const {
    if (paper_) {
      if (rounded_ > 0 && rest.from < kRounded) {
        const double mass = rest.to < kRounded ? beta_cdf(gamma_, gamma_, rest.to) : rounded_;
        add_paper(at, lam, 0, weight * (mass - beta_cdf(gamma_, gamma_, rest.from)));
        rest.from = std::min(kRounded, rest.to);
      }
      for (const auto& [from, to] : cut_beside_pole(rest.from, rest.to, lam / (1 - lam))) {
        for (const Node& node : beta_nodes_between(gamma_, gamma_, from, to)) {
          add_paper(at, lam, node.x, weight * node.weight);
        }
      }
      return;
    }
    const double mass = weight * beta_cell_moment(gamma_, gamma_, rest.from, rest.to, 0);
    at.m0 += mass;
    at.m1 += mass * lam;
    at.m2 += mass * lam * lam;
  }

  /// All sides below those of cell i, which count as the next smaller.
  void add_smaller(std::size_t i, const Node& lam) {
    for (std::size_t k = 0; k < i; ++k) {
      const double from = k + 1 < i ? rest_at(cells_[k].area.to, lam.x) : 0;
      add(*cells_[k].at, lam.x, {from, rest_at(cells_[k].area.from, lam.x)}, lam.weight);
    }
  }

  /// Pieces of [lo, hi] that shrink towards the ends where moments are powers. At hi the sides of
  /// cell i have the chance (hi - lam)^gamma. At 0 the paper's form goes like lam^gamma.
  [[nodiscard]] std::vector<Stretch> pieces(double lo, double hi, std::size_t i,
                                            const LamFamily& lam) const {
    std::vector<Stretch> result;
    double from = lo;
    if (paper_ && lo <= 0) {
      // On what is left the chance times the power is 1e-12; or, if small rests are rounded to 0,
      // nothing changes fast.
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
  std::vector<double> steps_;  // lams
  double gamma_;
  double rounded_;  // chance of a ratio that is rounded to 1
  bool paper_;
};

SideTable side_table(ImageSize size, const LamFamily& lam, double ratio,
                     std::optional<double> gamma, bool paper) {
  SideTable table;
  if (!gamma) {
    if (lam.fixed) {
      add_point(table, size, *lam.fixed, ratio, 1);
    } else {
      add_beta_lam(table, size, lam, ratio, paper);
    }
    return table;
  }
  const double tolerance = area_tolerance(*gamma, *gamma);
  if (lam.fixed) {
    DrawnRatio(table, size, *gamma, tolerance, 1 - *lam.fixed, paper).add_fixed(*lam.fixed, 1);
    return table;
  }
  // A full box takes a tiny lam and a ratio close to 1, and is rare if one of them is.
  const double both = std::min(tolerance, area_tolerance(lam.alpha, lam.beta));
  DrawnRatio(table, size, *gamma, both, 1, paper).add_drawn(lam);
  return table;
}

AxisLaw axis(std::int32_t n, std::int32_t side, Placement placement) {
  switch (placement) {
    case Placement::inside:
      return AxisLaw::inside(n, side);
    case Placement::wrap:
      return AxisLaw::wrap(n, side);
    case Placement::clipped:
      break;
  }
  return AxisLaw::clipped(n, side);
}

/// The laws of a block, made once per side.
class AxisPool {
 public:
  AxisPool(std::vector<AxisLaw>& laws, std::int32_t n, Placement placement)
      : laws_(laws), n_(n), placement_(placement) {}

  std::int32_t operator[](std::int32_t side) {
    if (placement_ == Placement::clipped) side = clipped_side(n_, side);
    const auto [found, added] = index_.try_emplace(side, static_cast<std::int32_t>(laws_.size()));
    if (added) laws_.push_back(axis(n_, side, placement_));
    return found->second;
  }

 private:
  std::vector<AxisLaw>& laws_;
  std::int32_t n_;
  Placement placement_;
  std::map<std::int32_t, std::int32_t> index_;
};

/// Scalars of hmix's code form for a box of `area` pixels: p = 1 - kappa lam, q = kappa lam.
ScalarMoments code_scalars(const SideMoments& m, double weight, double area, double pixels) {
  const double kappa = area < pixels ? pixels / (pixels - area) : 0;
  const double s = m.m0 - m.m1;
  const double sq = kappa * (m.m1 - m.m2);
  ScalarMoments result{m.m0 - kappa * m.m1,
                       kappa * m.m1,
                       m.m0 - 2 * kappa * m.m1 + kappa * kappa * m.m2,
                       kappa * m.m1 - kappa * kappa * m.m2,
                       kappa * kappa * m.m2,
                       s,
                       s - sq,
                       sq};
  for (double ScalarMoments::*field :
       {&ScalarMoments::p, &ScalarMoments::q, &ScalarMoments::pp, &ScalarMoments::pq,
        &ScalarMoments::qq, &ScalarMoments::s, &ScalarMoments::sp, &ScalarMoments::sq}) {
    result.*field *= weight;
  }
  return result;
}

/// Code form with clipped boxes: what is left of the box decides the weight outside it, so boxes
/// are split by the size that is left. Within a class rows and columns are independent.
void add_clipped_classes(MomentForm& form, MomentForm::Block& block, const SideTable& table,
                         LabelMoments label) {
  SideTable even;
  for (const auto& [sides, m] : table) {
    SideMoments& at = even[{clipped_side(form.size.height, sides.first),
                            clipped_side(form.size.width, sides.second)}];
    at.m0 += m.m0;
    at.m1 += m.m1;
    at.m2 += m.m2;
  }
  const auto pixels = static_cast<double>(form.size.pixels());
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
  for (const auto& [sides, m] : even) {
    const Classes& r = classes_of(rows, block.rows, form.size.height, sides.first);
    const Classes& c = classes_of(columns, block.columns, form.size.width, sides.second);
    for (std::size_t i = 0; i < r.classes.size(); ++i) {
      for (std::size_t k = 0; k < c.classes.size(); ++k) {
        const double area = static_cast<double>(r.classes[i].length) * c.classes[k].length;
        const double chance = r.classes[i].chance * c.classes[k].chance;
        form.add(block, r.first + static_cast<std::int32_t>(i),
                 c.first + static_cast<std::int32_t>(k), code_scalars(m, chance, area, pixels),
                 label);
      }
    }
  }
}

}  // namespace

double area_tolerance(double alpha, double beta) {
  return beta_cdf(alpha, beta, kAreaTolerance) < kRare ? 0 : kAreaTolerance;
}

std::vector<Stretch> equal_boxes(ImageSize size, double most, double tolerance) {
  std::vector<double> areas = {1};  // at which a side gains a pixel, and the end
  for (const std::int32_t n : {size.height, size.width}) {
    for (std::int32_t s = 1; s <= n; ++s) {
      const double share = static_cast<double>(s) / n;
      areas.push_back((size.one_row() ? share : share * share) / (1 + tolerance));
    }
  }
  std::sort(areas.begin(), areas.end());
  std::vector<Stretch> stretches;
  double from = 0;
  for (const double area : areas) {
    const double to = most > 0 ? std::min(1.0, area / most) : 1;
    if (to > from) stretches.push_back({from, to});
    from = to;
  }
  return stretches;
}

std::vector<Node> paper_nodes(const LamFamily& lam, double lo, double hi, double ratio) {
  std::vector<Node> nodes;
  for (const auto& [from, to] : cut_beside_pole(lo, hi, (1 - ratio) / ratio)) {
    for (const Node& node : lam.nodes(from, to)) nodes.push_back(node);
  }
  return nodes;
}

void add_cutmix(MomentForm& form, const LamFamily& lam, Placement placement, double weight) {
  MomentForm::Block& block = form.blocks.emplace_back();
  AxisPool rows(block.rows, form.size.height, placement);
  AxisPool columns(block.columns, form.size.width, placement);
  const LabelMoments label = lam.label_moments(LabelMoments::mean);
  for (const auto& [sides, m] : side_table(form.size, lam, 1, {}, false)) {
    const double s = weight * (m.m0 - m.m1);
    const double mass = weight * m.m0;
    form.add(block, rows[sides.first], columns[sides.second], {0, mass, 0, 0, mass, s, 0, s},
             label);
  }
}

void add_hmix(MomentForm& form, const LamFamily& lam, const MixPolicy& policy) {
  const bool paper = form_of(policy) == Form::paper;
  const SideTable table = side_table(form.size, lam, policy.ratio, policy.gamma, paper);
  MomentForm::Block& block = form.blocks.emplace_back();
  // The realised label of the code form is lam itself.
  const LabelMoments label = lam.label_moments(paper ? LabelMoments::mean : LabelMoments::fixed);
  if (!paper && policy.placement == Placement::clipped) {
    add_clipped_classes(form, block, table, label);
    return;
  }
  AxisPool rows(block.rows, form.size.height, policy.placement);
  AxisPool columns(block.columns, form.size.width, policy.placement);
  const auto pixels = static_cast<double>(form.size.pixels());
  for (const auto& [sides, m] : table) {
    const double area = static_cast<double>(sides.first) * sides.second;
    form.add(block, rows[sides.first], columns[sides.second],
             paper ? m.paper : code_scalars(m, 1, area, pixels), label);
  }
}

void add_box(MomentForm& form, std::int32_t height, std::int32_t width, double outside,
             Placement placement) {
  MomentForm::Block& block = form.blocks.emplace_back();
  block.rows.push_back(axis(form.size.height, height, placement));
  block.columns.push_back(axis(form.size.width, width, placement));
  form.add(block, 0, 0, fixed_scalars(1, 1 - outside, outside, 0), LabelMoments::none);
}

}  // namespace medley::theory
