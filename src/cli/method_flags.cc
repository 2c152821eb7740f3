#include "cli/method_flags.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/console.h"
#include "cli/input_files.h"
#include "cli/options.h"

namespace medley::cli {
namespace {

/// What some methods say alike, and which.
struct Saying {
  std::string text;
  std::vector<std::string_view> methods;
};

void add_saying(std::vector<Saying>& sayings, std::string text, std::string_view method) {
  const auto found = std::ranges::find(sayings, text, &Saying::text);
  if (found == sayings.end()) {
    sayings.push_back({std::move(text), {method}});
  } else {
    found->methods.push_back(method);
  }
}

/// What most say first, without names if these are many; then what others say.
std::string joined(std::vector<Saying> sayings, std::size_t many) {
  std::ranges::stable_sort(sayings, std::greater<>(),
                           [](const Saying& saying) { return saying.methods.size(); });
  std::string text;
  for (const Saying& saying : sayings) {
    if (saying.text.empty()) continue;
    if (!text.empty()) text += "; ";
    if (saying.methods.size() < many) text += fmt::format("{}: ", fmt::join(saying.methods, ", "));
    text += saying.text;
  }
  return text;
}

std::string help_of(const OptionSpec& spec) {
  constexpr double kAnyNumber = 1e6;  // limits that need not be named
  const OptionRange& range = spec.rules.range;
  if (range.low <= -kAnyNumber && range.high >= kAnyNumber) return spec.help;
  const bool number = spec.type == OptionType::real || spec.type == OptionType::integer ||
                      spec.type == OptionType::numbers;
  const std::string allowed = allowed_values(spec);
  if (!number || allowed.find_first_of("[(<>") == std::string::npos) return spec.help;
  return fmt::format("{}, {}", spec.help, allowed);
}

/// Adds a flag whose text is checked for its type, not its range.
CLI::Option* add_typed(CLI::App& app, const MethodFlag& flag,
                       const std::function<void(const std::string&)>& given) {
  if (flag.type == OptionType::flag) {
    return app.add_flag_callback(
        flag.flag, [given] { given("true"); }, flag.help);
  }
  CLI::Option* const option = app.add_option_function<std::vector<std::string>>(
                                     flag.flag,
                                     [flag, given](const std::vector<std::string>& texts) {
                                       for (const std::string& text : texts) {
                                         check_text(flag.flag, flag.type, flag.names, text);
                                         given(text);
                                       }
                                     },
                                     flag.help)
                                  ->type_name(flag.syntax)
                                  ->default_str(flag.default_text)
                                  ->expected(1);
  option->multi_option_policy(flag.type == OptionType::masks ? CLI::MultiOptionPolicy::TakeAll
                                                             : CLI::MultiOptionPolicy::Throw);
  return option;
}

/// Refuses a value that no method takes; files are not looked at.
void check_unused(std::string_view option, const std::vector<std::string>& texts) {
  for (const MethodInfo* method : methods()) {
    const OptionSpec* const spec = find_option(method->options, option);
    if (spec == nullptr) continue;
    const bool file = spec->type == OptionType::masks || spec->type == OptionType::design;
    if (!file) static_cast<void>(parse_option(*spec, texts.back()));
    return;
  }
}

}  // namespace

std::string flag_of(std::string_view option) {
  if (option == "masks") return "--mask-in";
  std::string flag = fmt::format("--{}", option);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::vector<MethodFlag> method_flags() {
  constexpr std::size_t kMany = 5;  // methods, which are not listed
  struct Known {
    const OptionSpec* spec;
    std::vector<Saying> helps;
    std::vector<Saying> defaults;
    std::vector<std::string_view> names;
  };
  std::vector<Known> all;
  for (const MethodInfo* method : methods()) {
    for (const OptionSpec& spec : method->options) {
      auto known = std::ranges::find_if(
          all, [&](const Known& other) { return other.spec->name == spec.name; });
      if (known == all.end()) known = all.insert(all.end(), Known{&spec, {}, {}, {}});
      add_saying(known->helps, help_of(spec), method->name);
      add_saying(known->defaults, spec.default_text(), method->name);
      for (const std::string_view name : spec.names) {
        if (std::ranges::find(known->names, name) == known->names.end()) {
          known->names.push_back(name);
        }
      }
    }
  }
  std::vector<MethodFlag> flags;
  for (const Known& known : all) {
    MethodFlag flag{known.spec->name,
                    flag_of(known.spec->name),
                    known.spec->type,
                    joined(known.helps, kMany),
                    value_syntax(*known.spec),
                    "",
                    known.names};
    const std::size_t most = std::ranges::max(known.defaults, {}, [](const Saying& saying) {
                               return saying.methods.size();
                             }).methods.size();
    flag.default_text = joined(known.defaults, most);
    if (known.spec->type == OptionType::name) {
      flag.syntax = fmt::format("{}", fmt::join(known.names, "|"));
    }
    flags.push_back(std::move(flag));
  }
  return flags;
}

CLI::Option* add_flag_of(CLI::App& app, const OptionSpec& spec,
                         const std::function<void(const std::string&)>& given,
                         const std::string& flag) {
  return add_typed(app,
                   {spec.name,
                    flag.empty() ? flag_of(spec.name) : flag,
                    spec.type,
                    help_of(spec),
                    value_syntax(spec),
                    spec.default_text(),
                    {spec.names.begin(), spec.names.end()}},
                   given);
}

OptionValue value_of_texts(const OptionSpec& spec, const std::vector<std::string>& texts) {
  if (spec.type == OptionType::masks) return read_masks(texts);
  if (spec.type == OptionType::design) return read_design(texts.back());
  return parse_option(spec, texts.back());
}

void MethodFlags::add_to(CLI::App& app, const std::string& group) {
  for (const MethodFlag& flag : method_flags()) {
    std::vector<std::string>& texts = texts_[flag.option];
    add_typed(app, flag, [&texts](const std::string& text) {
      texts.push_back(text);
    })->group(group);
  }
}

Method MethodFlags::method(std::string_view name) const {
  Method method(name);
  for (const auto& [option, texts] : texts_) {
    if (texts.empty()) continue;
    if (const OptionSpec* const spec = find_option(method.info().options, option)) {
      method.set(option, value_of_texts(*spec, texts));
    } else {
      check_unused(option, texts);
    }
  }
  return method;
}

void note_unused(const std::vector<std::string>& methods,
                 const std::function<bool(std::string_view option)>& given, bool quiet) {
  for (const MethodFlag& flag : method_flags()) {
    if (!given(flag.option)) continue;
    bool used = false;
    bool effective = false;
    std::string_view beside;
    for (const std::string& name : methods) {
      const OptionSpec* const spec = find_option(get_method(name).options, flag.option);
      if (spec == nullptr) continue;
      used = true;
      const auto& over = spec->rules.overridden_by;
      const auto found = std::ranges::find_if(over, given);
      if (found == over.end()) effective = true;
      if (found != over.end()) beside = *found;
    }
    if (!used) {
      print_note(fmt::format("{} is not used by method {}", flag.flag, fmt::join(methods, ", ")),
                 quiet);
    } else if (!effective) {
      print_note(fmt::format("{} is not used beside {}", flag.flag, flag_of(beside)), quiet);
    }
  }
}

}  // namespace medley::cli
