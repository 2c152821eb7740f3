#include "nn/cuda/fused_head.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/util/Optional.h>

#include "nn/cuda/interleaved.h"
#include "nn/kernels/means.h"

namespace medley::nn {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

MeanShape shape_of(at::IntArrayRef sizes) {
  return {sizes[0], sizes[2] * sizes[3], static_cast<std::int32_t>(sizes[1])};
}

struct FusedMeans : torch::autograd::Function<FusedMeans> {
  static Tensor forward(AutogradContext* context, const Tensor& x,
                        const c10::optional<Tensor>& rest) {
    const Tensor a = interleaved(x);
    const Tensor b = rest ? interleaved(*rest) : Tensor();
    Tensor means = torch::empty({a.size(0), a.size(1)},
                                a.options().dtype(torch::kFloat32).requires_grad(false));
    launch_means(shape_of(a.sizes()), values(a), rest ? values(b) : nullptr,
                 means.data_ptr<float>(), at::cuda::getCurrentCUDAStream());
    context->saved_data["sizes"] = a.sizes().vec();
    context->saved_data["rest"] = rest.has_value();
    return means;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const std::vector<std::int64_t> sizes = context->saved_data["sizes"].toIntVector();
    const Tensor dmeans = gradients[0].contiguous();
    Tensor dx = torch::empty(sizes, dmeans.options().dtype(torch::kBFloat16),
                             at::MemoryFormat::ChannelsLast);
    launch_means_gradient(shape_of(sizes), dmeans.data_ptr<float>(), values(dx),
                          at::cuda::getCurrentCUDAStream());
    return {dx, context->saved_data["rest"].toBool() ? dx : Tensor()};
  }
};

struct FusedLinear : torch::autograd::Function<FusedLinear> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias) {
    context->save_for_backward({x, weight});
    return at::addmm(bias, x, weight.t());
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list saved = context->get_saved_variables();
    const Tensor dy = gradients[0].contiguous();
    Tensor dbias = torch::empty({dy.size(1)}, dy.options());
    launch_column_sums(static_cast<std::int32_t>(dy.size(0)), static_cast<std::int32_t>(dy.size(1)),
                       dy.data_ptr<float>(), dbias.data_ptr<float>(),
                       at::cuda::getCurrentCUDAStream());
    return {dy.mm(saved[1]), dy.t().mm(saved[0]), dbias};
  }
};

}  // namespace

bool can_fuse_means(const Residual& x) {
  return x.x.is_cuda() && x.x.scalar_type() == torch::kBFloat16 && x.x.dim() == 4 &&
         !x.shift.defined() && x.x.size(1) % 8 == 0 && x.x.numel() > 0 &&
         x.x.suggest_memory_format() == at::MemoryFormat::ChannelsLast;
}

Tensor fused_means(const Residual& x) {
  // LibTorch takes no undefined tensor here.
  return FusedMeans::apply(x.x, x.rest.defined() ? c10::optional<Tensor>(x.rest) : c10::nullopt);
}

Tensor fused_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return FusedLinear::apply(x, weight, bias);
}

}  // namespace medley::nn
