#include "theory/errata/errata.h"

#include <array>

#include "theory/errata/numbers.h"

namespace medley::theory {
namespace {

namespace numbers = errata_numbers;

constexpr std::array<Erratum, 33> kErrata = {{
    {"Theorem 1, swap of i and j", "keeps M(λ) after relabeling, λ ~ D̃",
     "the mask is swapped too: use ν and ã of theory.md", numbers::swapped_mask},
    {"Theorem 1, “E M = λ1, so R1 is the same for all methods”", "constant pixel mean",
     "boxes cover pixels unevenly: the center always, corners hardly ever", numbers::pixel_means},
    {"“CutMix regularizes distant pairs weakly”", "falls with distance",
     "true for most distant pairs, but not monotone: pixels near the border that are both outside "
     "the box are tied by the swapped branch. How many depends on placement and label rule",
     numbers::distant_pairs},
    {"CutMix coefficient", "n − s places, h(t) − l(t)",
     "exact for boxes at any real place, seen at pixel centers; boxes of whole pixels have n − s + "
     "1 places. Averages by displacement agree, so the figure is right",
     numbers::box_places},
    {"HMix coefficient", "o·aˢ", "o²·aˢ", numbers::squared_outside},
    {"HMix outside weight", "λ/(1−(1−λ)r) beside λn²/(n²−s²)",
     "the second; the first forgets that sides are whole", numbers::outside_weight},
    {"GMix mask", "E M = λ implied",
     "the plane integral of 1 − M is 2(1−λ), and the image cuts it off", numbers::gaussian_mean},
    {"GMix integral", "a sign, no factor 1/N², sum “=” integral",
     "the plane's value only for kernels much smaller than the image", numbers::finite_grid},
    {"GMix text", "“areas other than the box”", "all pixels"},
    {"published GMix code", "the paper's formula",
     "no factor 2, changes sides at λ = ½, where a jumps, and realized labels",
     numbers::published_gmix},
    {"Theorem 2", "masks of mean 1 − λ; A − (1−λ)²11ᵀ must be positive",
     "mean λ; A − ννᵀ with the true pixel means must be: for boxes the printed condition fails",
     numbers::design_mean},
    {"Stochastic", "M = (1−λ)1 with chance q, weights q and 1−q swapped",
     "M = λ1, q·mixup + (1−q)·cutmix", numbers::stochastic_weights},
    {"CutMix text", "box of relative area λ", "1 − λ", numbers::box_area},
    {"Theorem 1, appendix", "last R3 without (h′−y), remainder in M, sums to n",
     "with it; in 1 − M; to m", numbers::hessian_residual},
    {"n-Mixup", "Hessian factor −y, mixed indices, transposed products",
     "(h′−y); see “n-Mixup” in theory.md", numbers::nmixup_factor},
    {"Theorem 3, quadratic term", "η²d/2", "η²/2", numbers::quadratic_term},
    {"Theorem 3, c_x", "‖x‖ ≤ c_x√d", "≥", numbers::input_norm},
    {"Theorem 3, ε_cut", "minimum of signed means", "of absolute values", numbers::signed_mean},
    {"Theorem 3", "minimum of two terms",
     "the first always is (Jensen): the radius does not depend on the mask",
     numbers::two_candidates, true},
    {"Theorem 3, hypotheses", "Θ and ε_i undefined",
     "all samples correct; misclassified ones break it", numbers::misclassified},
    {"Theorem 3, informal", "L̃ above the adversarial loss", "above its Taylor model only",
     numbers::true_adversary},
    {"Theorem 4a", "rank outside the root; −yθᵀx dropped; n",
     "√rank is enough: the printed bound holds, but is looser; L_m; m", numbers::root_of_rank,
     true},
    {"Theorem 4a, retentiveness", "(E A″)² ≥ ρE(vᵀx)²",
     "E A″ ≥ ρ min{1, E(vᵀx)²}; the printed step needs E A″ ≤ 1", numbers::retentiveness},
    {"Theorem 4b", "2√(γ rank(Σ^{σ,M})/m)", "trace of (Σ^{σ,M})†Σ^σ in place of the rank",
     numbers::trace_not_rank},
    {"Theorem 4b, loss", "½θᵀVar θ, mixing before σ", "coefficient 1, mixing after σ",
     numbers::variance_coefficient},
    {"main text", "f is a “softmax output”", "the logit: definition of the loss class"},
    {"appendix, optimal classifier", "ξ without the indicator of A",
     "restrict the expectation to A"},
    {"robustness table", "+1.55, +26.44, +21.47", "+1.61, +26.43, +22.47: subtraction"},
    {"claims about the tables", "hybrids “in between” everywhere, best on CIFAR-100",
     "HMix's 34.98 under FGSM exceeds both; PuzzleMix is higher in 3 of 4 comparable columns"},
    {"“approximation almost accurate”", "the expansion's loss is the mixed loss",
     "only while slopes are small: where the expansion is least on two moons, the mixed loss is "
     "much higher",
     numbers::far_minima},
    {"remainder φ(a) → 0 for light mixing", "mixing little makes the expansion exact",
     "the share that is left out does not shrink with α, as the swapped branch is never small; "
     "small slopes do it (fourth order)",
     numbers::light_mixing},
    {"“hybrid methods show intermediate coefficients”", "everywhere",
     "for most pairs with HMix and the GMix mask, not with the printed or published GMix",
     numbers::intermediate_pairs},
    {"Theorem 3, constant ν", "for all methods",
     "Mixup, Bernoulli and wrapped boxes only, not published CutMix, HMix and GMix",
     numbers::constant_mean},
}};

}  // namespace

std::span<const Erratum> errata() { return kErrata; }

}  // namespace medley::theory
