#include "nn/cuda/side_convolution.h"

#include <array>

#include <ATen/cuda/CUDAContext.h>

#include "nn/cuda/direct_convolution.h"
#include "nn/cuda/interleaved.h"
#include "nn/kernels/channels.h"

namespace medley::nn {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// Gradient of a convolution by its input, or by its weight.
Tensor convolution_gradient(const Tensor& dy, const Tensor& x, const Tensor& weight,
                            std::int64_t stride, std::int64_t padding, bool by_input) {
  if (convolves_directly(x, weight, stride, padding)) {
    return by_input ? direct_input_gradient(dy, weight) : direct_weight_gradient(dy, x, weight);
  }
  const std::array<std::int64_t, 2> none{0, 0};
  const std::array<std::int64_t, 2> one{1, 1};
  const std::array<std::int64_t, 2> strides{stride, stride};
  const std::array<std::int64_t, 2> paddings{padding, padding};
  auto [dx, dweight, dbias] =
      at::convolution_backward(dy, x, weight, at::OptionalIntArrayRef(), strides, paddings, one,
                               /*transposed=*/false, none, 1, {by_input, !by_input, false});
  return by_input ? dx : dweight;
}

/// Whether matrix units want more channels than there are. Gradients by such an input are not known
/// here.
bool is_narrow(const Tensor& x) {
  return x.scalar_type() == torch::kBFloat16 && x.size(1) < kWideChannels && !x.requires_grad();
}

Tensor empty_interleaved(const Tensor& like, std::int64_t channels) {
  return torch::empty({like.size(0), channels, like.size(2), like.size(3)},
                      like.options().requires_grad(false), at::MemoryFormat::ChannelsLast);
}

/// Images or weights with zeros for the channels that they lack.
Tensor widened(const Tensor& x) {
  const Tensor from = interleaved(x.detach());
  Tensor to = empty_interleaved(from, kWideChannels);
  launch_widen(from.numel() / from.size(1), static_cast<std::int32_t>(from.size(1)), values(from),
               values(to), at::cuda::getCurrentCUDAStream());
  return to;
}

Tensor narrowed(const Tensor& from, std::int64_t channels) {
  const Tensor wide = interleaved(from);
  Tensor to = empty_interleaved(wide, channels);
  launch_narrow(to.numel() / channels, static_cast<std::int32_t>(channels), values(wide),
                values(to), at::cuda::getCurrentCUDAStream());
  return to;
}

struct SideConvolution : torch::autograd::Function<SideConvolution> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        std::int64_t stride, std::int64_t padding, std::int64_t side) {
    context->saved_data["dx"] = x.requires_grad();
    context->saved_data["weight"] = weight;
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->saved_data["side"] = side;
    if (convolves_directly(x, weight, stride, padding)) {
      context->save_for_backward({x, weight});
      return direct_convolution(x, weight);
    }
    const bool narrow = is_narrow(x);
    const Tensor in = narrow ? widened(x) : x;
    const Tensor by = narrow ? widened(weight) : weight;
    context->save_for_backward({in, by});
    return torch::conv2d(in, by, {}, stride, padding);
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list saved = context->get_saved_variables();
    const Tensor x = saved[0];
    const Tensor by = saved[1].detach();
    const Tensor weight = context->saved_data["weight"].toTensor();
    const std::int64_t stride = context->saved_data["stride"].toInt();
    const std::int64_t padding = context->saved_data["padding"].toInt();
    auto* side = reinterpret_cast<SideStream*>(context->saved_data["side"].toInt());
    const Tensor dy = gradients[0].contiguous(x.suggest_memory_format());
    side->run(weight, {x, dy, by}, [&] {
      torch::NoGradGuard no_grad;
      Tensor dweight = convolution_gradient(dy, x, by, stride, padding, /*by_input=*/false);
      dweight = by.size(1) == weight.size(1) ? dweight.contiguous(weight.suggest_memory_format())
                                             : narrowed(dweight, weight.size(1));
      Tensor& sum = Tensor(weight).mutable_grad();
      if (sum.defined()) {
        if (sum.scalar_type() == torch::kBFloat16) sum = sum.to(torch::kFloat32);
        sum.add_(dweight);
      } else {
        sum = dweight;
      }
    });
    Tensor dx;
    if (context->saved_data["dx"].toBool()) {
      dx = convolution_gradient(dy, x, by, stride, padding, /*by_input=*/true);
    }
    return {dx, {}, {}, {}, {}};
  }
};

}  // namespace

Tensor side_convolution(SideStream& side, const Tensor& x, const Tensor& weight,
                        std::int64_t stride, std::int64_t padding) {
  return SideConvolution::apply(x, weight, stride, padding, reinterpret_cast<std::int64_t>(&side));
}

}  // namespace medley::nn
