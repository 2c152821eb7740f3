#include "support/batches.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "kernels/pixel.h"

namespace medley::test {
namespace {

constexpr auto kGapByte = std::byte{0xA5};
/// Bytes before and after the pixels that nothing may write.
constexpr std::int64_t kGuard = 128;

template <typename T>
T read_as(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

float read_float(DType dtype, const std::byte* p) {
  switch (dtype) {
    case DType::u8:
      return to_float(read_as<std::uint8_t>(p));
    case DType::f16:
      return to_float(read_as<F16>(p));
    case DType::bf16:
      return to_float(read_as<BF16>(p));
    case DType::f32:
      break;
  }
  return read_as<float>(p);
}

template <typename T>
void write_as(float value, std::byte* p) {
  T stored;
  store(value, stored);
  std::memcpy(p, &stored, sizeof stored);
}

void write_float(DType dtype, float value, std::byte* p) {
  switch (dtype) {
    case DType::u8:
      return write_as<std::uint8_t>(value, p);
    case DType::f16:
      return write_as<F16>(value, p);
    case DType::bf16:
      return write_as<BF16>(value, p);
    case DType::f32:
      return write_as<float>(value, p);
  }
}

template <typename T, std::size_t N>
T pick(RandomStream& random, const std::array<T, N>& choices) {
  return choices[random.below(N)];
}

}  // namespace

Batch::Batch(DType dtype, Layout layout, BatchShape shape, std::int64_t gap, std::int64_t offset)
    : dtype_(dtype), layout_(layout), shape_(shape), first_(kGuard + offset * size_of(dtype)) {
  if (layout == Layout::nchw) {
    strides_.column = 1;
    strides_.row = shape.width + gap;
    strides_.channel = strides_.row * shape.height;
    strides_.image = strides_.channel * shape.channels;
  } else {
    strides_.channel = 1;
    strides_.column = shape.channels;
    strides_.row = std::int64_t{shape.width} * shape.channels + gap;
    strides_.image = strides_.row * shape.height;
  }
  const std::int64_t pixels = strides_.image * shape.count * size_of(dtype);
  bytes_.assign(static_cast<std::size_t>(first_ + pixels + kGuard), kGapByte);
}

ImageBatchView Batch::view() const {
  return {bytes_.data() + first_, dtype_, layout_, shape_, strides_};
}

MutableImageBatchView Batch::mutable_view() {
  return {bytes_.data() + first_, dtype_, layout_, shape_, strides_};
}

std::int64_t Batch::offset(std::int64_t image, std::int64_t channel, std::int64_t y,
                           std::int64_t x) const {
  return first_ + (image * strides_.image + channel * strides_.channel + y * strides_.row +
                   x * strides_.column) *
                      size_of(dtype_);
}

float Batch::at(std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) const {
  return read_float(dtype_, bytes_.data() + offset(image, channel, y, x));
}

void Batch::set(std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x,
                float value) {
  write_float(dtype_, value, bytes_.data() + offset(image, channel, y, x));
}

void Batch::fill_random(std::uint64_t seed, bool unusual) {
  constexpr std::array<float, 8> kUnusual = {std::numeric_limits<float>::quiet_NaN(),
                                             std::numeric_limits<float>::infinity(),
                                             -std::numeric_limits<float>::infinity(),
                                             -0.0f,
                                             1e-40f,
                                             3e-8f,
                                             70000.0f,
                                             -3e38f};
  RandomStream random(seed, 0, 0, Purpose::picture);
  const bool wide = random.below(2) == 0;  // values about 0..255, or about -2..2
  for (std::int64_t n = 0; n < shape_.count; ++n) {
    for (std::int64_t c = 0; c < shape_.channels; ++c) {
      for (std::int64_t y = 0; y < shape_.height; ++y) {
        for (std::int64_t x = 0; x < shape_.width; ++x) {
          const auto u = static_cast<float>(random.next_u32()) * 0x1p-32f;
          float value = dtype_ == DType::u8 || wide ? u * 256.0f - 0.5f : u * 4.0f - 2.0f;
          if (unusual && random.below(64) == 0) value = pick(random, kUnusual);
          set(n, c, y, x, value);
        }
      }
    }
  }
}

std::string difference(const Batch& a, const Batch& b, DType dtype) {
  if (a.bytes().size() != b.bytes().size()) return "sizes differ";
  const auto size = static_cast<std::size_t>(size_of(dtype));
  for (std::size_t i = 0; i < a.bytes().size(); i += size) {
    const std::byte* pa = a.bytes().data() + i;
    const std::byte* pb = b.bytes().data() + i;
    if (std::memcmp(pa, pb, size) == 0) continue;
    const float va = read_float(dtype, pa);
    const float vb = read_float(dtype, pb);
    if (std::isnan(va) && std::isnan(vb)) continue;
    return fmt::format("element {}: {:.9g} and {:.9g}", i / size, va, vb);
  }
  return "";
}

MixPlan MixCase::plan() const {
  PlanRequest r = request;
  r.labels = labels;
  MixPlan drawn = Sampler(policy, size, seed).plan(r);
  add_blocks(drawn, seed, blocks);
  return drawn;
}

namespace {

/// Draws what methods do not: coarse masks, masks of terms, moved tiles.
class BlockDraw {
 public:
  BlockDraw(MixPlan& plan, std::uint64_t seed)
      : plan_(plan), random_(seed, 1, 2, Purpose::picture) {}

  void masks(bool terms) {
    for (MixEntry& entry : plan_.entries) {
      const std::uint32_t kind = random_.below(8);
      if (kind == 0) continue;
      if (terms && (entry.term_count > 0 || kind < 4)) {
        make_terms(entry);
      } else if (entry.term_count == 0) {
        entry.resample = Resample::none;
        entry.mask = grid();
      }
    }
  }

  void tiles() {
    for (std::uint32_t i = random_.below(3) + 1; i > 0; --i) {
      TileMap map{divisor_of(plan_.size.height), divisor_of(plan_.size.width), {}};
      const auto count = static_cast<std::uint32_t>(map.rows * map.columns);
      const bool few = random_.below(2) == 0;  // mostly where they were
      for (std::uint32_t t = 0; t < count; ++t) {
        const bool stays = few && random_.below(4) != 0;
        map.tiles.push_back(static_cast<std::int32_t>(stays ? t : random_.below(count)));
      }
      plan_.tile_maps.push_back(std::move(map));
    }
    for (MixEntry& entry : plan_.entries) {
      move(entry.own);
      if (entry.resample == Resample::none) move(entry.partner);
    }
    for (MixTerm& term : plan_.terms) move(term.source);
  }

 private:
  void move(Source& source) {
    if (random_.below(2) == 0) return;
    source.tiles = static_cast<std::int32_t>(
        random_.below(static_cast<std::uint32_t>(plan_.tile_maps.size())));
  }

  std::int32_t divisor_of(std::int32_t n) {
    std::vector<std::int32_t> all;
    for (std::int32_t d = 1; d <= n; ++d) {
      if (n % d == 0) all.push_back(d);
    }
    return all[random_.below(static_cast<std::uint32_t>(all.size()))];
  }

  std::int64_t add_values(std::int64_t count) {
    const std::int64_t offset = std::ssize(plan_.fields);
    const bool simple = random_.below(2) == 0;  // images alone, as cuts have them
    const float u = static_cast<float>(random_.next_u32()) * 0x1p-32f;
    const std::array values{0.0f, 1.0f, 0.0f, 0.3f, u, -0.5f, 1e-9f, 1.5f};
    for (std::int64_t i = 0; i < count; ++i) {
      plan_.fields.push_back(values[random_.below(simple ? 3 : std::size(values))]);
    }
    return offset;
  }

  GridMask grid() {
    const auto side = [&](std::int32_t n) {
      return static_cast<std::int32_t>(1 +
                                       random_.below(static_cast<std::uint32_t>(std::min(n, 20))));
    };
    GridMask mask{0, side(plan_.size.height), side(plan_.size.width),
                  static_cast<GridInterpolation>(random_.below(2))};
    mask.offset = add_values(std::int64_t{mask.rows} * mask.columns);
    return mask;
  }

  void make_terms(MixEntry& entry) {
    entry.resample = Resample::none;
    const auto count =
        entry.term_count > 0 ? static_cast<std::uint32_t>(entry.term_count) : 2 + random_.below(7);
    const std::array sources{entry.own, entry.partner};
    const std::int64_t from = entry.term_count > 0 ? entry.term_begin : -1;
    const std::int64_t begin = std::ssize(plan_.terms);
    for (std::uint32_t k = 0; k < count; ++k) {
      MixTerm term{sources[random_.below(2)], 0.25 * random_.below(3), {}};
      if (from >= 0) term = plan_.terms[static_cast<std::size_t>(from) + k];
      const std::uint32_t kind = random_.below(4);
      if (kind == 0) term.mask = FieldMask{add_values(plan_.size.pixels())};
      if (kind > 1) term.mask = grid();
      plan_.terms.push_back(term);
    }
    entry.term_begin = begin;
    entry.term_count = static_cast<std::int32_t>(count);
  }

  MixPlan& plan_;
  RandomStream random_;
};

}  // namespace

void add_blocks(MixPlan& plan, std::uint64_t seed, Blocks blocks) {
  if (blocks == Blocks::none) return;
  BlockDraw draw(plan, seed);
  draw.masks(blocks == Blocks::all);
  if (blocks == Blocks::all) draw.tiles();
}

std::string MixCase::describe() const {
  return fmt::format(
      "case: {} mode {} pairing {} batch {} {}x{} from {}x{}x{}x{}, {} {} gap {} offset {} to {} "
      "{} gap "
      "{} offset {}, pad {} flip {}, normalize {}, threads {}, stores {}, blocks {}, seed {}",
      policy.method.name(), name_of(policy.mode), name_of(policy.pairing), request.batch,
      size.height, size.width, in_shape.count, in_shape.channels, in_shape.height, in_shape.width,
      name_of(in_dtype), name_of(in_layout), in_gap, in_offset, name_of(out_dtype),
      name_of(out_layout), out_gap, out_offset, policy.augment.pad, policy.augment.flip,
      !options.normalize.empty(), options.threads, static_cast<int>(options.stores),
      static_cast<int>(blocks), seed);
}

MixCase random_case(std::uint64_t number) {
  RandomStream random(number, 0, 1, Purpose::picture);
  MixCase c;
  c.seed = number;
  const auto& all = methods();
  c.policy.method = all[random.below(static_cast<std::uint32_t>(all.size()))]->name;
  constexpr std::array<std::int32_t, 15> kSides = {1,  2,  3,  5,  7,  8,  13, 16,
                                                   17, 31, 32, 33, 48, 64, 67};
  c.size = {pick(random, kSides), pick(random, kSides)};
  c.policy.method.set_if_used("alpha", pick(random, std::array{0.2, 0.5, 1.0, 4.0}));
  if (random.below(3) == 0) {
    c.policy.method.set_if_used("lam", pick(random, std::array{0.0, 0.25, 0.5, 0.65, 1.0}));
    if (c.policy.method.info().unbounded_lam() && random.below(3) == 0)
      c.policy.method.set_if_used("lam", 1.5);
  }
  c.policy.prob = random.below(4) == 0 ? 0.5 : 1;
  c.policy.method.set_if_used("placement", static_cast<Placement>(random.below(3)));
  c.policy.method.set_if_used("form", static_cast<Form>(random.below(3)));
  c.policy.method.set_if_used("ratio", pick(random, std::array{0.0, 0.3, 0.5, 0.75, 1.0}));
  if (random.below(4) == 0) c.policy.method.set_if_used("gamma", 0.7);
  c.policy.method.set_if_used("n", static_cast<std::int32_t>(2 + random.below(4)));
  if (random.below(3) == 0) c.policy.method.set_if_used("power", 2.4);
  c.policy.method.set_if_used("soft", random.below(2) == 0 ? 0.1 : 0);
  c.policy.method.set_if_used("interpolation", static_cast<Interpolation>(random.below(2)));
  c.policy.label = static_cast<LabelRule>(random.below(2));
  c.policy.mode = static_cast<Mode>(random.below(3));
  c.policy.pairing = static_cast<Pairing>(random.below(4));
  c.policy.no_self = random.below(3) == 0;
  if (c.policy.method == "custom") {
    auto masks = std::make_shared<MaskSet>();
    masks->size = c.size;
    masks->values.resize(static_cast<std::size_t>(2 * c.size.pixels()));
    for (float& v : masks->values) {
      v = pick(random, std::array{0.0f, 1.0f, 0.3f, 0.75f, -0.5f, 1e-9f});
    }
    c.policy.method.set_if_used("masks", masks);
  }
  c.request.batch = static_cast<std::int64_t>(1 + random.below(7));
  c.request.epoch = random.below(3);
  c.request.first = c.request.batch * random.below(3);
  c.in_shape.count = c.request.batch;
  if (c.policy.pairing == Pairing::dataset) {
    c.request.dataset_size = c.request.first + c.request.batch + random.below(4);
    c.in_shape.count = c.request.dataset_size;
  }
  const bool classes = c.policy.pairing == Pairing::batch || c.policy.pairing == Pairing::dataset;
  if (classes && random.below(4) == 0) {
    c.policy.classes = random.below(2) == 0 ? ClassRule::same : ClassRule::other;
    for (std::int64_t i = 0; i < c.in_shape.count; ++i) c.labels.push_back(random.below(3));
  }
  if (random.below(3) == 0) {
    c.policy.augment.pad = static_cast<std::int32_t>(random.below(5));
    c.policy.augment.flip = 0.5;
  }
  c.in_shape.channels = pick(random, std::array{1, 3, 3, 3, 4, 5});
  c.in_shape.height = c.size.height;
  c.in_shape.width = c.size.width;
  if (random.below(5) == 0) {  // images of another size than the outputs
    c.in_shape.height = pick(random, kSides);
    c.in_shape.width = pick(random, kSides);
    c.options.windows = true;
  }
  c.in_dtype = static_cast<DType>(random.below(4));
  c.out_dtype = static_cast<DType>(random.below(4));
  c.in_layout = static_cast<Layout>(random.below(2));
  c.out_layout = static_cast<Layout>(random.below(2));
  c.in_gap = random.below(4) == 0 ? 3 : 0;
  c.out_gap = random.below(4) == 0 ? 5 : 0;
  if (random.below(2) == 0) {
    for (std::int32_t k = 0; k < c.in_shape.channels; ++k) {
      c.options.normalize.mean.push_back(0.4f + 0.1f * static_cast<float>(k));
      c.options.normalize.stddev.push_back(0.3f + 0.2f * static_cast<float>(k));
    }
  }
  c.options.pad_mode = static_cast<PadMode>(random.below(2));
  c.options.pad_value = random.below(2) == 0 ? 0.0f : 2.6f;
  c.options.threads = static_cast<int>(1 + random.below(3));
  c.options.stores = static_cast<Stores>(random.below(3));
  // Half of the batches begin on a line, as those of some allocators do.
  if (random.below(2) == 0) c.in_offset = random.below(21);
  if (random.below(2) == 0) c.out_offset = random.below(21);
  return c;
}

}  // namespace medley::test
