#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "medley/types.h"

namespace medley {

class GaussianDesign;

// An option is declared once, in a table beside the struct that it is a field of. Access by name,
// checks, flags, help, JSON, Python's signatures and the tables of the documents come from there.

/// An enumeration whose values have names: `enum_names(value)` gives them in order.
template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
  { enum_names(value) } -> std::convertible_to<std::span<const std::string_view>>;
};

/// What an option can be: nothing, or a value of one of these types. Enumerators are their names.
class OptionValue {
 public:
  using Variant =
      std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>,
                   std::shared_ptr<const MaskSet>, std::shared_ptr<const GaussianDesign>>;

  // NOLINTBEGIN(google-explicit-constructor): a value is what it is made from.
  OptionValue() = default;
  OptionValue(bool value) : value_(value) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) OptionValue(Integer value)
      : value_(static_cast<std::int64_t>(value)) {}
  OptionValue(double value) : value_(value) {}
  OptionValue(const char* text) : value_(std::string(text)) {}
  OptionValue(std::string_view text) : value_(std::string(text)) {}
  OptionValue(std::string text) : value_(std::move(text)) {}
  OptionValue(std::vector<double> numbers) : value_(std::move(numbers)) {}
  /// A null pointer is no value.
  OptionValue(std::shared_ptr<const MaskSet> masks) {
    if (masks) value_ = std::move(masks);
  }
  OptionValue(std::shared_ptr<MaskSet> masks)
      : OptionValue(std::shared_ptr<const MaskSet>(std::move(masks))) {}
  OptionValue(std::shared_ptr<const GaussianDesign> design) {
    if (design) value_ = std::move(design);
  }
  OptionValue(std::shared_ptr<GaussianDesign> design)
      : OptionValue(std::shared_ptr<const GaussianDesign>(std::move(design))) {}
  template <NamedEnum Enum>
  OptionValue(Enum value) {
    const std::span<const std::string_view> names = enum_names(value);
    const auto i = static_cast<std::size_t>(value);
    // What no name stands for is kept as a number, which no option takes.
    if (i < names.size()) {
      value_ = std::string(names[i]);
    } else {
      value_ = static_cast<std::int64_t>(value);
    }
  }
  template <typename T>
  OptionValue(const std::optional<T>& value) {
    if (value) *this = OptionValue(*value);
  }
  // NOLINTEND(google-explicit-constructor)

  /// The value as one of its types.
  [[nodiscard]] const Variant& variant() const noexcept { return value_; }
  /// Whether there is no value.
  [[nodiscard]] bool empty() const noexcept { return value_.index() == 0; }
  /// The value of that type; what it holds must be one.
  template <typename T>
  [[nodiscard]] const T& as() const {
    return std::get<T>(value_);
  }

  friend bool operator==(const OptionValue&, const OptionValue&) = default;

 private:
  Variant value_;
};

/// Types of options.
enum class OptionType : std::uint8_t {
  flag,
  integer,
  real,
  name,  ///< one of `OptionSpec::names`
  text,
  numbers,
  masks,
  design
};
/// Their names.
inline constexpr std::array<std::string_view, 8> kOptionTypes = {
    "flag", "integer", "real", "name", "text", "numbers", "masks", "design"};
/// The names of the types, in order.
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(OptionType) noexcept {
  return kOptionTypes;
}

/// Which numbers an option takes.
struct OptionRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;  ///< `low` itself is not one of them
};

/// Numbers > low.
[[nodiscard]] constexpr OptionRange above(double low) noexcept {
  return {.low = low, .above_low = true};
}
/// Numbers >= low.
[[nodiscard]] constexpr OptionRange at_least(double low) noexcept { return {.low = low}; }
/// Numbers from low to high.
[[nodiscard]] constexpr OptionRange between(double low, double high) noexcept {
  return {low, high};
}

/// What is said of an option beside its name, type and default.
struct OptionRules {
  OptionRange range = {};
  std::string absent = {};  ///< what happens where it has no value: "alpha", "drawn"
  std::vector<std::string> overridden_by = {};  ///< options beside which it has no effect
  bool required = false;                        ///< nothing works without it
};

/// An option of some struct, by which it is read and written as a field of an object of unknown
/// type. Name as in C++, JSON and Python; on the command line `_` is `-`.
struct OptionSpec {
  std::string name;
  OptionType type = OptionType::real;
  bool optional = false;  ///< may have no value
  std::string help;       ///< half a sentence
  OptionRules rules;
  OptionValue default_value;
  std::span<const std::string_view> names = {};
  std::function<OptionValue(const void*)> get;
  std::function<void(void*, const OptionValue&)> set;  ///< `value` has been checked

  /// The default as text: "0.5", "clipped", or `rules.absent`.
  [[nodiscard]] std::string default_text() const;
};

/// Sets a field after checking type, name and range; whole numbers are numbers, too. Throws
/// InvalidArgument: "ratio must be in [0, 1], got 2".
void set_option(const OptionSpec& spec, void* object, const OptionValue& value);

/// Throws InvalidArgument if a field of the object has a value that it cannot have.
void check_options(const std::vector<OptionSpec>& specs, const void* object);

/// The option of that name, or null.
[[nodiscard]] const OptionSpec* find_option(const std::vector<OptionSpec>& specs,
                                            std::string_view name);

/// The value as text: 0.5, clipped, true, [0.5, 0.25]; "" for none.
[[nodiscard]] std::string to_text(const OptionValue& value);

/// Reads a value from text, as command lines have them. Throws InvalidArgument.
[[nodiscard]] OptionValue parse_option(const OptionSpec& spec, std::string_view text);

/// What a value of the option looks like in help: X, N, code|paper|calibrated.
[[nodiscard]] std::string value_syntax(const OptionSpec& spec);

/// What values it takes, in words: "in [0, 1]", "> 0", "one of code, paper".
[[nodiscard]] std::string allowed_values(const OptionSpec& spec);

// ---- building tables ----

/// How a type of C++ is an option.
template <typename T>
struct OptionTraits;

/// Flags.
template <>
struct OptionTraits<bool> {
  static constexpr OptionType kType = OptionType::flag;
  static bool from(const OptionValue& value) { return value.as<bool>(); }
};
/// Whole numbers.
template <std::integral Integer>
requires(!std::same_as<Integer, bool>) struct OptionTraits<Integer> {
  static constexpr OptionType kType = OptionType::integer;
  static Integer from(const OptionValue& value) {
    return static_cast<Integer>(value.as<std::int64_t>());
  }
};
/// Numbers.
template <>
struct OptionTraits<double> {
  static constexpr OptionType kType = OptionType::real;
  static double from(const OptionValue& value) { return value.as<double>(); }
};
/// Text.
template <>
struct OptionTraits<std::string> {
  static constexpr OptionType kType = OptionType::text;
  static const std::string& from(const OptionValue& value) { return value.as<std::string>(); }
};
/// Lists of numbers.
template <>
struct OptionTraits<std::vector<double>> {
  static constexpr OptionType kType = OptionType::numbers;
  static const std::vector<double>& from(const OptionValue& value) {
    return value.as<std::vector<double>>();
  }
};
/// Masks; null without a value.
template <>
struct OptionTraits<std::shared_ptr<const MaskSet>> {
  static constexpr OptionType kType = OptionType::masks;
  static std::shared_ptr<const MaskSet> from(const OptionValue& value) {
    return value.empty() ? nullptr : value.as<std::shared_ptr<const MaskSet>>();
  }
};
/// Designs; null without a value.
template <>
struct OptionTraits<std::shared_ptr<const GaussianDesign>> {
  static constexpr OptionType kType = OptionType::design;
  static std::shared_ptr<const GaussianDesign> from(const OptionValue& value) {
    return value.empty() ? nullptr : value.as<std::shared_ptr<const GaussianDesign>>();
  }
};
/// Enumerators, by their names.
template <NamedEnum Enum>
struct OptionTraits<Enum> {
  static constexpr OptionType kType = OptionType::name;
  static Enum from(const OptionValue& value) {
    const std::span<const std::string_view> names = enum_names(Enum{});
    std::size_t i = 0;
    while (names[i] != value.as<std::string>()) ++i;
    return static_cast<Enum>(i);
  }
};
/// Options that may have no value.
template <typename T>
struct OptionTraits<std::optional<T>> {
  static constexpr OptionType kType = OptionTraits<T>::kType;
  static std::optional<T> from(const OptionValue& value) {
    return value.empty() ? std::optional<T>() : std::optional<T>(OptionTraits<T>::from(value));
  }
};

/// A table of the options of the struct `S`, in the order of help and documents.
template <typename S>
class OptionTable {
 public:
  /// Adds a field, whose default is that of the struct.
  template <typename T>
  OptionTable&& add(T S::*field, std::string name, std::string help, OptionRules rules = {}) && {
    return std::move(*this).add_through(
        [field](auto& object) -> auto& { return object.*field; }, std::move(name), std::move(help),
        std::move(rules));
  }

  /// Adds what `access(S&)` refers to.
  template <typename Access>
  OptionTable&& add_through(Access access, std::string name, std::string help,
                            OptionRules rules = {}) && {
    using T = std::remove_cvref_t<decltype(access(std::declval<S&>()))>;
    OptionSpec spec;
    spec.name = std::move(name);
    spec.type = OptionTraits<T>::kType;
    spec.help = std::move(help);
    spec.rules = std::move(rules);
    if constexpr (requires(T value) { value.has_value(); }) {
      spec.optional = true;
      if constexpr (NamedEnum<typename T::value_type>)
        spec.names = enum_names(typename T::value_type{});
    }
    if constexpr (NamedEnum<T>) spec.names = enum_names(T{});
    if (spec.type == OptionType::masks || spec.type == OptionType::design) spec.optional = true;
    spec.get = [access](const void* object) {
      return OptionValue(access(*static_cast<const S*>(object)));
    };
    spec.set = [access](void* object, const OptionValue& value) {
      access(*static_cast<S*>(object)) = OptionTraits<T>::from(value);
    };
    const S defaults{};
    spec.default_value = spec.get(&defaults);
    specs_.push_back(std::move(spec));
    return std::move(*this);
  }

  /// Adds the options of a part, which is a field that has options of its own.
  template <typename Part>
  OptionTable&& with(Part S::*part, std::vector<OptionSpec> of_part) && {
    const S defaults{};
    for (OptionSpec& spec : of_part) {
      spec.get = [part, get = std::move(spec.get)](const void* object) {
        return get(&(static_cast<const S*>(object)->*part));
      };
      spec.set = [part, set = std::move(spec.set)](void* object, const OptionValue& value) {
        set(&(static_cast<S*>(object)->*part), value);
      };
      spec.default_value = spec.get(&defaults);
      specs_.push_back(std::move(spec));
    }
    return std::move(*this);
  }

  // NOLINTNEXTLINE(google-explicit-constructor): a table is its rows.
  operator std::vector<OptionSpec>() && { return std::move(specs_); }

 private:
  std::vector<OptionSpec> specs_;
};

}  // namespace medley
