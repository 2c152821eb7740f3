#include "shim.h"

#include <exception>
#include <string_view>

#include "medley/medley.h"

namespace medley {
void set_simd_target(std::string_view name);  // which header has it depends on the revision
}

namespace {

using namespace medley;  // NOLINT(google-build-using-namespace): all of this file is glue

BatchShape shape_of(const MedleyRevisionView& v) {
  return {v.shape[0], static_cast<std::int32_t>(v.shape[1]), static_cast<std::int32_t>(v.shape[2]),
          static_cast<std::int32_t>(v.shape[3])};
}

MutableImageBatchView view_of(const MedleyRevisionView& v) {
  return {v.data,
          static_cast<DType>(v.dtype),
          static_cast<Layout>(v.layout),
          shape_of(v),
          {v.strides[0], v.strides[1], v.strides[2], v.strides[3]}};
}

}  // namespace

#define MEDLEY_EXPORT __attribute__((visibility("default")))

extern "C" {

MEDLEY_EXPORT void* medley_revision_plan(const char* json) {
  try {
    return new MixPlan(plan_from_json(json));
  } catch (const std::exception&) {
    return nullptr;
  }
}

MEDLEY_EXPORT void medley_revision_free(void* plan) { delete static_cast<MixPlan*>(plan); }

MEDLEY_EXPORT void medley_revision_target(const char* name) { set_simd_target(name); }

MEDLEY_EXPORT int medley_revision_mix(const void* plan, const MedleyRevisionJob* job) {
  try {
    MixOptions options;
    options.backend = Backend::cpu;
    options.threads = job->threads;
    if (job->channels > 0) {
      options.normalize.mean.assign(job->mean, job->mean + job->channels);
      options.normalize.stddev.assign(job->stddev, job->stddev + job->channels);
    }
    mix(*static_cast<const MixPlan*>(plan), view_of(job->in), view_of(job->out), options);
    return 1;
  } catch (const std::exception&) {
    return 0;
  }
}
}
