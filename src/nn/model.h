#pragma once

#include <memory>
#include <string>

#include <torch/torch.h>

namespace medley::nn {

/// A network that maps images (B×C×H×W) to logits (B×classes). Parameters have the names that they
/// have in PyTorch.
class Model : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(torch::Tensor x) = 0;
};

/// A network with parameters drawn from a seed. Throws InvalidArgument.
[[nodiscard]] std::shared_ptr<Model> make_model(const std::string& name, std::int64_t classes,
                                                std::int64_t channels, std::uint64_t seed);

/// A network with any parameters. Throws InvalidArgument.
[[nodiscard]] std::shared_ptr<Model> make_model(const std::string& name, std::int64_t classes,
                                                std::int64_t channels = 3);

}  // namespace medley::nn
