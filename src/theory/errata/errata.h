#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace medley::theory {

/// What a statement says of a quantity: its value, or a bound on it.
enum class Claim : std::uint8_t { equal, at_least, at_most };

/// One quantity three times: as the printed statement has it, as the corrected one has it, and as a
/// sum over masks, a quadrature or a simulation without either of them has it.
struct ErratumNumbers {
  std::string quantity;
  Claim claim = Claim::equal;  ///< what both statements say of the true number
  double printed = 0;
  double corrected = 0;
  double truth = 0;
  double tolerance = 1e-9;  ///< of the comparison: rounding, or five standard errors

  /// Whether a statement that gives this number holds.
  [[nodiscard]] bool holds(double stated) const noexcept;
};

/// An error of the paper: Park, Yun and Chun, A Unified Analysis of Mixed Sample Data Augmentation.
struct Erratum {
  std::string_view place;
  std::string_view printed;
  std::string_view right;
  /// Computes the numbers, in less than a second; null for wording and tables.
  std::vector<ErratumNumbers> (*numbers)() = nullptr;
  /// The printed statement holds, but says less than the right one.
  bool only_weaker = false;
};

/// All of them; the first has number 1.
[[nodiscard]] std::span<const Erratum> errata();

}  // namespace medley::theory
