#include "core/enums.h"

#include <fmt/format.h>

#include "core/check.h"
#include "medley/backend.h"
#include "medley/types.h"

namespace medley {

void fail_enumerator(std::string_view name, std::span<const std::string_view> words,
                     std::int64_t number) {
  fail_argument(fmt::format("{} must be {} or {}, got the number {}", name,
                            fmt::join(words.first(words.size() - 1), ", "), words.back(), number));
}

std::string_view name_of(DType type) noexcept { return word_of(kDTypes, type); }
std::string_view name_of(Layout layout) noexcept { return word_of(kLayouts, layout); }
std::string_view name_of(Backend value) noexcept { return word_of(kBackends, value); }
std::string_view name_of(Form value) noexcept { return word_of(kForms, value); }
std::string_view name_of(Placement value) noexcept { return word_of(kPlacements, value); }
std::string_view name_of(LabelRule value) noexcept { return word_of(kLabelRules, value); }
std::string_view name_of(Mode value) noexcept { return word_of(kModes, value); }
std::string_view name_of(Pairing value) noexcept { return word_of(kPairings, value); }
std::string_view name_of(ClassRule value) noexcept { return word_of(kClassRules, value); }
std::string_view name_of(Interpolation value) noexcept { return word_of(kInterpolations, value); }

}  // namespace medley
