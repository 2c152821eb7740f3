#pragma once

#include <array>
#include <cstdint>

namespace medley {

/// What a draw is for; streams of different purposes are independent.
enum class Purpose : std::uint8_t {
  prob = 1,
  lam = 2,
  branch = 3,
  mask = 4,
  pairing = 5,
  partner = 6,
  window = 7,
  partner_window = 8,
  shuffle = 9,
  crop = 10,
  picture = 64,
};

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; SC'11).
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox(
    std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// Greatest epoch and ordinal that streams have.
inline constexpr std::uint64_t kMaxEpoch = 0xFFFFFFFFull;
inline constexpr std::uint64_t kMaxOrdinal = (std::uint64_t{1} << 56) - 1;

/// A sequence of random numbers that depends only on (seed, epoch, ordinal, purpose). Counter
/// based: making one costs nothing and there is no state beyond the position. epoch <= kMaxEpoch,
/// ordinal <= kMaxOrdinal.
class RandomStream {
 public:
  /// The stream from its beginning.
  RandomStream(std::uint64_t seed, std::uint64_t epoch, std::uint64_t ordinal,
               Purpose purpose) noexcept
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        low_(static_cast<std::uint32_t>(ordinal)),
        epoch_(static_cast<std::uint32_t>(epoch)),
        high_(static_cast<std::uint32_t>(ordinal >> 32) << 8 |
              static_cast<std::uint32_t>(purpose)) {}

  /// The next 32 random bits.
  [[nodiscard]] std::uint32_t next_u32() noexcept {
    if (used_ == 4) {
      buffer_ = philox({block_++, low_, epoch_, high_}, key_);
      used_ = 0;
    }
    return buffer_[used_++];
  }

  /// The next 64 random bits.
  [[nodiscard]] std::uint64_t next_u64() noexcept {
    const std::uint64_t high = next_u32();
    return high << 32 | next_u32();
  }

  /// Uniform on [0, 1), 53 bits.
  [[nodiscard]] double uniform() noexcept {
    return static_cast<double>(next_u64() >> 11) * 0x1p-53;
  }

  /// Uniform on (0, 1].
  [[nodiscard]] double uniform_positive() noexcept { return 1.0 - uniform(); }

  /// Uniform on {0, ..., n-1}, exactly (Lemire's rejection); n > 0.
  [[nodiscard]] std::uint32_t below(std::uint32_t n) noexcept {
    std::uint64_t product = std::uint64_t{next_u32()} * n;
    if (static_cast<std::uint32_t>(product) < n) {
      const std::uint32_t threshold = (0u - n) % n;
      while (static_cast<std::uint32_t>(product) < threshold) {
        product = std::uint64_t{next_u32()} * n;
      }
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  /// The same for 64-bit n > 0, by rejection of masked draws.
  [[nodiscard]] std::uint64_t below64(std::uint64_t n) noexcept {
    if (n <= 0xFFFFFFFFull) return below(static_cast<std::uint32_t>(n));
    std::uint64_t mask = ~std::uint64_t{0};
    while (mask >> 1 >= n) mask >>= 1;
    std::uint64_t value;
    do value = next_u64() & mask;
    while (value >= n);
    return value;
  }

  /// Standard normal (Marsaglia's polar method: no trigonometry, so no C library in the result).
  [[nodiscard]] double normal() noexcept;

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t low_;
  std::uint32_t epoch_;
  std::uint32_t high_;
  std::uint32_t block_ = 0;
  std::array<std::uint32_t, 4> buffer_{};
  int used_ = 4;
  bool has_spare_ = false;
  double spare_ = 0;
};

/// The random numbers of one draw unit (a sample, a pair or a batch), by purpose.
class UnitRandom {
 public:
  /// `ordinal` is that of the unit; limits as for RandomStream.
  UnitRandom(std::uint64_t seed, std::uint64_t epoch, std::uint64_t ordinal) noexcept
      : seed_(seed), epoch_(epoch), ordinal_(ordinal) {}
  /// The stream for a purpose, from its beginning each time.
  [[nodiscard]] RandomStream stream(Purpose purpose) const noexcept {
    return {seed_, epoch_, ordinal_, purpose};
  }

 private:
  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::uint64_t ordinal_;
};

}  // namespace medley
