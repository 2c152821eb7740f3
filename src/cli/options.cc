#include "cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "options/old_words.h"

namespace medley::cli {
namespace {

[[noreturn]] void refuse(const std::string& name, std::string_view expected,
                         const std::string& text) {
  throw CLI::ValidationError(name, fmt::format("expected {}, got '{}'", expected, text));
}

template <typename Number>
bool parse(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  return problem == std::errc() && stop == end;
}

double parse_real(const std::string& name, const std::string& text) {
  double value = 0;
  if (!parse(text, value) || !std::isfinite(value)) refuse(name, "a finite number", text);
  return value;
}

template <typename Int>
Int parse_integer(const std::string& name, const std::string& text) {
  Int value = 0;
  if (!parse(text, value)) {
    const Int greatest = std::numeric_limits<Int>::max();
    refuse(name,
           std::is_signed_v<Int> ? fmt::format("a whole number up to {}", greatest)
                                 : fmt::format("a whole number from 0 to {}", greatest),
           text);
  }
  return value;
}

template <typename Int>
CLI::Option* add_any_integer(CLI::App& app, const std::string& name, Int& value,
                             const std::string& description) {
  return app
      .add_option_function<std::string>(
          name, [name, &value](const std::string& text) { value = parse_integer<Int>(name, text); },
          description)
      ->type_name("N")
      ->default_str(fmt::format("{}", value));
}

}  // namespace

CLI::Option* add_real(CLI::App& app, const std::string& name, double& value,
                      const std::string& description) {
  return app
      .add_option_function<std::string>(
          name, [name, &value](const std::string& text) { value = parse_real(name, text); },
          description)
      ->type_name("X")
      ->default_str(fmt::format("{}", value));
}

CLI::Option* add_real(CLI::App& app, const std::string& name, std::optional<double>& value,
                      const std::string& description, const std::string& absent) {
  return app
      .add_option_function<std::string>(
          name, [name, &value](const std::string& text) { value = parse_real(name, text); },
          description)
      ->type_name("X")
      ->default_str(absent);
}

CLI::Option* add_integer(CLI::App& app, const std::string& name, std::int32_t& value,
                         const std::string& description) {
  return add_any_integer(app, name, value, description);
}

CLI::Option* add_integer(CLI::App& app, const std::string& name, std::int64_t& value,
                         const std::string& description) {
  return add_any_integer(app, name, value, description);
}

CLI::Option* add_integer(CLI::App& app, const std::string& name, std::uint64_t& value,
                         const std::string& description) {
  return add_any_integer(app, name, value, description);
}

CLI::Option* add_integer(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                         const std::string& description, const std::string& absent) {
  return app
      .add_option_function<std::string>(
          name,
          [name, &value](const std::string& text) {
            value = parse_integer<std::int64_t>(name, text);
          },
          description)
      ->type_name("N")
      ->default_str(absent);
}

CLI::Option* add_integers(CLI::App& app, const std::string& name,
                          std::vector<std::uint64_t>& values, const std::string& description) {
  return app
      .add_option_function<std::string>(
          name,
          [name, &values](const std::string& text) {
            values.clear();
            for (std::size_t begin = 0; begin <= text.size();) {
              const std::size_t end = std::min(text.find(',', begin), text.size());
              values.push_back(parse_integer<std::uint64_t>(name, text.substr(begin, end - begin)));
              begin = end + 1;
            }
          },
          description)
      ->type_name("N,N,…");
}

void check_text(const std::string& name, OptionType type, std::span<const std::string_view> words,
                const std::string& text) {
  switch (type) {
    case OptionType::integer:
      static_cast<void>(parse_integer<std::int64_t>(name, text));
      break;
    case OptionType::real:
      static_cast<void>(parse_real(name, text));
      break;
    case OptionType::name:
      if (std::ranges::find(words, current_word(text)) == words.end()) {
        refuse(name, fmt::format("one of {}", fmt::join(words, ", ")), text);
      }
      break;
    case OptionType::masks:
    case OptionType::design:
      if (text.empty()) refuse(name, "a file name", text);
      break;
    case OptionType::flag:
    case OptionType::numbers:
    case OptionType::text:
      break;
  }
}

CLI::Option* add_path(CLI::App& app, const std::string& name, std::string& value,
                      const std::string& type, const std::string& description) {
  return app
      .add_option_function<std::string>(
          name,
          [name, &value](const std::string& text) {
            if (text.empty()) refuse(name, "a file name", text);
            value = text;
          },
          description)
      ->type_name(type);
}

CLI::Option* add_png(CLI::App& app, const std::string& name, std::string& value,
                     const std::string& description) {
  return add_path(app, name, value, "FILE.png", description)->check([](const std::string& text) {
    const bool fits = text.ends_with(".png") || text.ends_with(".PNG");
    return fits ? std::string() : fmt::format("expected a name that ends in .png, got '{}'", text);
  });
}

CLI::Option* add_size(CLI::App& app, const std::string& name, std::optional<ImageSize>& value,
                      const std::string& description, const std::string& absent) {
  return app
      .add_option_function<std::string>(
          name,
          [name, &value](const std::string& text) {
            ImageSize size;
            const std::size_t cross = text.find('x');
            const std::string_view view = text;
            if (cross == std::string::npos || !parse(view.substr(0, cross), size.height) ||
                !parse(view.substr(cross + 1), size.width) || size.height < 1 || size.width < 1) {
              refuse(name, "HEIGHTxWIDTH in pixels, such as 224x224", text);
            }
            value = size;
          },
          description)
      ->type_name("HxW")
      ->default_str(absent);
}

CLI::Option* add_word(CLI::App& app, const std::string& name,
                      std::span<const std::string_view> words, std::size_t initial,
                      const std::function<void(std::size_t)>& chosen,
                      const std::string& description) {
  return app
      .add_option_function<std::string>(
          name,
          [name, words = std::vector<std::string_view>(words.begin(), words.end()),
           chosen](const std::string& text) {
            for (std::size_t i = 0; i < words.size(); ++i) {
              if (words[i] == text) return chosen(i);
            }
            refuse(name, fmt::format("one of {}", fmt::join(words, ", ")), text);
          },
          description)
      ->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->default_str(std::string(words[initial]));
}

}  // namespace medley::cli
