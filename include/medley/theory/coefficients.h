#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "medley/policy.h"
#include "medley/types.h"

namespace medley::theory {

struct MomentForm;

/// A pixel: row and column, from 0.
struct Pixel {
  std::int32_t row = 0;
  std::int32_t column = 0;
};

/// First and second moments of the partner's weight N = 1 - M over the pixels of a mask, in
/// closed form given lam. What the second moments mean depends on the function that made them.
class MaskMoments {
 public:
  /// Made by the functions below.
  explicit MaskMoments(std::shared_ptr<const MomentForm> form);

  /// Size of the masks.
  [[nodiscard]] ImageSize size() const noexcept;

  /// E[N_j]. Throws InvalidArgument if the pixel is outside.
  [[nodiscard]] double mean(Pixel j) const;
  /// E[N_j N_k].
  [[nodiscard]] double second(Pixel j, Pixel k) const;

  /// E[N_j] of every pixel, row-major.
  [[nodiscard]] std::vector<double> means() const;

  /// The displacement map D, height x width, row-major: D(dy, dx) is the average of
  /// second(i, i + (dy, dx)) over the pixels i for which both lie in the image. Costs O(HW) to
  /// O(HW (H + W)) for all methods but calibrated gmix, which takes O((HW)^2).
  [[nodiscard]] std::vector<double> map() const;

  /// sum over pairs of pixels of v_j second(j, k) v_k = E[(N^T v)^2], without the matrix: exact in
  /// the mask for any image v of height*width values. O(HW (H + W)) per side of a box.
  [[nodiscard]] double quadratic(std::span<const double> v) const;

  /// second(j, k) for all pairs of pixels, P x P; at most 4096 pixels.
  [[nodiscard]] std::vector<double> matrix() const;

 private:
  std::shared_ptr<const MomentForm> form_;
};

/// Whether the moments of a policy's masks, or of its effective masks, are known in closed form.
/// Those of fmix, custom masks and designs are not, nor the effective ones of resizemix without a
/// fixed lam: `monte_carlo` estimates them. Throws InvalidArgument for effective masks of more than
/// two images, of which there are none.
[[nodiscard]] bool has_closed_form(const MixPolicy& policy, bool effective);

/// The regularization coefficients a_jk(lam) = E[N_j N_k | lam] of a policy at its fixed `lam`, and
/// the pixel means E[N_j | lam]. Uses method, lam, prob, placement, form, ratio, gamma, q_mix,
/// sigma and length. Throws InvalidArgument if the policy has no lam, does not work, has no closed
/// form, or costs too much at this size.
[[nodiscard]] MaskMoments coefficients(const MixPolicy& policy, ImageSize size);

/// The effective coefficients: mean nu_j and second moments ~a_jk of the random mask N* that
/// multiplies gradients and Hessians in the expansion of the mixed loss,
///   nu_j  = E[q] + E[N_j] - 2 E[q N_j],    ~a_jk = E[N_j N_k] + E[q] - E[q N_j] - E[q N_k],
/// q being the partner's share of the label under the policy's label rule. Expectations include
/// lam ~ Beta(alpha, beta), unless the policy fixes lam: exactly for mixup, bernoulli, cutmix,
/// stochastic, gaussian-field and hmix in form code with a fixed ratio; else by quadrature, to
/// about 1e-12; where alpha + beta > 1e9 and both are above 1e6, by the normal law.
[[nodiscard]] MaskMoments effective_coefficients(const MixPolicy& policy, ImageSize size);

/// A box of given sides with N = 1 inside and 1 - `outside` outside: coefficients for sides that no
/// policy gives, such as rounded ones.
struct BoxLaw {
  std::int32_t height = 0;
  std::int32_t width = 0;
  double outside = 1;
  Placement placement = Placement::inside;
};
/// Its moments. Throws InvalidArgument if the box is larger than the image.
[[nodiscard]] MaskMoments box_coefficients(const BoxLaw& box, ImageSize size);

/// The paper's formula for gmix on an infinite plane, at displacement d: not a moment of any mask
/// on a finite grid. Form `paper` or `code` (lam >= 1/2).
[[nodiscard]] double gmix_plane(Form form, double lam, ImageSize size, double dy, double dx);

/// What to estimate, and how well.
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

/// Estimates of what MaskMoments has in closed form.
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
