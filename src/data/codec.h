#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/resample.h"
#include "medley/data/image.h"

namespace medley::data {

/// Throws IoError unless an image of these dimensions may be decoded.
void check_decoded_size(std::int64_t height, std::int64_t width, std::string_view name);

/// Throws InvalidArgument unless `size` is within the limits and has `values` = channels * pixels.
void check_pixels(ImageSize size, std::size_t values, std::int32_t channels);

/// Throws IoError unless the beginning of a file is that of a PNG or JPEG of a possible size, as
/// far as it says.
void check_start(std::span<const std::uint8_t> start, std::string_view name);

/// Takes a sentence on damage that was passed over; may be empty.
using DamageNote = std::function<void(const std::string&)>;

// The codecs behind decode_image and encode_png. The bytes are known to begin like the format.
[[nodiscard]] Image decode_png(std::span<const std::uint8_t> bytes, std::string_view name);
[[nodiscard]] Image decode_jpeg(std::span<const std::uint8_t> bytes, std::string_view name,
                                const DamageNote& note);

/// The whole file behind read_image, after a look at its beginning. Throws IoError.
[[nodiscard]] std::vector<std::uint8_t> read_image_file(const std::filesystem::path& path);

/// Throws IoError if the header, as far as it is there, states an impossible size.
void check_png_header(std::span<const std::uint8_t> bytes, std::string_view name);

/// Decodes no more of a JPEG, and no finer, than showing a part of it at `size` needs. Returns
/// where the part lies in what was decoded.
[[nodiscard]] Window decode_jpeg_part(std::span<const std::uint8_t> bytes, std::string_view name,
                                      const BoxChoice& choose, ImageSize size, Image& decoded,
                                      const DamageNote& note);

/// `channels` is 1 or 3; sizes are checked by the caller.
[[nodiscard]] std::vector<std::uint8_t> encode_png_rows(ImageSize size, std::int32_t channels,
                                                        std::span<const std::uint8_t> values);

}  // namespace medley::data
