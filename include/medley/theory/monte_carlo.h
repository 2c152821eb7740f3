#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "medley/policy.h"
#include "medley/theory/coefficients.h"
#include "medley/types.h"

namespace medley::theory {

struct MonteCarloOptions {
  std::int64_t draws = 100000;
  std::uint64_t seed = 0;
  bool effective = false;  ///< ~a and nu instead of a and E[N]
  std::vector<std::pair<Pixel, Pixel>> points = {};
  bool clip = false;  ///< of the masks to [0, 1], as a user of unbounded masks might
  int threads = 0;    ///< 0: all cores; the result is the same
};

/// An estimate with its standard error.
struct Estimate {
  double value = 0;
  double error = 0;
};

struct MonteCarloMoments {
  ImageSize size;
  std::int64_t draws = 0;
  std::vector<Estimate> map;     ///< D(dy, dx), height x width
  std::vector<Estimate> means;   ///< of every pixel
  std::vector<Estimate> points;  ///< second(j, k) of the points asked for
};

/// Estimates the moments of any method's masks from the plans that `Sampler` draws: every method of
/// the registry, custom masks and designs. Draws go to 32 groups, whose spread gives the standard
/// errors. Boxes and flat masks cost about as much as drawing them; fields take a Fourier transform
/// each. Throws InvalidArgument if the policy does not work or draws < 64.
[[nodiscard]] MonteCarloMoments monte_carlo(const MixPolicy& policy, ImageSize size,
                                            const MonteCarloOptions& options = {});

}  // namespace medley::theory
