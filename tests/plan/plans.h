#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "medley/medley.h"

namespace medley {

// For readable failures.
std::ostream& operator<<(std::ostream& out, const MixEntry& entry);
std::ostream& operator<<(std::ostream& out, const MixPlan& plan);

}  // namespace medley

namespace medley::test {

/// The method with its defaults; `custom` gets three masks with values in [0, 1].
[[nodiscard]] MixPolicy policy_of(std::string_view method, ImageSize size);

/// `count` independent samples: mode `sample`, partners from a data set of that many.
[[nodiscard]] MixPlan draw_samples(MixPolicy policy, ImageSize size, std::uint64_t seed,
                                   std::int64_t count);

/// The mask of an entry, row-major, and its mean by plain summation.
[[nodiscard]] std::vector<double> values_of(const MixPlan& plan, const MixEntry& entry);
[[nodiscard]] double mean_of(const std::vector<double>& values);

/// Names of all methods, in the registry's order.
[[nodiscard]] std::vector<std::string> method_names();

/// A name for ctest: letters, digits and underscores.
[[nodiscard]] std::string test_name(std::string_view text);

}  // namespace medley::test
