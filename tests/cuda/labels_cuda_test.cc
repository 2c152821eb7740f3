#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/device.h"
#include "medley/medley.h"

namespace medley {
namespace {

class CudaLabels : public test::CudaTest {
 protected:
  static constexpr std::int64_t kBatch = 37;
  static constexpr std::int64_t kClasses = 10;

  static std::vector<std::int64_t> labels() {
    std::vector<std::int64_t> values(kBatch);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<std::int64_t>(i * i % kClasses);
    }
    return values;
  }
};

TEST_F(CudaLabels, EqualThoseOfTheHostForEveryMethod) {
  for (const char* method : {"none", "mixup", "cutmix", "hmix", "gmix", "nmixup", "fmix"}) {
    const MixPlan plan = Sampler({.method = method}, {16, 16}, 5).plan({.batch = kBatch});
    const MixedLabels expected = mix_labels(plan, labels(), kClasses);
    std::vector<float> expected_rows(kBatch * kClasses);
    soft_labels(expected, kClasses, expected_rows, 0.1);

    const cuda::DevicePlan device_plan(plan, kBatch);
    ASSERT_EQ(device_plan.label_terms(), expected.terms);
    const auto device_labels = test::upload(labels());
    const std::size_t terms = expected.classes.size();
    cuda::DeviceArray<std::int64_t> classes(terms);
    cuda::DeviceArray<float> weights(terms);
    cuda::DeviceArray<float> rows(expected_rows.size());
    const std::span<const std::int64_t> given(device_labels.get(), kBatch);
    cuda::mix_labels(device_plan, given, {classes.get(), terms}, {weights.get(), terms}, nullptr);
    cuda::soft_labels(device_plan, given, kClasses, {rows.get(), expected_rows.size()}, 0.1,
                      nullptr);
    EXPECT_EQ(test::download(classes, terms), expected.classes) << method;
    const std::vector<float> expected_weights(expected.weights.begin(), expected.weights.end());
    EXPECT_EQ(test::download(weights, terms), expected_weights) << method;
    EXPECT_EQ(test::download(rows, expected_rows.size()), expected_rows) << method;
  }
}

TEST_F(CudaLabels, NeedALabelForEveryImage) {
  const MixPlan plan = Sampler({.method = "mixup"}, {4, 4}, 5).plan({.batch = 8});
  const cuda::DevicePlan device_plan(plan, 8);
  const auto device_labels = test::upload(labels());
  cuda::DeviceArray<float> rows(8 * kClasses);
  EXPECT_THROW(cuda::soft_labels(device_plan, {device_labels.get(), 7}, kClasses,
                                 {rows.get(), 8 * kClasses}, 0, nullptr),
               InvalidArgument);
}

}  // namespace
}  // namespace medley
