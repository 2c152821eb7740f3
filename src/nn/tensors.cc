#include "nn/tensors.h"

#include <cstring>

#include <fmt/format.h>

#include "core/check.h"
#include "train/safetensors.h"

namespace medley::nn {
namespace {

std::string_view dtype_name(const torch::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kFloat32:
      return "F32";
    case torch::kInt64:
      return "I64";
    case torch::kFloat64:
      return "F64";
    default:
      break;
  }
  fail_argument("only float, double and int64 tensors can be saved");
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t n : shape) text += fmt::format("{}{}", text.size() > 1 ? "x" : "", n);
  text += "]";
  return text;
}

}  // namespace

NamedTensors state_of(const torch::nn::Module& module) {
  NamedTensors state;
  for (const auto& item : module.named_parameters()) state.emplace_back(item.key(), item.value());
  for (const auto& item : module.named_buffers()) state.emplace_back(item.key(), item.value());
  return state;
}

void to_channels_last(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : module.parameters()) {
    if (parameter.dim() != 4) continue;
    parameter.set_data(parameter.contiguous(torch::MemoryFormat::ChannelsLast));
  }
}

std::vector<std::uint8_t> save_tensors(const NamedTensors& tensors) {
  std::vector<torch::Tensor> kept;  // contiguous copies on the host, alive until written
  std::vector<train::TensorView> views;
  for (const auto& [name, tensor] : tensors) {
    kept.push_back(tensor.detach().cpu().contiguous());
    const torch::Tensor& t = kept.back();
    views.push_back({name,
                     std::string(dtype_name(t)),
                     {t.sizes().begin(), t.sizes().end()},
                     {static_cast<const std::uint8_t*>(t.data_ptr()), t.nbytes()}});
  }
  return train::write_safetensors(views);
}

namespace {

/// The tensor of a file that goes into one of ours. Throws IoError unless it fits.
const train::TensorView& fitting(const train::SafetensorsFile& content, std::string_view file,
                                 const std::string& name, const torch::Tensor& tensor) {
  const train::TensorView* view = content.find(name);
  if (view == nullptr) fail_io(fmt::format("{} has no tensor \"{}\"", file, name));
  const std::vector<std::int64_t> shape(tensor.sizes().begin(), tensor.sizes().end());
  if (view->dtype == dtype_name(tensor) && view->shape == shape) return *view;
  // The one layer that is no convolution gives the classes.
  const bool head = shape.size() == 2 && view->shape.size() == 2 && view->shape[1] == shape[1];
  if (head) {
    fail_io(fmt::format("{}: the network knows {} classes, the data has {}", file, view->shape[0],
                        shape[0]));
  }
  fail_io(fmt::format("{}: tensor \"{}\" is {} {}, expected {} {}", file, name, view->dtype,
                      shape_text(view->shape), dtype_name(tensor), shape_text(shape)));
}

void check_tensors(const train::SafetensorsFile& content, std::string_view file,
                   const NamedTensors& tensors) {
  if (content.tensors.size() != tensors.size()) {
    fail_io(fmt::format("{} has {} tensors, but {} are expected", file, content.tensors.size(),
                        tensors.size()));
  }
  for (const auto& [name, tensor] : tensors) (void)fitting(content, file, name, tensor);
}

}  // namespace

std::vector<std::uint8_t> read_tensors(const std::filesystem::path& file,
                                       const NamedTensors& tensors) {
  return train::read_safetensors_file(file, [&](const train::SafetensorsFile& content) {
    check_tensors(content, file.string(), tensors);
  });
}

void load_tensors(std::span<const std::uint8_t> bytes, std::string_view file,
                  const NamedTensors& tensors) {
  const train::SafetensorsFile content = train::read_safetensors(bytes, file);
  check_tensors(content, file, tensors);
  torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : tensors) {
    const train::TensorView& view = fitting(content, file, name, tensor);
    const torch::Tensor host = torch::empty(tensor.sizes(), tensor.options().device(torch::kCPU));
    std::memcpy(host.data_ptr(), view.bytes.data(), view.bytes.size());
    torch::Tensor(tensor).copy_(host);
  }
}

}  // namespace medley::nn
