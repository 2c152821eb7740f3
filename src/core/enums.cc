#include "core/enums.h"

#include <fmt/format.h>

#include "core/check.h"
#include "medley/types.h"

namespace medley {

void fail_enumerator(std::string_view name, std::span<const std::string_view> words,
                     std::int64_t number) {
  fail_argument(fmt::format("{} must be {} or {}, got the number {}", name,
                            fmt::join(words.first(words.size() - 1), ", "), words.back(), number));
}

std::string_view name_of(DType type) noexcept { return word_of(kDTypes, type); }
std::string_view name_of(Layout layout) noexcept { return word_of(kLayouts, layout); }

}  // namespace medley
