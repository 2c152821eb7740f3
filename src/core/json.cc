#include "core/json.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"

namespace medley {
namespace {

using Json = nlohmann::json;

// Memory of 64-bit programs, without what an allocator adds.
constexpr std::size_t kValueBytes = sizeof(Json);
constexpr std::size_t kKeyBytes = 80;
constexpr std::size_t kContainerBytes = 48;

/// How far the parser has read.
struct Reading {
  const char* at;
  bool ended = false;
};

/// Walks through the text and says so: the events of the parser have no place.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* at, Reading& reading) : at_(at), reading_(&reading) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    reading_->at = ++at_;
    return *this;
  }
  bool operator==(const Cursor& other) const {
    reading_->ended = at_ == other.at_;
    return reading_->ended;
  }

 private:
  const char* at_;
  Reading* reading_;
};

/// What an error quotes of the text: words of ASCII, not too long.
std::string shown(std::string_view token) {
  constexpr std::size_t kMost = 40;
  const auto plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (!std::ranges::all_of(token, plain)) return "characters";
  return token.size() <= kMost ? std::string(token) : fmt::format("{}…", token.substr(0, kMost));
}

/// Takes the events of the parser and builds values, within the limits.
class Builder {
 public:
  Builder(std::string_view text, std::string_view name, const JsonLimits& limits)
      : text_(text.empty() ? "" : text),  // an empty text may be at no address at all
        name_(name),
        limits_(limits),
        reading_{text_.data()} {}

  /// False if the text was refused; then `problem` says why.
  [[nodiscard]] bool run() {
    return Json::sax_parse(Cursor(text_.data(), reading_),
                           Cursor(text_.data() + text_.size(), reading_), this);
  }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] Json take() noexcept { return std::move(root_); }

  // Events; false ends the parsing.
  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string& /*digits*/) { return put(value); }
  bool string(std::string& value) {
    return charge(sizeof value + value.size()) && put(std::move(value));
  }
  bool binary(Json::binary_t& /*value*/) { return false; }  // not in texts
  bool start_object(std::size_t /*count*/) { return open(Json::object()); }
  bool end_object() { return close(); }
  bool start_array(std::size_t /*count*/) { return open(Json::array()); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    auto& object = open_.back()->get_ref<Json::object_t&>();
    if (object.size() >= limits_.keys) {
      return refuse(fmt::format("an object has more than {} keys", limits_.keys));
    }
    if (!charge(kKeyBytes + name.size())) return false;
    const auto [place, is_new] = object.try_emplace(name);
    if (!is_new) return refuse(fmt::format("the key \"{}\" is there twice", shown(name)));
    next_ = &place->second;
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& token,
                   const Json::exception& error) {
    constexpr int kOverflow = 406;  // nlohmann's number of "number overflow"
    if (error.id == kOverflow) {
      return refuse(fmt::format("numbers must be finite, got {}", shown(token)));
    }
    const auto [line, column] = place();
    problem_ = reading_.ended ? fmt::format("{} is not JSON: it ends early, in line {}, column {}",
                                            name_, line, column)
                              : fmt::format("{} is not JSON: unexpected {} in line {}, column {}",
                                            name_, shown(word()), line, column);
    return false;
  }

 private:
  /// The character that was read last, with the rest of its word.
  [[nodiscard]] std::string_view word() const {
    const auto in_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    const char* const end = text_.data() + text_.size();
    const char* first = reading_.at - 1;
    const char* last = reading_.at;
    if (!in_word(*first)) return {first, last};
    while (first > text_.data() && in_word(first[-1])) --first;
    while (last < end && in_word(*last)) ++last;
    return {first, last};
  }

  /// Line and column of the last character that was read, from 1.
  [[nodiscard]] std::pair<std::ptrdiff_t, std::ptrdiff_t> place() const {
    const char* const last = std::max(text_.data(), reading_.at - 1);
    const std::string_view before(text_.data(), static_cast<std::size_t>(last - text_.data()));
    const std::size_t newline = before.rfind('\n');
    const std::size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
    return {std::ranges::count(before, '\n') + 1, std::ssize(before.substr(line_start)) + 1};
  }

  bool refuse(const std::string& reason) {
    const auto [line, column] = place();
    problem_ = fmt::format("{}, line {}, column {}: {}", name_, line, column, reason);
    return false;
  }

  bool charge(std::size_t bytes) {
    if (bytes <= limits_.memory - memory_) {
      memory_ += bytes;
      return true;
    }
    return refuse(fmt::format("too much for one file, its values would take more than {} MiB",
                              limits_.memory >> 20));
  }

  bool put(Json value) {
    if (!charge(kValueBytes)) return false;
    (void)place_value(std::move(value));
    return true;
  }

  Json* place_value(Json value) {
    Json* to = open_.empty() ? &root_ : next_;
    if (!open_.empty() && open_.back()->is_array()) {
      to = &open_.back()->get_ref<Json::array_t&>().emplace_back();
    }
    *to = std::move(value);
    return to;
  }

  bool open(Json container) {
    if (open_.size() >= limits_.depth) {
      return refuse(
          fmt::format("more than {} objects and arrays within each other", limits_.depth));
    }
    if (!charge(kValueBytes + kContainerBytes)) return false;
    open_.push_back(place_value(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  std::string_view name_;
  JsonLimits limits_;
  Reading reading_;
  Json root_;
  std::vector<Json*> open_;  // containers around the next value
  Json* next_ = nullptr;     // where the value of the last key goes
  std::size_t memory_ = 0;
  std::string problem_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view name, JsonError error,
                const JsonLimits& limits) {
  Builder builder(text, name, limits);
  if (builder.run()) return builder.take();
  if (error == JsonError::io) fail_io(builder.problem());
  fail_argument(builder.problem());
}

}  // namespace medley
