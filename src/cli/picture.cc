#include "cli/picture.h"

#include <algorithm>
#include <cmath>

#include "medley/plan_edit.h"

namespace medley::cli {

data::Image mix_entry(const MixPlan& plan, std::size_t entry, const ImageLookup& image_at,
                      const MixOptions& options) {
  MixPlan single = slice(plan, static_cast<std::int64_t>(entry), 1);
  const std::vector<std::int64_t> needed = compact_sources(single);
  std::vector<std::uint8_t> pixels;
  for (const std::int64_t number : needed) {
    const data::Image image = image_at(plan.base + number);
    pixels.insert(pixels.end(), image.rgb.begin(), image.rgb.end());
  }
  const auto shape = [&](std::int64_t images) {
    return BatchShape{images, 3, plan.size.height, plan.size.width};
  };
  data::Image out{plan.size,
                  std::vector<std::uint8_t>(static_cast<std::size_t>(3 * plan.size.pixels()))};
  mix(single, view_of(pixels, shape(std::ssize(needed)), Layout::nhwc),
      mutable_view_of(out.rgb, shape(1), Layout::nhwc), options);
  return out;
}

std::vector<std::uint8_t> mask_picture(const MixPlan& plan, const MixEntry& entry) {
  std::vector<double> values(static_cast<std::size_t>(plan.size.pixels()));
  mask_values(plan, entry, values);
  std::vector<std::uint8_t> gray(values.size());
  std::transform(values.begin(), values.end(), gray.begin(), [](double m) {
    return static_cast<std::uint8_t>(std::nearbyint(255 * std::clamp(m, 0.0, 1.0)));
  });
  return gray;
}

}  // namespace medley::cli
