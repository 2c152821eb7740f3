#include "kernels/plain_cases.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "kernels/cases.h"
#include "medley/random.h"

namespace medley::bench {
namespace {

constexpr std::array<std::int64_t, 4> kOffsets = {0, 4, 16, 32};
constexpr std::array kMethods = {"mixup", "cutmix", "hmix", "gmix"};

constexpr BatchShape kBeyondCache{64, 3, 224, 224};
constexpr BatchShape kInCache{8, 3, 224, 224};
constexpr BatchShape kSmall{128, 3, 32, 32};
constexpr BatchShape kNarrow{4096, 3, 32, 32};

/// Ratios for mixup, cutmix, hmix, gmix in f32.
struct TargetRow {
  BatchShape shape;
  std::array<double, 4> ratios;
};
constexpr std::array<TargetRow, 4> kTargets = {{
    {kBeyondCache, {0.90, 0.85, 0.95, 0.95}},
    {kInCache, {1.0, 0.85, 1.0, 1.05}},
    {kSmall, {1.0, 0.65, 0.75, 1.1}},
    {kNarrow, {1.0, 1.1, 1.1, 1.1}},
}};
constexpr double kHmixOtherPhase = 1.05;  // beyond the cache, input and output at other offsets
constexpr double kGmixSse4 = 1.2;         // in cache

}  // namespace

MixPlan PlainCase::plan() const {
  MixPolicy policy;
  policy.method = blocks() ? "mixup" : method;
  MixPlan plan = plan_for(policy, shape.size(), shape.count);
  if (!blocks()) return plan;
  constexpr std::int32_t kSide = 16;
  constexpr std::uint64_t kSeed = 20220821;
  RandomStream random(kSeed, 0, 0, Purpose::picture);
  const auto random_map = [&] {
    TileMap map{kSide, kSide, std::vector<std::int32_t>(kSide * kSide)};
    std::iota(map.tiles.begin(), map.tiles.end(), 0);
    for (std::uint32_t i = kSide * kSide; i > 1; --i) {
      std::swap(map.tiles[i - 1], map.tiles[random.below(i)]);
    }
    plan.tile_maps.push_back(std::move(map));
    return static_cast<std::int32_t>(plan.tile_maps.size()) - 1;
  };
  for (MixEntry& entry : plan.entries) {
    entry.mask =
        GridMask{std::ssize(plan.fields), kSide, kSide,
                 method == "bilinear" ? GridInterpolation::bilinear : GridInterpolation::constant};
    for (std::int32_t i = 0; i < kSide * kSide; ++i) {
      plan.fields.push_back(static_cast<float>(random.below(5)) / 4.0f);
    }
    if (method != "tiles") continue;
    entry.own.tiles = random_map();
    entry.partner.tiles = random_map();
  }
  return plan;
}

std::vector<Offsets> PlainCase::offsets() const {
  std::vector<Offsets> all;
  for (const std::int64_t from : kOffsets) {
    for (const std::int64_t to : kOffsets) {
      if (every_offset || from == to || (from == 0 && to == 16)) all.push_back({from, to});
    }
  }
  return all;
}

MixOptions PlainCase::options(int threads) const {
  MixOptions options = mix_options(in, threads);
  if (in != DType::u8) options.normalize = {};
  return options;
}

std::vector<PlainCase> plain_cases() {
  std::vector<PlainCase> cases;
  for (const TargetRow& row : kTargets) {
    for (const char* method : kMethods) {
      PlainCase c{"f32", method, row.shape};
      c.every_offset = true;
      cases.push_back(c);
    }
  }
  const auto add = [&](const char* group, std::initializer_list<const char*> methods,
                       const auto& change) {
    for (const char* method : methods) {
      PlainCase c{group, method, kBeyondCache};
      change(c);
      cases.push_back(c);
    }
  };
  add("u8 nchw to f32 nchw", {"mixup", "hmix"}, [](PlainCase& c) {
    c.in = DType::u8;
    c.every_offset = true;
  });
  add("u8 nhwc to f32 nchw", {"mixup", "hmix"}, [](PlainCase& c) {
    c.in = DType::u8;
    c.in_layout = Layout::nhwc;
  });
  add("f32 nhwc", {"mixup", "hmix"},
      [](PlainCase& c) { c.in_layout = c.out_layout = Layout::nhwc; });
  add("f32 nchw to nhwc", {"mixup", "hmix"}, [](PlainCase& c) { c.out_layout = Layout::nhwc; });
  add("f16", {"mixup", "hmix"}, [](PlainCase& c) { c.in = c.out = DType::f16; });
  add("bf16", {"mixup", "hmix"}, [](PlainCase& c) { c.in = c.out = DType::bf16; });
  add("f32 resized", {"resizemix"}, [](PlainCase&) {});
  add("f32 rows apart", {"mixup", "hmix"}, [](PlainCase& c) { c.row_gap = 8; });
  for (const BatchShape& shape : {kBeyondCache, kInCache, kSmall}) {
    add("f32 grid", {"constant", "bilinear", "tiles"}, [&](PlainCase& c) { c.shape = shape; });
  }
  add("f32 never touched", {"mixup", "hmix"}, [](PlainCase& c) { c.fresh = true; });
  return cases;
}

double plain_target(const PlainCase& c, std::string_view isa, Offsets offsets) {
  if (c.group == "u8 nchw to f32 nchw") return 0.60;
  if (c.group == "u8 nhwc to f32 nchw") return 0.33;
  if (c.group == "f32 nhwc") return 0.85;
  if (c.group == "f32 nchw to nhwc") return 0.90;
  if (c.blocks()) return c.shape == kBeyondCache ? 0.95 : c.shape == kInCache ? 1.0 : 0.75;
  if (c.group != "f32") return 1.0;  // no worse than the plain loop
  if (c.method == "hmix" && c.shape == kBeyondCache && offsets.in != offsets.out) {
    return kHmixOtherPhase;
  }
  if (c.method == "gmix" && c.shape == kInCache && isa == "SSE4") return kGmixSse4;
  const auto row = std::ranges::find(kTargets, c.shape, &TargetRow::shape);
  const auto method = std::ranges::find(kMethods, c.method);
  return row->ratios[static_cast<std::size_t>(method - kMethods.begin())];
}

}  // namespace medley::bench
