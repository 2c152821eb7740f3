#include "data/synthetic/scene.h"

namespace medley::data::synthetic {
namespace {

// ---- ball: glossy, with bands, dots or the sectors of a beach ball

double ball_outline(Vec p, const Look&) { return disc(p, 0.94); }

void paint_ball(Pen& pen, Vec p, const Look& look) {
  const double d = ball_outline(p, look);
  const Vec n = p * (1 / 0.94);
  const double z = std::sqrt(std::max(1 - dot(n, n), 0.0));
  pen.over(d, look.main);
  const int surface = static_cast<int>(look.dial[0] * 3);
  if (surface == 0) {
    // Seen from above by an eighth of a turn; sectors are where sin(3 phi) changes sign.
    const double c = 0.70710678118654752;
    const Vec e = {n.x, c * n.y + c * z};
    const double pole = c * z - c * n.y;
    const double re = e.x * (e.x * e.x - 3 * e.y * e.y);
    const double im = e.y * (3 * e.x * e.x - e.y * e.y);
    const double r = std::max(length(e), 1e-6);
    const double sector = im / (3 * r * r);
    pen.over(std::max(d, sector), look.light);
    pen.over(std::max({d, sector, -re / (3 * r * r)}), look.second);
    pen.over(std::max(d, 0.94 * (0.97 - pole) * 2), look.accent);
  } else if (surface == 1) {
    const Vec m = in_axes(n, direction(look.dial[1]));
    const double bulge = std::abs(m.y + 0.12 * (1 - m.x * m.x));
    pen.over(std::max(d, bulge - 0.34), look.light);
    pen.over(std::max(d, bulge - 0.22), look.accent);
  } else {
    const Vec m = n * (1 / (0.45 + 0.55 * z));
    const Vec cell = {m.x * 1.9 + look.dial[1], m.y * 1.9 + look.dial[2]};
    const Vec in_cell = {fract(cell.x + 0.5 * std::floor(cell.y)) - 0.5, fract(cell.y) - 0.5};
    pen.over(std::max(d, disc(in_cell, 0.27) * 0.4), look.light);
  }
  pen.over(d, lit(pen, pen.color, p, d, 0.75));
  pen.soft(ellipse(in_axes(p - pen.light * 0.52, pen.light), {0.1, 0.17}), kWhite, 0.09, 0.75);
}

// ---- donut: dough, icing and sprinkles

double donut_outline(Vec p, const Look&) { return ring(p, 0.61, 0.34); }

void paint_donut(Pen& pen, Vec p, const Look& look) {
  const Color dough = oklch(0.74, 0.1, 0.19);
  const double d = donut_outline(p, look);
  pen.over(d, lit(pen, dough, p, d, 0.3));
  const double r = std::max(length(p), 1e-6);
  const Vec u = p * (1 / r);
  // Waves of the icing: sines and cosines of multiples of the angle, by products of its cosine and
  // sine.
  const double s2 = 2 * u.x * u.y;
  const double c2 = u.x * u.x - u.y * u.y;
  const double c5 = u.x * (16 * u.y * u.y * u.y * u.y - 12 * u.y * u.y + 1);
  const double wave = 0.028 * (s2 * c2 + c5 + 0.6 * c2);
  const double icing = ring(p, 0.61, 0.255) + wave;
  pen.soft(icing - 0.02, look.dark, 0.05, 0.25);
  pen.over(icing, lit(pen, look.main, p, icing, 0.26));
  // The glaze shines on the side of the ring that looks to the light.
  const double crest = std::abs(r - 0.61 - 0.1 * dot(u, pen.light));
  pen.soft(crest - 0.04, kWhite, 0.1, 0.3 * smooth(0.1, 0.9, dot(u, pen.light)));
  for (int i = 0; i < 17; ++i) {
    const double turn = (i + 0.5 * fract(look.dial[1] + i * 0.618)) / 17;
    const Vec center = direction(turn) * (0.61 + 0.34 * (fract(look.dial[2] + i * 0.382) - 0.5));
    const Vec along = direction(fract(look.dial[3] + i * 0.754)) * 0.05;
    const Color& c = i % 3 == 0 ? look.light : i % 3 == 1 ? look.accent : look.second;
    pen.over(capsule(p, center - along, center + along, 0.026), c);
  }
}

// ---- star, heart, moon: soft toys with faces

double star_outline(Vec p, const Look& look) {
  return star(p - Vec{0, 0.06}, 5, 0.86, 0.42 + 0.08 * look.dial[0], 0.13);
}

void paint_star(Pen& pen, Vec p, const Look& look) {
  const double d = star_outline(p, look);
  pen.over(d, lit(pen, look.main, p, d, 0.4));
  if (look.dial[1] < 0.35) {
    pen.over(std::abs(d + 0.13) - 0.025, look.light, 0.8);
  }
  paint_face(pen, p - Vec{0, 0.08}, 0.68, look.dark);
  pen.soft(ellipse(in_axes(p - Vec{-0.07, -0.62}, direction(0.36)), {0.13, 0.04}), kWhite, 0.04,
           0.7);
}

double heart_outline(Vec p, const Look&) {
  // A square on its corner with two half discs on the upper sides, in units of its diagonal.
  constexpr double kUnit = 1.42;
  const Vec q = {std::abs(p.x) / kUnit, (0.82 - p.y) / kUnit};
  double d = 0;
  if (q.x + q.y > 1) {
    d = length(q - Vec{0.25, 0.75}) - 0.35355339059327376;
  } else {
    const double along = 0.5 * std::max(q.x + q.y, 0.0);
    d = std::min(length(q - Vec{0, 1}), length(q - Vec{along, along})) * (q.x > q.y ? 1 : -1);
  }
  return d * kUnit - 0.07;
}

void paint_heart(Pen& pen, Vec p, const Look& look) {
  const double d = heart_outline(p, look);
  pen.over(d, lit(pen, look.main, p, d, 0.45));
  if (look.dial[1] < 0.5) {
    paint_face(pen, p - Vec{0, -0.08}, 0.85, look.dark);
  } else {
    pen.over(std::abs(d + 0.17) - 0.03, look.light, 0.85);
  }
  pen.soft(ellipse(in_axes(p - Vec{-0.52, -0.48}, direction(0.37)), {0.17, 0.06}), kWhite, 0.05,
           0.75);
}

double moon_outline(Vec p, const Look& look) {
  const double bite = disc(p - Vec{0.42 + 0.1 * look.dial[0], -0.16}, 0.66);
  const double full = disc(p - Vec{-0.02, 0}, 0.9);
  return -join(-full, bite, 0.12);
}

void paint_moon(Pen& pen, Vec p, const Look& look) {
  const double d = moon_outline(p, look);
  pen.over(d, lit(pen, look.main, p - Vec{-0.3, 0}, d, 0.4));
  const Vec craters[] = {{-0.52, -0.52}, {-0.1, 0.72}, {0.3, 0.66}, {-0.74, 0.14}};
  for (int i = 0; i < 4; ++i) {
    const double crater =
        disc(p - craters[i], 0.07 + 0.03 * look.dial[static_cast<std::size_t>(i)]);
    pen.over(std::max(d, crater), look.second, 0.6);
  }
  const Vec q = p - Vec{-0.5, 0.22};
  paint_face(pen, q, 0.5, look.dark);
}

}  // namespace

Object ball() { return {"ball", 0.5, 0.98, ball_outline, paint_ball}; }
Object donut() { return {"donut", 0.5, 0.98, donut_outline, paint_donut}; }
Object star() { return {"star", 0.06, 1.02, star_outline, paint_star}; }
Object heart() { return {"heart", 0.05, 0.94, heart_outline, paint_heart}; }
Object moon() { return {"moon", 0.06, 1.04, moon_outline, paint_moon}; }

}  // namespace medley::data::synthetic
