#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "medley/data/image.h"
#include "medley/policy.h"
#include "medley/theory/two_moons.h"
#include "medley/types.h"

namespace medley::report {

// The figures of docs/theory.md. All are deterministic.

/// One displacement map.
[[nodiscard]] data::Image map_figure(const std::string& title, const std::string& note,
                                     const std::vector<double>& map, ImageSize size);

/// Exact and approximate loss while training on each of them.
[[nodiscard]] data::Image two_moons_figure(const std::string& method,
                                           const std::vector<theory::TrainingStep>& on_exact,
                                           const std::vector<theory::TrainingStep>& on_approximate);

/// The paper's coefficient figure: displacement maps of Mixup, CutMix, Stochastic, HMix (r = 0.7)
/// and GMix on 64x64. `effective`: of the coefficients that the loss has, lam integrated over
/// Beta(1, 1), with realized labels; boxes clipped at the border as well.
[[nodiscard]] data::Image coefficient_figure(bool effective);

/// Masks and mixed pictures at lam = 0.65, HMix with r = 0.5.
[[nodiscard]] data::Image sample_figure();

/// Two-moons curves of Mixup or Bernoulli-CutMix, 100 steps.
[[nodiscard]] data::Image two_moons_figure(const std::string& method);

/// Mixup with weights beyond [0, 1]: lam from -0.5 to 1.5.
[[nodiscard]] data::Image negative_lam_figure();

/// A figure with the name of its file, without ".png".
struct NamedFigure {
  std::string name;
  data::Image image;
};

/// All of the above.
[[nodiscard]] std::vector<NamedFigure> theory_figures();

}  // namespace medley::report
