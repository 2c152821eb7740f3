#include "python/pictures.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "medley/data/dataset.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "medley/report/pictures.h"
#include "python/array.h"
#include "python/buffer.h"
#include "python/convert.h"
#include "python/policy.h"

namespace medley::python {
namespace {

Buffer array_of(const data::Image& image) {
  return {Element::u8, {image.size.height, image.size.width, 3}, image.rgb};
}

/// An image of shape H, W, 3 or H, W (gray), uint8.
data::Image image_from(py::handle object, const char* name) {
  const Array array(object, {.name = name});
  const auto& shape = array.shape();
  const bool gray = shape.size() == 2;
  if (array.element() != Element::u8 || array.device().cuda ||
      !(gray || (shape.size() == 3 && shape[2] == 3))) {
    throw InvalidArgument(
        fmt::format("{} must be uint8 of shape H, W, 3 or H, W, in host memory, got {}", name,
                    describe(array)));
  }
  data::Image image;
  image.size = {static_cast<std::int32_t>(shape[0]), static_cast<std::int32_t>(shape[1])};
  std::vector<std::uint8_t> values(static_cast<std::size_t>(array.values()));
  copy_dense(array, reinterpret_cast<std::byte*>(values.data()));
  if (!gray) {
    image.rgb = std::move(values);
    return image;
  }
  image.rgb.reserve(values.size() * 3);
  for (const std::uint8_t value : values) image.rgb.insert(image.rgb.end(), 3, value);
  return image;
}

using Row = std::tuple<std::string, std::string, std::string, py::dict>;  // title, note, method

Buffer sheet(const std::vector<Row>& rows, const py::object& sources, std::int32_t tile,
             const std::vector<double>& lams, std::uint64_t seed, const std::string& title,
             const std::string& caption, bool single) {
  report::ContactSheetOptions options;
  options.tile = tile;
  options.lams = lams;
  options.seed = seed;
  options.title = title;
  options.caption = caption;
  for (const auto& [row_title, note, method, policy] : rows) {
    options.rows.push_back({row_title, note, make_policy(method, policy)});
  }
  for (const py::handle source : sources) options.sources.push_back(image_from(source, "an image"));
  const py::gil_scoped_release release;
  return array_of(single ? report::method_picture(options.rows.front(), options)
                         : report::contact_sheet(options));
}

py::bytes png(const py::object& object) {
  const data::Image image = image_from(object, "the picture");
  std::vector<std::uint8_t> bytes;
  {
    const py::gil_scoped_release release;
    bytes = data::encode_png(image);
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Buffer synthetic(const py::object& classes, const py::object& size, std::uint64_t seed,
                 std::int64_t first) {
  const std::vector<std::int64_t> labels = integers(Array(classes, {.name = "classes"}), "classes");
  const ImageSize s = size_from(size);
  Buffer images(Element::u8, {std::ssize(labels), s.height, s.width, 3});
  const py::gil_scoped_release release;
  auto* next = images.span<std::uint8_t>().data();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const data::Image image = data::synthetic_image(seed, first + static_cast<std::int64_t>(i),
                                                    static_cast<std::int32_t>(labels[i]), s);
    next = std::ranges::copy(image.rgb, next).out;
  }
  return images;
}

}  // namespace

void bind_pictures(py::module_& module) {
  module.def("sheet", &sheet, py::arg("rows"), py::arg("sources"), py::arg("tile"), py::arg("lams"),
             py::arg("seed"), py::arg("title"), py::arg("caption"), py::arg("single"));
  module.def("png", &png, py::arg("picture"));
  module.def("synthetic", &synthetic, py::arg("classes"), py::arg("size"), py::arg("seed"),
             py::arg("first"));
  py::list names;
  for (std::int32_t i = 0; i < data::kSyntheticClasses; ++i) {
    names.append(std::string(data::synthetic_class_name(i)));
  }
  module.attr("synthetic_classes") = py::tuple(names);
}

}  // namespace medley::python
