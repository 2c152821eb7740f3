#include "cli/console.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "medley/error.h"

namespace medley::cli {
namespace {

constexpr std::size_t kUsualColumns = 80;

std::atomic<bool> reader_is_gone = false;

void to_stderr(std::string_view text) {
  // Nothing is left to do when even this fails.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

/// A marker such as "error:" in the given ANSI color, or plain where color is not wanted.
std::string marker(std::string_view word, std::string_view color) {
  // https://no-color.org: set and not empty.
  const char* no_color = std::getenv("NO_COLOR");
  const bool colored = stderr_is_terminal() && (no_color == nullptr || *no_color == '\0');
  return colored ? fmt::format("\x1b[{}m{}:\x1b[0m", color, word) : fmt::format("{}:", word);
}

/// Length of the UTF-8 sequence at the start of `text`, 0 if it is not one. Overlong forms pass:
/// terminals do not act on them.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : 4;
  if ((length == 4 && lead >> 3 != 30) || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (static_cast<unsigned char>(text[i]) >> 6 != 2) return 0;
  }
  return length;
}

}  // namespace

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // open() takes the lowest free descriptor; read-only, so that writing to it fails.
    if (open("/dev/null", O_RDONLY) == -1) return;
  }
}

void print(std::string_view text) {
  if (reader_is_gone) return;
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  if (errno != EPIPE) {
    throw IoError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
  reader_is_gone = true;
}

void end_like_broken_pipe() {
  if (!reader_is_gone) return;
  std::signal(SIGPIPE, SIG_DFL);
  static_cast<void>(std::raise(SIGPIPE));
}

void print_error(std::string_view sentence) {
  to_stderr(fmt::format("{} {}\n", marker("error", "1;31"), printable(sentence)));
}

void print_note(std::string_view sentence, bool quiet) {
  if (!quiet) to_stderr(fmt::format("{} {}\n", marker("note", "36"), printable(sentence)));
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    // U+0080 to U+009F are control characters, too.
    const bool control =
        first < 0x20 || first == 0x7F ||
        (first == 0xC2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xA0);
    if (length == 0 || control) {
      out += '?';
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

std::size_t terminal_columns(std::FILE* stream) {
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualColumns;
}

}  // namespace medley::cli
