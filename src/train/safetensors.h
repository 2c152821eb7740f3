#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace medley::train {

/// A named array in a safetensors file: 8 bytes of header length, a JSON header, raw values.
struct TensorView {
  std::string name;
  std::string dtype;  ///< "F32", "I64", …
  std::vector<std::int64_t> shape;
  std::span<const std::uint8_t> bytes;
};

struct SafetensorsFile {
  std::vector<TensorView> tensors;  ///< in the order of their values in the file
  std::map<std::string, std::string> metadata;

  /// The tensor of that name, or null.
  [[nodiscard]] const TensorView* find(std::string_view name) const noexcept;
};

/// Bytes of one value of a type, 0 if there is no such type.
[[nodiscard]] std::int64_t safetensors_size_of(std::string_view dtype) noexcept;

/// The file as bytes. Values start at a multiple of 8.
[[nodiscard]] std::vector<std::uint8_t> write_safetensors(
    std::span<const TensorView> tensors, const std::map<std::string, std::string>& metadata = {});

/// Reads a file that lies in memory; the views point into `bytes`. Strict: the header is an object
/// of known fields without duplicates, types are known, sizes agree with shapes, and the values
/// cover the rest of the file without gaps or overlaps. Throws IoError with `name` and the reason.
[[nodiscard]] SafetensorsFile read_safetensors(std::span<const std::uint8_t> bytes,
                                               std::string_view name);

/// The bytes of a file. Its header is judged as above, against the size of the file, and then by
/// `judge`, which may throw and sees tensors without bytes, before anything else is read. Throws
/// IoError.
[[nodiscard]] std::vector<std::uint8_t> read_safetensors_file(
    const std::filesystem::path& path, const std::function<void(const SafetensorsFile&)>& judge);

}  // namespace medley::train
