#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "medley/plan.h"
#include "medley/policy.h"
#include "medley/sampler.h"
#include "plan/pairing.h"

namespace medley {

/// What a plan is made from. The request has been checked, and its count filled in.
struct PlanInputs {
  const MixPolicy& policy;
  const MaskSampler& masks;
  ImageSize size;
  std::uint64_t seed;
  const PlanRequest& request;
  std::int64_t count;
  const ClassIndex* classes;  // of the data set, if partners come from it and their classes matter
};

/// Makes one plan, step by step: partners, units that share a draw, draws, entries.
class PlanBuilder {
 public:
  explicit PlanBuilder(const PlanInputs& inputs);

  [[nodiscard]] MixPlan build();

 private:
  [[nodiscard]] std::vector<std::vector<std::int64_t>> find_partners() const;
  [[nodiscard]] std::int64_t first_of_unit(std::int64_t position) const;
  void find_units();
  void choose_mixed();
  void draw_masks(MixPlan& plan);
  void draw_together(MixPlan& plan);
  void draw_unit(std::size_t unit, MixPlan& plan);
  void set_offset(std::size_t unit);
  void take_means(const MixPlan& plan);
  void write_entry(std::int64_t position, MixPlan& plan) const;

  [[nodiscard]] UnitRandom random_of(std::size_t unit) const;
  [[nodiscard]] Source own_source(std::int64_t position) const;
  [[nodiscard]] Source partner_source(std::int64_t position, std::size_t k) const;
  void write_sources(std::int64_t position, MixEntry& entry) const;

  [[nodiscard]] std::int64_t index_of(std::int64_t position) const {
    const std::int64_t ordinal = in_.request.first + position;
    return in_.request.order.empty() ? ordinal
                                     : in_.request.order[static_cast<std::size_t>(ordinal)];
  }

  const PlanInputs in_;
  const bool dataset_;
  const std::uint64_t batch_ordinal_;
  const bool pairs_;           // whether an output has a partner
  const bool windows_;         // whether sources are cropped or mirrored
  const std::size_t sources_;  // weights per unit, 0 unless the method lists terms
  /// For each partner of an output, its index (data-set pairing) or its position in the batch.
  std::vector<std::vector<std::int64_t>> partners_;
  std::vector<std::size_t> unit_of_;   // by position
  std::vector<std::int64_t> first_;    // position of a unit's first sample
  std::vector<char> mixed_;            // whether a position mixes
  std::vector<char> needed_;           // whether a unit is drawn
  std::vector<std::size_t> field_at_;  // where a unit's field begins
  std::vector<MaskDraw> draws_;        // by unit
  std::vector<double> weights_;        // sources_ per unit
};

}  // namespace medley
