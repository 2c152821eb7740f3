#pragma once

#include <array>
#include <string_view>

#include "core/enums.h"

namespace medley {

inline constexpr std::array<std::string_view, 4> kBackends = {"auto", "reference", "cpu", "cuda"};
inline constexpr std::array<std::string_view, 2> kPadModes = {"constant", "reflect"};
inline constexpr std::array<std::string_view, 3> kStores = {"automatic", "cached", "streaming"};

}  // namespace medley
