#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "medley/method.h"
#include "medley/options.h"

namespace medley {

/// Which formula a method uses where the paper and the published code differ. `calibrated` (gmix
/// only) makes the mask mean equal lam.
enum class Form : std::uint8_t { code, paper, calibrated };
/// Their names.
inline constexpr std::array<std::string_view, 3> kForms = {"code", "paper", "calibrated"};

/// Where a box may lie. `clipped`: center anywhere, cut at the border, even sides. `inside`: wholly
/// in the image. `wrap`: runs over the border and comes in on the other side.
enum class Placement : std::uint8_t { clipped, inside, wrap };
/// Their names.
inline constexpr std::array<std::string_view, 3> kPlacements = {"clipped", "inside", "wrap"};

/// How many samples share one draw of lam and mask: one, the whole batch, or two. `pair`: partners
/// are each other's and share a draw, but pairing `roll` keeps its partners; a sample left over (an
/// odd batch, or rules that a random matching cannot keep for all) shares that of its neighbor, or
/// stays unmixed.
enum class Mode : std::uint8_t { sample, batch, pair };
/// Their names.
inline constexpr std::array<std::string_view, 3> kModes = {"sample", "batch", "pair"};

/// Who mixes with whom: a random permutation of the batch, the batch reversed, the next sample
/// (position + 1), or an independent index of the data set.
enum class Pairing : std::uint8_t { batch, reverse, roll, dataset };
/// Their names.
inline constexpr std::array<std::string_view, 4> kPairings = {"batch", "reverse", "roll",
                                                              "dataset"};

/// Restricts partners by class; `same` and `other` need labels and pairing `batch` or `dataset`.
enum class ClassRule : std::uint8_t { any, same, other };
/// Their names.
inline constexpr std::array<std::string_view, 3> kClassRules = {"any", "same", "other"};

/// How resizemix samples the shrunk partner.
enum class Interpolation : std::uint8_t { bilinear, nearest };
/// Their names.
inline constexpr std::array<std::string_view, 2> kInterpolations = {"bilinear", "nearest"};

/// The names of an enumeration's values, in order: what makes it a NamedEnum.
// clang-format off
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(Form) noexcept { return kForms; }
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(Placement) noexcept { return kPlacements; }
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(Mode) noexcept { return kModes; }
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(Pairing) noexcept { return kPairings; }
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(ClassRule) noexcept { return kClassRules; }
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(Interpolation) noexcept { return kInterpolations; }
// clang-format on

/// The name of an enumerator; "?" of a number that none has.
template <NamedEnum Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) noexcept {
  const std::span<const std::string_view> names = enum_names(value);
  const auto i = static_cast<std::size_t>(value);
  return i < names.size() ? names[i] : "?";
}

/// Random crop and flip, fused into mixing: the image is padded by `pad` on every side and a window
/// of the original size is cut out at a uniform position; it is mirrored with probability `flip`.
struct Augment {
  std::int32_t pad = 0;
  double flip = 0;

  /// Whether it does anything.
  [[nodiscard]] bool any() const noexcept { return pad > 0 || flip > 0; }
};

/// A mixing method, and what is the same for all methods. Plain data; `Sampler` checks it.
struct MixPolicy {
  Method method = "mixup";

  double prob = 1;  ///< chance that a draw mixes at all
  LabelRule label = LabelRule::realized;
  Mode mode = Mode::sample;
  Pairing pairing = Pairing::batch;
  bool no_self = false;  ///< never mix a sample with itself
  ClassRule classes = ClassRule::any;
  Augment augment = {};
};

/// The options of a MixPolicy beside its method's.
[[nodiscard]] const std::vector<OptionSpec>& policy_options();

}  // namespace medley
