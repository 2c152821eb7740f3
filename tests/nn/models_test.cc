#include "medley/nn/trainer.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "medley/error.h"
#include "nn/model.h"
#include "nn/scorer.h"
#include "nn/tensors.h"

namespace medley::nn {
namespace {

TEST(Models, HaveThePublishedNumbersOfParameters) {
  struct Count {
    const char* model;
    std::int64_t classes;
    double millions;
  };
  constexpr Count kCounts[] = {{"preactresnet18", 100, 11.22}, {"preactresnet34", 100, 21.33},
                               {"preactresnet50", 100, 23.69}, {"wrn28-2", 100, 1.48},
                               {"resnet56", 100, 0.86},        {"resnet50", 1000, 25.56}};
  for (const Count& count : kCounts) {
    const auto parameters = static_cast<double>(parameter_count(count.model, count.classes));
    EXPECT_NEAR(parameters / 1e6, count.millions, 0.005) << count.model;
  }
}

TEST(Models, HavePyTorchsNames) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : state_of(*make_model("resnet18", 1000))) names.insert(name);
  for (const char* name :
       {"conv1.weight", "bn1.running_mean", "layer1.0.conv1.weight", "layer2.0.downsample.0.weight",
        "layer2.0.downsample.1.bias", "layer4.1.bn2.num_batches_tracked", "fc.weight", "fc.bias"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(names.size(), 122);  // as torchvision's state_dict
  names.clear();
  for (const auto& [name, tensor] : state_of(*make_model("preactresnet18", 100)))
    names.insert(name);
  for (const char* name :
       {"conv1.weight", "layer1.0.bn1.weight", "layer2.0.shortcut.0.weight", "linear.bias"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Models, GiveOneLogitPerClass) {
  torch::NoGradGuard no_grad;
  for (const std::string_view name : model_names()) {
    if (name == "preactresnet34" || name == "preactresnet50" || name == "resnet50") continue;
    const auto model = make_model(std::string(name), 7, 1);
    const torch::Tensor logits = model->forward(torch::zeros({2, 1, 32, 32}));
    EXPECT_EQ(logits.sizes(), (std::vector<std::int64_t>{2, 7})) << name;
  }
}

TEST(Models, GiveTheSameLogitsWithChannelsLast) {
  torch::NoGradGuard no_grad;
  for (const std::int64_t channels : {1, 3}) {
    const auto model = make_model("resnet8", 7, channels, 1);
    model->eval();
    const torch::Tensor planar = torch::rand({2, channels, 16, 12});
    const torch::Tensor expected = model->forward(planar);
    const std::vector<std::uint8_t> weights = save_tensors(state_of(*model));
    to_channels_last(*model);
    const torch::Tensor last =
        empty_batch({2, static_cast<std::int32_t>(channels), 16, 12}).copy_(planar);
    for (const torch::Tensor& tensor : {last, model->parameters().front()}) {
      EXPECT_TRUE(tensor.is_contiguous(torch::MemoryFormat::ChannelsLast));
    }
    EXPECT_EQ(view_of(last).strides.row, 12 * channels);
    EXPECT_TRUE(torch::allclose(model->forward(last), expected, 1e-4, 1e-5));
    EXPECT_EQ(save_tensors(state_of(*model)), weights);
  }
}

TEST(Models, UnknownOnesAreRefusedWithTheNearestOrAll) {
  try {
    (void)make_model("resnet9", 10);
    FAIL();
  } catch (const InvalidArgument& problem) {
    EXPECT_STREQ(problem.what(), "there is no network \"resnet9\"; did you mean \"resnet8\"?");
  }
  try {
    check_model("vit");
    FAIL();
  } catch (const InvalidArgument& problem) {
    EXPECT_NE(std::string(problem.what()).find("networks are resnet8, resnet56, "),
              std::string::npos);
  }
}

TEST(Tensors, ComeBackIntoAnotherNetwork) {
  torch::manual_seed(1);
  const auto a = make_model("resnet8", 10);
  const auto b = make_model("resnet8", 10);
  load_tensors(save_tensors(state_of(*a)), "f", state_of(*b));
  const NamedTensors of_a = state_of(*a);
  const NamedTensors of_b = state_of(*b);
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    EXPECT_TRUE(torch::equal(of_a[i].second, of_b[i].second)) << of_a[i].first;
  }
  EXPECT_THROW(load_tensors(save_tensors(state_of(*a)), "f", state_of(*make_model("resnet8", 9))),
               IoError);
}

}  // namespace
}  // namespace medley::nn
