// Masks for fixed centers, computed apart from this library, against the masks that the methods
// draw when they happen to draw those centers.

#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "plan/plans.h"

namespace medley {
namespace {

using Json = nlohmann::json;

constexpr double kExact = 1e-12;  // the specification's tolerance for masks
constexpr double kTau = 1e-9;     // tau is the root of an equation

const Json& cases() {
  static const Json file = Json::parse(std::ifstream(MEDLEY_TEST_DATA "/masks.json"));
  return file.at("cases");
}

/// "hmix_clipped", "gmix_code" and so on.
std::string group_of(const Json& c) {
  return c.at("method").get<std::string>() + "_" +
         c.at(c.contains("form") ? "form" : "placement").get<std::string>();
}

template <typename Enum, std::size_t N>
Enum named(const std::string& name, const std::array<Enum, N>& values) {
  for (const Enum value : values) {
    if (name_of(value) == name) return value;
  }
  throw std::runtime_error("unknown name " + name);
}

bool is_at_center(const MixEntry& entry, const Json& c) {
  if (const auto* box = std::get_if<BoxMask>(&entry.mask)) {
    const Json bounds = {box->top, box->top + box->height, box->left, box->left + box->width};
    return bounds == c.at("box");
  }
  const auto* gaussian = std::get_if<GaussianMask>(&entry.mask);
  return gaussian != nullptr && Json({gaussian->cy, gaussian->cx}) == c.at("center");
}

/// A draw of the method with the center of the case.
struct Found {
  MixPlan plan;
  MixEntry entry;
};

std::optional<Found> find(const Json& c) {
  constexpr std::int64_t kDraws = 4096;  // of at most 64 centers: each is missed with chance 1e-28
  MixPolicy policy;
  policy.method = c.at("method").get<std::string>();
  policy.method.set("lam", c.at("lam").get<double>());
  if (c.contains("ratio")) policy.method.set("ratio", c.at("ratio").get<double>());
  if (c.contains("placement")) {
    policy.method.set("placement",
                      named(c.at("placement").get<std::string>(),
                            std::array{Placement::clipped, Placement::inside, Placement::wrap}));
  }
  if (c.contains("form")) {
    policy.method.set("form", named(c.at("form").get<std::string>(),
                                    std::array{Form::code, Form::paper, Form::calibrated}));
  }
  MixPlan plan = test::draw_samples(policy, {c.at("height"), c.at("width")}, 77, kDraws);
  for (const MixEntry& entry : plan.entries) {
    if (is_at_center(entry, c)) return Found{plan, entry};
  }
  return std::nullopt;
}

std::string describe(const Json& c) {
  Json copy = c;
  copy.erase("mask");
  return copy.dump();
}

class GoldenMasks : public testing::TestWithParam<std::string> {
 protected:
  /// Calls check(case, draw) for every case of the group.
  template <typename Check>
  void for_each_case(const Check& check) {
    for (const Json& c : cases()) {
      if (group_of(c) != GetParam()) continue;
      SCOPED_TRACE(describe(c));
      const std::optional<Found> found = find(c);
      ASSERT_TRUE(found) << "the center was never drawn";
      check(c, *found);
    }
  }
};

TEST_P(GoldenMasks, HaveTheValues) {
  for_each_case([](const Json& c, const Found& found) {
    const std::vector<double> values = test::values_of(found.plan, found.entry);
    std::size_t at = 0;
    for (const Json& row : c.at("mask")) {
      for (const Json& value : row) {
        ASSERT_NEAR(values.at(at), value.get<double>(), kExact) << "pixel " << at;
        ++at;
      }
    }
    EXPECT_EQ(at, values.size());
  });
}

TEST_P(GoldenMasks, HaveTheLabelWeight) {
  for_each_case([](const Json& c, const Found& found) {
    EXPECT_NEAR(found.entry.label_weight, c.value("label_weight", c.at("mean").get<double>()),
                kExact);
    EXPECT_NEAR(mask_mean(found.plan, found.entry), c.at("mean").get<double>(), kExact);
  });
}

INSTANTIATE_TEST_SUITE_P(Spec, GoldenMasks,
                         testing::Values("cutmix_inside", "cutmix_clipped", "hmix_inside",
                                         "hmix_clipped", "gmix_paper", "gmix_code",
                                         "gmix_calibrated"),
                         [](const auto& param) { return param.param; });

TEST(GoldenMasks, AreAllThere) {
  EXPECT_EQ(cases().size(), 102u);
  for (const Json& c : cases()) EXPECT_NO_THROW((void)group_of(c));
}

TEST(GoldenMasks, HaveTheCalibratedTau) {
  for (const Json& c : cases()) {
    if (!c.contains("tau")) continue;
    SCOPED_TRACE(describe(c));
    const std::optional<Found> found = find(c);
    ASSERT_TRUE(found);
    EXPECT_NEAR(std::get<GaussianMask>(found->entry.mask).tau, c.at("tau").get<double>(), kTau);
  }
}

TEST(GoldenMasks, HaveThePeakOfTheSmallerShare) {
  for (const Json& c : cases()) {
    if (!c.contains("peak")) continue;
    SCOPED_TRACE(describe(c));
    const std::optional<Found> found = find(c);
    ASSERT_TRUE(found);
    EXPECT_EQ(std::get<GaussianMask>(found->entry.mask).peak,
              c.at("peak") == "own" ? Peak::own : Peak::partner);
  }
}

}  // namespace
}  // namespace medley
