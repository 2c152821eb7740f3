// Asked by `medley info`, which does without LibTorch itself.

#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/nn/commands.h"
#include "nn/libtorch.h"

namespace medley::cli {

Command add_libtorch(CLI::App& program) {
  CLI::App* app = program.add_subcommand("libtorch", "Say which LibTorch this program runs on");
  return {app, [] {
            const nn::LibTorch library = nn::libtorch();
            print(nlohmann::ordered_json{{"libtorch", library.version}, {"folder", library.folder}}
                      .dump() +
                  "\n");
            return kDone;
          }};
}

}  // namespace medley::cli
