#include "kernels/cuda/labels.h"

#include <fmt/format.h>

#include "core/check.h"
#include "medley/cuda.h"

namespace medley::cuda {
namespace {

LabelParams params_of(const DevicePlan& plan, std::span<const std::int64_t> labels,
                      StepIndex step) {
  const DevicePlan::Impl& impl = plan.impl();
  if (std::ssize(labels) < impl.images) {
    fail_argument(fmt::format("the plan was uploaded for {} images, but there are {} labels",
                              impl.images, labels.size()));
  }
  return {impl.labels(), step, impl.steps, impl.batch, impl.label_terms, labels.data()};
}

void check_room(const char* what, std::size_t got, std::int64_t wanted) {
  if (static_cast<std::int64_t>(got) != wanted) {
    fail_argument(fmt::format("{} must hold {} values, got {}", what, wanted, got));
  }
}

}  // namespace

void mix_labels(const DevicePlan& plan, std::span<const std::int64_t> labels,
                std::span<std::int64_t> classes, std::span<float> weights, Stream stream,
                StepIndex step) {
  const LabelParams p = params_of(plan, labels, step);
  check_room("classes", classes.size(), p.batch * p.count);
  check_room("weights", weights.size(), p.batch * p.count);
  launch_pair_labels(p, classes.data(), weights.data(), stream);
}

void soft_labels(const DevicePlan& plan, std::span<const std::int64_t> labels,
                 std::int64_t num_classes, std::span<float> rows, double smoothing, Stream stream,
                 StepIndex step) {
  const LabelParams p = params_of(plan, labels, step);
  if (num_classes < 1) fail_argument(fmt::format("num_classes must be >= 1, got {}", num_classes));
  if (!(smoothing >= 0 && smoothing <= 1)) {
    fail_argument(fmt::format("smoothing must be in [0, 1], got {}", smoothing));
  }
  check_room("soft labels", rows.size(), p.batch * num_classes);
  launch_label_rows(p, num_classes, rows.data(), smoothing, stream);
}

}  // namespace medley::cuda
