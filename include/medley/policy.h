#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "medley/types.h"

namespace medley {

class GaussianDesign;

/// Which formula a method uses where the paper and the published code differ. `calibrated` (gmix
/// only) makes the mask mean equal lam.
enum class Form : std::uint8_t { code, paper, calibrated };

/// Where a box may lie. `clipped`: centre anywhere, cut at the border, even sides. `inside`: wholly
/// in the image. `wrap`: runs over the border and comes in on the other side.
enum class Placement : std::uint8_t { clipped, inside, wrap };

/// The weight that labels get: the mean of the mask that was applied, or the drawn lam.
enum class LabelRule : std::uint8_t { realised, drawn };

/// How many samples share one draw of lam and mask: one, the whole batch, or two. `pair`: partners
/// are each other's and share a draw, but pairing `roll` keeps its partners; a sample left over (an
/// odd batch, or rules that a random matching cannot keep for all) shares that of its neighbour, or
/// stays unmixed.
enum class Mode : std::uint8_t { sample, batch, pair };

/// Who mixes with whom: a random permutation of the batch, the batch reversed, the next sample
/// (position + 1), or an independent index of the data set.
enum class Pairing : std::uint8_t { batch, reverse, roll, dataset };

/// Restricts partners by class; `same` and `other` need labels and pairing `batch` or `dataset`.
enum class ClassRule : std::uint8_t { any, same, other };

/// How resizemix samples the shrunk partner.
enum class Interpolation : std::uint8_t { bilinear, nearest };

/// The caller's own masks for method `custom`: `count` masks of `size`, row-major, one after the
/// other. A value is the weight of the own image; any finite number is allowed.
struct MaskSet {
  ImageSize size;
  std::vector<float> values;

  [[nodiscard]] std::int64_t count() const noexcept {
    return size.pixels() > 0 ? static_cast<std::int64_t>(values.size()) / size.pixels() : 0;
  }
};

/// Random crop and flip, fused into mixing: the image is padded by `pad` on every side and a window
/// of the original size is cut out at a uniform position; it is mirrored with probability `flip`.
struct Augment {
  std::int32_t pad = 0;
  double flip = 0;

  [[nodiscard]] bool any() const noexcept { return pad > 0 || flip > 0; }
};

/// A mixing method and its hyper-parameters. Plain data; `Sampler` checks it. Fields a method does
/// not use are ignored (`find_method(name)->options` says which it uses) but must still be valid.
struct MixPolicy {
  std::string method = "mixup";

  std::optional<double> alpha =
      {};  ///< Beta(alpha, beta) of lam; default: the method's own (1 or 0.5)
  std::optional<double> beta = {};  ///< default: alpha
  std::optional<double> lam = {};   ///< a fixed lam instead of a drawn one
  double prob = 1;                  ///< chance that a draw mixes at all

  Placement placement = Placement::clipped;  ///< boxes: cutmix, stochastic, hmix, resizemix
  std::optional<Form> form = {};     ///< hmix, gmix, fmix; default: the method's own (`form_of`)
  double ratio = 0.5;                ///< hmix: share of 1-lam that the box carries
  std::optional<double> gamma = {};  ///< hmix: draw the ratio from Beta(gamma, gamma)
  double q_mix = 0.5;                ///< stochastic: probability of mixup
  std::int32_t n = 3;                ///< nmixup: samples per output
  std::optional<double> power = {};  ///< nmixup: zeta-mixup weights k^-power, permuted
  double decay = 3;                  ///< fmix: spectral decay
  double soft = 0;                   ///< fmix: share of pixels on the soft edge
  double scale_min = 0.1;            ///< resizemix: smallest side ratio
  double scale_max = 0.8;            ///< resizemix: largest side ratio
  Interpolation interpolation = Interpolation::bilinear;  ///< resizemix
  double sigma = 0.25;   ///< gaussian-field: standard deviation of the mask around lam
  double length = 0.25;  ///< gaussian-field: correlation length in units of the image side
  std::shared_ptr<const GaussianDesign> design =
      {};                                     ///< gaussian-field: instead of sigma and length
  std::shared_ptr<const MaskSet> masks = {};  ///< custom

  LabelRule label = LabelRule::realised;
  Mode mode = Mode::sample;
  Pairing pairing = Pairing::batch;
  bool no_self = false;  ///< never mix a sample with itself
  ClassRule classes = ClassRule::any;

  Augment augment = {};
};

/// An option of a method: its name as in CLI, JSON and Python, and its default as text.
struct OptionInfo {
  std::string_view name;
  std::string_view default_value;
};

struct MethodInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view source;     ///< where the method was published
  double default_alpha = 1;    ///< used when `MixPolicy::alpha` is not set
  bool uses_lam = true;        ///< false: its masks do not depend on a lam
  bool unbounded_lam = false;  ///< accepts a fixed lam outside [0, 1]
  bool in_place = true;        ///< two-source mix that may overwrite its input
  std::vector<OptionInfo> options = {};

  /// Whether it is one of `options`, or lam where that is used.
  [[nodiscard]] bool uses(std::string_view option) const noexcept;
};

/// Every method, in the order of the documentation.
[[nodiscard]] const std::vector<const MethodInfo*>& methods();

/// The form of the policy, or its method's own; `code` for methods without.
[[nodiscard]] Form form_of(const MixPolicy& policy);

/// The method of that name, or null.
[[nodiscard]] const MethodInfo* find_method(std::string_view name);

/// The method of that name; throws InvalidArgument with the nearest name if there is none.
[[nodiscard]] const MethodInfo& get_method(std::string_view name);

[[nodiscard]] std::string_view name_of(Form value) noexcept;
[[nodiscard]] std::string_view name_of(Placement value) noexcept;
[[nodiscard]] std::string_view name_of(LabelRule value) noexcept;
[[nodiscard]] std::string_view name_of(Mode value) noexcept;
[[nodiscard]] std::string_view name_of(Pairing value) noexcept;
[[nodiscard]] std::string_view name_of(ClassRule value) noexcept;
[[nodiscard]] std::string_view name_of(Interpolation value) noexcept;

}  // namespace medley
