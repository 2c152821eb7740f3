#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torch/torch.h>

namespace medley::nn {

/// Tensors with names, in a fixed order.
using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// Parameters and buffers of a module, by their PyTorch names.
[[nodiscard]] NamedTensors state_of(const torch::nn::Module& module);

/// Puts the weights of convolutions into channels-last memory, in which they take images that lie
/// in memory like that, and are faster than in any other on a CPU too.
void to_channels_last(torch::nn::Module& module);

/// As a safetensors file.
[[nodiscard]] std::vector<std::uint8_t> save_tensors(const NamedTensors& tensors);

/// The bytes of a safetensors file that holds what `load_tensors` wants, which its header must say:
/// others are not read. Throws IoError.
[[nodiscard]] std::vector<std::uint8_t> read_tensors(const std::filesystem::path& file,
                                                     const NamedTensors& tensors);

/// Copies the values of a safetensors file into tensors of the same names, shapes and types. Throws
/// IoError, with `file`, if one is missing, left over or does not fit.
void load_tensors(std::span<const std::uint8_t> bytes, std::string_view file,
                  const NamedTensors& tensors);

}  // namespace medley::nn
