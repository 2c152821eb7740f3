#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "medley/plan.h"
#include "medley/types.h"

namespace medley {

/// Where mixing runs. `reference` is the plain-loop specification, `cpu` the vectorized and
/// threaded version of it, `cuda` a GPU (images in host memory are copied there and back; for
/// images that live on the device see medley/cuda.h). `automatic` is `cpu`: copying costs more than
/// mixing.
enum class Backend : std::uint8_t { automatic, reference, cpu, cuda };

/// "auto", "reference", "cpu" or "cuda".
[[nodiscard]] std::string_view name_of(Backend backend) noexcept;

/// Throws InvalidArgument for an unknown name.
[[nodiscard]] Backend backend_from_name(std::string_view name);

/// The backends that work in this build on this machine, fastest first.
[[nodiscard]] std::vector<Backend> available_backends();

/// Instruction sets that `cpu` can use on this machine, best first ("AVX3_DL", "AVX2", …).
[[nodiscard]] std::vector<std::string_view> simd_targets();

/// (value - mean) / stddev per channel, in units of the input (0..255 for u8). Empty: no change.
struct Normalize {
  std::vector<float> mean = {};
  std::vector<float> stddev = {};

  /// Whether values stay as they are.
  [[nodiscard]] bool empty() const noexcept { return mean.empty() && stddev.empty(); }
  /// For mean and deviation given for values in [0, 1] and u8 images: both times 255.
  [[nodiscard]] static Normalize of_unit_range(std::span<const float> mean,
                                               std::span<const float> stddev);
};

/// What a window shows where it leaves the image.
enum class PadMode : std::uint8_t { constant, reflect };

/// How outputs are written. `streaming` goes past the caches, `cached` through them; `automatic`
/// streams what would not fit in the last-level cache anyway.
enum class Stores : std::uint8_t { automatic, cached, streaming };

/// How mixing runs, and what becomes of the values.
struct MixOptions {
  Backend backend = Backend::automatic;
  int threads = 0;  ///< 0: all cores
  Normalize normalize = {};
  PadMode pad_mode = PadMode::constant;
  float pad_value = 0;  ///< for `constant`; rounded to the type of the input
  Stores stores = Stores::automatic;
  /// Takes images of another size than the plan's: the windows of its sources cut or pad them.
  /// Without it such an input is refused.
  bool windows = false;
};

/// Mixes: output b is made from the images of `in` as `plan.entries[b]` says, normalized and
/// converted to the type and layout of `out`. Pure: nothing random, and the same bits from every
/// backend, SIMD target and number of threads.
///
/// `out` has plan.entries.size() images of plan.size and the channels of `in`. The
/// images of `in` have that size too, unless `options.windows` is set. Arithmetic is `float`,
/// products and sums rounded separately; weights 0 and 1 copy, so NaN and infinity of the other
/// image do not leak; u8 is rounded to nearest, ties to even, and clamped (NaN becomes 0). NaN
/// payloads may change.
///
/// In place (`in` and `out` the same memory, type and layout): allowed for plans of two sources per
/// output without windows, resampling or conversion, over exactly this batch; needs scratch memory
/// of one image. Any other overlap is an error, also where one has its values between the other's.
/// Otherwise memory use is a few rows per thread. Threads keep it for their next call, which
/// allocates nothing if it is like the last one.
void mix(const MixPlan& plan, const ImageBatchView& in, const MutableImageBatchView& out,
         const MixOptions& options = {});

}  // namespace medley
