#pragma once

#include <array>
#include <functional>
#include <string_view>

#include "data/synthetic/color.h"
#include "data/synthetic/geometry.h"
#include "medley/data/image.h"
#include "medley/random.h"

namespace medley::data::synthetic {

/// The colors of a picture and the numbers in [0, 1) that vary a drawing.
struct Look {
  Color main;    ///< the object
  Color second;  ///< its neighbor on the color wheel
  Color accent;  ///< stands out on `main`
  Color dark;
  Color light;
  std::array<double, 8> dial{};
};

/// One point of the picture under the brush: colors are laid over each other.
struct Pen {
  double pixel = 0.01;  ///< width of a pixel in the units of distances
  Vec light;            ///< direction the light comes from, unit length
  Color color;

  /// Lays `c` over the point where distance < 0, with an edge one pixel wide.
  void over(double distance, const Color& c, double opacity = 1) {
    const double cover = clamp01(0.5 - distance / pixel);
    if (cover > 0) color = mix(color, c, cover * opacity);
  }

  /// The same with an edge `width` wide.
  void soft(double distance, const Color& c, double width, double opacity) {
    color = mix(color, c, opacity * (1 - smooth(-width, width, distance)));
  }
};

/// Something to draw. Both functions take points of the object's own plane, where it fills the
/// circle of radius 1 around the origin.
struct Object {
  std::string_view name;
  double spin = 0;  ///< greatest tilt in turns
  double size = 1;  ///< relative size that makes all objects look equally large
  double (*outline)(Vec p, const Look& look) = nullptr;
  void (*paint)(Pen& pen, Vec p, const Look& look) = nullptr;
};

/// The objects, by class.
[[nodiscard]] const std::array<Object, 12>& objects();

// The drawings, grouped by file.
Object ball(), donut(), star(), heart(), moon();  // objects_simple.cc
Object flower(), fish(), cat(), mushroom();       // objects_nature.cc
Object house(), balloon(), boat();                // objects_built.cc

/// `base` lit softly from pen.light: brighter towards it, darker at the far edge. `distance` is
/// that of the part's outline and `depth` how far in the rounding goes.
[[nodiscard]] Color lit(const Pen& pen, const Color& base, Vec p, double distance, double depth);

/// Two eyes, a smile and cheeks, `size` wide around the origin.
void paint_face(Pen& pen, Vec p, double size, const Color& ink);

/// A pattern behind the object. `at` gives the color at a point of the picture's plane, where the
/// shorter side spans [-1, 1].
class Background {
 public:
  Background(RandomStream& random, double hue, bool bright);
  [[nodiscard]] Color at(Vec p, double pixel) const;

 private:
  struct Spot {
    Vec center;
    double size;
    Color color;
    double turn;
  };

  [[nodiscard]] Color gradient(Vec p) const;

  int kind_;
  Color first_, second_, third_;
  Vec axis_;
  Vec center_;
  double period_;
  std::uint32_t salt_;
  std::array<Spot, 26> spots_{};
};

/// An object in the picture, and how it is lit.
struct Placed {
  const Object* object = nullptr;
  Look look;
  Vec center;
  Vec axis;  ///< the object's x axis in the picture
  double scale = 1;
  bool mirrored = false;
  double border = 0;  ///< width of the sticker's white edge, 0 for none
  Vec light;
};

[[nodiscard]] Look draw_look(RandomStream& random, double hue, bool bright);

/// The color of a point once the object, with its shadow, is laid over what is behind.
[[nodiscard]] Color paint_over(Color behind, const Placed& placed, Vec p, double pixel);

/// Samples a picture of the plane, in which the shorter side spans [-1, 1].
[[nodiscard]] Image rasterise(ImageSize size,
                              const std::function<Color(Vec p, double pixel)>& color_at);

/// Draws everything that varies and paints the picture: one object, large and in the middle.
[[nodiscard]] Image render(RandomStream& random, const Object& object, ImageSize size);

/// A picture to learn from: the object anywhere, `scale` of the picture wide, among small pieces of
/// other objects, with grain.
[[nodiscard]] Image render_cluttered(RandomStream& random, const Object& object, ImageSize size,
                                     double scale);

}  // namespace medley::data::synthetic
