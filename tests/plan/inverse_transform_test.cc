#include "plan/inverse_transform.h"

#include <numbers>

#include <gtest/gtest.h>

#include "medley/random.h"

namespace medley {
namespace {

using Complex = std::complex<double>;

TEST(InverseTransform, IsTheSumForEveryLength) {
  // Small factors, one value, large primes, and a large prime beside small factors.
  for (const std::int32_t n : {1, 2, 7, 30, 61, 67, 64, 134, 331}) {
    RandomStream random(1, 0, static_cast<std::uint64_t>(n), Purpose::mask);
    std::vector<Complex> from(static_cast<std::size_t>(n));
    for (Complex& value : from) value = {random.normal(), random.normal()};
    std::vector<Complex> to(from.size());
    InverseTransform transform(n);
    transform(from, to);
    for (std::int64_t j = 0; j < n; ++j) {
      Complex sum = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        const auto turns = static_cast<double>(j * k % n) / n;
        sum += from[static_cast<std::size_t>(k)] * std::polar(1.0, 2 * std::numbers::pi * turns);
      }
      const double error = std::abs(to[static_cast<std::size_t>(j)] - sum / double(n));
      EXPECT_LT(error, 1e-14) << n << ", " << j;
    }
  }
}

TEST(InverseTransform, QuickLengthsAreEvenAndHaveSmallFactors) {
  EXPECT_EQ(transform_length(1), 2);
  EXPECT_EQ(transform_length(7), 8);
  EXPECT_EQ(transform_length(22), 24);
  EXPECT_EQ(transform_length(661), 720);
}

}  // namespace
}  // namespace medley
