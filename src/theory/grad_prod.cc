#include "medley/theory/loss.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/check.h"
#include "theory/grad_prod_loops.h"
#include "theory/product_max.h"

namespace medley::theory {
namespace {

constexpr std::size_t kStrongShare = 20;  // one pixel in so many counts as strong

/// The exponent of the greatest value.
int exponent_of(std::span<const double> gradient) {
  double greatest = 0;
  for (const double value : gradient) {
    if (!std::isfinite(value)) fail_argument("gradients must be finite");
    greatest = std::max(greatest, std::abs(value));
  }
  return greatest > 0 ? std::ilogb(greatest) : 0;
}

/// In units of 2^exponent, lest squares and products of very large or small values be lost.
std::vector<double> magnitudes_of(std::span<const double> gradient, std::int32_t channels,
                                  ImageSize size, Magnitude magnitude, int exponent) {
  const auto pixels = static_cast<std::size_t>(size.pixels());
  std::vector<double> g(pixels);
  for (std::size_t v = 0; v < pixels; ++v) {
    double sum = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
      const double value = std::ldexp(gradient[c * pixels + v], -exponent);
      sum += magnitude == Magnitude::euclidean  ? value * value
             : magnitude == Magnitude::absolute ? std::abs(value)
                                                : value;
    }
    g[v] = magnitude == Magnitude::euclidean ? std::sqrt(sum) : std::abs(sum);
  }
  return g;
}

void divide_by_sum(std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (!(sum > 0)) return;
  for (double& value : values) value /= sum;
}

/// Greatest product of every displacement, over the half plane dy >= 0: height x (2 width - 1), dx
/// from 1 - width.
std::vector<double> half_map(const std::vector<double>& g, ImageSize size) {
  // The strongest pixels meet all others. A product of two weaker ones is at most the square of the
  // weakest of the strong, so where the map exceeds that, nothing is left to do.
  std::vector<std::int32_t> order(g.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t strong = std::min(g.size(), g.size() / kStrongShare + 4);
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(strong) - 1,
                   order.end(), [&](std::int32_t a, std::int32_t b) {
                     return g[static_cast<std::size_t>(a)] > g[static_cast<std::size_t>(b)];
                   });
  const double weakest = g[static_cast<std::size_t>(order[strong - 1])];
  const std::int32_t span = 2 * size.width - 1;
  std::vector<double> full(static_cast<std::size_t>((2 * std::int64_t{size.height} - 1) * span));
  for (std::size_t i = 0; i < strong; ++i) add_products(g, size, order[i], full);

  std::vector<double> row_max;
  for (std::int32_t y = 0; y < size.height; ++y) {
    const auto row = g.begin() + static_cast<std::ptrdiff_t>(y) * size.width;
    row_max.push_back(*std::max_element(row, row + size.width));
  }
  std::vector<double> half(static_cast<std::size_t>(std::int64_t{size.height} * span));
  const std::int64_t center = std::int64_t{size.height - 1} * span + size.width - 1;
  for (std::int32_t dy = 0; dy < size.height; ++dy) {
    for (std::int32_t dx = dy == 0 ? 0 : 1 - size.width; dx < size.width; ++dx) {
      const std::int64_t offset = std::int64_t{dy} * span + dx;
      double known = std::max(full[static_cast<std::size_t>(center + offset)],
                              full[static_cast<std::size_t>(center - offset)]);
      if (known < weakest * weakest) known = greatest_product(g, row_max, size, dy, dx, known);
      half[static_cast<std::size_t>(offset + size.width - 1)] = known;
    }
  }
  return half;
}

std::vector<double> unfold(const std::vector<double>& half, ImageSize size) {
  const std::int32_t span = 2 * size.width - 1;
  std::vector<double> map(static_cast<std::size_t>(std::int64_t{2 * size.height - 1} * span));
  for (std::int32_t dy = 0; dy < size.height; ++dy) {
    for (std::int32_t dx = dy == 0 ? 0 : 1 - size.width; dx < size.width; ++dx) {
      const auto from = static_cast<std::size_t>(std::int64_t{dy} * span + dx + size.width - 1);
      const auto center = std::int64_t{size.height - 1} * span + size.width - 1;
      const std::int64_t offset = std::int64_t{dy} * span + dx;
      map[static_cast<std::size_t>(center + offset)] = half[from];
      map[static_cast<std::size_t>(center - offset)] = half[from];
    }
  }
  return map;
}

void check_field(std::span<const double> gradient, std::int32_t channels, ImageSize size) {
  if (channels < 1 || size.height < 1 || size.width < 1 ||
      std::ssize(gradient) != channels * size.pixels()) {
    fail_argument(fmt::format("a gradient of {} channels of {}x{} has {} values, got {}", channels,
                              size.height, size.width, channels * size.pixels(), gradient.size()));
  }
}

}  // namespace

std::vector<double> partial_grad_prod(std::span<const double> gradient, std::int32_t channels,
                                      ImageSize size, const GradProdOptions& options) {
  check_field(gradient, channels, size);
  if (options.magnitude == Magnitude::each && channels > 1) {
    std::vector<double> greatest;
    const auto pixels = static_cast<std::size_t>(size.pixels());
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
      const auto map = partial_grad_prod(gradient.subspan(c * pixels, pixels), 1, size, options);
      greatest.resize(map.size());
      for (std::size_t i = 0; i < map.size(); ++i) greatest[i] = std::max(greatest[i], map[i]);
    }
    return greatest;
  }
  const int exponent = exponent_of(gradient);
  std::vector<double> g = magnitudes_of(gradient, channels, size, options.magnitude, exponent);
  if (options.normalize == Normalize::gradient) divide_by_sum(g);
  std::vector<double> map = unfold(half_map(g, size), size);
  if (options.normalize == Normalize::map) divide_by_sum(map);
  if (options.normalize == Normalize::none) {
    for (double& product : map) product = std::ldexp(product, 2 * exponent);
  }
  return map;
}

std::vector<double> partial_grad_prod_loops(std::span<const double> magnitudes, ImageSize size) {
  check_field(magnitudes, 1, size);
  const auto [height, width] = size;
  std::vector<double> map;
  for (std::int32_t dy = 1 - height; dy < height; ++dy) {
    for (std::int32_t dx = 1 - width; dx < width; ++dx) {
      double greatest = 0;
      for (std::int32_t y = std::max(0, -dy); y < std::min(height, height - dy); ++y) {
        for (std::int32_t x = std::max(0, -dx); x < std::min(width, width - dx); ++x) {
          const auto v = static_cast<std::size_t>(std::int64_t{y} * width + x);
          const auto w = static_cast<std::size_t>(std::int64_t{y + dy} * width + x + dx);
          greatest = std::max(greatest, magnitudes[v] * magnitudes[w]);
        }
      }
      map.push_back(greatest);
    }
  }
  return map;
}

GradProdSummary::GradProdSummary(ImageSize size, GradProdOptions options)
    : size_(size), options_(options) {
  const auto cells = (2 * std::int64_t{size.height} - 1) * (2 * std::int64_t{size.width} - 1);
  if (size.height < 1 || size.width < 1) {
    fail_argument(fmt::format("height and width must be > 0, got {}x{}", size.height, size.width));
  }
  maximum_.resize(static_cast<std::size_t>(cells));
  sum_.resize(maximum_.size());
}

void GradProdSummary::add(std::span<const double> gradient, std::int32_t channels) {
  const std::vector<double> map = partial_grad_prod(gradient, channels, size_, options_);
  ++images_;
  for (std::size_t i = 0; i < map.size(); ++i) {
    maximum_[i] = std::max(maximum_[i], map[i]);
    sum_[i] += map[i];
  }
}

std::vector<double> GradProdSummary::mean() const {
  std::vector<double> mean = sum_;
  for (double& value : mean) value /= static_cast<double>(std::max<std::int64_t>(images_, 1));
  return mean;
}

}  // namespace medley::theory
