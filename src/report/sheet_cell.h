#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "medley/data/image.h"
#include "medley/report/pictures.h"

namespace medley::report {

/// One mixed picture of a sheet.
struct SheetCell {
  data::Image mixed;
  std::vector<std::uint8_t> mask;  ///< weight of the own image, 0 to 255
  std::string label;               ///< the weights that the labels get
};

/// Number of images that a policy mixes; throws InvalidArgument if they are too many to show.
[[nodiscard]] std::int64_t source_count(const MixPolicy& policy);

/// Whether lam means nothing to the row, so that one cell shows all there is.
[[nodiscard]] bool ignores_lam(const SheetRow& row);

/// Mixes sources[0] with the ones after it, which all have the same size, by the row's policy with
/// a fixed lam. `column` keys the draw of rows that redraw.
[[nodiscard]] SheetCell mix_cell(const SheetRow& row, double lam,
                                 std::span<const data::Image> sources, std::uint64_t seed,
                                 std::uint64_t column);

}  // namespace medley::report
