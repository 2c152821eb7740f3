#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace medley::cli {

/// "1:05", "2:00:00"
[[nodiscard]] std::string clock_text(double seconds);

/// "label [#####-----] one  two", at most `columns` long: the bar gives way first, then the parts
/// behind it, the last one first; at last the label is cut. `share` is from 0 to 1.
[[nodiscard]] std::string bar_line(std::string_view label, double share,
                                   std::vector<std::string> parts, std::size_t columns);

/// A progress line: "mixing [#####-----] 50/100  12.5/s  0:04 left", and the detail, if any, as its
/// last part. `seconds` is the time that `done` items of `total` took.
[[nodiscard]] std::string progress_line(std::string_view label, std::int64_t done,
                                        std::int64_t total, double seconds,
                                        const std::string& detail, std::size_t columns);

/// Columns that a line on standard error may take without wrapping.
[[nodiscard]] std::size_t line_columns();

/// Draws that line on standard error, at most ten times a second, as wide as the terminal allows,
/// and wipes it when destroyed. Does nothing with `quiet` or where standard error is no terminal.
class Progress {
 public:
  Progress(std::string_view label, std::int64_t total, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One more item is done.
  void tick();
  /// Text behind the line, such as a loss.
  void set_detail(std::string detail) { detail_ = std::move(detail); }

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  std::string detail_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool shown_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
};

}  // namespace medley::cli
