#include "data/unpacked_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <zlib.h>

#include "core/check.h"

namespace medley::data {

/// Unpacks a file piece by piece.
class UnpackedFile::Inflater {
 public:
  Inflater() {
    constexpr int kGzip = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzip) != Z_OK) fail_io("zlib cannot be started");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  [[nodiscard]] std::size_t read(InputFile& file, std::span<std::uint8_t> to) {
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    constexpr std::size_t kMostOut = std::size_t{1} << 30;  // zlib counts in 32 bits
    std::size_t done = 0;
    while (done < to.size() && !ended_) {
      if (stream_.avail_in == 0) {
        packed_ = file.read_up_to(kPiece);
        stream_.next_in = packed_.data();
        stream_.avail_in = static_cast<uInt>(packed_.size());
      }
      const std::size_t room = std::min(to.size() - done, kMostOut);
      stream_.next_out = to.data() + done;
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      ended_ = status == Z_STREAM_END;
      if (status != Z_OK && !ended_) {
        fail_io(fmt::format("{} is truncated or not a gzip file, at byte {}", file.name(),
                            stream_.total_in));
      }
    }
    return done;
  }

 private:
  z_stream stream_{};
  std::vector<std::uint8_t> packed_;
  bool ended_ = false;
};

UnpackedFile::UnpackedFile(const std::filesystem::path& path) : file_(path) {
  const std::vector<std::uint8_t> start = file_.read_up_to(2);
  file_.seek(0);
  const bool gzipped = start.size() == 2 && start[0] == 0x1F && start[1] == 0x8B;
  if (gzipped) inflater_ = std::make_unique<Inflater>();
}

UnpackedFile::~UnpackedFile() = default;
UnpackedFile::UnpackedFile(UnpackedFile&&) noexcept = default;

std::uint64_t UnpackedFile::most_left() const noexcept {
  constexpr std::uint64_t kMostPerByte = 1032;  // a bit of deflate stands for 129 bytes
  return inflater_ ? file_.size() * kMostPerByte : file_.left();
}

std::size_t UnpackedFile::read(std::span<std::uint8_t> to) {
  if (inflater_) return inflater_->read(file_, to);
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), file_.left()));
  file_.read(to.first(count));
  return count;
}

}  // namespace medley::data
