#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "medley/medley.h"

namespace medley::test {

/// Small float images of one channel, one after the other, nchw.
struct Images {
  ImageSize size;
  std::vector<float> values;

  [[nodiscard]] BatchShape shape() const {
    return {static_cast<std::int64_t>(values.size()) / size.pixels(), 1, size.height, size.width};
  }
};

/// A plan of one output that mixes image 0 with image 1 through `mask`.
[[nodiscard]] inline MixPlan plan_of(ImageSize size, const Mask& mask) {
  MixPlan plan;
  plan.size = size;
  plan.entries.resize(1);
  plan.entries[0].partner.index = 1;
  plan.entries[0].mask = mask;
  return plan;
}

/// Runs each case on the reference and on the cpu backend.
class EveryBackend : public testing::TestWithParam<Backend> {
 protected:
  EveryBackend() { options_.backend = GetParam(); }

  [[nodiscard]] std::vector<float> mixed(const MixPlan& plan, const Images& in) const {
    std::vector<float> out(plan.entries.size() * static_cast<std::size_t>(plan.size.pixels()));
    mix(plan, view_of(in.values, in.shape()),
        mutable_view_of(out, {std::ssize(plan.entries), 1, plan.size.height, plan.size.width}),
        options_);
    return out;
  }

  MixOptions options_;
};

/// For readable names of tests.
inline std::string backend_name(const testing::TestParamInfo<Backend>& info) {
  return std::string(name_of(info.param));
}

}  // namespace medley::test
