#pragma once

#include <memory>

#include "medley/method.h"
#include "medley/policy.h"

namespace medley {

inline constexpr const char* kPlacementHelp =
    "box cut at the border, wholly inside, or continued at the opposite border";

/// What the file x.cc of the list in CMakeLists.txt ends with, as x_method().
template <MixMethod M>
[[nodiscard]] std::shared_ptr<const MethodBase> make_method() {
  return std::make_shared<const TypedMethod<M>>(M{});
}

}  // namespace medley
