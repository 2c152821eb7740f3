#include <cstdint>
#include <vector>

#include <medley/medley.h>

#if __has_include(<medley/cuda.h>) != CUDA_IS_BUILT
#error "medley/cuda.h is there exactly where the CUDA backend is"
#endif

int main() {
  const medley::BatchShape shape{4, 3, 8, 8};
  const std::vector<float> images(static_cast<std::size_t>(shape.values()), 0.5F);
  std::vector<float> mixed(images.size());
  for (const char* method : {"hmix", "gaussian-field"}) {  // the second one's masks take Eigen
    const medley::Sampler sampler({.method = method}, shape.size(), 1);
    const medley::MixPlan plan = sampler.plan({.batch = shape.count});
    medley::mix(plan, medley::view_of(images, shape), medley::mutable_view_of(mixed, shape));
    const std::vector<std::int64_t> labels = {0, 1, 2, 3};
    if (medley::mix_labels(plan, labels).count != shape.count) return 1;
  }
  return 0;
}
