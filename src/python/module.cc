// medley._core: what Python calls. The package in python/medley is the interface for users.

#include <pybind11/pybind11.h>

#include "medley/plan.h"
#include "medley/version.h"
#include "python/buffer.h"
#include "python/counter.h"
#include "python/design.h"
#include "python/error.h"
#include "python/framework.h"
#include "python/labels.h"
#include "python/mix.h"
#include "python/pictures.h"
#include "python/plan.h"
#include "python/policy.h"
#include "python/register.h"
#include "python/sampler.h"
#include "python/step.h"
#include "python/theory.h"
#include "python/timm_boxes.h"

namespace medley::python {

PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled part of medley; use `import medley`.";
  module.attr("__version__") = kVersion;
  module.attr("draws_version") = kDrawsVersion;
#if MEDLEY_HAS_CUDA
  module.attr("has_cuda") = true;
#else
  module.attr("has_cuda") = false;
#endif
  py::register_exception_translator(&translate);
  bind_framework(module);
  bind_buffer(module);
  bind_policy(module);
  bind_register(module);
  bind_design(module);
  bind_plan(module);
  bind_timm_boxes(module);
  bind_sampler(module);
  bind_counter(module);
  bind_mix(module);
  bind_step(module);
  bind_labels(module);
  bind_pictures(module);
  py::module_ theory = module.def_submodule("theory", "What medley.theory calls.");
  bind_theory(theory);
}

}  // namespace medley::python
