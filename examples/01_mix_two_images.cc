// Mixes two images: a policy, a sampler, a plan, then pixels and labels.
//
//   01_mix_two_images [OWN.png PARTNER.png OUT.png]

#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "medley/data/dataset.h"
#include "medley/data/image.h"
#include "medley/medley.h"

namespace {

void mix_two(const medley::data::Image& own, const medley::data::Image& partner,
             const char* output) {
  medley::MixPolicy policy;
  policy.method = "gmix";
  policy.method.set("lam", 0.65);             // a fixed share; leave it out to draw one
  policy.pairing = medley::Pairing::reverse;  // of two images: each with the other

  // Everything random happens here. A plan is plain data.
  const medley::Sampler sampler(policy, own.size, /*seed=*/7);
  medley::PlanRequest request;
  request.batch = 2;
  const medley::MixPlan plan = sampler.plan(request);

  // A batch of two, u8 and interleaved as image files are.
  std::vector<std::uint8_t> batch = own.rgb;
  batch.insert(batch.end(), partner.rgb.begin(), partner.rgb.end());
  const medley::BatchShape shape = {2, 3, own.size.height, own.size.width};
  std::vector<std::uint8_t> mixed(batch.size());
  medley::mix(plan, medley::view_of(batch, shape, medley::Layout::nhwc),
              medley::mutable_view_of(mixed, shape, medley::Layout::nhwc));

  const std::vector<std::int64_t> classes = {3, 8};
  const medley::MixedLabels labels = medley::mix_labels(plan, classes);
  for (std::int64_t i = 0; i < labels.count; ++i) {
    std::printf("output %lld: %.3f of class %lld, %.3f of class %lld\n", static_cast<long long>(i),
                labels.weight(i), static_cast<long long>(labels.y_a(i)), 1 - labels.weight(i),
                static_cast<long long>(labels.y_b(i)));
  }
  if (output != nullptr) {
    mixed.resize(own.rgb.size());
    medley::data::write_png(output, {own.size, mixed});
    std::printf("output 0 written to %s\n", output);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 4) {
      const medley::data::Image own = medley::data::read_image(argv[1]);
      mix_two(own, medley::data::resize(medley::data::read_image(argv[2]), own.size), argv[3]);
    } else {
      mix_two(medley::data::synthetic_image(1, 0, 0, {64, 96}),
              medley::data::synthetic_image(1, 1, 2, {64, 96}), nullptr);
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "error: %s\n", problem.what());
    return 1;
  }
  return 0;
}
