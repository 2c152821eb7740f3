#include "kernels/cases.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "medley/error.h"
#include "support/buffer.h"

namespace medley::bench {
namespace {

constexpr std::uint64_t kSeed = 20220821;

/// Masks of every value, smooth along both axes.
MaskSet ramp_masks(ImageSize size) {
  constexpr std::int32_t kMasks = 8;
  MaskSet masks{size, {}};
  for (std::int32_t k = 0; k < kMasks; ++k) {
    for (std::int32_t y = 0; y < size.height; ++y) {
      for (std::int32_t x = 0; x < size.width; ++x) {
        masks.values.push_back(static_cast<float>((y * (k + 1) + x * (kMasks - k)) % 256) / 255.0f);
      }
    }
  }
  return masks;
}

}  // namespace

std::vector<MethodCase> method_cases(ImageSize size) {
  std::vector<MethodCase> cases;
  const auto add = [&](const char* name, const char* method, bool parametric = true) -> MixPolicy& {
    MixPolicy policy;
    policy.method = method;
    cases.push_back({name, policy, parametric});
    return cases.back().policy;
  };
  add("none", "none");
  add("mixup", "mixup");
  add("cutmix", "cutmix");
  add("stochastic", "stochastic");
  add("hmix", "hmix");
  add("gmix", "gmix");
  add("gmix-paper", "gmix").method.set("form", Form::paper);
  add("gmix-calibrated", "gmix").method.set("form", Form::calibrated);
  add("bernoulli", "bernoulli", false);
  add("nmixup-3", "nmixup").method.set("n", 3);
  add("fmix", "fmix", false);
  add("resizemix", "resizemix");
  add("gaussian-field", "gaussian-field", false);
  add("custom", "custom", false)
      .method.set("masks", std::make_shared<const MaskSet>(ramp_masks(size)));
  return cases;
}

MixPolicy batch_policy(MixPolicy policy, double lam) {
  policy.mode = Mode::batch;
  policy.pairing = Pairing::reverse;
  policy.method.set_if_used("lam", lam);
  return policy;
}

MixPlan plan_for(const MixPolicy& policy, ImageSize size, std::int64_t batch) {
  PlanRequest request;
  request.batch = batch;
  return Sampler(policy, size, kSeed).plan(request);
}

MixOptions mix_options(DType in, int threads) {
  MixOptions options;
  options.backend = Backend::cpu;
  options.threads = threads;
  if (in == DType::u8) {
    constexpr std::array kMean = {0.485f, 0.456f, 0.406f};
    constexpr std::array kStddev = {0.229f, 0.224f, 0.225f};
    options.normalize = Normalize::of_unit_range(kMean, kStddev);
  }
  return options;
}

std::string text_of(const BatchShape& s) {
  return fmt::format("{}x{}x{}x{}", s.count, s.channels, s.height, s.width);
}

std::string name_of(const std::string& kind, const std::string& method, const std::string& backend,
                    DType in, DType out, const BatchShape& shape) {
  const std::string types = in == out
                                ? std::string(medley::name_of(in))
                                : fmt::format("{}-{}", medley::name_of(in), medley::name_of(out));
  return fmt::format("{}/{}/{}/{}/{}", kind, method, backend, types, text_of(shape));
}

void check_against_reference(const MixPolicy& policy, const ImageBatchView& in, DType out,
                             const MixOptions& options) {
  constexpr std::int64_t kImages = 6;
  ImageBatchView some = in;
  some.shape.count = std::min(in.shape.count, kImages);
  const MixPlan plan = plan_for(policy, some.shape.size(), some.shape.count);
  const auto bytes = static_cast<std::size_t>(some.shape.values() * size_of(out));
  // On line boundaries, as the whole batch is.
  const Buffer expected(static_cast<std::int64_t>(bytes));
  const Buffer actual(static_cast<std::int64_t>(bytes));
  const auto mix_with = [&](Backend backend, const Buffer& memory) {
    MixOptions chosen = options;
    chosen.backend = backend;
    // The whole batch streams, so its part must too.
    chosen.stores = Stores::streaming;
    mix(plan, some,
        {memory.data(), out, Layout::nchw, some.shape, dense_strides(some.shape, Layout::nchw)},
        chosen);
  };
  mix_with(Backend::reference, expected);
  mix_with(Backend::cpu, actual);
  if (std::memcmp(expected.data(), actual.data(), bytes) != 0) {
    throw Error(
        fmt::format("{}: the cpu backend differs from the reference", policy.method.name()));
  }
}

}  // namespace medley::bench
