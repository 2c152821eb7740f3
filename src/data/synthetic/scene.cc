#include "data/synthetic/scene.h"

#include <algorithm>

namespace medley::data::synthetic {
namespace {

/// Dark yellow is brown and olive: yellow gets the light it needs to look like itself.
double yellow_lift(double hue) {
  const double near = std::max(cos_turns(hue - 0.29), 0.0);
  return 0.2 * near * near;
}

}  // namespace

Look draw_look(RandomStream& random, double hue, bool bright) {
  Look look;
  const double base = bright ? 0.62 + 0.08 * random.uniform() : 0.7 + 0.08 * random.uniform();
  const double lightness = std::min(base + yellow_lift(hue), 0.88);
  const double chroma = 0.16 + 0.05 * random.uniform();
  const double swing = random.uniform() < 0.5 ? -1 : 1;
  look.main = oklch(lightness, chroma, hue);
  look.second =
      oklch(lightness + 0.08, chroma * 0.9, hue + swing * (0.07 + 0.05 * random.uniform()));
  look.accent = oklch(0.8, 0.15, hue + swing * (0.3 + 0.2 * random.uniform()));
  look.dark = oklch(0.27, 0.05, hue + 0.1);
  look.light = oklch(0.96, 0.025, hue + 0.05);
  for (double& dial : look.dial) dial = random.uniform();
  return look;
}

Color paint_over(Color behind, const Placed& scene, Vec p, double pixel) {
  const auto to_object = [&](Vec at) {
    Vec q = in_axes(at - scene.center, scene.axis) * (1 / scene.scale);
    if (scene.mirrored) q.x = -q.x;
    return q;
  };
  const auto outline = [&](Vec at) {
    return scene.object->outline(to_object(at), scene.look) * scene.scale;
  };
  Pen pen{.pixel = pixel, .light = {}, .color = behind};
  pen.soft(outline(p + scene.light * 0.09) - scene.border, kBlack, 0.16, 0.42);
  const double edge = outline(p);
  if (scene.border > 0) pen.over(edge - scene.border, {0.97, 0.97, 0.97});
  if (edge > pixel) return pen.color;

  pen.pixel = pixel / scene.scale;
  pen.light = in_axes(scene.light, scene.axis);
  if (scene.mirrored) pen.light.x = -pen.light.x;
  scene.object->paint(pen, to_object(p), scene.look);
  return pen.color;
}

Image rasterise(ImageSize size, const std::function<Color(Vec p, double pixel)>& color_at) {
  constexpr int kSamples = 2;  // per axis; edges are smooth already, this catches thin lines
  const double unit = 2.0 / std::min(size.height, size.width);
  Image image{size, {}};
  image.rgb.reserve(static_cast<std::size_t>(3 * size.pixels()));
  for (std::int32_t y = 0; y < size.height; ++y) {
    for (std::int32_t x = 0; x < size.width; ++x) {
      Color sum;
      for (int i = 0; i < kSamples * kSamples; ++i) {
        const int column = i % kSamples;
        const int row = i / kSamples;
        const Vec p = {(x + (column + 0.5) / kSamples - 0.5 * size.width) * unit,
                       (y + (row + 0.5) / kSamples - 0.5 * size.height) * unit};
        sum = sum + color_at(p, unit / kSamples);
      }
      const Color mean = sum * (1.0 / (kSamples * kSamples));
      image.rgb.push_back(encode_srgb(mean.r));
      image.rgb.push_back(encode_srgb(mean.g));
      image.rgb.push_back(encode_srgb(mean.b));
    }
  }
  return image;
}

Image render(RandomStream& random, const Object& object, ImageSize size) {
  Placed scene;
  scene.object = &object;
  const double hue = random.uniform();
  const bool bright = random.uniform() < 0.7;
  scene.look = draw_look(random, hue, bright);
  scene.scale = (0.7 + 0.12 * random.uniform()) * scene.object->size;
  const double room = 0.12;
  scene.center = {room * (2 * random.uniform() - 1), room * (2 * random.uniform() - 1)};
  scene.axis = direction(scene.object->spin * (2 * random.uniform() - 1));
  scene.mirrored = random.uniform() < 0.5;
  scene.border = random.uniform() < 0.5 ? 0.05 : 0;
  scene.light = direction(0.62 + 0.06 * random.uniform());
  const double behind = fract(hue + 0.3 + 0.4 * random.uniform());
  // Dark backgrounds keep to the range from teal over blue to red.
  const Background background(random, bright ? behind : 0.45 + 0.57 * behind, bright);
  return rasterise(size, [&](Vec p, double pixel) {
    return paint_over(background.at(p, pixel), scene, p, pixel);
  });
}

}  // namespace medley::data::synthetic
