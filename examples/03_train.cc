// Trains a small network with and without mixing: 03_train [DATA EPOCHS [FOLDER]]. Without
// arguments it takes a second and learns little; "cifar10:cifar-10-batches-bin 12" is worth a
// while.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>

#include "medley/data/dataset.h"
#include "medley/nn/trainer.h"

namespace {

/// A line per epoch; a run prints nothing itself.
class Printer : public medley::nn::TrainObserver {
 public:
  explicit Printer(std::string method) : method_(std::move(method)) {}
  void on_epoch(const medley::train::EpochMetrics& m) override {
    if (!m.score) return;  // the recipe scores every few epochs only
    std::printf("%-6s epoch %lld: loss %.3f, %.1f %% of the test images right\n", method_.c_str(),
                static_cast<long long>(m.epoch), m.train_loss, m.score->test_top1);
  }

 private:
  std::string method_;
};

void run(const std::string& source, std::int64_t epochs, const std::filesystem::path& out) {
  const medley::data::ImageData data = medley::data::open_data(source);
  for (const char* method : {"none", "hmix"}) {
    medley::nn::TrainOptions options;
    options.recipe = medley::train::find_recipe("demo");
    options.recipe.epochs = epochs;
    options.recipe.mix.method = method;
    options.seed = 1;  // of weights, order, crops and masks
    options.out = out / method;
    options.existing = medley::train::ExistingRun::resume;  // where a killed run stopped
    Printer printer(method);
    medley::nn::train(data, options, printer);
    std::printf("%-6s weights in %s\n", method, (options.out / "weights.safetensors").c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "synthetic:train=200,test=100,size=16",
        argc > 2 ? std::atoll(argv[2]) : 2, argc > 3 ? argv[3] : "runs");
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "error: %s\n", problem.what());
    return 1;
  }
}
