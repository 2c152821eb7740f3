#include <string>

#include <medley/nn/trainer.h>

int main() {
  const auto names = medley::nn::model_names();
  return !names.empty() && medley::nn::parameter_count(std::string(names[0]), 10) > 0 ? 0 : 1;
}
