#pragma once

// Everything that mixes: policies, plans, kernels and labels.

#include "medley/error.h"            // IWYU pragma: export
#include "medley/gaussian_design.h"  // IWYU pragma: export
#include "medley/labels.h"           // IWYU pragma: export
#include "medley/method.h"           // IWYU pragma: export
#include "medley/mix.h"              // IWYU pragma: export
#include "medley/options.h"          // IWYU pragma: export
#include "medley/plan.h"             // IWYU pragma: export
#include "medley/plan_edit.h"        // IWYU pragma: export
#include "medley/policy.h"           // IWYU pragma: export
#include "medley/random.h"           // IWYU pragma: export
#include "medley/sampler.h"          // IWYU pragma: export
#include "medley/types.h"            // IWYU pragma: export
#include "medley/version.h"          // IWYU pragma: export
