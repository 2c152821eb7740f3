#include "python/option.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "medley/error.h"
#include "medley/gaussian_design.h"
#include "medley/policy.h"
#include "python/array.h"
#include "python/convert.h"
#include "python/design.h"

namespace medley::python {
namespace {

std::shared_ptr<const MaskSet> mask_set(py::handle value) {
  const Array array(value, {.name = "masks"});
  if (!is_float(array.element())) {
    throw py::type_error(fmt::format("masks must be floats, weights of the own image, got {}",
                                     name_of(array.element())));
  }
  const auto& shape = array.shape();
  if ((shape.size() != 2 && shape.size() != 3) || array.values() == 0) {
    throw InvalidArgument(
        fmt::format("masks must have the shape K, H, W or H, W, got {}", array.shape_text()));
  }
  auto masks = std::make_shared<MaskSet>();
  masks->size = {static_cast<std::int32_t>(shape[shape.size() - 2]),
                 static_cast<std::int32_t>(shape[shape.size() - 1])};
  masks->values = floats(array, "masks");
  return masks;
}

struct Converted {
  py::object operator()(std::monostate) const { return py::none(); }
  py::object operator()(bool value) const { return py::bool_(value); }
  py::object operator()(std::int64_t value) const { return py::int_(value); }
  py::object operator()(double value) const { return py::float_(value); }
  py::object operator()(const std::string& value) const { return py::str(value); }
  py::object operator()(const std::vector<double>& values) const {
    py::list list;
    for (const double value : values) list.append(value);
    return list;
  }
  // No default has any.
  py::object operator()(const std::shared_ptr<const MaskSet>&) const { return py::none(); }
  py::object operator()(const std::shared_ptr<const GaussianDesign>&) const { return py::none(); }
};

template <typename Strings>
py::list list_of(const Strings& strings) {
  py::list list;
  for (const auto& string : strings) list.append(std::string(string));
  return list;
}

py::object limit(double value) {
  return std::isfinite(value) ? py::object(py::float_(value)) : py::none();
}

}  // namespace

OptionValue option_from(const OptionSpec& spec, py::handle value) {
  switch (spec.type) {
    case OptionType::flag:
      return boolean(spec.name, value);
    case OptionType::integer:
      return whole(spec.name, value);
    case OptionType::real:
      return real(spec.name, value);
    case OptionType::name:
    case OptionType::text:
      return word(spec.name, value);
    case OptionType::numbers: {
      if (!py::isinstance<py::iterable>(value) || py::isinstance<py::str>(value)) {
        throw py::type_error(
            fmt::format("{} must be numbers, got {}", spec.name, type_name(value)));
      }
      std::vector<double> numbers;
      for (const py::handle number : value) numbers.push_back(real(spec.name, number));
      return numbers;
    }
    case OptionType::masks:
      return mask_set(value);
    case OptionType::design:
      break;
  }
  return design_of(value);
}

py::object option_to_python(const OptionValue& value) {
  return std::visit(Converted{}, value.variant());
}

py::dict describe_options(const std::vector<OptionSpec>& specs) {
  py::dict options;
  for (const OptionSpec& spec : specs) {
    py::dict option;
    option["name"] = spec.name;
    option["type"] = std::string(name_of(spec.type));
    option["default"] = option_to_python(spec.default_value);
    option["optional"] = spec.optional;
    option["required"] = spec.rules.required;
    option["low"] = limit(spec.rules.range.low);
    option["high"] = limit(spec.rules.range.high);
    option["above_low"] = spec.rules.range.above_low;
    option["names"] = list_of(spec.names);
    option["allowed"] = allowed_values(spec);
    option["help"] = spec.help;
    option["absent"] = spec.rules.absent;
    option["overridden_by"] = list_of(spec.rules.overridden_by);
    options[py::str(spec.name)] = option;
  }
  return options;
}

}  // namespace medley::python
