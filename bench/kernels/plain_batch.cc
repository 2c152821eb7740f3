#include "kernels/plain_batch.h"

#include <cmath>
#include <numbers>
#include <variant>

#include "core/parallel.h"
#include "kernels/pixel.h"
#include "medley/error.h"

namespace medley::bench {

const float* PlainPlan::gaussian(double scale, std::int32_t center, std::int32_t length) {
  factors_.push_back(std::make_unique<float[]>(static_cast<std::size_t>(length)));
  for (std::int32_t i = 0; i < length; ++i) {
    const double distance = i - center;
    factors_.back()[static_cast<std::size_t>(i)] =
        static_cast<float>(std::exp(-scale * distance * distance));
  }
  return factors_.back().get();
}

const PlainTap* PlainPlan::taps(std::int32_t length, std::int32_t image_length) {
  taps_.push_back(std::make_unique<PlainTap[]>(static_cast<std::size_t>(length)));
  for (std::int32_t i = 0; i < length; ++i) {
    const Tap tap = bilinear_tap(i, length, image_length);
    taps_.back()[static_cast<std::size_t>(i)] = {tap.first, tap.second, tap.fraction};
  }
  return taps_.back().get();
}

/// Rows of a constant grid once per row of blocks, of a bilinear one once per row.
void PlainPlan::grid(const MixPlan& plan, const MixEntry& entry, PlainEntry& e) {
  const auto& mask = std::get<GridMask>(entry.mask);
  const auto [height, width] = plan.size;
  std::vector<double> values(static_cast<std::size_t>(plan.size.pixels()));
  mask_values(plan, entry, values);
  factors_.push_back(std::make_unique<float[]>(values.size()));
  rows_.push_back(std::make_unique<std::int32_t[]>(static_cast<std::size_t>(height)));
  const bool constant = mask.interpolation == GridInterpolation::constant;
  for (std::int32_t y = 0; y < height; ++y) {
    const std::int32_t row = constant ? y * mask.rows / height : y;
    rows_.back()[static_cast<std::size_t>(y)] = row;
    for (std::int32_t x = 0; x < width; ++x) {
      factors_.back()[static_cast<std::size_t>(row * width + x)] =
          static_cast<float>(values[static_cast<std::size_t>(y * width + x)]);
    }
  }
  e.weights = factors_.back().get();
  e.weight_rows = rows_.back().get();
  const auto tiles_of = [&](const Source& source) -> PlainTiles {
    if (source.tiles < 0) return {};
    const TileMap& map = plan.tile_maps[static_cast<std::size_t>(source.tiles)];
    return {height / map.rows, width / map.columns, map.columns, map.tiles.data()};
  };
  e.own_tiles = tiles_of(entry.own);
  e.partner_tiles = tiles_of(entry.partner);
}

PlainPlan::PlainPlan(const MixPlan& plan, const Normalize& normalize) {
  const auto [height, width] = plan.size;
  for (const MixEntry& entry : plan.entries) {
    PlainEntry e{};
    e.own = entry.own.index - plan.base;
    e.partner = entry.partner.index - plan.base;
    e.height = height;
    e.width = width;
    if (const auto* flat = std::get_if<FlatMask>(&entry.mask)) {
      e.inside = e.outside = static_cast<float>(flat->value);
    } else if (const auto* box = std::get_if<BoxMask>(&entry.mask)) {
      if (box->top + box->height > height || box->left + box->width > width) {
        throw Error("the plain loop knows no boxes that wrap");
      }
      e.top = box->top;
      e.left = box->left;
      e.height = box->height;
      e.width = box->width;
      e.inside = static_cast<float>(box->inside);
      e.outside = static_cast<float>(box->outside);
      if (entry.resample != Resample::none) {
        e.row_taps = taps(box->height, height);
        e.column_taps = taps(box->width, width);
      }
    } else if (const auto* gaussian_mask = std::get_if<GaussianMask>(&entry.mask)) {
      const double scale = std::numbers::pi / (gaussian_mask->tau * height * width);
      e.rows = gaussian(scale, gaussian_mask->cy, height);
      e.columns = gaussian(scale, gaussian_mask->cx, width);
      e.own_peak = gaussian_mask->peak == Peak::own;
    } else if (std::holds_alternative<GridMask>(entry.mask)) {
      grid(plan, entry, e);
    } else {
      throw Error("the plain loop knows no field masks");
    }
    entries_.push_back(e);
  }
  for (std::size_t c = 0; c < normalize.mean.size(); ++c) {
    scale_.push_back(1 / normalize.stddev[c]);
    bias_.push_back(-normalize.mean[c] / normalize.stddev[c]);
  }
}

PlainBatch PlainPlan::batch(const ImageBatchView& in, const MutableImageBatchView& out) const {
  return {in, out, entries_.data(), scale_.empty() ? nullptr : scale_.data(),
          bias_.empty() ? nullptr : bias_.data()};
}

void mix_plainly(PlainLoop loop, const PlainBatch& batch, int threads) {
  if (threads == 1) return loop(batch, 0, batch.out.shape.count);
  const std::int64_t count = batch.out.shape.count;
  parallel_for(threads, threads, [&](std::int64_t i) {
    loop(batch, count * i / threads, count * (i + 1) / threads);
  });
}

}  // namespace medley::bench
