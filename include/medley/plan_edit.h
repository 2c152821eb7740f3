#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "medley/plan.h"

namespace medley {

// Cutting and joining plans. An entry refers to terms, fields, grids and tile maps of its plan;
// these functions are the only ones that move entries, so that each keeps what belongs to it. All
// throw InvalidArgument for entries that do not exist and for plans that do not fit together.

/// The entries from `begin` on, `count` of them, as a plan of their own: a shard of a batch, with
/// the same draws. It has its entries' terms, mask values and tile maps and no others, and still
/// counts images from `base`, so that it mixes from the batch of the whole plan.
[[nodiscard]] MixPlan slice(const MixPlan& plan, std::int64_t begin, std::int64_t count);

/// Adds the entries of `other` behind those of `plan`. Both must have one size and one base.
void append(MixPlan& plan, const MixPlan& other);

/// Puts entry `from` of `other` where `plan` has entry `at`. Both must have one size and one base.
void replace(MixPlan& plan, std::int64_t at, const MixPlan& other, std::int64_t from);

/// Renames the images: image i of the batch, which is source index `base` + i, becomes `names[i]`,
/// and `base` becomes 0. So a plan over the positions of a batch becomes one over a data set.
void relabel(MixPlan& plan, std::span<const std::int64_t> names);

/// Keeps only the images that the outputs need, own images first, each in the order in which it
/// appears, and counts them from 0. Returns their former numbers, counted from the former base:
/// what to gather before mixing. An image that no pixel and no label sees gives way to one that
/// they do. Of open entries nothing is dropped.
[[nodiscard]] std::vector<std::int64_t> compact_sources(MixPlan& plan);

}  // namespace medley
