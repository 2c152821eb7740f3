#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace medley::train {

/// Takes an object of a file apart, field by field. Whatever is wrong is an IoError with the file,
/// the field, what it must be and what it is. Refers to the object, which must outlive it.
class JsonFields {
 public:
  /// `path` leads to the object within the file: "", "data", "metrics[3]".
  JsonFields(const nlohmann::json& object, std::string file, std::string path = "");

  [[nodiscard]] bool has(std::string_view name) const { return object_.contains(name); }
  [[nodiscard]] const nlohmann::json& at(std::string_view name);
  [[nodiscard]] JsonFields object(std::string_view name);
  [[nodiscard]] const nlohmann::json& list(std::string_view name);

  [[nodiscard]] double number(std::string_view name, double low,
                              double high = std::numeric_limits<double>::max());
  [[nodiscard]] std::int64_t whole(std::string_view name, std::int64_t low,
                                   std::int64_t high = std::numeric_limits<std::int64_t>::max());
  [[nodiscard]] std::uint64_t seed(std::string_view name);
  [[nodiscard]] std::string text(std::string_view name);
  [[nodiscard]] std::optional<std::string> text_or_null(std::string_view name);
  /// Text that is safe in file names and tables.
  [[nodiscard]] std::string word(std::string_view name);

  [[noreturn]] void wrong(std::string_view name, std::string_view wanted) const;
  /// Refuses fields that nobody asked for.
  void refuse_others() const;

 private:
  [[nodiscard]] std::string path_of(std::string_view name) const;

  const nlohmann::json& object_;
  std::string file_;
  std::string path_;
  std::vector<std::string> known_;
};

}  // namespace medley::train
