#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "medley/method.h"
#include "medley/options.h"

namespace medley::cli {

/// What methods say of their options of one name, as a flag: all that help shows.
struct MethodFlag {
  std::string option;
  std::string flag;  ///< "--q-mix"
  OptionType type = OptionType::real;
  std::string help;
  std::string syntax;
  std::string default_text;
  std::vector<std::string_view> names;  ///< that any of the methods takes
};

/// The flags of all methods' options, in their order.
[[nodiscard]] std::vector<MethodFlag> method_flags();

/// "--q-mix" of q_mix; masks are --mask-in.
[[nodiscard]] std::string flag_of(std::string_view option);

/// Adds the flag of an option that stands in one table alone. `given` gets the text, once it is
/// known to be of the option's type; that of a flag without value is "true". `flag` is the one that
/// it has unless another is named.
CLI::Option* add_flag_of(CLI::App& app, const OptionSpec& spec,
                         const std::function<void(const std::string&)>& given,
                         const std::string& flag = {});

/// The same for a field of `object`, which it sets: both must live as long as the parser.
template <typename Object>
CLI::Option* add_option_of(CLI::App& app, const OptionSpec& spec, Object& object) {
  return add_flag_of(app, spec, [&spec, &object](const std::string& text) {
    set_option(spec, &object, parse_option(spec, text));
  });
}

/// The value of an option that was given as these texts; files are read. Throws InvalidArgument,
/// IoError.
[[nodiscard]] OptionValue value_of_texts(const OptionSpec& spec,
                                         const std::vector<std::string>& texts);

/// The flags of all methods' options with the values that were given. Must live as long as the
/// parser, at one address.
class MethodFlags {
 public:
  void add_to(CLI::App& app, const std::string& group);

  /// The method with the given values of the options that it has; files are read. Throws
  /// InvalidArgument, IoError.
  [[nodiscard]] Method method(std::string_view name) const;

  [[nodiscard]] bool given(std::string_view option) const {
    return texts_.contains(option) && !texts_.find(option)->second.empty();
  }
  /// What was given, by option; no texts: not given.
  [[nodiscard]] const auto& texts() const noexcept { return texts_; }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> texts_;  // by option
};

/// Says which options that were given none of the methods uses, by itself or beside others that
/// were given.
void note_unused(const std::vector<std::string>& methods,
                 const std::function<bool(std::string_view option)>& given, bool quiet);

}  // namespace medley::cli
