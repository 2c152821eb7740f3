#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "medley/data/image.h"
#include "medley/policy.h"

namespace medley::report {

/// One line of a contact sheet: a policy under a title, with a note on its parameters.
struct SheetRow {
  std::string title;
  std::string note;
  /// The sheet sets `lam`, `pairing`, `mode` and `classes`. Method `custom` without masks shows a
  /// soft disc of mean lam; method `none` fills one column only.
  MixPolicy policy;
  bool redraw = false;  ///< draw anew in each column instead of keeping place and noise
};

/// Every method of `methods()` with its defaults.
[[nodiscard]] std::vector<SheetRow> default_sheet_rows();

/// What a contact sheet shows.
struct ContactSheetOptions {
  std::int32_t tile = 96;  ///< side of a picture in pixels, 16 to 1024
  std::vector<double> lams = {0.1, 0.3, 0.5, 0.7, 0.9};  ///< one column each
  std::vector<SheetRow> rows;                            ///< empty: `default_sheet_rows()`
  std::uint64_t seed = 6;  ///< of masks; the default shows whole boxes
  /// Own image, partner and further partners (nmixup); resized to the tile. Missing ones are
  /// drawn by `synthetic_image`, always the same.
  std::vector<data::Image> sources;
  std::string title = "Mixed sample data augmentation";
  std::string caption;  ///< below the sheet; empty: an explanation of the tiles
};

/// A table of pictures: a row per policy, a column per lam, and in each cell the mixed picture with
/// its mask (white: own image, black: partner; values beyond 0 and 1 are clamped). Deterministic.
/// Throws InvalidArgument if an option is out of range or a policy does not work.
[[nodiscard]] data::Image contact_sheet(const ContactSheetOptions& options = {});

/// One policy alone, for a page about it: the sources, then a column per lam with the mixed picture
/// above its mask. Uses the options' tile, lams, seed and sources.
[[nodiscard]] data::Image method_picture(const SheetRow& row,
                                         const ContactSheetOptions& options = {});

/// A picture with a few words on each line below it.
struct GridPicture {
  data::Image image;
  std::vector<std::string> lines;
};

/// Pictures of one size in rows, small ones enlarged by whole numbers so that their lines fit.
/// Words that are too long for the width of a picture are cut. Pictures at the end are left out
/// where a picture of all would be too large, so the result is empty if not even one fits.
[[nodiscard]] data::Image draw_grid(const std::vector<GridPicture>& pictures, int columns = 8);

}  // namespace medley::report
