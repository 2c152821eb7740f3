#include "moments/mask_list.h"

#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/gaussian_factor.h"
#include "plan/box.h"

namespace medley::theory {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Whether pixel i of n is in a stretch, which may run over the end.
bool covers(BoxInterval interval, std::int32_t i, std::int32_t n) {
  return (i - interval.begin + n) % n < interval.length;
}

}  // namespace

MaskList::MaskList(std::string method, ImageSize size, std::int64_t most)
    : method_(std::move(method)), size_(size), most_(most) {}

void MaskList::push(double probability, std::vector<double> own,
                    std::optional<double> label_weight) {
  if (!(probability > 0)) return;
  if (std::ssize(masks_) >= most_) {
    fail_argument(fmt::format(
        "the law of {} on {}x{} has more than {} masks; use Monte Carlo or a smaller image",
        method_, size_.height, size_.width, most_));
  }
  const double label = label_weight ? *label_weight : mean_of(own);
  masks_.push_back({probability, std::move(own), label});
}

void MaskList::add(double probability, std::vector<double> own,
                   std::optional<double> label_weight) {
  push(weight * probability, std::move(own), label_weight);
}

void MaskList::add_flat(double probability, double own, std::optional<double> label_weight) {
  add(probability, std::vector<double>(static_cast<std::size_t>(size_.pixels()), own),
      label_weight);
}

void MaskList::add_boxes(double probability, ImageSize sides, Placement placement,
                         const std::function<double(double area)>& outside,
                         std::optional<double> label_weight) {
  const std::int32_t tops = box_places(size_.height, sides.height, placement);
  const std::int32_t lefts = box_places(size_.width, sides.width, placement);
  const double each = weight * probability / tops / lefts;
  for (std::int32_t top = 0; top < tops; ++top) {
    const BoxInterval rows = box_interval(size_.height, sides.height, placement, top);
    for (std::int32_t left = 0; left < lefts; ++left) {
      const BoxInterval columns = box_interval(size_.width, sides.width, placement, left);
      const double around = outside(static_cast<double>(rows.length) * columns.length);
      std::vector<double> own;
      for (std::int32_t y = 0; y < size_.height; ++y) {
        for (std::int32_t x = 0; x < size_.width; ++x) {
          const bool inside = covers(rows, y, size_.height) && covers(columns, x, size_.width);
          own.push_back(inside ? 0 : around);
        }
      }
      push(each, std::move(own), label_weight);
    }
  }
}

void MaskList::add_gaussian(double probability, const GaussianMask& mask,
                            std::optional<double> label_weight) {
  const double scale = mask.tau > 0 ? gaussian_scale(mask.tau, pixels()) : 0;
  std::vector<double> own;
  for (std::int32_t y = 0; y < size_.height; ++y) {
    for (std::int32_t x = 0; x < size_.width; ++x) {
      const double k =
          mask.tau > 0 ? gaussian_factor(scale, y - mask.cy) * gaussian_factor(scale, x - mask.cx)
                       : 0;
      own.push_back(mask.peak == Peak::own ? k : 1 - k);
    }
  }
  add(probability, std::move(own), label_weight);
}

std::vector<WeightedMask> MaskList::take(double prob) && {
  for (WeightedMask& mask : masks_) mask.probability *= prob;
  weight = 1;
  if (prob < 1) add_flat(1 - prob, 1, 1);
  return std::move(masks_);
}

}  // namespace medley::theory
