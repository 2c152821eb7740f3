#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "medley/mix.h"
#include "python/images.h"
#include "python/plan.h"

namespace medley::python {

/// Options of mixing as Python has them: the mean and deviation are of values in [0, 1], and what
/// value of the images counts as 1 follows from their type, 255 for uint8 and 1 for floats, unless
/// `max_pixel_value` says it.
class Options {
 public:
  /// Checks the numbers; `options` has no statistics yet.
  Options(MixOptions options, const std::vector<double>& mean, const std::vector<double>& std,
          std::optional<double> max_pixel_value);

  [[nodiscard]] int threads() const noexcept { return floats_.threads; }
  /// In units of the input. Throws InvalidArgument for statistics that cannot be meant for it: of
  /// the wrong number, beyond [0, 1], or with a result that cannot hold normalized values.
  [[nodiscard]] const MixOptions& of(const ImageBatchView& in, DType out) const;

 private:
  MixOptions bytes_;
  MixOptions floats_;
  bool explicit_;
  std::string beyond_;  // what is outside [0, 1], if anything
};

/// Throws InvalidArgument if one is in host memory and the other is not.
void check_same_device(const Images& in, const Images& out);

/// Mixes where the input is; `out` is on the same device. Needs no GIL.
void mix_arrays(const Plan& plan, const Images& in, const MutableImageBatchView& out,
                const Options& options, std::int64_t stream);

void bind_mix(py::module_& module);

}  // namespace medley::python
