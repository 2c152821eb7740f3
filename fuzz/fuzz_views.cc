// `mix` on any views and options: InvalidArgument, or work within the memory that the views
// describe. Calls whose views would need more than there is are left out, where that much could be;
// a view that no memory holds must be refused.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "medley/medley.h"

namespace {

using Wide = __int128;

/// Takes numbers from the bytes of the fuzzer; 0 when they are at an end.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  std::uint8_t byte() { return at_ == end_ ? std::uint8_t{0} : *at_++; }
  bool one_in(int n) { return byte() % n == 1; }
  /// Now and then a number about a power of two, or below 0.
  template <typename Int>
  Int number(int usual) {
    const int kind = byte();
    if (kind < 224) return static_cast<Int>(kind % (usual + 1));
    const Int about = std::numeric_limits<Int>::max() >> (kind % 32);
    const auto less = static_cast<Int>(byte() % 4);
    return kind % 2 == 0 ? static_cast<Int>(about - less) : static_cast<Int>(less - about);
  }
  template <typename Enum>
  Enum enumerator(int count) {
    const std::uint8_t value = byte();
    return static_cast<Enum>(value < 240 ? value % count : value);
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

constexpr std::size_t kMemory = 1 << 12;

/// A view of memory of its own, of which AddressSanitizer knows the ends.
struct Fuzzed {
  std::unique_ptr<std::byte[]> memory = std::make_unique<std::byte[]>(kMemory);
  medley::ImageBatchView view;

  Fuzzed(Numbers& numbers, medley::BatchShape shape) {
    view.shape = shape;
    view.dtype = numbers.enumerator<medley::DType>(4);
    view.layout = numbers.enumerator<medley::Layout>(2);
    if (numbers.one_in(8)) view.shape.count = numbers.number<std::int64_t>(3);
    if (numbers.one_in(8)) view.shape.channels = numbers.number<std::int32_t>(4);
    if (numbers.one_in(8)) view.shape.height = numbers.number<std::int32_t>(9);
    if (numbers.one_in(8)) view.shape.width = numbers.number<std::int32_t>(9);
    const medley::BatchShape& s = view.shape;
    const auto is_small = [](std::int64_t n) { return n > -100 && n < 100; };
    const bool small =
        is_small(s.count) && is_small(s.channels) && is_small(s.height) && is_small(s.width);
    if (small) view.strides = medley::dense_strides(s, view.layout);
    medley::BatchStrides& t = view.strides;
    for (std::int64_t* stride : {&t.image, &t.channel, &t.row, &t.column}) {
      if (!numbers.one_in(4)) continue;
      const auto more = numbers.number<std::int64_t>(40);
      if (__builtin_add_overflow(*stride, more, stride)) *stride = more;
    }
    view.data = numbers.one_in(32) ? nullptr : memory.get() + numbers.byte() % 64;
  }

  /// Bytes from the first to the end of the last value that the view describes; none if a number of
  /// its shape or a stride is one that no view has.
  [[nodiscard]] std::optional<Wide> extent() const {
    const medley::BatchShape& s = view.shape;
    const medley::BatchStrides& t = view.strides;
    if (s.count < 1 || s.channels < 1 || s.height < 1 || s.width < 1) return {};
    if (t.image < 0 || t.channel < 0 || t.row < 0 || t.column < 0) return {};
    const Wide last = Wide{s.count - 1} * t.image + Wide{s.channels - 1} * t.channel +
                      Wide{s.height - 1} * t.row + Wide{s.width - 1} * t.column;
    return (last + 1) * medley::size_of(view.dtype);
  }
  [[nodiscard]] bool fits() const {
    const std::optional<Wide> bytes = extent();
    const std::byte* const data = static_cast<const std::byte*>(view.data);
    return bytes && data != nullptr && *bytes <= memory.get() + kMemory - data;
  }
  /// Whether nothing can be so large.
  [[nodiscard]] bool cannot_be() const {
    const std::optional<Wide> bytes = extent();
    return !bytes || view.data == nullptr ||
           *bytes + static_cast<Wide>(reinterpret_cast<std::uintptr_t>(view.data)) >
               Wide{std::numeric_limits<std::uintptr_t>::max()};
  }
};

medley::MixPlan plan_of(Numbers& numbers, medley::ImageSize size, std::int64_t batch) {
  constexpr std::string_view kMethods[] = {"mixup",     "cutmix", "hmix",   "gmix",
                                           "resizemix", "fmix",   "nmixup", "none"};
  medley::MixPolicy policy;
  policy.method = kMethods[numbers.byte() % std::size(kMethods)];
  if (policy.method == "nmixup") policy.method.set("n", 2);
  if (numbers.one_in(4)) policy.augment = {.pad = 1, .flip = 0.5};
  return medley::Sampler(policy, size, numbers.byte()).plan({.batch = batch, .threads = 1});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Numbers numbers(data, size);
  const medley::BatchShape shape = {1 + numbers.byte() % 3, 1 + numbers.byte() % 4,
                                    1 + numbers.byte() % 9, 1 + numbers.byte() % 9};
  medley::MixPlan plan;
  try {
    plan = plan_of(numbers, shape.size(), shape.count);
  } catch (const medley::InvalidArgument&) {
    return 0;  // not every method works for every size
  }
  medley::MixOptions options;
  options.backend = numbers.enumerator<medley::Backend>(3);
  options.pad_mode = numbers.enumerator<medley::PadMode>(2);
  options.stores = numbers.enumerator<medley::Stores>(3);
  options.windows = numbers.one_in(2);
  options.threads = numbers.one_in(4) ? numbers.number<int>(2) : 1;
  if (options.threads > 4) return 0;  // may be, and takes long
  if (numbers.one_in(4)) {
    options.normalize.mean.assign(numbers.byte() % 5, 0.5f);
    options.normalize.stddev.assign(numbers.byte() % 5, numbers.number<int>(2));
  }
  const Fuzzed in(numbers, shape);
  Fuzzed out(numbers, shape);
  const medley::ImageBatchView& o = out.view;
  const medley::MutableImageBatchView target = {const_cast<void*>(o.data), o.dtype, o.layout,
                                                o.shape, o.strides};
  const bool must_fail = in.cannot_be() || out.cannot_be();
  if (!must_fail && !(in.fits() && out.fits())) return 0;
  try {
    medley::mix(plan, in.view, target, options);
  } catch (const medley::InvalidArgument&) {
    return 0;
  }
  const bool known = static_cast<int>(options.backend) < 4 &&
                     static_cast<int>(options.pad_mode) < 2 &&
                     static_cast<int>(options.stores) < 3 && static_cast<int>(in.view.dtype) < 4 &&
                     static_cast<int>(o.dtype) < 4 && static_cast<int>(in.view.layout) < 2 &&
                     static_cast<int>(o.layout) < 2;
  if (must_fail || !known) std::abort();
  return 0;
}
