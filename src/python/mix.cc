#include "python/mix.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "core/enums.h"
#include "medley/backend.h"
#include "medley/error.h"
#include "medley/mix.h"
#include "python/convert.h"
#include "python/device.h"
#include "python/images.h"
#include "python/plan.h"

namespace medley::python {
namespace {

MixOptions make_options(const std::vector<float>& mean, const std::vector<float>& std,
                        const std::string& pad_mode, double pad_value, int threads,
                        const std::string& backend, bool windows) {
  MixOptions options;
  options.normalise = {mean, std};
  const auto* const mode = std::ranges::find(kPadModes, pad_mode);
  if (mode == kPadModes.end()) {
    throw InvalidArgument(
        fmt::format("pad_mode must be constant or reflect, got \"{}\"", pad_mode));
  }
  options.pad_mode = static_cast<PadMode>(mode - kPadModes.begin());
  options.pad_value = static_cast<float>(pad_value);
  options.threads = threads;
  options.windows = windows;
  options.backend = backend == "auto" ? Backend::automatic : backend_from_name(backend);
  return options;
}

/// Mixes `images` into `out`; both are arrays. `stream` is the CUDA stream to work on, as a number;
/// `dlpack_stream` is what producers are told about it.
bool apply(const Plan& plan, const py::object& images, const py::object& out, const char* layout,
           const char* out_layout, const MixOptions& options, std::int64_t stream,
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
  const Array array(object, {.name = "the argument"});
  py::tuple shape(array.shape().size());
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = array.shape()[i];
  return py::make_tuple(name_of(array.element()), shape);
}

}  // namespace

void check_same_device(const Images& in, const Images& out) {
  if (!(in.device() == out.device())) {
    throw InvalidArgument("images and out must be on the same device");
  }
}

void mix_arrays(const Plan& plan, const Images& in, const MutableImageBatchView& out,
                const MixOptions& options, std::int64_t stream) {
  if (in.device().cuda) {
    mix_on_device(plan, in.view(), out, options, in.device(), stream);
  } else {
    mix(plan.plan(), in.view(), out, options);
  }
}

void bind_mix(py::module_& module) {
  py::class_<MixOptions>(module, "Options")
      .def(py::init(&make_options), py::arg("mean") = std::vector<float>{},
           py::arg("std") = std::vector<float>{}, py::arg("pad_mode") = "constant",
           py::arg("pad_value") = 0.0, py::arg("threads") = 0, py::arg("backend") = "auto",
           py::arg("windows") = false);
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
