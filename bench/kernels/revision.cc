#include "kernels/revision.h"

#include <dlfcn.h>

#include "medley/error.h"

namespace medley::bench {
namespace {

MedleyRevisionView view_of(const ImageBatchView& v) {
  return {const_cast<void*>(v.data),
          static_cast<std::int32_t>(v.dtype),
          static_cast<std::int32_t>(v.layout),
          {v.shape.count, v.shape.channels, v.shape.height, v.shape.width},
          {v.strides.image, v.strides.channel, v.strides.row, v.strides.column}};
}

}  // namespace

Revision::Revision(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays loaded: it has threads
  const auto find = [&](auto& function, const char* name) {
    void* found = library == nullptr ? nullptr : dlsym(library, name);
    if (found == nullptr) throw Error(std::string("no other revision: ") + dlerror());
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
  };
  find(plan_, "medley_revision_plan");
  find(free_, "medley_revision_free");
  find(target_, "medley_revision_target");
  find(mix_, "medley_revision_mix");
}

void* Revision::plan(const MixPlan& plan) const {
  void* read = plan_(to_json(plan).c_str());
  if (read == nullptr) throw Error("the other revision cannot read this plan");
  return read;
}

void Revision::mix(const void* plan, const MedleyRevisionJob& job) const {
  if (mix_(plan, &job) == 0) throw Error("the other revision refuses this batch");
}

MedleyRevisionJob revision_job(const ImageBatchView& in, const MutableImageBatchView& out,
                               const MixOptions& options) {
  return {view_of(in),
          view_of(out),
          options.threads,
          static_cast<std::int32_t>(options.normalize.mean.size()),
          options.normalize.mean.data(),
          options.normalize.stddev.data()};
}

}  // namespace medley::bench
