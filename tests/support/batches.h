#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "medley/medley.h"
#include "medley/random.h"

namespace medley::test {

/// Starts on a line of the cache, so that a batch's offset from one is what a test asks for.
template <typename T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <typename U>
  explicit LineAllocator(const LineAllocator<U>& /*other*/) noexcept {}
  [[nodiscard]] T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), kLine));
  }
  void deallocate(T* p, std::size_t /*n*/) noexcept { ::operator delete(p, kLine); }
  bool operator==(const LineAllocator& /*other*/) const noexcept { return true; }
};
using Bytes = std::vector<std::byte, LineAllocator<std::byte>>;

/// A batch of any type and layout that owns its memory; rows may have gaps after them.
class Batch {
 public:
  /// `gap` extra elements after each row; `offset` elements between a line of the cache and the
  /// first pixel. Both, and a guard of a line and more at either end, are filled with a pattern
  /// that `difference` compares.
  Batch(DType dtype, Layout layout, BatchShape shape, std::int64_t gap = 0,
        std::int64_t offset = 0);

  [[nodiscard]] ImageBatchView view() const;
  [[nodiscard]] MutableImageBatchView mutable_view();
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

  /// Ordinary pixel values and, for float types, now and then an unusual one (NaN, infinity, tiny,
  /// huge).
  void fill_random(std::uint64_t seed, bool unusual = true);
  /// Value at a place, as float.
  [[nodiscard]] float at(std::int64_t image, std::int64_t channel, std::int64_t y,
                         std::int64_t x) const;
  void set(std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x, float value);

 private:
  [[nodiscard]] std::int64_t offset(std::int64_t image, std::int64_t channel, std::int64_t y,
                                    std::int64_t x) const;

  DType dtype_;
  Layout layout_;
  BatchShape shape_;
  BatchStrides strides_;
  std::int64_t first_;  // where the first pixel is, in bytes
  Bytes bytes_;
};

/// First difference between two batches of one type and shape, "" if none: the same bits, except
/// that any NaN equals any NaN. Gaps count too.
[[nodiscard]] std::string difference(const Batch& a, const Batch& b, DType dtype);

/// What of the masks and sources that no method draws a plan gets at random.
enum class Blocks : std::uint8_t { none, masks, all };

/// A mixing call drawn at random: everything but the pixels.
struct MixCase {
  MixPolicy policy;
  ImageSize size;
  PlanRequest request;
  std::vector<std::int64_t> labels;
  BatchShape in_shape;
  DType in_dtype;
  DType out_dtype;
  Layout in_layout;
  Layout out_layout;
  std::int64_t in_gap = 0;
  std::int64_t out_gap = 0;
  std::int64_t in_offset = 0;
  std::int64_t out_offset = 0;
  MixOptions options;
  std::uint64_t seed = 0;
  Blocks blocks = Blocks::none;

  [[nodiscard]] MixPlan plan() const;
  [[nodiscard]] std::string describe() const;
};

/// The case with that number; every number gives a valid one. Over many numbers all methods, modes,
/// types, layouts, odd shapes and windows occur.
[[nodiscard]] MixCase random_case(std::uint64_t number);

/// Turns most of a plan's masks into grids and, if `blocks` is `all`, into sums of terms with masks
/// of their own, and moves tiles of some sources.
void add_blocks(MixPlan& plan, std::uint64_t seed, Blocks blocks);

}  // namespace medley::test
