// The verbs of medley that need LibTorch; medley starts this program for them.

#include <malloc.h>

#include <limits>

#include "cli/nn/commands.h"
#include "cli/run_program.h"

namespace {

/// A step frees its tensors and the next one asks for the same again: memory that went back to the
/// system in between would have to be cleared and mapped anew, page by page.
void keep_freed_memory() {
#if defined(__GLIBC__)
  constexpr int kMost = std::numeric_limits<int>::max();
  mallopt(M_MMAP_THRESHOLD, kMost);
  mallopt(M_TRIM_THRESHOLD, kMost);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  constexpr medley::cli::AddCommand kVerbs[] = {medley::cli::add_train, medley::cli::add_eval,
                                                medley::cli::add_sweep, medley::cli::add_results,
                                                medley::cli::add_libtorch};
  return medley::cli::run_program(argc, argv, kVerbs, {},
                                  "\"medley VERB --help\" explains a verb.");
}
