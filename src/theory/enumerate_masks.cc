#include "medley/theory/enumerate_masks.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/sampler.h"
#include "moments/mask_list.h"
#include "moments/with_these_options.h"

namespace medley::theory {

std::vector<WeightedMask> enumerate_masks(const MixPolicy& policy, ImageSize size,
                                          std::int64_t most) {
  (void)Sampler(policy, size, 0);  // checks
  const MethodBase& method = policy.method.base();
  if (!method.has_mask_list()) {
    fail_argument(fmt::format("the masks of {}{} cannot be listed", policy.method.name(),
                              with_these_options(policy.method, &MethodBase::has_mask_list)));
  }
  MaskList list(std::string(policy.method.name()), size, most);
  method.list_masks(list, policy.label);
  return std::move(list).take(policy.prob);
}

}  // namespace medley::theory
