#include <cstdint>

#include "core/portable_math.h"
#include "data/synthetic/scene.h"

namespace medley::data::synthetic {
namespace {

enum Kind { kGlow, kStripes, kDots, kRays, kClouds, kHills, kBokeh, kConfetti, kWaves, kTiles };
constexpr std::uint32_t kKinds = 10;

double hash_unit(std::int64_t x, std::int64_t y, std::uint32_t salt) {
  std::uint32_t h = salt + 0x9E3779B9u * static_cast<std::uint32_t>(x) +
                    0x85EBCA6Bu * static_cast<std::uint32_t>(y);
  h = (h ^ (h >> 16)) * 0x7FEB352Du;
  h = (h ^ (h >> 15)) * 0x846CA68Bu;
  return (h ^ (h >> 16)) * 0x1p-32;
}

double noise(Vec p, std::uint32_t salt) {
  const double fx = std::floor(p.x);
  const double fy = std::floor(p.y);
  const auto x = static_cast<std::int64_t>(fx);
  const auto y = static_cast<std::int64_t>(fy);
  const double u = smooth(0, 1, p.x - fx);
  const double v = smooth(0, 1, p.y - fy);
  return mix(mix(hash_unit(x, y, salt), hash_unit(x + 1, y, salt), u),
             mix(hash_unit(x, y + 1, salt), hash_unit(x + 1, y + 1, salt), u), v);
}

double cloud(Vec p, std::uint32_t salt) {
  double sum = 0;
  double weight = 0.5;
  for (std::uint32_t octave = 0; octave < 4; ++octave) {
    sum += weight * noise(p, salt + octave);
    p = in_axes(p * 2.03, {0.8, 0.6});
    weight *= 0.5;
  }
  return sum / 0.9375;
}

/// Distance to the nearest of the parallel bands of one color, for a period along x.
double bands(double x, double period) {
  return (std::abs(fract(x / period) - 0.5) - 0.25) * period;
}

}  // namespace

Background::Background(RandomStream& random, double hue, bool bright)
    : kind_(static_cast<int>(random.below(kKinds))) {
  const double lightness = bright ? 0.84 + 0.08 * random.uniform() : 0.42 + 0.12 * random.uniform();
  const double chroma = bright ? 0.07 + 0.05 * random.uniform() : 0.08 + 0.06 * random.uniform();
  const double sign = random.uniform() < 0.5 ? -1 : 1;
  const double swing = sign * (0.05 + 0.09 * random.uniform());
  first_ = oklch(lightness, chroma, hue);
  second_ = oklch(lightness + (bright ? -0.08 : 0.08), chroma + 0.02, hue + swing);
  third_ = oklch(lightness + (bright ? 0.06 : 0.2), chroma * 0.8, hue - swing);
  axis_ = direction(random.uniform());
  center_ = {0.6 * (random.uniform() - 0.5), 0.6 * (random.uniform() - 0.5)};
  period_ = 0.34 + 0.22 * random.uniform();
  salt_ = random.next_u32();
  for (Spot& spot : spots_) {
    // Spread by a low-discrepancy sequence, so that spots neither clump nor leave holes.
    const auto i = static_cast<double>(&spot - spots_.data());
    const double x = fract(i * 0.7548776662 + axis_.x);
    const double y = fract(i * 0.5698402910 + axis_.y);
    spot.center = {3.2 * (x - 0.5), 3.2 * (y - 0.5)};
    spot.size = random.uniform();
    spot.turn = random.uniform();
    const double pick = random.uniform();
    spot.color = oklch(lightness + (bright ? -0.06 : 0.22), chroma + 0.05,
                       hue + (pick < 0.4   ? swing
                              : pick < 0.7 ? -swing
                                           : 0.0) *
                                 1.6);
  }
}

Color Background::gradient(Vec p) const {
  return mix(first_, second_, smooth(-1.1, 1.1, dot(p, axis_)));
}

Color Background::at(Vec p, double pixel) const {
  Pen pen{.pixel = pixel, .light = {}, .color = gradient(p)};
  switch (kind_) {
    case kGlow:
      pen.color = mix(pen.color, third_, exp_nonpositive(-1.6 * dot(p - center_, p - center_)));
      break;
    case kStripes:
      pen.over(bands(dot(p, axis_), period_), third_, 0.65);
      break;
    case kDots: {
      const Vec q = in_axes(p, axis_) * (1 / (0.9 * period_));
      pen.over(
          disc({fract(q.x + 0.5 * std::floor(q.y)) - 0.5, fract(q.y) - 0.5}, 0.24) * 0.9 * period_,
          third_, 0.8);
      break;
    }
    case kRays: {
      // sin(12 phi) by repeated angle doubling and tripling of the unit vector.
      const Vec q = p - center_ * 0.3;
      const double r = std::max(length(q), 1e-6);
      Vec u = in_axes(q * (1 / r), axis_);
      u = {u.x * u.x - u.y * u.y, 2 * u.x * u.y};
      u = {u.x * u.x - u.y * u.y, 2 * u.x * u.y};
      const double sine = u.y * (3 - 4 * u.y * u.y);
      pen.over(sine * r / 12, third_, 0.6);
      break;
    }
    case kClouds: {
      const double c = cloud(p * 1.5 + Vec{7, 11}, salt_);
      pen.color = mix(pen.color, third_, smooth(0.35, 0.72, c));
      break;
    }
    case kHills: {
      pen.color = mix(first_, third_, smooth(-1.0, 0.6, p.y));
      pen.over(disc(p - Vec{center_.x * 3, -0.72}, 0.2), mix(third_, kWhite, 0.6));
      for (int i = 0; i < 3; ++i) {
        const double ridge =
            0.1 + 0.32 * i + 0.16 * sin_turns(p.x * (0.42 - 0.06 * i) + axis_.x + 0.37 * i);
        pen.over(ridge - p.y, mix(second_, first_, 0.5 - 0.25 * i) * (1 - 0.16 * i));
      }
      break;
    }
    case kBokeh:
      for (const Spot& spot : spots_) {
        pen.over(disc(p - spot.center, 0.1 + 0.24 * spot.size), spot.color, 0.4);
      }
      break;
    case kConfetti:
      for (const Spot& spot : spots_) {
        const Vec q = in_axes(p - spot.center, direction(spot.turn));
        const double size = 0.07 + 0.05 * spot.size;
        const double d = spot.turn < 0.33   ? box(q, {size, 0.5 * size}, 0.02)
                         : spot.turn < 0.66 ? disc(q, 0.8 * size)
                                            : triangle(q, {-size, size}, {size, size}, {0, -size});
        pen.over(d, spot.color, 0.9);
      }
      break;
    case kWaves: {
      const Vec q = in_axes(p, axis_);
      pen.over(bands(q.y + 0.08 * sin_turns(q.x * 1.1), period_), third_, 0.6);
      break;
    }
    default: {
      const Vec q = in_axes(p, axis_);
      const double a = bands(q.x, 1.3 * period_);
      const double b = bands(q.y, 1.3 * period_);
      pen.over(std::max(std::min(a, b), -std::max(a, b)), third_, 0.6);
      break;
    }
  }
  return pen.color;
}

}  // namespace medley::data::synthetic
