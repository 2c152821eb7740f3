#include "data/synthetic/scene.h"

namespace medley::data::synthetic {

const std::array<Object, 12>& objects() {
  static const std::array<Object, 12> kObjects = {cat(),     fish(), flower(), mushroom(),
                                                  house(),   boat(), ball(),   donut(),
                                                  balloon(), star(), heart(),  moon()};
  return kObjects;
}

Color lit(const Pen& pen, const Color& base, Vec p, double distance, double depth) {
  const double edge = clamp01(1 + distance / depth);
  const double towards = std::clamp(dot(p, pen.light), -1.0, 1.0);
  const double shade = 1 + 0.16 * towards - edge * edge * (0.24 - 0.34 * towards);
  return shade < 1 ? base * shade : mix(base, kWhite, std::min(0.7 * (shade - 1), 0.6));
}

void paint_face(Pen& pen, Vec p, double size, const Color& ink) {
  const Color cheeks = oklch(0.76, 0.15, 0.03);
  const Vec q = p * (1 / size);
  const Vec side = {std::abs(q.x), q.y};
  const auto over = [&](double distance, const Color& color, double opacity = 1) {
    pen.over(distance * size, color, opacity);
  };
  over(ellipse(side - Vec{0.42, 0.2}, {0.13, 0.09}), cheeks, 0.65);
  over(ellipse(side - Vec{0.27, 0.0}, {0.095, 0.13}), ink);
  over(disc(Vec{side.x - 0.27, q.y} - Vec{q.x < 0 ? 0.035 : -0.035, -0.045}, 0.04), kWhite);
  const double smile = std::max(ring(q - Vec{0, 0.1}, 0.13, 0.028), 0.13 - q.y);
  over(smile, ink);
}

}  // namespace medley::data::synthetic
