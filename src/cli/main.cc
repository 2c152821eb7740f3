#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/run_program.h"
#include "cli/training_program.h"

namespace {

using medley::cli::AddCommand;
using medley::cli::VerbInfo;

constexpr const char* kFooter =
    "Examples:\n"
    "  medley mix cat.png dog.png --method gmix --lam 0.65 -o mixed.png\n"
    "  medley plan --method hmix --batch 8 --height 32 --width 48 --seed 7 --json\n"
    "\n"
    "\"medley VERB --help\" explains a verb. Exit codes: 0 done, 1 failed while running,\n"
    "2 wrong usage, 3 ran and the check said no.";

/// What the training program beside this one does. LibTorch takes half a second to start, which
/// the other verbs do not wait for.
const std::array<VerbInfo, 4> kTraining = {
    VerbInfo{"train", "Train a network with mixed images"},
    VerbInfo{"eval", "Measure a trained network"},
    VerbInfo{"sweep", "Train every combination of networks, methods and seeds"},
    VerbInfo{"results", "Tabulate, check, collect and draw the results of runs"}};

/// LibTorch's OpenMP threads spin while they wait, by default for so long that they keep busy cores
/// from the thread they wait for. This many rounds outlast the gaps between the operations of a
/// step. OpenMP reads the variable before the program's main() starts.
void bound_spinning() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  (void)setenv("GOMP_SPINCOUNT", "10000", /*overwrite=*/0);
}

/// Becomes the training program; returns only if there is none.
int become_training_program(char** argv) {
  bound_spinning();
  const std::string program = medley::cli::training_program().string();
  execv(program.c_str(), argv);
  const bool missing = errno == ENOENT;
  medley::cli::print_error(fmt::format(
      "the training engine {} {}", program,
      missing ? "is not there: copy it beside medley, or build it with -DMEDLEY_BUILD_NN=ON (needs "
                "LibTorch)"
              : std::string("does not start: ") + std::strerror(errno)));
  return medley::cli::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (std::ranges::find(kTraining, verb, &VerbInfo::name) != kTraining.end()) {
    return become_training_program(argv);
  }
  constexpr AddCommand kVerbs[] = {medley::cli::add_mix, medley::cli::add_plan,
                                   medley::cli::add_info, medley::cli::add_demo,
                                   medley::cli::add_theory};
  return medley::cli::run_program(argc, argv, kVerbs, kTraining, kFooter);
}
