// The verbs of medley that need LibTorch; medley starts this program for them.

#include "cli/nn/commands.h"
#include "cli/run_program.h"

int main(int argc, char** argv) {
  constexpr medley::cli::AddCommand kVerbs[] = {medley::cli::add_train, medley::cli::add_eval,
                                                medley::cli::add_sweep, medley::cli::add_results};
  return medley::cli::run_program(argc, argv, kVerbs, {},
                                  "\"medley VERB --help\" explains a verb.");
}
