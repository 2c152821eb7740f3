#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE
#include <vector>

#include <jpeglib.h>

#include <jerror.h>

#include <fmt/format.h>

#include "data/codec.h"
#include "medley/error.h"

// libjpeg reports errors through a handler that must not return; ours jumps. Every function here
// that calls setjmp has only trivial locals, and libjpeg's C frames are all that lies between.

namespace medley::data {
namespace {

/// More than any encoder writes: a small file with thousands of scans is an attack. Every scan goes
/// over all pixels, so large images may have fewer; those of encoders have about ten.
constexpr std::int64_t kMaxScans = 500;
constexpr std::int64_t kMaxScannedPixels = std::int64_t{1} << 31;

/// Warnings about things that do not touch the pixels.
bool harmless(int code) noexcept {
  return code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM ||
         code == JWRN_BOGUS_ICC;
}

/// Warnings about markers where none should be: every other decoder goes on as well.
bool tolerable(int code) noexcept { return code == JWRN_HIT_MARKER || code == JWRN_MUST_RESYNC; }

/// A row of CMYK as Pillow converts it: what is stored is taken as inverted, whatever the file
/// says.
void rgb_of_cmyk(const std::uint8_t* cmyk, JDIMENSION width, std::uint8_t* rgb) noexcept {
  for (JDIMENSION x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<std::uint8_t>((cmyk[c] * cmyk[3] + 127) / 255);
    }
  }
}

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    decoder_.err = jpeg_std_error(&errors_);
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    errors_.output_message = [](j_common_ptr) {};
    decoder_.client_data = this;
    progress_.progress_monitor = on_progress;
  }
  ~Reader() { jpeg_destroy_decompress(&decoder_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Reads up to the pixels. False after an error.
  [[nodiscard]] bool read_header() noexcept {
    if (setjmp(jump_) != 0) return false;
    jpeg_create_decompress(&decoder_);  // keeps client_data and err
    decoder_.progress = &progress_;
    jpeg_mem_src(&decoder_, bytes_.data(), bytes_.size());
    jpeg_read_header(&decoder_, TRUE);
    max_scans_ = std::clamp(kMaxScannedPixels / std::max<std::int64_t>(height() * width(), 1),
                            std::int64_t{1}, kMaxScans);
    return true;
  }

  [[nodiscard]] bool is_cmyk() const noexcept {
    return color_space() == JCS_CMYK || color_space() == JCS_YCCK;
  }

  /// Reads the pixels and everything after them; `cmyk` has room for a row of four channels, if
  /// the image has them. False after an error.
  [[nodiscard]] bool read_rows(std::uint8_t* rgb, std::size_t row_bytes,
                               std::uint8_t* cmyk) noexcept {
    if (setjmp(jump_) != 0) return false;
    start(8);
    while (decoder_.output_scanline < decoder_.output_height) {
      read_row(rgb + decoder_.output_scanline * row_bytes, cmyk);
    }
    jpeg_finish_decompress(&decoder_);
    return true;
  }

  /// Gets ready to read columns from `left` on at eighths / 8 of the full size. Moves `left` down
  /// to where decoding can begin and makes `width` cover the same end. False after an error.
  [[nodiscard]] bool start_part(unsigned eighths, JDIMENSION& left, JDIMENSION& width) noexcept {
    if (setjmp(jump_) != 0) return false;
    start(eighths);
    jpeg_crop_scanline(&decoder_, &left, &width);
    return true;
  }

  /// Reads rows [top, top + height) after `start_part`, none after them. False after an error.
  [[nodiscard]] bool read_part(JDIMENSION top, JDIMENSION height, std::uint8_t* rgb,
                               std::size_t row_bytes, std::uint8_t* cmyk) noexcept {
    if (setjmp(jump_) != 0) return false;
    if (top > 0) jpeg_skip_scanlines(&decoder_, top);
    while (decoder_.output_scanline < top + height) {
      read_row(rgb + (decoder_.output_scanline - top) * row_bytes, cmyk);
    }
    jpeg_abort_decompress(&decoder_);
    return true;
  }

  [[nodiscard]] std::int64_t height() const noexcept { return decoder_.image_height; }
  [[nodiscard]] std::int64_t width() const noexcept { return decoder_.image_width; }
  [[nodiscard]] int components() const noexcept { return decoder_.num_components; }
  [[nodiscard]] J_COLOR_SPACE color_space() const noexcept { return decoder_.jpeg_color_space; }

  [[noreturn]] void fail(std::string_view name) const {
    const int code = errors_.msg_code;
    if (code == JWRN_JPEG_EOF || code == JERR_INPUT_EOF || code == JERR_INPUT_EMPTY) {
      throw IoError(fmt::format("{} is truncated: its JPEG data should go on after {} bytes", name,
                                bytes_.size()));
    }
    if (code == JERR_EMPTY_IMAGE || code == JERR_IMAGE_TOO_BIG) {
      check_decoded_size(height(), width(), name);
    }
    throw IoError(fmt::format("{} is a broken JPEG: {}", name, message_.data()));
  }

  /// Says what was passed over, if anything was.
  void tell_damage(std::string_view name, const DamageNote& note) const {
    if (note && damage_[0] != '\0') {
      note(fmt::format("{} is damaged, but was decoded: {}", name, damage_.data()));
    }
  }

 private:
  void start(unsigned eighths) {
    decoder_.out_color_space = is_cmyk() ? JCS_CMYK : JCS_RGB;
    decoder_.dct_method = JDCT_ISLOW;  // the same bits with and without SIMD
    decoder_.scale_num = eighths;
    decoder_.scale_denom = 8;
    jpeg_start_decompress(&decoder_);
  }

  void read_row(std::uint8_t* rgb, std::uint8_t* cmyk) noexcept {
    JSAMPROW row = is_cmyk() ? cmyk : rgb;
    jpeg_read_scanlines(&decoder_, &row, 1);
    if (is_cmyk()) rgb_of_cmyk(cmyk, decoder_.output_width, rgb);
  }

  static Reader& self_of(j_common_ptr decoder) {
    return *static_cast<Reader*>(decoder->client_data);
  }

  [[noreturn]] static void on_error(j_common_ptr decoder) {
    Reader& self = self_of(decoder);
    self.errors_.format_message(decoder, self.message_.data());
    std::longjmp(self.jump_, 1);
  }

  static void on_message(j_common_ptr decoder, int level) {
    if (level >= 0 || harmless(decoder->err->msg_code)) return;
    if (!tolerable(decoder->err->msg_code)) on_error(decoder);
    Reader& self = self_of(decoder);
    if (self.damage_[0] == '\0') self.errors_.format_message(decoder, self.damage_.data());
  }

  static void on_progress(j_common_ptr decoder) {
    Reader& self = self_of(decoder);
    if (self.decoder_.input_scan_number <= self.max_scans_) return;
    // The code of a message without parameters; the text is ours.
    decoder->err->msg_code = JERR_BAD_PROGRESSION;
    std::snprintf(self.message_.data(), JMSG_LENGTH_MAX, "it has more than %d scans",
                  static_cast<int>(self.max_scans_));
    std::longjmp(self.jump_, 1);
  }

  std::span<const std::uint8_t> bytes_;
  jpeg_decompress_struct decoder_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::array<char, JMSG_LENGTH_MAX> message_{};
  std::array<char, JMSG_LENGTH_MAX> damage_{};  // the first that was passed over
  std::int64_t max_scans_ = kMaxScans;
  std::jmp_buf jump_{};
};

void check_colors(const Reader& reader, std::string_view name) {
  switch (reader.color_space()) {
    case JCS_GRAYSCALE:
    case JCS_RGB:
    case JCS_YCbCr:
    case JCS_CMYK:
    case JCS_YCCK:
      return;
    default:
      throw IoError(fmt::format("{} is a JPEG of {} components, expected gray, RGB or CMYK", name,
                                reader.components()));
  }
}

/// Room for a row of four channels, if the image has them.
std::vector<std::uint8_t> cmyk_row(const Reader& reader) {
  return std::vector<std::uint8_t>(reader.is_cmyk() ? static_cast<std::size_t>(4 * reader.width())
                                                    : 0);
}

/// Whether the end of the image is there. Entropy-coded data cannot hold this marker.
bool has_end(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kTail = 4096;  // some files have a little after it
  const auto tail = bytes.last(std::min(kTail, bytes.size() / 2));
  constexpr std::array<std::uint8_t, 2> kEnd = {0xFF, 0xD9};
  return std::search(tail.begin(), tail.end(), kEnd.begin(), kEnd.end()) != tail.end();
}

/// The coarsest scale, in eighths, that still has a pixel of the box for every one that is wanted.
/// Decoding at 5, 6 or 7 eighths takes longer than at 8, at 3 as long as at 4.
unsigned eighths_for(const PixelBox& box, ImageSize size) {
  for (const int eighths : {1, 2, 4}) {
    if (box.height * eighths >= size.height * 8 && box.width * eighths >= size.width * 8) {
      return static_cast<unsigned>(eighths);
    }
  }
  return 8;
}

}  // namespace

Image decode_jpeg(std::span<const std::uint8_t> bytes, std::string_view name,
                  const DamageNote& note) {
  Reader reader(bytes);
  if (!reader.read_header()) reader.fail(name);
  check_decoded_size(reader.height(), reader.width(), name);
  check_colors(reader, name);
  Image image;
  image.size = {static_cast<std::int32_t>(reader.height()),
                static_cast<std::int32_t>(reader.width())};
  image.rgb.resize(static_cast<std::size_t>(3 * image.size.pixels()));
  std::vector<std::uint8_t> cmyk = cmyk_row(reader);
  if (!reader.read_rows(image.rgb.data(), static_cast<std::size_t>(image.size.width) * 3,
                        cmyk.data())) {
    reader.fail(name);
  }
  reader.tell_damage(name, note);
  return image;
}

Window decode_jpeg_part(std::span<const std::uint8_t> bytes, std::string_view name,
                        const BoxChoice& choose, ImageSize size, Image& part,
                        const DamageNote& note) {
  if (!has_end(bytes))
    (void)decode_jpeg(bytes, name, nullptr);  // says what is wrong, if anything is
  Reader reader(bytes);
  if (!reader.read_header()) reader.fail(name);
  check_decoded_size(reader.height(), reader.width(), name);
  check_colors(reader, name);
  const PixelBox box = choose(
      {static_cast<std::int32_t>(reader.height()), static_cast<std::int32_t>(reader.width())});
  const unsigned eighths = eighths_for(box, size);
  const double scale = eighths / 8.0;
  const auto below = [&](std::int32_t at) { return static_cast<JDIMENSION>(at * scale); };
  const auto above = [&](std::int32_t at) {
    return static_cast<JDIMENSION>(std::ceil(at * scale));
  };
  const JDIMENSION top = below(box.top);
  const JDIMENSION height = above(box.top + box.height) - top;
  JDIMENSION left = below(box.left);
  JDIMENSION width = above(box.left + box.width) - left;
  if (!reader.start_part(eighths, left, width)) reader.fail(name);
  part.size = {static_cast<std::int32_t>(height), static_cast<std::int32_t>(width)};
  part.rgb.resize(std::size_t{3} * height * width);
  std::vector<std::uint8_t> cmyk = cmyk_row(reader);
  if (!reader.read_part(top, height, part.rgb.data(), std::size_t{3} * width, cmyk.data())) {
    reader.fail(name);
  }
  reader.tell_damage(name, note);
  return {box.top * scale - top, box.left * scale - left, box.height * scale, box.width * scale};
}

}  // namespace medley::data
