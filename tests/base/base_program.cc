// Plans, mixes and explains every method with the base library, on one thread.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "medley/medley.h"
#include "medley/theory/coefficients.h"

extern "C" [[noreturn]] void medley_fail(const char* message) {
  std::printf("refused: %s\n", message);
  std::exit(3);
}

namespace {

using namespace medley;

constexpr ImageSize kSize{8, 12};
constexpr BatchShape kShape{6, 3, kSize.height, kSize.width};

void require(bool holds, std::string_view method, const char* what) {
  if (holds) return;
  std::printf("%.*s: %s\n", static_cast<int>(method.size()), method.data(), what);
  std::exit(1);
}

void check(std::string_view method) {
  MixPolicy policy;
  policy.method = method;
  const MixPlan plan = Sampler(policy, kSize, 1).plan({.batch = kShape.count});
  const MixPlan replayed = plan_from_json(to_json(plan, true));
  require(replayed == plan, method, "a plan is not what its JSON says");

  std::vector<float> images(static_cast<std::size_t>(kShape.values()));
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i * i % 251);
  std::vector<float> fast(images.size());
  std::vector<float> plain(images.size());
  const auto view = view_of(images, kShape, Layout::nchw);
  mix(plan, view, mutable_view_of(fast, kShape, Layout::nchw), {.backend = Backend::cpu});
  mix(plan, view, mutable_view_of(plain, kShape, Layout::nchw), {.backend = Backend::reference});
  require(fast == plain, method, "the backends differ");

  const std::vector<std::int64_t> labels = {0, 1, 2, 3, 4, 5};
  require(mix_labels(plan, labels).count == kShape.count, method, "labels are missing");
  if (theory::has_closed_form(policy, false)) {
    policy.method.set_if_used("lam", 0.5);
    const double mean = theory::coefficients(policy, kSize).means().front();
    require(std::isfinite(mean) && mean >= 0 && mean <= 1, method, "E[N] is not in [0, 1]");
  }
}

}  // namespace

int main(int argc, char** /*argv*/) {
  if (argc > 1) {
    const MixPolicy policy{.method = {"mixup", {{"alpha", -1}}}};
    const Sampler sampler(policy, kSize, 1);
    return 1;
  }
  for (const MethodInfo* method : methods()) {
    if (method->name != "custom") check(method->name);  // needs masks of the user's
  }
  std::puts("every method plans, mixes and explains");
}
