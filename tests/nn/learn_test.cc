#include "nn/learn.h"
#include "nn/batch_picture.h"
#include "nn/scorer.h"

#include <gtest/gtest.h>

namespace medley::nn {
namespace {

using torch::Tensor;

constexpr double kClose = 1e-6;

struct Example {
  Tensor logits = torch::randn({5, 7});
  LabelTensors labels{
      torch::tensor({1, 2, 3, 3, 0, 6, 5, 4, 2, 2}).view({5, 2}),
      torch::tensor({.25f, .75f, .5f, .5f, 1.f, 0.f, .1f, .9f, .3f, .7f}).view({5, 2})};

  /// The B×C matrix that the losses do without.
  [[nodiscard]] Tensor targets(double smoothing) const {
    const Tensor t = torch::zeros({5, 7}).scatter_add(1, labels.classes, labels.weights);
    return t * (1 - smoothing) + smoothing / 7;
  }
};

TEST(CrossEntropy, IsThatOfTheMixedTargets) {
  torch::manual_seed(1);
  const Example e;
  for (const double smoothing : {0.0, 0.1}) {
    const Tensor plain = -(e.targets(smoothing) * torch::log_softmax(e.logits, 1)).sum(1).mean();
    const Tensor ours = loss_of(e.logits, e.labels, train::Loss::cross_entropy, smoothing);
    EXPECT_NEAR(ours.item<double>(), plain.item<double>(), kClose);
  }
}

TEST(BceSoftmax, IsTheMeanOverBatchAndClasses) {
  torch::manual_seed(2);
  const Example e;
  for (const double smoothing : {0.0, 0.1}) {
    const Tensor p = torch::softmax(e.logits, 1);
    const Tensor plain = torch::binary_cross_entropy(p, e.targets(smoothing));
    const Tensor ours = loss_of(e.logits, e.labels, train::Loss::bce_softmax, smoothing);
    EXPECT_NEAR(ours.item<double>(), plain.item<double>(), kClose);
  }
}

TEST(BceSoftmax, GradientIsFiniteWhenTheNetworkIsCertain) {
  Example e;
  e.logits = torch::zeros({5, 7});
  e.logits.index_put_({torch::indexing::Slice(), 6}, 200.0);
  e.logits.set_requires_grad(true);
  const Tensor loss = loss_of(e.logits, e.labels, train::Loss::bce_softmax, 0);
  loss.backward();
  EXPECT_TRUE(torch::isfinite(loss).item<bool>());
  EXPECT_TRUE(torch::isfinite(e.logits.grad()).all().item<bool>());
}

/// The same steps with LibTorch's own optimizer.
template <typename Optimizer, typename Options>
void expect_same_steps(const train::Recipe& recipe, const Options& options) {
  torch::manual_seed(3);
  const Tensor start = torch::randn({4, 3});
  Tensor ours = start.clone().set_requires_grad(true);
  Tensor theirs = start.clone().set_requires_grad(true);
  const auto stepper = make_stepper(recipe, {{"w", ours}});
  Optimizer optimizer({theirs}, options);
  for (int i = 0; i < 5; ++i) {
    for (Tensor* w : {&ours, &theirs}) {
      if (w->grad().defined()) w->mutable_grad().reset();
      (w->pow(2).sum() + w->sum()).backward();
    }
    stepper->step(recipe.lr);
    optimizer.step();
  }
  EXPECT_TRUE(torch::allclose(ours, theirs, 1e-5, 1e-6));
}

TEST(Steppers, SgdIsLibTorchs) {
  train::Recipe recipe;
  recipe.lr = 0.05;
  recipe.weight_decay = 0.01;
  for (const bool nesterov : {false, true}) {
    recipe.nesterov = nesterov;
    expect_same_steps<torch::optim::SGD>(
        recipe, torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(0.01).nesterov(nesterov));
  }
}

TEST(Steppers, AdamWIsLibTorchs) {
  train::Recipe recipe;
  recipe.optimizer = train::Optimizer::adamw;
  recipe.lr = 0.01;
  recipe.weight_decay = 0.1;
  expect_same_steps<torch::optim::AdamW>(
      recipe, torch::optim::AdamWOptions(0.01).betas({0.9, 0.999}).weight_decay(0.1));
}

TEST(BatchPictures, StretchChannelsAndNameTheClasses) {
  torch::Tensor batch = torch::zeros({2, 1, 88, 88});
  batch[1].fill_(3);
  const MixedLabels labels{2, 2, {0, 1, 1, 1}, {0.62, 0.38, 0.5, 0.5}};
  const data::Image picture = batch_picture(batch, labels, {"coat", "bag"});
  // Two lines below the first image; the second is all of one class.
  EXPECT_EQ(picture.size, (ImageSize{88 + 2 * 14 + 16, 2 * 96 + 8}));
  const auto at = [&](std::int32_t y, std::int32_t x) {
    return picture.rgb[static_cast<std::size_t>(3 * (y * picture.size.width + x))];
  };
  EXPECT_EQ(at(50, 50), 0);
  EXPECT_EQ(at(50, 150), 255);
  const auto has_ink = [&](std::int32_t x, std::int32_t y) {
    for (std::int32_t row = y; row < y + 14; ++row) {
      for (std::int32_t column = x; column < x + 88; ++column) {
        if (at(row, column) < 200) return true;
      }
    }
    return false;
  };
  EXPECT_TRUE(has_ink(8, 98) && has_ink(8, 112) && has_ink(104, 98));
  EXPECT_FALSE(has_ink(104, 112));
}

TEST(SpreadNumbers, GrowAndMeetAllClasses) {
  std::vector<int> of_class(4);
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < 50; ++i) {
    const std::int64_t number = spread_number(i, 50, 200);
    EXPECT_GT(number, last);
    last = number;
    ++of_class[static_cast<std::size_t>(number % 4)];
  }
  EXPECT_LT(last, 200);
  for (const int count : of_class) EXPECT_GT(count, 4);
  for (std::int64_t i = 0; i < 9; ++i) EXPECT_EQ(spread_number(i, 9, 9), i);
}

TEST(Updates, AverageWhatTheEpochHasLeft) {
  train::Recipe recipe;
  recipe.accumulate = 4;
  EXPECT_EQ(batches_of_update(recipe, 3, 10), 4);
  EXPECT_EQ(batches_of_update(recipe, 7, 10), 4);
  EXPECT_EQ(batches_of_update(recipe, 8, 10), 2);
  EXPECT_EQ(batches_of_update(recipe, 0, 3), 3);
}

TEST(ClipGradients, LimitsTheCommonNorm) {
  Tensor a = torch::zeros({2}).set_requires_grad(true);
  a.mutable_grad() = torch::tensor({3.f, 4.f});
  clip_gradients({{"a", a}}, 10);
  EXPECT_NEAR(a.grad().norm().item<double>(), 5, kClose);
  clip_gradients({{"a", a}}, 1);
  EXPECT_NEAR(a.grad().norm().item<double>(), 1, kClose);
}

}  // namespace
}  // namespace medley::nn
