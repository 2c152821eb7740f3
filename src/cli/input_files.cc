#include "cli/input_files.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/json.h"
#include "data/file.h"
#include "medley/data/image.h"
#include "medley/error.h"

namespace medley::cli {
namespace {

using nlohmann::json;

constexpr float kWhite = 255;
// So that the number of pixels cannot overflow; the library has the real limit.
constexpr std::int64_t kGreatestSide = 1 << 20;

[[noreturn]] void fail_content(const std::string& name, std::string_view reason) {
  throw InvalidArgument(fmt::format("{}: {}", name, reason));
}

/// Larger than any text that a person or program writes for this one.
constexpr std::size_t kMostText = data::kPlainSize;

std::string read_input() {
  std::string text;
  char block[1 << 16];
  for (std::size_t n = 0; (n = std::fread(block, 1, sizeof block, stdin)) > 0;) {
    text.append(block, n);
    if (text.size() > kMostText) {
      throw IoError(
          fmt::format("standard input is too large: expected at most {} bytes", kMostText));
    }
  }
  if (std::ferror(stdin) != 0) {
    throw IoError(fmt::format("cannot read standard input: {}", std::strerror(errno)));
  }
  return text;
}

const json& member(const json& object, const char* key, const std::string& name) {
  const auto found = object.find(key);
  if (found == object.end()) fail_content(name, fmt::format("\"{}\" is missing", key));
  return *found;
}

double number(const json& value, const char* key, const std::string& name) {
  if (!value.is_number()) fail_content(name, fmt::format("\"{}\" must hold numbers", key));
  return value.get<double>();
}

std::int32_t side(const json& object, const char* key, const std::string& name) {
  const json& value = member(object, key, name);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 1 ||
      value.get<std::int64_t>() > kGreatestSide) {
    fail_content(name, fmt::format("\"{}\" must be a whole number of pixels from 1", key));
  }
  return value.get<std::int32_t>();
}

/// A square matrix given as a list of rows, row-major.
std::vector<double> matrix(const json& object, const char* key, std::int64_t order,
                           const std::string& name) {
  const json& rows = member(object, key, name);
  const auto n = static_cast<std::size_t>(order);
  std::vector<double> values;
  const auto fits = [n](const json& list) { return list.is_array() && list.size() == n; };
  bool square = fits(rows);
  for (std::size_t i = 0; square && i < n; ++i) {
    square = fits(rows[i]);
    for (std::size_t k = 0; square && k < n; ++k) values.push_back(number(rows[i][k], key, name));
  }
  if (!square) fail_content(name, fmt::format("\"{}\" must be {} rows of {} numbers", key, n, n));
  return values;
}

GaussianDesign design_from_object(const json& object, const std::string& name) {
  if (!object.is_object()) fail_content(name, "expected a JSON object");
  if (object.contains("schema") && object["schema"] != "medley.design/1") {
    fail_content(name, R"("schema" must be "medley.design/1")");
  }
  const ImageSize size = {side(object, "height", name), side(object, "width", name)};
  const json& mean = member(object, "mean", name);
  if (object.contains("matrix") && (object.contains("rows") || object.contains("columns"))) {
    fail_content(name, R"(expected either "matrix" or "rows" and "columns", got both)");
  }
  if (!object.contains("matrix")) {
    if (mean.is_array()) {
      fail_content(name, R"(beside "rows" and "columns", "mean" must be one number)");
    }
    const std::vector<double> rows = matrix(object, "rows", size.height, name);
    const std::vector<double> columns = matrix(object, "columns", size.width, name);
    return GaussianDesign::kronecker(rows, size.height, columns, size.width,
                                     number(mean, "mean", name));
  }
  const std::vector<double> values = matrix(object, "matrix", size.pixels(), name);
  std::vector<double> nu;
  if (mean.is_array()) {
    for (const json& value : mean) nu.push_back(number(value, "mean", name));
  } else {
    nu.assign(static_cast<std::size_t>(size.pixels()), number(mean, "mean", name));
  }
  if (nu.size() != static_cast<std::size_t>(size.pixels())) {
    fail_content(
        name, fmt::format("\"mean\" must be one number or {}, got {}", size.pixels(), nu.size()));
  }
  return GaussianDesign::dense(size, values, nu);
}

}  // namespace

std::string read_text(const std::string& path) {
  if (path == "-") return read_input();
  const std::vector<std::uint8_t> bytes = data::read_file(path, kMostText);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::int64_t> labels_from_text(std::string_view text, const std::string& name) {
  std::vector<std::int64_t> labels;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::int64_t label = 0;
    const char* stop = line.data() + line.size();
    const auto result = std::from_chars(line.data(), stop, label);
    if (result.ec != std::errc() || result.ptr != stop) {
      fail_content(name, fmt::format("line {} must be a whole number, got '{}'", labels.size() + 1,
                                     line.substr(0, 40)));
    }
    labels.push_back(label);
  }
  return labels;
}

std::vector<std::int64_t> read_labels(const std::string& path) {
  return labels_from_text(read_text(path), path);
}

GaussianDesign design_from_json(std::string_view text, const std::string& name) {
  return design_from_object(parse_json(text, name, JsonError::argument), name);
}

std::shared_ptr<const GaussianDesign> read_design(const std::string& path) {
  return std::make_shared<GaussianDesign>(design_from_json(read_text(path), path));
}

std::shared_ptr<const MaskSet> read_masks(const std::vector<std::string>& paths) {
  auto masks = std::make_shared<MaskSet>();
  for (const std::string& path : paths) {
    const data::Image image = data::read_image(path);
    if (masks->values.empty()) masks->size = image.size;
    if (image.size != masks->size) {
      fail_content(path,
                   fmt::format("masks must have one size, got {}x{} after {}x{}", image.size.height,
                               image.size.width, masks->size.height, masks->size.width));
    }
    for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
      if (image.rgb[i] != image.rgb[i + 1] || image.rgb[i] != image.rgb[i + 2]) {
        fail_content(path, "a mask must be a gray picture, this one has colors");
      }
      masks->values.push_back(static_cast<float>(image.rgb[i]) / kWhite);
    }
  }
  return masks;
}

}  // namespace medley::cli
