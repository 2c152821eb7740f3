#include "data/picture_files.h"

#include <png.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <jpeglib.h>

#include "medley/error.h"

namespace medley::test {
namespace {

[[noreturn]] void on_png_error(png_structp /*png*/, png_const_charp text) {
  std::fprintf(stderr, "test file could not be made: %s\n", text);
  std::abort();
}

std::vector<std::uint8_t> packed_row(std::span<const std::uint32_t> samples, std::int32_t depth) {
  std::vector<std::uint8_t> row;
  std::uint32_t bits = 0;
  int filled = 0;
  for (const std::uint32_t sample : samples) {
    if (depth == 16) {
      row.push_back(static_cast<std::uint8_t>(sample >> 8));
      row.push_back(static_cast<std::uint8_t>(sample));
      continue;
    }
    bits = bits << depth | sample;
    filled += depth;
    if (filled == 8) {
      row.push_back(static_cast<std::uint8_t>(bits));
      bits = 0;
      filled = 0;
    }
  }
  if (filled > 0) row.push_back(static_cast<std::uint8_t>(bits << (8 - filled)));
  return row;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "medley-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::ptrdiff_t TemporaryDirectory::entries() const {
  return std::distance(std::filesystem::directory_iterator(path_),
                       std::filesystem::directory_iterator());
}

void write_bytes(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::uint8_t palette_value(std::uint32_t i, int channel) {
  return static_cast<std::uint8_t>(i * 37 + static_cast<unsigned>(channel) * 85 + 11);
}

std::vector<std::uint8_t> png_file(const PngKind& kind, ImageSize size,
                                   std::span<const std::uint32_t> samples) {
  std::vector<std::uint8_t> bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, on_png_error, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp self, png_bytep from, std::size_t count) {
        auto* const to = static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(self));
        to->insert(to->end(), from, from + count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), kind.depth, kind.color_type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (kind.color_type == PNG_COLOR_TYPE_PALETTE) {
    std::vector<png_color> palette;
    for (std::uint32_t i = 0; i < (1u << kind.depth); ++i) {
      palette.push_back({palette_value(i, 0), palette_value(i, 1), palette_value(i, 2)});
    }
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  }
  if (kind.transparency) {
    png_color_16 clear{};
    png_byte alpha[] = {0, 100};
    png_set_tRNS(png, info, alpha, kind.color_type == PNG_COLOR_TYPE_PALETTE ? 2 : 0, &clear);
  }
  png_write_info(png, info);
  const int passes = png_set_interlace_handling(png);
  const auto row_samples =
      static_cast<std::size_t>(size.width) * static_cast<std::size_t>(kind.channels());
  for (int pass = 0; pass < passes; ++pass) {
    for (std::int32_t y = 0; y < size.height; ++y) {
      const auto row = packed_row(
          samples.subspan(static_cast<std::size_t>(y) * row_samples, row_samples), kind.depth);
      png_write_row(png, row.data());
    }
  }
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

std::vector<std::uint8_t> jpeg_file(const JpegKind& kind, ImageSize size,
                                    std::span<const std::uint8_t> values) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* memory = nullptr;
  unsigned long length = 0;
  jpeg_mem_dest(&encoder, &memory, &length);
  encoder.image_width = static_cast<JDIMENSION>(size.width);
  encoder.image_height = static_cast<JDIMENSION>(size.height);
  encoder.input_components = kind.components;
  encoder.in_color_space = kind.components == 1   ? JCS_GRAYSCALE
                           : kind.components == 3 ? JCS_RGB
                                                  : JCS_CMYK;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, kind.quality, TRUE);
  if (kind.progressive) jpeg_simple_progression(&encoder);
  if (kind.ycck) jpeg_set_colorspace(&encoder, JCS_YCCK);
  if (kind.no_adobe) encoder.write_Adobe_marker = FALSE;
  std::vector<jpeg_scan_info> scans;
  if (kind.many_scans) {
    scans.push_back({1, {0, 0, 0, 0}, 0, 0, 0, 0});
    for (int bit = 3; bit >= 0; --bit) {
      for (int k = 1; k < 64; ++k)
        scans.push_back({1, {0, 0, 0, 0}, k, k, bit == 3 ? 0 : bit + 1, bit});
    }
    encoder.scan_info = scans.data();
    encoder.num_scans = static_cast<int>(scans.size());
  }
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    const std::size_t at = encoder.next_scanline * static_cast<std::size_t>(size.width) *
                           static_cast<std::size_t>(kind.components);
    auto* row = const_cast<JSAMPROW>(values.data() + at);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  std::vector<std::uint8_t> bytes(memory, memory + length);
  jpeg_destroy_compress(&encoder);
  std::free(memory);
  return bytes;
}

std::vector<std::uint8_t> cmyk_values(std::span<const std::uint8_t> bytes) {
  jpeg_decompress_struct decoder{};
  jpeg_error_mgr errors{};
  decoder.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&decoder);
  jpeg_mem_src(&decoder, bytes.data(), bytes.size());
  jpeg_read_header(&decoder, TRUE);
  decoder.out_color_space = JCS_CMYK;
  decoder.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&decoder);
  const std::size_t row_bytes = std::size_t{4} * decoder.output_width;
  std::vector<std::uint8_t> values(row_bytes * decoder.output_height);
  while (decoder.output_scanline < decoder.output_height) {
    JSAMPROW row = values.data() + decoder.output_scanline * row_bytes;
    jpeg_read_scanlines(&decoder, &row, 1);
  }
  jpeg_finish_decompress(&decoder);
  jpeg_destroy_decompress(&decoder);
  return values;
}

void write_sparse(const std::filesystem::path& path, std::span<const std::uint8_t> start,
                  std::uint64_t size) {
  write_bytes(path, start);
  std::filesystem::resize_file(path, size);
}

data::Image gradient_image(ImageSize size) {
  data::Image image{size, {}};
  for (std::int32_t y = 0; y < size.height; ++y) {
    for (std::int32_t x = 0; x < size.width; ++x) {
      image.rgb.push_back(static_cast<std::uint8_t>(40 + 180 * x / size.width));
      image.rgb.push_back(static_cast<std::uint8_t>(40 + 180 * y / size.height));
      image.rgb.push_back(
          static_cast<std::uint8_t>(200 - 90 * (x + y) / (size.width + size.height)));
    }
  }
  return image;
}

std::string decode_error(std::span<const std::uint8_t> bytes, std::string_view name) {
  try {
    (void)data::decode_image(bytes, name);
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

}  // namespace medley::test
