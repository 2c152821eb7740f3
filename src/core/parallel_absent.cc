#include "core/parallel.h"

namespace medley {

int hardware_threads() noexcept { return 1; }

void parallel_for(std::int64_t count, int /*threads*/,
                  const std::function<void(std::int64_t)>& body) {
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

}  // namespace medley
