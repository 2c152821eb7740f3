#pragma once

#include <string>

#include "medley/options.h"

namespace medley::train {

/// Sixteen digits that tell masks and designs apart; "" of anything else.
[[nodiscard]] std::string hash_of(const OptionValue& value);

}  // namespace medley::train
