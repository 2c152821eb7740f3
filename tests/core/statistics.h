#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace medley::test {

// Bounds for statistical checks. Seeds are fixed, so a check that passes once passes always; each
// bound is where a correct program would fail with chance kFalseAlarm over the choice of the seed.

inline constexpr double kFalseAlarm = 1e-6;
/// Standard normal deviate exceeded in absolute value with chance kFalseAlarm.
inline constexpr double kSigmas = 4.8916;

/// Distance between the empirical distribution of n draws and the true one that is exceeded with
/// chance kFalseAlarm at most (Dvoretzky, Kiefer, Wolfowitz and Massart: 2 exp(-2 n d^2)).
[[nodiscard]] double ks_bound(std::size_t n);

/// Kolmogorov-Smirnov distance of the draws from a continuous distribution function.
[[nodiscard]] double ks_distance(std::vector<double> draws,
                                 const std::function<double(double)>& cdf);

/// Beta(a, b) distribution function at x, given also y = 1 - x so that both tails are exact.
[[nodiscard]] double beta_cdf(double a, double b, double x, double y);

/// Kolmogorov-Smirnov distance from Beta(a, b) of draws rounded to double: a draw stands for all
/// numbers that round to it (1 for those above 1 - 2^-54, 0 for those below e^-708, where the
/// library's exponential ends), so the mass that small parameters put there is accounted for.
[[nodiscard]] double beta_ks_distance(std::vector<double> draws, double a, double b);

/// Pearson's statistic of counts against equal or given probabilities.
[[nodiscard]] double chi_square(std::span<const std::int64_t> counts);
[[nodiscard]] double chi_square(std::span<const std::int64_t> counts,
                                std::span<const double> probabilities);

/// Value that a chi-square variable exceeds with chance kFalseAlarm (Wilson and Hilferty).
[[nodiscard]] double chi_square_bound(std::size_t degrees_of_freedom);

/// Largest deviation of the frequency of an event of probability p in n trials.
[[nodiscard]] double frequency_bound(double p, std::size_t n);

}  // namespace medley::test
