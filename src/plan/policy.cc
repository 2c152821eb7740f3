#include "medley/policy.h"

#include <fmt/format.h>

#include "core/check.h"
#include "core/enums.h"
#include "plan/check_policy.h"

namespace medley {
namespace {

/// A class rule as two options that exclude each other.
OptionSpec class_option(ClassRule rule, std::string name, std::string help) {
  OptionSpec spec;
  spec.name = std::move(name);
  spec.type = OptionType::flag;
  spec.help = std::move(help);
  spec.default_value = false;
  spec.get = [rule](const void* policy) {
    return OptionValue(static_cast<const MixPolicy*>(policy)->classes == rule);
  };
  spec.set = [rule](void* object, const OptionValue& value) {
    ClassRule& classes = static_cast<MixPolicy*>(object)->classes;
    if (!value.as<bool>()) {
      if (classes == rule) classes = ClassRule::any;
      return;
    }
    if (classes != ClassRule::any && classes != rule) {
      fail_argument("same_class and other_class exclude each other");
    }
    classes = rule;
  };
  return spec;
}

std::vector<OptionSpec> make_options() {
  std::vector<OptionSpec> options =
      OptionTable<MixPolicy>()
          .add(&MixPolicy::prob, "prob", "probability that a draw mixes at all",
               {.range = between(0, 1)})
          .add(&MixPolicy::label, "label",
               "weight of the own label: the mean of the mask, or lam as drawn")
          .add(&MixPolicy::mode, "mode",
               "samples that share one draw of lam and mask: each its own, the batch, or two")
          .add(&MixPolicy::pairing, "pairing",
               "the partner: a random permutation of the batch, the batch reversed, the next "
               "sample, or any image of the data set")
          .add(&MixPolicy::no_self, "no_self", "never mix a sample with itself");
  options.push_back(class_option(ClassRule::same, "same_class", "partners of the same class"));
  options.push_back(class_option(ClassRule::other, "other_class", "partners of another class"));
  std::vector<OptionSpec> windows =
      OptionTable<MixPolicy>()
          .add_through([](auto& policy) -> auto& { return policy.augment.pad; }, "pad",
                       "pad by this many pixels and cut a random window of the original size",
                       {.range = between(0, kMaxSide)})
          .add_through([](auto& policy) -> auto& { return policy.augment.flip; }, "flip",
                       "probability of mirroring an image", {.range = between(0, 1)});
  for (OptionSpec& option : windows) options.push_back(std::move(option));
  return options;
}

}  // namespace

const std::vector<OptionSpec>& policy_options() {
  static const std::vector<OptionSpec> options = make_options();
  return options;
}

void check_policy(const MixPolicy& policy) {
  // An enumerator that no class option stands for is none of them.
  require_enumerator("classes", kClassRules, policy.classes);
  check_options(policy_options(), &policy);
  if (policy.classes != ClassRule::any && policy.pairing != Pairing::batch &&
      policy.pairing != Pairing::dataset) {
    fail_argument(fmt::format("{}_class needs pairing batch or dataset, got {}",
                              name_of(policy.classes), name_of(policy.pairing)));
  }
}

}  // namespace medley
