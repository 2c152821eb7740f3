#include <fmt/format.h>

#include "core/check.h"
#include "medley/nn/trainer.h"

namespace medley::nn {

void check_options(const TrainOptions& options) {
  train::check_recipe(options.recipe);
  if (options.recipe.draws != kDrawsVersion) {
    fail_argument(fmt::format(
        "the recipe is of draws version {}, this program has {}: take \"draws\" out of the recipe "
        "to train with the draws of this program",
        options.recipe.draws, kDrawsVersion));
  }
  check_model(options.recipe.model);
  check_threads(options.threads);
  medley::check_options(run_options(), &options);
}

const std::vector<OptionSpec>& run_options() {
  static const std::vector<OptionSpec> options =
      OptionTable<TrainOptions>()
          .add(&TrainOptions::precision, "precision", "of convolutions on a GPU; a CPU has f32")
          .add(&TrainOptions::no_graph, "no_graph", "GPU: launch every kernel of every step")
          .add(&TrainOptions::deterministic, "deterministic",
               "GPU: the same bits every time, with slower algorithms")
          .add(&TrainOptions::profile, "profile",
               "say after the first epoch where the time of a step goes")
          .add(&TrainOptions::checkpoint_epochs, "checkpoint_epochs",
               "a checkpoint after so many epochs", {.range = at_least(1)})
          .add(&TrainOptions::checkpoint_minutes, "checkpoint_minutes", "and after so many minutes",
               {.range = above(0)});
  return options;
}

}  // namespace medley::nn
