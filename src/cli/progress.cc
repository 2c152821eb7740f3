#include "cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "cli/console.h"

namespace medley::cli {
namespace {

constexpr std::int64_t kBarWidth = 20;
constexpr std::chrono::milliseconds kRedraw{100};

}  // namespace

std::string clock_text(double seconds) {
  // Beyond 99 hours the estimate says nothing.
  const auto all = static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 0.0, 359999.0)));
  const std::int64_t hours = all / 3600;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, all / 60 % 60, all % 60);
  return fmt::format("{}:{:02}", all / 60, all % 60);
}

std::string progress_line(std::string_view label, std::int64_t done, std::int64_t total,
                          double seconds) {
  const std::int64_t filled = total > 0 ? kBarWidth * std::min(done, total) / total : kBarWidth;
  std::string line = fmt::format("{} [{:#<{}}{:-<{}}] {}/{}", label, "", filled, "",
                                 kBarWidth - filled, done, total);
  if (done > 0 && seconds > 0) {
    const double rate = static_cast<double>(done) / seconds;
    line += fmt::format("  {:.1f}/s  {} left", rate,
                        clock_text(static_cast<double>(total - done) / rate));
  }
  return line;
}

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
  std::string line = progress_line(label_, done_, total_, seconds);
  if (!detail_.empty()) line += "  " + detail_;
  static_cast<void>(std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), stderr));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace medley::cli
