#include <algorithm>
#include <vector>

#include "data/synthetic/scene.h"

namespace medley::data::synthetic {
namespace {

constexpr int kPieces = 3;

Placed place(RandomStream& random, const Object& object, double radius) {
  Placed placed;
  placed.object = &object;
  placed.look = draw_look(random, random.uniform(), random.uniform() < 0.7);
  placed.scale = radius * object.size;
  const double room = 0.8 * std::max(0.0, 1 - 0.9 * radius);
  placed.center = {room * (2 * random.uniform() - 1), room * (2 * random.uniform() - 1)};
  placed.axis = direction((object.spin + 0.06) * (2 * random.uniform() - 1));
  placed.mirrored = random.uniform() < 0.5;
  placed.light = direction(0.62 + 0.06 * random.uniform());
  return placed;
}

std::uint8_t with_grain(std::uint8_t value, double grain) {
  return static_cast<std::uint8_t>(std::clamp(value + grain, 0.0, 255.0));
}

}  // namespace

Image render_cluttered(RandomStream& random, const Object& object, ImageSize size, double scale) {
  const Background background(random, random.uniform(), random.uniform() < 0.7);
  std::vector<Placed> all;
  for (int i = 0; i < kPieces; ++i) {
    const Object& other = objects()[random.below(static_cast<std::uint32_t>(objects().size()))];
    all.push_back(place(random, other, 0.4 * scale * (0.7 + 0.6 * random.uniform())));
  }
  all.push_back(place(random, object, scale * (0.8 + 0.5 * random.uniform())));
  Image image = rasterise(size, [&](Vec p, double pixel) {
    Color color = background.at(p, pixel);
    for (const Placed& placed : all) color = paint_over(color, placed, p, pixel);
    return color;
  });
  const double amount = 24 * random.uniform();
  for (std::uint8_t& value : image.rgb) {
    value = with_grain(value, amount * (random.uniform() + random.uniform() - 1));
  }
  return image;
}

}  // namespace medley::data::synthetic
