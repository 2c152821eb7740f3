// What mixing methods regularize: how strongly the gradients of two pixels are tied, by their
// distance.

#include <cstdint>
#include <cstdio>
#include <exception>

#include "medley/theory/coefficients.h"

namespace {

constexpr medley::ImageSize kSize = {32, 32};

void run() {
  std::printf("%-12s %8s %8s %8s\n", "method", "same", "1 apart", "16 apart");
  for (const char* method : {"mixup", "cutmix", "hmix", "gmix"}) {
    medley::MixPolicy policy;
    policy.method = method;
    policy.method.set("alpha", 1);
    policy.method.set_if_used("placement", medley::Placement::inside);
    const medley::theory::MaskMoments moments =
        medley::theory::effective_coefficients(policy, kSize);
    std::printf("%-12s", method);
    for (const std::int32_t apart : {0, 1, 16}) {
      std::printf(" %8.4f", moments.second({8, 8}, {8, 8 + apart}));
    }
    std::printf("\n");
  }
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "error: %s\n", problem.what());
    return 1;
  }
}
