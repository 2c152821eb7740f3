#include "nn/cuda/fused_norm.h"

#include <map>
#include <mutex>

#include <ATen/cuda/CUDAContext.h>
#include <c10/util/Optional.h>

#include "nn/cuda/interleaved.h"
#include "nn/kernels/norm.h"

namespace medley::nn {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

NormShape shape_of(const Tensor& x) {
  return {x.size(0) * x.size(2) * x.size(3), static_cast<std::int32_t>(x.size(1))};
}

/// Scratch memory of the current stream: calls on it follow each other, so one piece serves all.
/// Never freed, since nothing can be once CUDA has shut down.
void* scratch() {
  static std::mutex mutex;
  static auto& of_stream = *new std::map<cudaStream_t, Tensor>;
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  const std::lock_guard lock(mutex);
  Tensor& memory = of_stream[stream];
  if (!memory.defined()) {
    memory = torch::empty({static_cast<std::int64_t>(norm_scratch_bytes())},
                          torch::dtype(torch::kUInt8).device(torch::kCUDA));
  }
  return memory.data_ptr();
}

/// Rows of one f32 tensor of 4 x channels.
NormSaved saved_of(const Tensor& saved) {
  auto* first = saved.data_ptr<float>();
  const std::int64_t channels = saved.size(1);
  return {first, first + channels, first + 2 * channels, first + 3 * channels};
}

/// Inputs: x, rest, shift, weight, bias. Outputs: the activation and the sum of x and rest, or x.
struct FusedNormRelu : torch::autograd::Function<FusedNormRelu> {
  static tensor_list forward(AutogradContext* context, const Tensor& x,
                             const c10::optional<Tensor>& rest, const c10::optional<Tensor>& shift,
                             const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                             const Tensor& running_variance, const Tensor& batches, double momentum,
                             double epsilon) {
    const Tensor a = interleaved(x);
    const Tensor b = rest ? interleaved(*rest) : Tensor();
    const Tensor sum = rest ? torch::empty_like(a) : a;
    const Tensor active = torch::empty_like(a);
    const Tensor saved = torch::empty({4, a.size(1)}, weight.options().requires_grad(false));
    launch_norm_relu(shape_of(a), values(a), values(b), rest ? values(sum) : nullptr,
                     values(active),
                     {weight.data_ptr<float>(), bias.data_ptr<float>(),
                      shift ? values(*shift) : nullptr, running_mean.data_ptr<float>(),
                      running_variance.data_ptr<float>(), batches.data_ptr<std::int64_t>(),
                      static_cast<float>(momentum), static_cast<float>(epsilon)},
                     saved_of(saved), scratch(), at::cuda::getCurrentCUDAStream());
    context->save_for_backward({sum, saved});
    context->set_materialize_grads(false);  // often nobody uses the sum
    context->saved_data["rest"] = rest.has_value();
    return {active, sum};
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list kept = context->get_saved_variables();
    const Tensor& x = kept[0];
    const Tensor& saved = kept[1];
    const bool has_rest = context->saved_data["rest"].toBool();
    const Tensor dy = gradients[0].defined() ? interleaved(gradients[0]) : torch::zeros_like(x);
    const Tensor dsum = gradients[1].defined() ? interleaved(gradients[1]) : Tensor();
    const Tensor dx = torch::empty_like(x);
    const Tensor dweight = torch::empty({saved.size(1)}, saved.options());
    const Tensor dbias = torch::empty_like(dweight);
    launch_norm_relu_backward(shape_of(x), values(x), values(dy), values(dsum), saved_of(saved),
                              dweight.data_ptr<float>(), dbias.data_ptr<float>(), values(dx),
                              scratch(), at::cuda::getCurrentCUDAStream());
    return {dx, has_rest ? dx : Tensor(), {}, dweight, dbias, {}, {}, {}, {}, {}};
  }
};

NormParameters parameters_of(torch::nn::BatchNorm2dImpl& bn, const Tensor& shift) {
  return {bn.weight.data_ptr<float>(),
          bn.bias.data_ptr<float>(),
          values(shift),
          bn.running_mean.data_ptr<float>(),
          bn.running_var.data_ptr<float>(),
          bn.num_batches_tracked.data_ptr<std::int64_t>(),
          static_cast<float>(*bn.options.momentum()),
          static_cast<float>(bn.options.eps())};
}

Activated fixed_norm_relu(torch::nn::BatchNorm2dImpl& bn, const Residual& x) {
  const Tensor a = interleaved(x.x);
  const Tensor b = x.rest.defined() ? interleaved(x.rest) : Tensor();
  const Tensor sum = b.defined() ? torch::empty_like(a) : a;
  const Tensor active = torch::empty_like(a);
  launch_fixed_norm_relu(shape_of(a), values(a), values(b), values(sum), values(active),
                         parameters_of(bn, x.shift), at::cuda::getCurrentCUDAStream());
  return {sum, active};
}

}  // namespace

bool can_fuse(const torch::nn::BatchNorm2dImpl& bn, const Tensor& x) {
  if (!x.is_cuda() || x.scalar_type() != torch::kBFloat16 || x.dim() != 4) return false;
  const NormShape shape = shape_of(x);
  // One pixel has no variance to learn from: LibTorch says so.
  const bool known = bn.is_training() ? shape.rows > 1 : !at::GradMode::is_enabled();
  return known && x.suggest_memory_format() == at::MemoryFormat::ChannelsLast &&
         bn.options.momentum().has_value() && norm_fits(shape);
}

Activated fused_norm_relu(torch::nn::BatchNorm2dImpl& bn, const Residual& x) {
  if (!bn.is_training()) return fixed_norm_relu(bn, x);
  // LibTorch takes no undefined tensor here.
  const auto if_defined = [](const Tensor& t) {
    return t.defined() ? c10::optional<Tensor>(t) : c10::nullopt;
  };
  const tensor_list out = FusedNormRelu::apply(
      x.x, if_defined(x.rest), if_defined(x.shift), bn.weight, bn.bias, bn.running_mean,
      bn.running_var, bn.num_batches_tracked, *bn.options.momentum(), bn.options.eps());
  return {out[1], out[0]};
}

}  // namespace medley::nn
