#include "plan/enums.h"

namespace medley {

std::string_view name_of(Form value) noexcept { return word_of(kForms, value); }
std::string_view name_of(Placement value) noexcept { return word_of(kPlacements, value); }
std::string_view name_of(LabelRule value) noexcept { return word_of(kLabelRules, value); }
std::string_view name_of(Mode value) noexcept { return word_of(kModes, value); }
std::string_view name_of(Pairing value) noexcept { return word_of(kPairings, value); }
std::string_view name_of(ClassRule value) noexcept { return word_of(kClassRules, value); }
std::string_view name_of(Interpolation value) noexcept { return word_of(kInterpolations, value); }

}  // namespace medley
