#pragma once

#include <memory>
#include <vector>

#include "medley/method.h"

namespace medley {

/// The library's own methods, in the order of the documentation: the list in methods/all.cc. A list
/// and no static initializers, which linkers drop from static libraries.
[[nodiscard]] std::vector<std::shared_ptr<const MethodBase>> own_methods();

}  // namespace medley
