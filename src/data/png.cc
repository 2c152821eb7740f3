#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "data/codec.h"
#include "medley/error.h"

// libpng reports errors by longjmp. Every function here that calls setjmp has only trivial locals,
// and libpng's own C frames are all that lies between the two.

namespace medley::data {
namespace {

using Message = std::array<char, 160>;

void keep_message(Message& message, const char* text) noexcept {
  std::snprintf(message.data(), message.size(), "%s", text);
}

void ignore_warning(png_structp /*png*/, png_const_charp /*text*/) {}

std::int64_t big_endian_32(const std::uint8_t* bytes) {
  return (std::int64_t{bytes[0]} << 24) | (bytes[1] << 16) | (bytes[2] << 8) | bytes[3];
}

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, ignore_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Reads up to the pixels and asks for 8-bit RGB. False after an error.
  [[nodiscard]] bool read_header() noexcept {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, on_read);
    png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_user_limits(png_, kMaxImageSide, kMaxImageSide);
    png_read_info(png_, info_);
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_alpha(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  /// Reads the pixels and everything after them. False after an error.
  [[nodiscard]] bool read_rows(std::uint8_t* rgb, std::size_t row_bytes,
                               std::int32_t height) noexcept {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    for (int pass = 0; pass < passes_; ++pass) {
      for (std::int32_t y = 0; y < height; ++y) {
        png_read_row(png_, rgb + static_cast<std::size_t>(y) * row_bytes, nullptr);
      }
    }
    png_read_end(png_, nullptr);
    return true;
  }

  [[nodiscard]] ImageSize size() const noexcept {
    return {static_cast<std::int32_t>(png_get_image_height(png_, info_)),
            static_cast<std::int32_t>(png_get_image_width(png_, info_))};
  }
  [[nodiscard]] std::size_t row_bytes() const noexcept { return png_get_rowbytes(png_, info_); }

  [[noreturn]] void fail(std::string_view name) const {
    if (truncated_) {
      throw IoError(fmt::format("{} is truncated: its PNG data should go on after {} bytes", name,
                                bytes_.size()));
    }
    throw IoError(fmt::format("{} is a broken PNG: {}", name, message_.data()));
  }

 private:
  [[noreturn]] static void on_error(png_structp png, png_const_charp text) {
    keep_message(static_cast<Reader*>(png_get_error_ptr(png))->message_, text);
    png_longjmp(png, 1);
  }

  static void on_read(png_structp png, png_bytep to, std::size_t count) {
    auto& self = *static_cast<Reader*>(png_get_io_ptr(png));
    if (count > self.bytes_.size() - self.position_) {
      self.truncated_ = true;
      png_error(png, "truncated");
    }
    std::memcpy(to, self.bytes_.data() + self.position_, count);
    self.position_ += count;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  bool truncated_ = false;
  Message message_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
};

class Writer {
 public:
  Writer() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, on_error, ignore_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw std::bad_alloc();
    }
  }
  ~Writer() { png_destroy_write_struct(&png_, &info_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  [[nodiscard]] bool write(ImageSize size, std::int32_t channels,
                           const std::uint8_t* values) noexcept {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_write_fn(png_, this, on_write, nullptr);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(size.width),
                 static_cast<png_uint_32>(size.height), 8,
                 channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    for (std::int64_t y = 0; y < size.height; ++y) {
      png_write_row(png_, values + y * size.width * channels);
    }
    png_write_end(png_, nullptr);
    return true;
  }

  [[noreturn]] void fail() const {
    if (out_of_memory_) throw std::bad_alloc();
    throw IoError(fmt::format("cannot encode a PNG: {}", message_.data()));
  }

  [[nodiscard]] std::vector<std::uint8_t> take() noexcept { return std::move(bytes_); }

 private:
  [[noreturn]] static void on_error(png_structp png, png_const_charp text) {
    keep_message(static_cast<Writer*>(png_get_error_ptr(png))->message_, text);
    png_longjmp(png, 1);
  }

  static void on_write(png_structp png, png_bytep from, std::size_t count) {
    auto& self = *static_cast<Writer*>(png_get_io_ptr(png));
    if (!self.append(from, count)) png_error(png, "out of memory");
  }

  [[nodiscard]] bool append(const std::uint8_t* from, std::size_t count) noexcept {
    try {
      bytes_.insert(bytes_.end(), from, from + count);
    } catch (const std::bad_alloc&) {
      out_of_memory_ = true;
    }
    return !out_of_memory_;
  }

  std::vector<std::uint8_t> bytes_;
  bool out_of_memory_ = false;
  Message message_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

// libpng's own refusals do not name the size.
void check_png_header(std::span<const std::uint8_t> bytes, std::string_view name) {
  constexpr std::size_t kChunkType = 12;
  constexpr std::size_t kWidth = 16;
  constexpr std::size_t kHeight = 20;
  if (bytes.size() < kHeight + 4) return;
  if (std::memcmp(bytes.data() + kChunkType, "IHDR", 4) != 0) return;
  check_decoded_size(big_endian_32(bytes.data() + kHeight), big_endian_32(bytes.data() + kWidth),
                     name);
}

Image decode_png(std::span<const std::uint8_t> bytes, std::string_view name) {
  check_png_header(bytes, name);
  Reader reader(bytes);
  if (!reader.read_header()) reader.fail(name);
  const ImageSize size = reader.size();
  const std::size_t row_bytes = static_cast<std::size_t>(size.width) * 3;
  if (reader.row_bytes() != row_bytes) {
    throw IoError(fmt::format("{} is a broken PNG: its pixels cannot be read as RGB", name));
  }
  Image image{size, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * size.pixels()))};
  if (!reader.read_rows(image.rgb.data(), row_bytes, size.height)) reader.fail(name);
  return image;
}

std::vector<std::uint8_t> encode_png_rows(ImageSize size, std::int32_t channels,
                                          std::span<const std::uint8_t> values) {
  Writer writer;
  if (!writer.write(size, channels, values.data())) writer.fail();
  return writer.take();
}

}  // namespace medley::data
