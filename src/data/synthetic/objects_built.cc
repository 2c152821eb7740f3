#include "data/synthetic/scene.h"

namespace medley::data::synthetic {
namespace {

// ---- house: walls, roof, chimney, door and windows

double walls(Vec p) { return box(p - Vec{0, 0.38}, {0.66, 0.5}, 0.04); }
double roof(Vec p) { return triangle(p, {-0.84, 0.0}, {0.84, 0.0}, {0, -0.78}, 0.07); }
double chimney(Vec p) { return box(p - Vec{0.45, -0.52}, {0.12, 0.34}, 0.02); }

double house_outline(Vec p, const Look&) { return std::min({walls(p), roof(p), chimney(p)}); }

void paint_house(Pen& pen, Vec p, const Look& look) {
  const Color glass = mix(oklch(0.9, 0.09, 0.25), kWhite, 0.2);
  const Color plaster = mix(look.light, look.second, 0.18);
  const double stack = chimney(p);
  pen.over(stack, lit(pen, look.second * 0.7, p, stack, 0.2));
  pen.over(std::max(stack, p.y + 0.72), look.dark);
  const double wall = walls(p);
  pen.over(wall, lit(pen, plaster, p, wall, 0.3));
  if (look.dial[0] < 0.5) {
    pen.over(std::max(wall, std::abs(fract(p.y * 7) - 0.5) / 7 - 0.008), look.second, 0.35);
  }
  pen.soft(std::max(wall, p.y - 0.1), look.dark, 0.06, 0.3);
  const double top = roof(p);
  pen.over(top, lit(pen, look.main, p - Vec{0, -0.3}, top, 0.3));
  const Vec tile = {p.x * 5, (p.y + 0.9) * 6};
  const Vec q = {fract(tile.x + 0.5 * std::floor(tile.y)) - 0.5, fract(tile.y)};
  pen.over(std::max(top + 0.05, (std::abs(length(q - Vec{0, 0.1}) - 0.6) - 0.06) / 5.5),
           look.main * 0.6, 0.6);
  const bool left = look.dial[1] < 0.5;
  const double door_x = left ? -0.3 : 0.3;
  const double door = std::max(box(p - Vec{door_x, 0.66}, {0.17, 0.34}, 0.15), p.y - 0.86);
  pen.over(door - 0.035, look.dark);
  pen.over(door, lit(pen, look.accent, p, door, 0.12));
  pen.over(disc(p - Vec{door_x + 0.09, 0.66}, 0.028), look.light);
  const Vec w = p - Vec{-door_x * 0.9, 0.44};
  pen.over(box(w, {0.24, 0.22}, 0.04), look.dark);
  pen.over(box(w, {0.2, 0.18}, 0.02), glass);
  pen.over(std::min(box(w, {0.018, 0.18}), box(w, {0.2, 0.018})), look.dark);
  const Vec attic = p - Vec{0, -0.26};
  pen.over(disc(attic, 0.17), look.dark);
  pen.over(disc(attic, 0.13), glass);
  pen.over(std::max(disc(attic, 0.13), std::min(std::abs(attic.x), std::abs(attic.y)) - 0.015),
           look.dark);
}

// ---- balloon: a striped hot-air balloon with its basket

double envelope(Vec p) {
  const double globe = disc(p - Vec{0, -0.28}, 0.68);
  const double skirt = triangle(p, {-0.5, 0.08}, {0.5, 0.08}, {0, 0.74}, 0.02);
  return std::max(join(globe, skirt, 0.12), p.y - 0.5);
}
double basket(Vec p) { return box(p - Vec{0, 0.84}, {0.17 - 0.12 * (p.y - 0.84), 0.13}, 0.04); }
double ropes(Vec p) { return capsule({std::abs(p.x), p.y}, {0.18, 0.46}, {0.14, 0.74}, 0.014); }

double balloon_outline(Vec p, const Look&) { return std::min({envelope(p), basket(p), ropes(p)}); }

void paint_balloon(Pen& pen, Vec p, const Look& look) {
  pen.over(ropes(p), look.dark);
  const double b = basket(p);
  const Color wicker = oklch(0.6, 0.09, 0.18);
  pen.over(b, lit(pen, wicker, p - Vec{0, 0.84}, b, 0.15));
  pen.over(std::max(b, std::abs(fract(p.y * 14) - 0.5) / 14 - 0.012), wicker * 0.6, 0.7);
  pen.over(box(p - Vec{0, 0.73}, {0.21, 0.03}, 0.03), wicker * 0.6);
  const double d = envelope(p);
  pen.over(d, look.main);
  // Gores: bands of equal longitude, so narrower towards the sides.
  const double half = std::sqrt(std::max(0.6 - 0.55 * (p.y + 0.28) * (p.y + 0.28), 0.02)) * 0.9;
  const double x = std::clamp(p.x / half, -1.0, 1.0);
  const double edges[] = {0.18, 0.5, 0.78};
  const double middle = (std::abs(x) - edges[0]) * half;
  const double outer =
      (std::abs(std::abs(x) - (edges[1] + edges[2]) / 2) - (edges[2] - edges[1]) / 2) * half;
  pen.over(std::max(d, middle), look.light);
  pen.over(std::max(d, outer), look.dial[0] < 0.5 ? look.accent : look.light);
  if (look.dial[1] < 0.6) {
    const double belt = std::abs(p.y + 0.06 - 0.1 * (1 - x * x)) - 0.09;
    pen.over(std::max(d, belt), look.second);
  }
  pen.over(std::max(d, p.y + 0.84 - 0.06 * (1 - x * x)), look.second);
  pen.over(std::max(d, 0.42 - p.y), look.dark, 0.85);
  pen.over(d, lit(pen, pen.color, p - Vec{0, -0.25}, d, 0.6));
  pen.soft(ellipse(in_axes(p - Vec{-0.32, -0.6}, direction(0.37)), {0.16, 0.06}), kWhite, 0.07,
           0.6);
}

// ---- boat: a sailing boat on its own bit of sea

double hull(Vec p) {
  const Vec points[] = {{-0.76, 0.38}, {0.8, 0.38}, {0.52, 0.72}, {-0.5, 0.72}};
  return polygon(p, points, 0.06);
}
double main_sail(Vec p) { return triangle(p, {0.06, -0.78}, {0.06, 0.18}, {0.66, 0.18}, 0.05); }
double fore_sail(Vec p) { return triangle(p, {-0.14, -0.6}, {-0.14, 0.18}, {-0.6, 0.18}, 0.05); }
double mast(Vec p) { return capsule(p, {-0.04, -0.86}, {-0.04, 0.4}, 0.03); }
double flag(Vec p) { return triangle(p, {-0.04, -0.92}, {-0.04, -0.76}, {-0.32, -0.84}, 0.02); }
double sea(Vec p) {
  const double waves = 0.66 + 0.035 * sin_turns(p.x * 1.9) - p.y;
  return std::max(ellipse(p - Vec{0, 0.62}, {0.74, 0.34}), waves);
}

double boat_outline(Vec p, const Look&) {
  return std::min({hull(p), main_sail(p), fore_sail(p), mast(p), flag(p), sea(p)});
}

void paint_boat(Pen& pen, Vec p, const Look& look) {
  pen.over(mast(p), look.dark);
  pen.over(flag(p), look.accent);
  const double sail = main_sail(p);
  pen.over(sail, lit(pen, look.light, p, sail, 0.3));
  if (look.dial[0] < 0.6) {
    const double band = std::abs(fract(p.y * 2.6 + look.dial[1]) - 0.5) / 2.6 - 0.09;
    pen.over(std::max(sail, band), look.second);
  } else {
    pen.over(star(p - Vec{0.25, -0.08}, 5, 0.12, 0.06, 0.02), look.accent);
  }
  const double jib = fore_sail(p);
  pen.over(jib, lit(pen, look.main, p, jib, 0.3));
  const double h = hull(p);
  pen.over(h, lit(pen, look.accent, p - Vec{0, 0.5}, h, 0.25));
  pen.over(std::max(h, p.y - 0.4), look.light);
  for (int i = 0; i < 3; ++i) {
    const Vec porthole = {-0.32 + 0.3 * i, 0.53};
    pen.over(disc(p - porthole, 0.075), look.dark);
    pen.over(disc(p - porthole, 0.05), oklch(0.9, 0.06, 0.6));
  }
  const Color water = oklch(0.62, 0.12, 0.64);
  const double s = sea(p);
  pen.over(s, mix(water, kBlack, 0.25 * smooth(0.6, 1.0, p.y)));
  pen.over(std::max(s, -s - 0.035), kWhite, 0.75 * (p.y < 0.74));
}

}  // namespace

Object house() { return {"house", 0.02, 1.02, house_outline, paint_house}; }
Object balloon() { return {"balloon", 0.03, 1.1, balloon_outline, paint_balloon}; }
Object boat() { return {"boat", 0.03, 1.05, boat_outline, paint_boat}; }

}  // namespace medley::data::synthetic
