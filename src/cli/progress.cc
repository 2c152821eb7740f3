#include "cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "cli/console.h"

namespace medley::cli {
namespace {

constexpr std::size_t kBarWidth = 20;
constexpr std::size_t kLeastBar = 4;
constexpr std::chrono::milliseconds kRedraw{100};

}  // namespace

std::string clock_text(double seconds) {
  // Beyond 99 hours the estimate says nothing.
  const auto all = static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 0.0, 359999.0)));
  const std::int64_t hours = all / 3600;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, all / 60 % 60, all % 60);
  return fmt::format("{}:{:02}", all / 60, all % 60);
}

std::string bar_line(std::string_view label, double share, std::vector<std::string> parts,
                     std::size_t columns) {
  const auto behind = [&parts] {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? " " : "  ") + part;
    return text;
  };
  std::string end = behind();
  for (; !parts.empty() && label.size() + end.size() > columns; end = behind()) parts.pop_back();
  const std::size_t used = label.size() + end.size() + 3;  // " [" and "]"
  const std::size_t bar = used > columns ? 0 : std::min(kBarWidth, columns - used);
  if (bar < kLeastBar) return std::string(label.substr(0, columns)) + end;
  const auto filled = static_cast<std::size_t>(static_cast<double>(bar) * share);
  return fmt::format("{} [{:#<{}}{:-<{}}]{}", label, "", filled, "", bar - filled, end);
}

std::string progress_line(std::string_view label, std::int64_t done, std::int64_t total,
                          double seconds, const std::string& detail, std::size_t columns) {
  std::vector<std::string> parts = {fmt::format("{}/{}", done, total)};
  if (done > 0 && seconds > 0) {
    const double rate = static_cast<double>(done) / seconds;
    parts.push_back(fmt::format("{:.1f}/s", rate));
    parts.push_back(fmt::format("{} left", clock_text(static_cast<double>(total - done) / rate)));
  }
  if (!detail.empty()) parts.push_back(detail);
  const double share =
      total > 0 ? static_cast<double>(std::min(done, total)) / static_cast<double>(total) : 1;
  return bar_line(label, share, std::move(parts), columns);
}

// The cursor behind a full line is where some terminals wrap, and others erase.
std::size_t line_columns() { return terminal_columns(stderr) - 1; }

Progress::Progress(std::string_view label, std::int64_t total, bool quiet)
    : label_(label), total_(total), shown_(!quiet && stderr_is_terminal()) {}

Progress::~Progress() {
  if (shown_) static_cast<void>(std::fputs("\r\x1b[K", stderr));
}

void Progress::tick() {
  ++done_;
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  if (now - drawn_ < kRedraw && done_ < total_) return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string line = progress_line(label_, done_, total_, seconds, detail_, line_columns());
  static_cast<void>(std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), stderr));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace medley::cli
