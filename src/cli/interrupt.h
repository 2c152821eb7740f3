#pragma once

namespace medley::cli {

/// Makes Ctrl-C, SIGTERM and SIGHUP (a closed terminal) stop the program at the next
/// `check_interrupt`, so that half-written output is removed. A second one ends it at once. One
/// that the caller has the program ignore (nohup) stays ignored.
void watch_interrupts();

/// Whether the user asked to stop since `watch_interrupts`.
[[nodiscard]] bool interrupted();

/// Throws medley::Error if the user asked to stop since `watch_interrupts`.
void check_interrupt();

}  // namespace medley::cli
