#include "cli/interrupt.h"

#include <csignal>

#include "medley/error.h"

namespace medley::cli {
namespace {

volatile std::sig_atomic_t asked_to_stop = 0;

extern "C" void remember_interrupt(int signal) {
  asked_to_stop = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, remember_interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

bool interrupted() { return asked_to_stop != 0; }

void check_interrupt() {
  if (interrupted()) throw Error("interrupted; nothing was written");
}

}  // namespace medley::cli
