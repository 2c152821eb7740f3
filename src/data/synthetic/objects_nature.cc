#include "data/synthetic/scene.h"

namespace medley::data::synthetic {
namespace {

// ---- flower: two rings of petals around a dotted heart

int petals(const Look& look) { return 6 + static_cast<int>(look.dial[0] * 4); }

double petal_ring(Vec p, int count, double reach, double breadth, double turn) {
  const Vec q = fold(in_axes(p, direction(turn)), count);
  return ellipse(q - Vec{reach * 0.58, 0}, {reach * 0.42, breadth});
}

double flower_outline(Vec p, const Look& look) {
  const int n = petals(look);
  return std::min({petal_ring(p, n, 0.97, 1.75 / n, 0), petal_ring(p, n, 0.84, 1.6 / n, 0.5 / n),
                   disc(p, 0.3)});
}

void paint_flower(Pen& pen, Vec p, const Look& look) {
  const int n = petals(look);
  const double r = length(p);
  const double back = petal_ring(p, n, 0.84, 1.6 / n, 0.5 / n);
  pen.over(back, lit(pen, look.second, p, back, 0.2));
  pen.soft(petal_ring(p, n, 0.97, 1.75 / n, 0), look.dark, 0.05, 0.18 * (back < 0));
  const double front = petal_ring(p, n, 0.97, 1.75 / n, 0);
  const Color blush = mix(look.main, look.light, smooth(0.35, 1.0, r) * 0.35);
  pen.over(front, lit(pen, blush, p, front, 0.18));
  const double heart = disc(p, 0.3);
  pen.soft(disc(p, 0.32), look.dark, 0.08, 0.3);
  pen.over(heart, lit(pen, look.accent, p, heart, 0.25));
  for (int i = 0; i < 13; ++i) {
    const Vec seed = direction(i * 0.38196601) * (0.068 * std::sqrt(i + 0.3));
    pen.over(disc(p - seed, 0.026), look.dark, 0.45);
  }
}

// ---- fish: body, tail and fins, striped or scaled

double fish_body(Vec p) { return ellipse(p - Vec{-0.14, 0}, {0.74, 0.5}); }

double fish_tail(Vec p) {
  const Vec q = {p.x, std::abs(p.y)};
  return std::max(triangle(q, {0.42, -0.2}, {0.9, 0.52}, {0.42, 0.06}, 0.06),
                  -disc(p - Vec{1.08, 0}, 0.2));
}

double fish_fins(Vec p) {
  const double back = triangle(p, {-0.32, -0.38}, {0.18, -0.66}, {0.3, -0.3}, 0.07);
  const double belly = triangle(p, {-0.1, 0.4}, {0.2, 0.64}, {0.22, 0.34}, 0.06);
  return std::min(back, belly);
}

double fish_outline(Vec p, const Look&) {
  return std::min(join(fish_body(p), fish_tail(p), 0.1), fish_fins(p));
}

void paint_fish(Pen& pen, Vec p, const Look& look) {
  const double fins = std::min(fish_fins(p), fish_tail(p));
  pen.over(fins, lit(pen, look.accent, p, fins, 0.2));
  const double rays = std::abs(fract((p.y - 0.25 * p.x) * 9) - 0.5) / 9 - 0.012;
  pen.over(std::max(fins + 0.05, rays), look.dark, 0.25);
  const double d = fish_body(p);
  pen.over(d, look.main);
  if (look.dial[1] < 0.5) {
    for (int i = 0; i < 3; ++i) {
      const double band = std::abs(p.x - (-0.3 + 0.3 * i) + 0.35 * p.y * p.y) - (0.085 - 0.012 * i);
      pen.over(std::max(d, band), look.light);
    }
  } else {
    const Vec cell = {p.x * 6.5, p.y * 6.5};
    const Vec q = {fract(cell.x + 0.5 * std::floor(cell.y)) - 0.5, fract(cell.y)};
    const double scale = std::abs(length(q) - 0.62) - 0.07;
    pen.over(std::max({d + 0.05, scale / 6.5, -0.36 - p.x}), look.second, 0.8);
  }
  pen.over(std::max(d, p.x + 0.42 - 0.25 * p.y * p.y), mix(look.main, look.second, 0.65));
  pen.over(d, lit(pen, pen.color, p, d, 0.45));
  const double flap = ellipse(in_axes(p - Vec{0.02, 0.14}, direction(0.08)), {0.2, 0.11});
  pen.over(flap, lit(pen, look.accent, p, flap, 0.1));
  pen.over(disc(p - Vec{-0.55, -0.12}, 0.135), kWhite);
  pen.over(disc(p - Vec{-0.57, -0.11}, 0.085), look.dark);
  pen.over(disc(p - Vec{-0.6, -0.15}, 0.03), kWhite);
  pen.over(std::max(ring(p - Vec{-0.75, 0.1}, 0.1, 0.018), 0.1 - p.y), look.dark, 0.8);
}

// ---- cat: a face with ears and whiskers

double cat_head(Vec p) { return ellipse(p - Vec{0, 0.16}, {0.86, 0.68}); }

double cat_ear(Vec p, double inset) {
  const Vec q = {std::abs(p.x), p.y};
  return triangle(q, {0.3 + inset, -0.36 + inset}, {0.7 - 0.3 * inset, -0.82 + 2.2 * inset},
                  {0.76 - inset, -0.06 + inset}, 0.1 - 0.6 * inset);
}

double cat_outline(Vec p, const Look&) { return join(cat_head(p), cat_ear(p, 0), 0.08); }

Color fur(const Look& look) {
  const int kind = static_cast<int>(look.dial[0] * 5);
  if (kind == 0) return oklch(0.78, 0.15, 0.17);
  if (kind == 1) return oklch(0.66, 0.03, 0.7);
  if (kind == 2) return oklch(0.88, 0.06, 0.21);
  if (kind == 3) return oklch(0.45, 0.03, 0.75);
  return look.main;
}

void paint_cat(Pen& pen, Vec p, const Look& look) {
  const Color coat = fur(look);
  const Color stripe = coat * 0.55;
  const Color pink = oklch(0.75, 0.12, 0.02);
  const Vec q = {std::abs(p.x), p.y};
  const double d = cat_outline(p, look);
  pen.over(d, lit(pen, coat, p, d, 0.45));
  pen.over(cat_ear(p, 0.1), pink, 0.9);
  if (look.dial[1] < 0.7) {
    pen.over(std::max(d, capsule(p, {0, -0.6}, {0, -0.3}, 0.05)), stripe, 0.8);
    pen.over(std::max(d, capsule(q, {0.19, -0.56}, {0.15, -0.34}, 0.045)), stripe, 0.8);
    pen.over(std::max(d, capsule(q, {0.95, 0.1}, {0.7, 0.14}, 0.042)), stripe, 0.8);
    pen.over(std::max(d, capsule(q, {0.95, 0.32}, {0.7, 0.3}, 0.042)), stripe, 0.8);
  }
  const double muzzle =
      std::min(ellipse(q - Vec{0.15, 0.4}, {0.22, 0.19}), ellipse(p - Vec{0, 0.52}, {0.22, 0.14}));
  pen.over(muzzle, mix(coat, kWhite, 0.8));
  pen.over(ellipse(q - Vec{0.37, 0.06}, {0.165, 0.185}), look.dark);
  pen.over(ellipse(q - Vec{0.37, 0.065}, {0.14, 0.16}), mix(look.accent, kWhite, 0.15));
  pen.over(ellipse(q - Vec{0.36, 0.07}, {0.07, 0.135}), look.dark * 0.5);
  pen.over(disc(p - Vec{0.32, 0.0}, 0.045), kWhite);
  pen.over(disc(p - Vec{-0.42, 0.0}, 0.045), kWhite);
  pen.over(triangle(q, {-0.06, 0.27}, {0.06, 0.27}, {0, 0.33}, 0.035), pink * 0.85);
  pen.over(std::max(ring(q - Vec{0.11, 0.4}, 0.11, 0.02), 0.4 - p.y), look.dark, 0.85);
  for (int i = 0; i < 3; ++i) {
    const double y = 0.38 + 0.09 * i;
    pen.over(capsule(q, {0.36, y}, {0.8, y - 0.1 + 0.1 * i}, 0.011), kWhite, 0.9);
  }
}

// ---- mushroom: a spotted cap on a stem with a face

double cap(Vec p) { return std::max(ellipse(p, {0.92, 0.84}), p.y - 0.06) - 0.03; }

double stem(Vec p) {
  return std::max(box(p - Vec{0, 0.42}, {0.36 + 0.14 * clamp01(p.y), 0.46}, 0.22), -p.y);
}

double mushroom_outline(Vec p, const Look&) { return std::min(cap(p), stem(p)); }

void paint_mushroom(Pen& pen, Vec p, const Look& look) {
  const Color flesh = mix(look.light, oklch(0.9, 0.05, 0.2), 0.6);
  const double s = stem(p);
  pen.over(s, lit(pen, flesh, p - Vec{0, 0.4}, s, 0.35));
  pen.soft(std::max(s, p.y - 0.16), look.dark, 0.08, 0.25);
  const double c = cap(p);
  pen.over(c, lit(pen, look.main, p - Vec{0, -0.2}, c, 0.5));
  const Vec spots[] = {{0.02, -0.5},  {-0.52, -0.28}, {0.5, -0.3},    {-0.2, -0.12}, {0.2, -0.14},
                       {0.78, -0.03}, {-0.8, -0.02},  {-0.33, -0.66}, {0.38, -0.66}};
  for (int i = 0; i < 9; ++i) {
    const double radius =
        (i < 3 ? 0.15 : 0.085) + 0.03 * look.dial[static_cast<std::size_t>(i) % 4];
    const double spot = std::max(ellipse(p - spots[i], {radius * 1.1, radius}), c);
    pen.over(spot, lit(pen, look.light, p, spot, 0.4));
  }
  pen.soft(ellipse(in_axes(p - Vec{-0.4, -0.52}, direction(0.39)), {0.18, 0.05}), kWhite, 0.05,
           0.5);
  paint_face(pen, p - Vec{0, 0.42}, 0.58, look.dark);
}

}  // namespace

Object flower() { return {"flower", 0.5, 1.02, flower_outline, paint_flower}; }
Object fish() { return {"fish", 0.05, 1.12, fish_outline, paint_fish}; }
Object cat() { return {"cat", 0.035, 0.98, cat_outline, paint_cat}; }
Object mushroom() { return {"mushroom", 0.04, 1, mushroom_outline, paint_mushroom}; }

}  // namespace medley::data::synthetic
