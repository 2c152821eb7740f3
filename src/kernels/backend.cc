#include "medley/backend.h"

#include <fmt/format.h>

#include "core/check.h"
#if MEDLEY_HAS_CUDA
#include "medley/cuda.h"
#endif

namespace medley {

std::string_view name_of(Backend backend) noexcept {
  switch (backend) {
    case Backend::automatic:
      return "auto";
    case Backend::reference:
      return "reference";
    case Backend::cpu:
      return "cpu";
    case Backend::cuda:
      return "cuda";
  }
  return "?";
}

Backend backend_from_name(std::string_view name) {
  for (const Backend backend :
       {Backend::automatic, Backend::reference, Backend::cpu, Backend::cuda}) {
    if (name == name_of(backend)) return backend;
  }
  fail_argument(fmt::format("backend must be auto, cpu, cuda or reference, got \"{}\"", name));
}

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
