#include "python/register.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "medley/error.h"
#include "medley/policy.h"
#include "python/array.h"
#include "python/buffer.h"
#include "python/convert.h"
#include "python/framework.h"
#include "python/option.h"
#include "python/random.h"

namespace medley::python {
namespace {

/// Options of a method from Python.
struct Fields {
  LambdaDistribution lambda;
  std::vector<OptionValue> values;  // those after lambda's
};

/// A method from Python with its defaults. Never destroyed: the list of methods lives longer than
/// the interpreter, which the function belongs to.
struct Definition {
  MethodInfo info;
  PyObject* draw = nullptr;
  bool vectorized = false;
  Fields defaults;
  std::vector<std::unique_ptr<std::vector<std::string>>> words;  // that the specs refer to
  std::vector<std::unique_ptr<std::vector<std::string_view>>> views;
};

/// The masks of some draws, as the function returned them, copied to `fields`.
void copy_masks(const Definition& definition, const py::object& masks, std::int64_t count,
                ImageSize size, std::span<float> fields) {
  const std::string name = fmt::format("the masks of method {}", definition.info.name);
  const Array array(masks, {.name = name.c_str()});
  std::vector<std::int64_t> wanted = {size.height, size.width};
  if (definition.vectorized) wanted.insert(wanted.begin(), count);
  if (array.shape() != wanted || array.device().cuda) {
    std::string text;
    for (const std::int64_t side : wanted)
      text += fmt::format("{}{}", text.empty() ? "" : "x", side);
    throw InvalidArgument(fmt::format("{} must be numbers of shape {} in host memory, got {}", name,
                                      text, describe(array)));
  }
  copy_floats(array, name.c_str(), fields);
}

/// Draws in Python. All of a plan at once: the function can be called by one thread at a time only.
class PythonMasks final : public MaskSampler {
 public:
  PythonMasks(const Definition& definition, Fields fields, ImageSize size)
      : definition_(definition), fields_(std::move(fields)), size_(size) {}

  MaskDraw draw(const UnitRandom& random, std::span<float> field,
                std::span<double> /*weights*/) const override {
    MaskDraw result;
    draw_many({&random, 1}, field, {&result, 1});
    return result;
  }

  bool makes_field() const override { return true; }
  bool draws_together() const override { return true; }

  void draw_many(std::span<const UnitRandom> units, std::span<float> fields,
                 std::span<MaskDraw> draws) const override {
    const auto pixels = static_cast<std::size_t>(size_.pixels());
    std::vector<double> lams;
    std::vector<RandomStream> streams;
    for (const UnitRandom& unit : units) {
      lams.push_back(fields_.lambda.draw(unit));
      streams.push_back(unit.stream(Purpose::mask));
    }
    call(lams, std::move(streams), fields);
    for (std::size_t i = 0; i < units.size(); ++i) {
      const double mean = field_mean(fields.subspan(i * pixels, pixels));
      if (!std::isfinite(mean)) {  // as each value is then
        throw InvalidArgument(
            fmt::format("the masks of method {} must be finite", definition_.info.name));
      }
      draws[i] = {lams[i], FieldMask{}, mean};
    }
  }

 private:
  void call(const std::vector<double>& lams, std::vector<RandomStream> streams,
            std::span<float> fields) const {
    const py::gil_scoped_acquire acquire;
    const auto draw = py::reinterpret_borrow<py::object>(definition_.draw);
    py::dict options;
    const std::vector<OptionSpec>& specs = definition_.info.options;
    const std::size_t first = specs.size() - fields_.values.size();
    for (std::size_t i = 0; i < fields_.values.size(); ++i) {
      options[py::str(specs[first + i].name)] = option_to_python(fields_.values[i]);
    }
    const auto count = std::ssize(lams);
    if (definition_.vectorized) {
      const py::object given = numpy_array(Buffer(Element::f64, {count}, lams));
      const py::object masks =
          draw(given, Random(std::move(streams), true), size_.height, size_.width, **options);
      copy_masks(definition_, masks, count, size_, fields);
      return;
    }
    const auto pixels = static_cast<std::size_t>(size_.pixels());
    for (std::size_t i = 0; i < lams.size(); ++i) {
      const py::object mask =
          draw(lams[i], Random({streams[i]}, false), size_.height, size_.width, **options);
      copy_masks(definition_, mask, 1, size_, fields.subspan(i * pixels, pixels));
    }
  }

  const Definition& definition_;
  Fields fields_;
  ImageSize size_;
};

class PythonMethod final : public MethodBase {
 public:
  explicit PythonMethod(const Definition& definition)
      : definition_(definition), fields_(definition.defaults) {}

  const MethodInfo& info() const override { return definition_.info; }
  std::shared_ptr<MethodBase> clone() const override {
    return std::make_shared<PythonMethod>(*this);
  }
  const void* fields() const override { return &fields_; }
  void* fields() override { return &fields_; }
  std::unique_ptr<MaskSampler> bind(ImageSize size, LabelRule /*label*/) const override {
    return std::make_unique<PythonMasks>(definition_, fields_, size);
  }

 private:
  const Definition& definition_;
  Fields fields_;
};

/// `given`: name, type, default, optional, names and help of an option.
void add_option(Definition& definition, const py::dict& given) {
  OptionSpec spec;
  spec.name = given["name"].cast<std::string>();
  if (find_option(definition.info.options, spec.name) != nullptr ||
      find_option(policy_options(), spec.name) != nullptr) {
    throw InvalidArgument(
        fmt::format("option {} must have another name: every mixer has one of that", spec.name));
  }
  const auto type = given["type"].cast<std::string>();
  spec.type = static_cast<OptionType>(std::ranges::find(kOptionTypes, type) - kOptionTypes.begin());
  spec.optional = given["optional"].cast<bool>();
  spec.help = given["help"].cast<std::string>();
  auto words = std::make_unique<std::vector<std::string>>();
  for (const py::handle word : given["names"]) words->push_back(word.cast<std::string>());
  auto views = std::make_unique<std::vector<std::string_view>>(words->begin(), words->end());
  spec.names = *views;
  definition.words.push_back(std::move(words));
  definition.views.push_back(std::move(views));
  const std::size_t i = definition.defaults.values.size();
  spec.get = [i](const void* fields) { return static_cast<const Fields*>(fields)->values[i]; };
  spec.set = [i](void* fields, const OptionValue& value) {
    static_cast<Fields*>(fields)->values[i] = value;
  };
  const py::object value = given["default"];
  definition.defaults.values.emplace_back();
  set_option(spec, &definition.defaults,
             value.is_none() ? OptionValue() : option_from(spec, value));
  spec.default_value = definition.defaults.values[i];
  definition.info.options.push_back(std::move(spec));
}

void register_python(const std::string& name, const py::object& draw, const std::string& summary,
                     const std::string& source, bool vectorized, const py::list& options) {
  auto definition = std::make_unique<Definition>();
  definition->info.name = name;
  definition->info.title = title_of(name);
  definition->info.summary = summary;
  definition->info.source = source;
  definition->info.options =
      OptionTable<Fields>().with(&Fields::lambda, LambdaDistribution::options());
  definition->draw = draw.ptr();
  definition->vectorized = vectorized;
  for (const py::handle option : options) {
    add_option(*definition, py::reinterpret_borrow<py::dict>(option));
  }
  register_method(std::make_shared<const PythonMethod>(*definition));
  draw.inc_ref();
  static_cast<void>(definition.release());
}

}  // namespace

void bind_register(py::module_& module) {
  bind_random(module);
  module.def("register_method", &register_python, py::arg("name"), py::arg("draw"),
             py::arg("summary"), py::arg("source"), py::arg("vectorized"), py::arg("options"));
}

}  // namespace medley::python
