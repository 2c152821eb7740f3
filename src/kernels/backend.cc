#include "medley/mix.h"

#include <fmt/format.h>

#include "core/check.h"
#include "kernels/enums.h"
#if MEDLEY_HAS_CUDA
#include "medley/cuda.h"
#endif

namespace medley {

Backend backend_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kBackends.size(); ++i) {
    if (name == kBackends[i]) return static_cast<Backend>(i);
  }
  fail_argument(fmt::format("backend must be auto, cpu, cuda or reference, got \"{}\"", name));
}

std::string_view name_of(Backend value) noexcept { return word_of(kBackends, value); }

std::vector<Backend> available_backends() {
  std::vector<Backend> backends;
#if MEDLEY_HAS_CUDA
  if (!cuda::devices().empty()) backends.push_back(Backend::cuda);
#endif
  backends.push_back(Backend::cpu);
  backends.push_back(Backend::reference);
  return backends;
}

}  // namespace medley
