#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "medley/types.h"

namespace medley {

/// What plans a seed gives: the number grows when any method, pairing or order draws otherwise than
/// before, and CHANGELOG.md says how. Plans of any version can be applied; what goes on drawing (a
/// run, a mixer's state) goes on with its own version only.
inline constexpr std::int32_t kDrawsVersion = 2;

/// Of plans and runs that do not say.
inline constexpr std::int32_t kFirstDrawsVersion = 1;

/// One image that enters an output: which one, and the window cut from it. Output pixel (y, x)
/// shows the image's pixel (y + dy, x' + dx) with x' = width-1-x when mirrored; what lies outside
/// the image is padding. Tiles are moved before that, within the window.
struct Source {
  std::int64_t index = 0;
  std::int32_t dy = 0;
  std::int32_t dx = 0;
  bool flip = false;
  std::int32_t tiles = -1;  ///< which of `MixPlan::tile_maps`; -1: nothing is moved

  /// Whether the image is shown as it is.
  [[nodiscard]] bool whole() const noexcept { return dy == 0 && dx == 0 && !flip && tiles < 0; }
  friend bool operator==(const Source&, const Source&) = default;
};

/// Where the tiles of a source's window go: the outputs are cut into rows x columns tiles of one
/// size, numbered row by row, and tile t shows what tile `tiles[t]` would show. Height and width of
/// the outputs must be multiples of `rows` and `columns`.
struct TileMap {
  std::int32_t rows = 1;
  std::int32_t columns = 1;
  std::vector<std::int32_t> tiles;
  friend bool operator==(const TileMap&, const TileMap&) = default;
};

// A mask gives each pixel the weight M of the own image; the partner gets 1 - M.

/// The same weight everywhere.
struct FlatMask {
  double value = 1;
  friend bool operator==(const FlatMask&, const FlatMask&) = default;
};

/// One weight in a box, another outside. The box may be empty; a wrapped box runs past the edge and
/// goes on at the opposite one.
struct BoxMask {
  std::int32_t top = 0;
  std::int32_t left = 0;
  std::int32_t height = 0;
  std::int32_t width = 0;
  double inside = 0;
  double outside = 1;
  friend bool operator==(const BoxMask&, const BoxMask&) = default;
};

/// Whose weight is 1 at the center of a Gaussian.
enum class Peak : std::uint8_t { own, partner };

/// K = exp(-pi * squared distance to (cy, cx) / (tau * height * width)) is the weight of the image
/// that `peak` names.
struct GaussianMask {
  std::int32_t cy = 0;
  std::int32_t cx = 0;
  double tau = 1;
  Peak peak = Peak::partner;
  friend bool operator==(const GaussianMask&, const GaussianMask&) = default;
};

/// Any mask: height * width values of `MixPlan::fields`, from `offset` on.
struct FieldMask {
  std::int64_t offset = 0;
  friend bool operator==(const FieldMask&, const FieldMask&) = default;
};

/// Between the values of a grid: the same in the whole block, or bilinear.
enum class GridInterpolation : std::uint8_t { constant, bilinear };

/// A coarse mask: rows * columns values of `MixPlan::fields`, from `offset` on. Constant: pixel (y,
/// x) has the value of block (floor(y * rows / height), floor(x * columns / width)). Bilinear:
/// between the centers of the four blocks around the pixel's center; beyond the outermost centers
/// values go on as they are. At most one row and column per pixel.
struct GridMask {
  std::int64_t offset = 0;
  std::int32_t rows = 1;
  std::int32_t columns = 1;
  GridInterpolation interpolation = GridInterpolation::constant;
  friend bool operator==(const GridMask&, const GridMask&) = default;
};

/// A mask that is still to be decided, from the images. A plan with one is open: it can be stored,
/// cut and joined, but not applied.
struct OpenMask {
  friend bool operator==(const OpenMask&, const OpenMask&) = default;
};

/// The mask of an output.
using Mask = std::variant<FlatMask, BoxMask, GaussianMask, FieldMask, GridMask, OpenMask>;

/// The weights of a term's pixels where they differ.
using TermMask = std::variant<std::monostate, FieldMask, GridMask>;

/// Whether the partner is shrunk into the box of the mask (resizemix), and how.
enum class Resample : std::uint8_t { none, bilinear, nearest };

/// A source with its weight, for outputs of more than two images.
struct MixTerm {
  Source source;
  double weight = 0;  ///< of its label, and of all its pixels unless it has a mask
  /// The weights of its pixels; `weight` is then the mean of these (`mask_mean`) under the
  /// `realized` rule. Where no term of an output has any weight the output is 0.
  TermMask mask = {};
  friend bool operator==(const MixTerm&, const MixTerm&) = default;
};

/// How one output comes about.
struct MixEntry {
  Source own;
  Source partner;
  Mask mask;
  Resample resample = Resample::none;
  double lam = 1;           ///< as drawn or given
  double label_weight = 1;  ///< what the own label gets; the partner's label gets the rest
  /// If `term_count` > 0 the output is the weighted sum of that many `MixPlan::terms`; `own` is the
  /// first of them, `partner` the second and `mask` is the first one's: flat with its weight, or
  /// the mask that it has.
  std::int64_t term_begin = 0;
  std::int32_t term_count = 0;
  friend bool operator==(const MixEntry&, const MixEntry&) = default;
};

/// What to mix, decided in full: nothing random is left. Plain data that can be printed, stored and
/// applied again.
struct MixPlan {
  std::string method;
  std::int32_t draws = kDrawsVersion;  ///< the version that drew it
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::int64_t first = 0;  ///< ordinal of the first entry in its epoch
  ImageSize size;          ///< of the outputs
  /// Source indices count from here: index `base` is image 0 of the batch handed to `mix`. `first`
  /// for plans within a batch, 0 for plans over a data set.
  std::int64_t base = 0;
  std::vector<MixEntry> entries;
  std::vector<MixTerm> terms;
  std::vector<float> fields;
  std::vector<TileMap> tile_maps;

  friend bool operator==(const MixPlan&, const MixPlan&) = default;
};

/// Throws InvalidArgument unless the plan is well formed: sizes > 0, all numbers finite, boxes,
/// centers, fields, grids, tiles and terms in range. The values of fields are not looked at. `mix`
/// and the label functions check this themselves.
void validate(const MixPlan& plan);

/// Whether a mask is still to be decided. Open plans are well formed, but `mix`, the label
/// functions and `mask_values` refuse them.
[[nodiscard]] bool is_open(const MixPlan& plan);

/// Writes the mask of `entry` (weights of the own image, row-major) in double precision; `values`
/// must hold size.height * size.width elements. The mixing kernels apply these weights rounded to
/// `float`. Throws InvalidArgument if the mask does not fit the plan, as `mask_mean` does.
void mask_values(const MixPlan& plan, const MixEntry& entry, std::span<double> values);

/// Mean of the entry's mask: the label weight of the `realized` rule.
[[nodiscard]] double mask_mean(const MixPlan& plan, const MixEntry& entry);

/// The same of the weights of a term's pixels.
void mask_values(const MixPlan& plan, const MixTerm& term, std::span<double> values);
/// The same of a term.
[[nodiscard]] double mask_mean(const MixPlan& plan, const MixTerm& term);

/// The plan as JSON, schema "medley.plan/2". `with_values` adds each mask as rows of numbers;
/// without it a plan with field masks cannot be read back.
[[nodiscard]] std::string to_json(const MixPlan& plan, bool with_values = false);

/// Reads what `to_json` wrote, in this version or in "medley.plan/1". Throws InvalidArgument with
/// the place and the reason if the text is not a plan.
[[nodiscard]] MixPlan plan_from_json(std::string_view text);

}  // namespace medley
