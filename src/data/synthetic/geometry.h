#pragma once

#include <algorithm>
#include <cmath>

namespace medley::data::synthetic {

// Points, and signed distances to shapes (negative inside). The plane has x to the right and y
// down. Only square roots and arithmetic, so the bits do not depend on a C library; angles are in
// turns. Distances are exact near the edge, which is where anti-aliasing looks at them.

inline constexpr double kPi = 3.14159265358979323846;

struct Vec {
  double x = 0;
  double y = 0;
};

constexpr Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y}; }
constexpr Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y}; }
constexpr Vec operator*(Vec a, double s) { return {a.x * s, a.y * s}; }
constexpr double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y; }
constexpr double cross(Vec a, Vec b) { return a.x * b.y - a.y * b.x; }
inline double length(Vec a) { return std::sqrt(dot(a, a)); }
inline double clamp01(double x) { return std::clamp(x, 0.0, 1.0); }
inline double mix(double a, double b, double t) { return a + (b - a) * t; }
inline double fract(double x) { return x - std::floor(x); }

/// 0 below a, 1 above b, smooth in between.
inline double smooth(double a, double b, double x) {
  const double t = clamp01((x - a) / (b - a));
  return t * t * (3 - 2 * t);
}

/// sin(2 pi t).
inline double sin_turns(double t) {
  double u = t - std::floor(t + 0.5);  // [-1/2, 1/2)
  if (u > 0.25) u = 0.5 - u;
  if (u < -0.25) u = -0.5 - u;
  const double x = u * (2 * kPi);
  const double z = x * x;
  double p = -1.0 / 39916800;  // Taylor; the first term left out is below 6e-8
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  return x * (1 + z * p);
}
inline double cos_turns(double t) { return sin_turns(t + 0.25); }

/// Unit vector at an angle, clockwise from the right as seen in the picture.
inline Vec direction(double turns) { return {cos_turns(turns), sin_turns(turns)}; }

/// The point as seen from axes turned to `axis`, a unit vector.
constexpr Vec in_axes(Vec p, Vec axis) { return {dot(p, axis), cross(axis, p)}; }

/// Turns `p` by multiples of 1/n turn into the sector around the positive x axis.
inline Vec fold(Vec p, int n) {
  const Vec step = direction(1.0 / n);
  Vec best = p;
  for (int i = 1; i < n; ++i) {
    p = in_axes(p, step);
    if (p.x > best.x) best = p;
  }
  return best;
}

inline double disc(Vec p, double radius) { return length(p) - radius; }

inline double ring(Vec p, double radius, double half_width) {
  return std::abs(length(p) - radius) - half_width;
}

/// Exact on the axes, close elsewhere for moderate ratios.
inline double ellipse(Vec p, Vec radii) {
  const double k = length({p.x / radii.x, p.y / radii.y});
  const double g = length({p.x / (radii.x * radii.x), p.y / (radii.y * radii.y)});
  return g > 1e-9 ? k * (k - 1) / g : -std::min(radii.x, radii.y);
}

/// A box of half sides `half`, corners rounded by `round`.
inline double box(Vec p, Vec half, double round = 0) {
  const Vec q = {std::abs(p.x) - half.x + round, std::abs(p.y) - half.y + round};
  return length({std::max(q.x, 0.0), std::max(q.y, 0.0)}) + std::min(std::max(q.x, q.y), 0.0) -
         round;
}

/// All points within `radius` of the segment.
inline double capsule(Vec p, Vec a, Vec b, double radius) {
  const Vec ab = b - a;
  const double t = clamp01(dot(p - a, ab) / dot(ab, ab));
  return length(p - a - ab * t) - radius;
}

/// Any polygon without holes, corners rounded outwards by `round`.
template <typename Points>
double polygon(Vec p, const Points& points, double round = 0) {
  double nearest = 1e9;
  bool inside = false;
  Vec a = points[std::size(points) - 1];
  for (const Vec b : points) {
    nearest = std::min(nearest, capsule(p, a, b, 0));
    if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y)) {
      inside = !inside;
    }
    a = b;
  }
  return (inside ? -nearest : nearest) - round;
}

inline double triangle(Vec p, Vec a, Vec b, Vec c, double round = 0) {
  const Vec points[] = {a, b, c};
  return polygon(p, points, round);
}

/// A star of n points between the radii, one point up.
inline double star(Vec p, int n, double outer, double inner, double round) {
  Vec q = fold(in_axes(p, {0, -1}), n);
  q.y = std::abs(q.y);
  const Vec tip = {outer, 0};
  const Vec dent = direction(0.5 / n) * inner;
  const double side = cross(dent - tip, q - tip);
  return (side < 0 ? 1 : -1) * capsule(q, tip, dent, 0) - round;
}

/// Union with a soft seam of width k.
inline double join(double a, double b, double k) {
  const double h = std::max(k - std::abs(a - b), 0.0) / k;
  return std::min(a, b) - h * h * k / 4;
}

}  // namespace medley::data::synthetic
