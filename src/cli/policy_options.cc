#include "cli/policy_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "cli/input_files.h"
#include "cli/options.h"
#include "plan/enums.h"

namespace medley::cli {
namespace {

/// Options that only some methods use. All others (prob, label, mode, pairing, ...) work with every
/// method.
constexpr std::array<std::string_view, 19> kOfSomeMethods = {
    "lam",           "alpha", "beta",   "placement", "form",   "ratio",     "gamma",
    "q-mix",         "n",     "power",  "decay",     "soft",   "scale-min", "scale-max",
    "interpolation", "sigma", "length", "design",    "mask-in"};

/// The library's name of a command line option.
std::string library_name(std::string_view option) {
  if (option == "mask-in") return "masks";
  std::string name(option);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

void PolicyOptions::add_to(CLI::App& app, Pairing pairing) {
  app_ = &app;
  policy_.pairing = pairing;
  add_method(app);
  add_ratio(app);
  add_boxes(app);
  add_masks(app);
  add_pairing(app);
  add_windows(app);
}

void PolicyOptions::add_law_to(CLI::App& app) {
  app_ = &app;
  add_method(app);
  add_ratio(app);
  add_boxes(app);
  add_masks(app);
  add_label(app);
}

void PolicyOptions::add_method(CLI::App& app) {
  const char* group = "Method";
  app.add_option("--method", policy_.method, "how to mix; \"medley info\" lists the methods")
      ->type_name("NAME")
      ->default_str(policy_.method)
      ->group(group);
  add_choice(app, "--form", kForms, policy_.form,
             "hmix, gmix, fmix: the formula of the published code or of the paper; calibrated "
             "(gmix) makes the mean of the mask equal lam",
             "code; fmix: paper")
      ->group(group);
}

void PolicyOptions::add_ratio(CLI::App& app) {
  const char* group = "Mixing ratio";
  add_real(app, "--alpha", policy_.alpha, "lam is drawn from Beta(alpha, beta), alpha positive",
           "1; gmix: 0.5")
      ->group(group);
  add_real(app, "--beta", policy_.beta, "second parameter of that law, positive", "alpha")
      ->group(group);
  add_real(app, "--lam", policy_.lam,
           "a fixed share of the own image, in [0, 1]; mixup, nmixup and gaussian-field take any "
           "number",
           "drawn")
      ->group(group);
  add_real(app, "--prob", policy_.prob, "chance that a draw mixes at all, in [0, 1]")->group(group);
  add_real(app, "--q-mix", policy_.q_mix,
           "stochastic: chance of mixup rather than cutmix, in [0, 1]")
      ->group(group);
  add_integer(app, "--n", policy_.n,
              "nmixup: images per output, at least 2; with files, their number")
      ->group(group);
  add_real(app, "--power", policy_.power,
           "nmixup: zeta-mixup weights k^-power in random order, positive", "Dirichlet(alpha)")
      ->group(group);
}

void PolicyOptions::add_boxes(CLI::App& app) {
  const char* group = "Boxes";
  add_choice(app, "--placement", kPlacements, policy_.placement,
             "cutmix, stochastic, hmix, resizemix: box cut at the border, wholly inside, or "
             "continued at the opposite border")
      ->group(group);
  add_real(app, "--ratio", policy_.ratio, "hmix: share of 1-lam that the box carries, in [0, 1]")
      ->group(group);
  add_real(app, "--gamma", policy_.gamma, "hmix: draw the ratio from Beta(gamma, gamma), positive",
           "the fixed ratio")
      ->group(group);
  add_real(app, "--scale-min", policy_.scale_min,
           "resizemix: least side of the box, as a share of the image side")
      ->group(group);
  add_real(app, "--scale-max", policy_.scale_max, "resizemix: greatest side, at most 1")
      ->group(group);
  add_choice(app, "--interpolation", kInterpolations, policy_.interpolation,
             "resizemix: how the partner is shrunk")
      ->group(group);
}

void PolicyOptions::add_masks(CLI::App& app) {
  const char* group = "Masks";
  add_real(app, "--decay", policy_.decay, "fmix: spectral decay, greater is smoother, not negative")
      ->group(group);
  add_real(app, "--soft", policy_.soft,
           "fmix: share of the pixels on either side of the edge that are soft, in [0, 1]; at "
           "most lam and 1-lam")
      ->group(group);
  add_real(app, "--sigma", policy_.sigma,
           "gaussian-field: standard deviation of the mask around lam, not negative")
      ->group(group);
  add_real(app, "--length", policy_.length,
           "gaussian-field: correlation length as a share of the image side, positive")
      ->group(group);
  add_path(app, "--design", design_file_, "FILE",
           "gaussian-field: mean and second moments as JSON (medley.design/1) instead of sigma "
           "and length")
      ->group(group);
  app.add_option("--mask-in", mask_files_,
                 "custom: a grey PNG or JPEG of the images' size, white for the own image; "
                 "give it again for more masks, one is chosen per draw")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
}

void PolicyOptions::add_pairing(CLI::App& app) {
  const char* group = "Pairing and labels";
  add_choice(app, "--pairing", kPairings, policy_.pairing,
             "the partner: a random permutation of the batch, the batch reversed, the next "
             "sample, or any image of the data set")
      ->group(group);
  add_choice(app, "--mode", kModes, policy_.mode,
             "samples that share one draw of lam and mask: each its own, the batch, or two")
      ->group(group);
  app.add_flag("--no-self", policy_.no_self, "never mix a sample with itself")->group(group);
  CLI::Option* same =
      app.add_flag("--same-class", same_class_, "partners of the same class; needs --labels")
          ->group(group);
  app.add_flag("--other-class", other_class_, "partners of another class; needs --labels")
      ->excludes(same)
      ->group(group);
  add_label(app);
}

void PolicyOptions::add_label(CLI::App& app) {
  add_choice(app, "--label", kLabelRules, policy_.label,
             "weight of the own label: the mean of the mask, or lam as drawn")
      ->group("Pairing and labels");
}

void PolicyOptions::add_windows(CLI::App& app) {
  const char* group = "Crop and flip";
  add_integer(app, "--pad", policy_.augment.pad,
              "pad by this many pixels and cut a random window of the original size")
      ->group(group);
  add_real(app, "--flip", policy_.augment.flip, "chance to mirror an image, in [0, 1]")
      ->group(group);
}

MixPolicy PolicyOptions::policy() const {
  MixPolicy policy = policy_;
  static_cast<void>(get_method(policy.method));
  if (same_class_) policy.classes = ClassRule::same;
  if (other_class_) policy.classes = ClassRule::other;
  if (!design_file_.empty()) policy.design = read_design(design_file_);
  if (!mask_files_.empty()) policy.masks = read_masks(mask_files_);
  return policy;
}

std::vector<std::string> PolicyOptions::unused() const {
  const MethodInfo& method = get_method(policy_.method);
  std::vector<std::string> names;
  for (const std::string_view option : kOfSomeMethods) {
    const std::string flag = fmt::format("--{}", option);
    if (!method.uses(library_name(option)) && given(flag)) names.push_back(flag);
  }
  return names;
}

bool PolicyOptions::given(const std::string& option) const { return app_->count(option) > 0; }

}  // namespace medley::cli
