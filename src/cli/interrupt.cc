#include "cli/interrupt.h"

#include <csignal>

#include "medley/error.h"

namespace medley::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void remember_interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
  std::signal(SIGINT, remember_interrupt);
  std::signal(SIGTERM, remember_interrupt);
}

void check_interrupt() {
  if (interrupted != 0) throw Error("interrupted; nothing was written");
}

}  // namespace medley::cli
