#include "python/mix.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "kernels/enums.h"
#include "medley/error.h"
#include "medley/mix.h"
#include "python/convert.h"
#include "python/device.h"
#include "python/images.h"
#include "python/plan.h"

namespace medley::python {
namespace {

std::vector<double> numbers(const char* name, const py::object& object) {
  if (object.is_none()) return {};
  std::vector<double> values;
  if (py::isinstance<py::iterable>(object) && !py::isinstance<py::str>(object)) {
    for (const py::handle value : object) values.push_back(real(name, value));
    return values;
  }
  throw py::type_error(
      fmt::format("{} must be numbers, one per channel, got {}", name, type_name(object)));
}

Options make_options(const py::object& mean, const py::object& std, const py::object& pad_mode,
                     const py::object& pad_value, const py::object& threads,
                     const py::object& backend, const py::object& windows,
                     const py::object& max_pixel_value) {
  MixOptions options;
  const std::string mode = word("pad_mode", pad_mode);
  const auto* const found = std::ranges::find(kPadModes, mode);
  if (found == kPadModes.end()) {
    throw InvalidArgument(fmt::format("pad_mode must be constant or reflect, got \"{}\"", mode));
  }
  options.pad_mode = static_cast<PadMode>(found - kPadModes.begin());
  options.pad_value = static_cast<float>(real("pad_value", pad_value));
  options.threads = integer("threads", threads);
  options.windows = boolean("windows", windows);
  const std::string name = word("backend", backend);
  options.backend = name == "auto" ? Backend::automatic : backend_from_name(name);
  std::optional<double> one;
  if (!max_pixel_value.is_none()) one = real("max_pixel_value", max_pixel_value);
  return {std::move(options), numbers("mean", mean), numbers("std", std), one};
}

/// The statistics of values in [0, 1] in units of images whose `one` counts as 1.
Normalize scaled(const std::vector<double>& mean, const std::vector<double>& std, double one) {
  Normalize result;
  for (const double value : mean) result.mean.push_back(static_cast<float>(value * one));
  for (const double value : std) result.stddev.push_back(static_cast<float>(value * one));
  return result;
}

/// Mixes `images` into `out`; both are arrays. `stream` is the CUDA stream to work on, as a number;
/// `dlpack_stream` is what producers are told about it.
bool apply(const Plan& plan, const py::object& images, const py::object& out, const char* layout,
           const char* out_layout, const Options& options, std::int64_t stream,
           std::optional<std::int64_t> dlpack_stream) {
  const Images in = Images::input(images, layout_from(layout), dlpack_stream);
  const Images to = Images::output(out, layout_from(out_layout), dlpack_stream);
  check_same_device(in, to);
  const py::gil_scoped_release release;
  mix_arrays(plan, in, to.view(), options, stream);
  return in.copied();
}

py::dict image_info(const py::object& images, const char* layout,
                    std::optional<std::int64_t> dlpack_stream) {
  const Images in = Images::uncopied(images, layout_from(layout), dlpack_stream);
  const BatchShape& shape = in.view().shape;
  py::dict info;
  info["shape"] = py::make_tuple(shape.count, shape.channels, shape.height, shape.width);
  info["dtype"] = std::string(name_of(in.view().dtype));
  info["memory"] = std::string(name_of(in.view().layout));
  info["copied"] = in.copied();
  info["cuda"] = in.device().cuda;
  return info;
}

/// Type and shape of any array.
py::tuple describe_array(const py::object& object) {
  const Array array(object, {});
  py::tuple shape(array.shape().size());
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = array.shape()[i];
  return py::make_tuple(name_of(array.element()), shape);
}

}  // namespace

Options::Options(MixOptions options, const std::vector<double>& mean,
                 const std::vector<double>& std, std::optional<double> max_pixel_value)
    : bytes_(options), floats_(std::move(options)), explicit_(max_pixel_value.has_value()) {
  if (mean.size() != std.size()) {
    throw InvalidArgument(
        fmt::format("mean and std go together, a number per channel each, got {} "
                    "and {} numbers",
                    mean.size(), std.size()));
  }
  if (explicit_ && !(*max_pixel_value > 0 && std::isfinite(*max_pixel_value))) {
    throw InvalidArgument(
        fmt::format("max_pixel_value must be finite and > 0, got {}", *max_pixel_value));
  }
  for (std::size_t c = 0; c < mean.size(); ++c) {
    if (!std::isfinite(mean[c])) {
      throw InvalidArgument(fmt::format("mean must be finite, got {}", mean[c]));
    }
    if (!(std[c] > 0 && std::isfinite(std[c]))) {
      throw InvalidArgument(fmt::format("std must be finite and > 0, got {}", std[c]));
    }
    if (beyond_.empty() && !(mean[c] >= 0 && mean[c] <= 1))
      beyond_ = fmt::format("mean {}", mean[c]);
    if (beyond_.empty() && std[c] > 1) beyond_ = fmt::format("std {}", std[c]);
  }
  bytes_.normalize = scaled(mean, std, max_pixel_value.value_or(255));
  floats_.normalize = scaled(mean, std, max_pixel_value.value_or(1));
}

const MixOptions& Options::of(const ImageBatchView& in, DType out) const {
  const MixOptions& options = in.dtype == DType::u8 ? bytes_ : floats_;
  if (options.normalize.empty()) return options;
  if (std::ssize(options.normalize.mean) != in.shape.channels) {
    throw InvalidArgument(fmt::format("mean and std must have a number per channel, {}, got {}",
                                      in.shape.channels, options.normalize.mean.size()));
  }
  if (explicit_) return options;
  if (!beyond_.empty()) {
    throw InvalidArgument(fmt::format(
        "mean and std must be those of values in [0, 1], which uint8 images count as value / 255, "
        "got {}: divide them by 255, or give max_pixel_value=1 if they are in the images' units",
        beyond_));
  }
  if (out == DType::u8) {
    throw InvalidArgument(
        "normalized values need a result of floats, got uint8: give dtype=\"f32\", \"f16\" or "
        "\"bf16\"");
  }
  return options;
}

void check_same_device(const Images& in, const Images& out) {
  if (!(in.device() == out.device())) {
    throw InvalidArgument("images and out must be on the same device");
  }
}

void mix_arrays(const Plan& plan, const Images& in, const MutableImageBatchView& out,
                const Options& options, std::int64_t stream) {
  const MixOptions& resolved = options.of(in.view(), out.dtype);
  if (in.device().cuda) {
    mix_on_device(plan, in.view(), out, resolved, in.device(), stream);
  } else {
    mix(plan.plan(), in.view(), out, resolved);
  }
}

void bind_mix(py::module_& module) {
  py::class_<Options>(module, "Options")
      .def(py::init(&make_options), py::arg("mean") = py::tuple(), py::arg("std") = py::tuple(),
           py::arg("pad_mode") = "constant", py::arg("pad_value") = 0.0, py::arg("threads") = 0,
           py::arg("backend") = "auto", py::arg("windows") = false,
           py::arg("max_pixel_value") = py::none());
  module.def("apply", &apply, py::arg("plan"), py::arg("images"), py::arg("out"), py::arg("layout"),
             py::arg("out_layout"), py::arg("options"), py::arg("stream") = 0,
             py::arg("dlpack_stream") = py::none());
  module.def("image_info", &image_info, py::arg("images"), py::arg("layout") = "nchw",
             py::arg("dlpack_stream") = py::none(),
             "How an array is seen: shape (N, C, H, W), dtype, layout in memory, whether it must "
             "be copied.");
  module.def("describe", &describe_array, py::arg("array"), "(dtype, shape) of an array.");
  module.def("synchronize", &synchronize, py::arg("device"), py::arg("stream"),
             py::call_guard<py::gil_scoped_release>());
  module.def(
      "backends",
      [] {
        py::list list;
        for (const Backend backend : available_backends()) {
          list.append(std::string(name_of(backend)));
        }
        return list;
      },
      "The backends that work here, fastest first.");
  module.def(
      "simd_targets",
      [] {
        py::list list;
        for (const std::string_view target : simd_targets()) list.append(std::string(target));
        return list;
      },
      "Instruction sets that the CPU backend can use on this machine, best first.");
}

}  // namespace medley::python
