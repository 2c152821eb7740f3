#include <array>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE

#include <jpeglib.h>

#include <jerror.h>

#include <fmt/format.h>

#include "data/codec.h"
#include "medley/error.h"

// libjpeg reports errors through a handler that must not return; ours jumps. Every function here
// that calls setjmp has only trivial locals, and libjpeg's C frames are all that lies between.

namespace medley {
namespace {

/// More than any encoder writes; a small file with thousands of scans is an attack.
constexpr int kMaxScans = 500;

/// Warnings about things that do not touch the pixels.
bool harmless(int code) noexcept {
  return code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM ||
         code == JWRN_BOGUS_ICC;
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
    return true;
  }

  /// Reads the pixels and everything after them. False after an error.
  [[nodiscard]] bool read_rows(std::uint8_t* rgb, std::size_t row_bytes) noexcept {
    if (setjmp(jump_) != 0) return false;
    decoder_.out_color_space = JCS_RGB;
    decoder_.dct_method = JDCT_ISLOW;  // the same bits with and without SIMD
    jpeg_start_decompress(&decoder_);
    while (decoder_.output_scanline < decoder_.output_height) {
      JSAMPROW row = rgb + decoder_.output_scanline * row_bytes;
      jpeg_read_scanlines(&decoder_, &row, 1);
    }
    jpeg_finish_decompress(&decoder_);
    return true;
  }

  [[nodiscard]] std::int64_t height() const noexcept { return decoder_.image_height; }
  [[nodiscard]] std::int64_t width() const noexcept { return decoder_.image_width; }
  [[nodiscard]] int components() const noexcept { return decoder_.num_components; }
  [[nodiscard]] J_COLOR_SPACE colour_space() const noexcept { return decoder_.jpeg_color_space; }

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

 private:
  static Reader& self_of(j_common_ptr decoder) {
    return *static_cast<Reader*>(decoder->client_data);
  }

  [[noreturn]] static void on_error(j_common_ptr decoder) {
    Reader& self = self_of(decoder);
    self.errors_.format_message(decoder, self.message_.data());
    std::longjmp(self.jump_, 1);
  }

  static void on_message(j_common_ptr decoder, int level) {
    if (level < 0 && !harmless(decoder->err->msg_code)) on_error(decoder);
  }

  static void on_progress(j_common_ptr decoder) {
    if (self_of(decoder).decoder_.input_scan_number > kMaxScans) {
      // The code of a message without parameters; the text is ours.
      decoder->err->msg_code = JERR_BAD_PROGRESSION;
      std::snprintf(self_of(decoder).message_.data(), JMSG_LENGTH_MAX, "it has more than %d scans",
                    kMaxScans);
      std::longjmp(self_of(decoder).jump_, 1);
    }
  }

  std::span<const std::uint8_t> bytes_;
  jpeg_decompress_struct decoder_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::array<char, JMSG_LENGTH_MAX> message_{};
  std::jmp_buf jump_{};
};

void check_colours(const Reader& reader, std::string_view name) {
  switch (reader.colour_space()) {
    case JCS_GRAYSCALE:
    case JCS_RGB:
    case JCS_YCbCr:
      return;
    case JCS_CMYK:
    case JCS_YCCK:
      throw IoError(
          fmt::format("{} is a CMYK JPEG, expected grey or RGB: convert it to RGB first", name));
    default:
      throw IoError(fmt::format("{} is a JPEG of {} components, expected grey or RGB", name,
                                reader.components()));
  }
}

}  // namespace

Image decode_jpeg(std::span<const std::uint8_t> bytes, std::string_view name) {
  Reader reader(bytes);
  if (!reader.read_header()) reader.fail(name);
  check_decoded_size(reader.height(), reader.width(), name);
  check_colours(reader, name);
  Image image;
  image.size = {static_cast<std::int32_t>(reader.height()),
                static_cast<std::int32_t>(reader.width())};
  image.rgb.resize(static_cast<std::size_t>(3 * image.size.pixels()));
  if (!reader.read_rows(image.rgb.data(), static_cast<std::size_t>(image.size.width) * 3)) {
    reader.fail(name);
  }
  return image;
}

}  // namespace medley
