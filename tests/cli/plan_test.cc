#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/program.h"
#include "medley/policy.h"

namespace medley::cli_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

// Fields are stored in single precision; their mean is taken in double.
constexpr double kMeanTolerance = 1e-6;

class PlanVerb : public CliTest {
 protected:
  [[nodiscard]] static Outcome plan(const Arguments& arguments, const Setting& setting = {}) {
    return medley(Arguments{"plan"} + arguments, setting);
  }
  [[nodiscard]] static json plan_json(const Arguments& arguments) {
    const Outcome outcome = plan(arguments + Arguments{"--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json();
  }
};

TEST_F(PlanVerb, PrintsTheObjectOfTheContract) {
  const Outcome outcome =
      plan({"--method", "hmix", "--alpha", "1", "--ratio", "0.5", "--batch", "8", "--height", "32",
            "--width", "48", "--seed", "7", "--epoch", "0", "--first", "0", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  const json plan = outcome.json();
  EXPECT_EQ(plan["schema"], "medley.plan/2");
  EXPECT_EQ(plan["method"], "hmix");
  EXPECT_EQ(plan["seed"], 7);
  EXPECT_EQ(plan["epoch"], 0);
  EXPECT_EQ(plan["first"], 0);
  EXPECT_EQ(plan["height"], 32);
  EXPECT_EQ(plan["width"], 48);
  ASSERT_EQ(plan["entries"].size(), 8);
  std::set<int> partners;
  for (int i = 0; i < 8; ++i) {
    const json& entry = plan["entries"][static_cast<std::size_t>(i)];
    EXPECT_EQ(entry["own"], i);
    partners.insert(entry["partner"].get<int>());
    EXPECT_TRUE(entry["lam"].is_number());
    EXPECT_NEAR(entry["label_weight"].get<double>(), entry["lam"].get<double>(), 1e-12);
    EXPECT_EQ(entry["mask"]["kind"], "box");
    for (const char* key : {"top", "left", "height", "width", "inside", "outside"}) {
      EXPECT_TRUE(entry["mask"][key].is_number()) << key;
    }
    EXPECT_FALSE(entry.contains("values"));
  }
  EXPECT_EQ(partners.size(), 8) << "a permutation of the batch";
  EXPECT_EQ(*partners.rbegin(), 7);
}

TEST_F(PlanVerb, DescribesMasksByKind) {
  const std::map<std::string, std::pair<std::string, std::vector<std::string>>> kinds = {
      {"mixup", {"flat", {"value"}}},
      {"cutmix", {"box", {"top", "left", "height", "width", "inside", "outside"}}},
      {"gmix", {"gaussian", {"cy", "cx", "tau", "peak"}}},
      {"fmix", {"field", {}}},
  };
  for (const auto& [method, kind] : kinds) {
    const json mask = plan_json({"--method", method, "--batch", "1"})["entries"][0]["mask"];
    EXPECT_EQ(mask["kind"], kind.first) << method;
    for (const std::string& key : kind.second) EXPECT_TRUE(mask.contains(key)) << method << key;
  }
}

TEST_F(PlanVerb, ListsSourcesAndWeightsOfNSampleMethods) {
  const json plan = plan_json({"--method", "nmixup", "--n", "4", "--batch", "5"});
  for (const json& entry : plan["entries"]) {
    EXPECT_FALSE(entry.contains("own"));
    EXPECT_FALSE(entry.contains("partner"));
    ASSERT_EQ(entry["sources"].size(), 4);
    double sum = 0;
    for (const json& weight : entry["weights"]) sum += weight.get<double>();
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST_F(PlanVerb, OwnIsTheOrdinalAndPartnersStayInTheBatch) {
  const json plan = plan_json({"--batch", "5", "--first", "10"});
  for (std::size_t i = 0; i < 5; ++i) {
    const json& entry = plan["entries"][i];
    EXPECT_EQ(entry["own"], 10 + i);
    EXPECT_GE(entry["partner"], 10);
    EXPECT_LT(entry["partner"], 15);
  }
}

TEST_F(PlanVerb, DataSetPairingDoesNotDependOnTheBatches) {
  const Arguments common = {"--method",       "gmix", "--pairing", "dataset",
                            "--dataset-size", "1000", "--seed",    "5"};
  const json whole = plan_json(common + Arguments{"--batch", "50", "--first", "100"});
  json parts = json::array();
  for (int first = 100; first < 150; first += 7) {
    const int count = std::min(7, 150 - first);
    const json part = plan_json(common + Arguments{"--batch", "7", "--first", std::to_string(first),
                                                   "--count", std::to_string(count)});
    for (const json& entry : part["entries"]) parts.push_back(entry);
  }
  EXPECT_EQ(whole["entries"], parts);
}

TEST_F(PlanVerb, CountMakesAShortLastBatch) {
  const json plan = plan_json({"--batch", "8", "--first", "16", "--count", "3"});
  ASSERT_EQ(plan["entries"].size(), 3);
  for (const json& entry : plan["entries"]) EXPECT_LT(entry["partner"], 19);
}

TEST_F(PlanVerb, SameSeedSamePlanAndOtherSeedOtherPlan) {
  const Arguments common = {"--method", "cutmix", "--batch", "16", "--json"};
  const Outcome a = plan(common + Arguments{"--seed", "18446744073709551615"});
  const Outcome b = plan(common + Arguments{"--seed", "18446744073709551615"});
  EXPECT_EQ(a.out, b.out);
  EXPECT_EQ(a.json()["seed"].get<std::uint64_t>(), 18446744073709551615U);
  EXPECT_NE(a.json()["entries"], plan(common + Arguments{"--seed", "3"}).json()["entries"]);
}

TEST_F(PlanVerb, SeedIsShownWithoutBeingGiven) {
  EXPECT_TRUE(plan_json({})["seed"].is_number());
  EXPECT_THAT(plan({}).out, HasSubstr("seed 0"));
}

TEST_F(PlanVerb, TableHasALinePerSample) {
  const Outcome outcome = plan({"--method", "hmix", "--batch", "6", "--seed", "7"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2 + 6);
  EXPECT_THAT(outcome.out, HasSubstr("box"));
}

TEST_F(PlanVerb, MasksThatNoMemoryHoldsAreRefusedAtOnce) {
  const Outcome outcome = plan({"--method", "cutmix", "--batch", "4096", "--height", "32768",
                                "--width", "32768", "--masks", "--json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("as JSON need about 114381 GB of memory, and "));
}

TEST_F(PlanVerb, ValuesAreRowsOfTheMask) {
  const json plan = plan_json({"--method", "cutmix", "--lam", "0.5", "--placement", "inside",
                               "--height", "6", "--width", "9", "--batch", "3", "--masks"});
  for (const json& entry : plan["entries"]) {
    const json& box = entry["mask"];
    ASSERT_EQ(entry["values"].size(), 6);
    for (int y = 0; y < 6; ++y) {
      const json& row = entry["values"][static_cast<std::size_t>(y)];
      ASSERT_EQ(row.size(), 9);
      for (int x = 0; x < 9; ++x) {
        const bool inside =
            y >= box["top"] && y < box["top"].get<int>() + box["height"].get<int>() &&
            x >= box["left"] && x < box["left"].get<int>() + box["width"].get<int>();
        EXPECT_EQ(row[static_cast<std::size_t>(x)], box[inside ? "inside" : "outside"]);
      }
    }
  }
}

TEST_F(PlanVerb, LamOutsideTheUnitIntervalIsForUnboundedMethods) {
  for (const char* method : {"mixup", "nmixup", "gaussian-field"}) {
    EXPECT_EQ(plan_json({"--method", method, "--lam", "1.5", "--batch", "2"})["entries"][0]["lam"],
              1.5);
  }
  EXPECT_EQ(plan_json({"--lam", "-.5"})["entries"][0]["lam"], -0.5);
  for (const char* method : {"cutmix", "hmix", "gmix", "fmix"}) {
    const Outcome outcome = plan({"--method", method, "--lam", "1.5"});
    EXPECT_EQ(outcome.code, 2) << method;
    EXPECT_THAT(outcome.err, HasSubstr("lam must be in [0, 1]"));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST_F(PlanVerb, DrawnLabelsTakeLam) {
  const Arguments common = {"--method", "cutmix", "--lam", "0.3", "--batch", "4"};
  const json drawn = plan_json(common + Arguments{"--label", "drawn", "--masks"});
  for (const json& entry : drawn["entries"]) EXPECT_EQ(entry["label_weight"], 0.3);
}

TEST_F(PlanVerb, ProbabilityZeroMixesNothing) {
  const json plan = plan_json({"--method", "hmix", "--prob", "0"});
  for (const json& entry : plan["entries"]) EXPECT_EQ(entry["label_weight"], 1);
}

TEST_F(PlanVerb, ModesShareDraws) {
  std::map<std::string, std::size_t> distinct;
  for (const char* mode : {"sample", "pair", "batch"}) {
    std::set<double> lams;
    const json plan = plan_json({"--mode", mode, "--pairing", "reverse", "--batch", "8"});
    for (const json& entry : plan["entries"]) lams.insert(entry["lam"].get<double>());
    distinct[mode] = lams.size();
  }
  EXPECT_EQ(distinct,
            (std::map<std::string, std::size_t>{{"sample", 8}, {"pair", 4}, {"batch", 1}}));
}

TEST_F(PlanVerb, LabelsRestrictPartners) {
  write_file(path("labels"), "0\n1\n2\n0\r\n1\n2\n0\n1");
  const int classes[] = {0, 1, 2, 0, 1, 2, 0, 1};
  const Arguments common = {"--batch", "8", "--labels", path("labels")};
  const auto class_of = [&](const json& index) { return classes[index.get<std::size_t>()]; };
  const json same = plan_json(common + Arguments{"--same-class"});
  for (const json& e : same["entries"]) EXPECT_EQ(class_of(e["own"]), class_of(e["partner"]));
  const json other =
      plan_json(common + Arguments{"--other-class", "--pairing", "dataset", "--dataset-size", "8"});
  for (const json& e : other["entries"]) EXPECT_NE(class_of(e["own"]), class_of(e["partner"]));
}

TEST_F(PlanVerb, NoSelfLeavesNobodyAlone) {
  for (const char* seed : {"1", "2", "3", "4"}) {
    const json plan = plan_json({"--no-self", "--batch", "3", "--seed", seed});
    for (const json& entry : plan["entries"]) EXPECT_NE(entry["own"], entry["partner"]);
  }
}

TEST_F(PlanVerb, PadAndFlipGiveWindows) {
  const json plan = plan_json({"--pad", "4", "--flip", "1", "--batch", "4"});
  for (const json& entry : plan["entries"]) {
    EXPECT_EQ(entry["window"]["flip"], true);
    EXPECT_LE(std::abs(entry["window"]["dy"].get<int>()), 4);
  }
}

TEST_F(PlanVerb, NotesOptionsTheMethodDoesNotUse) {
  const Outcome outcome = plan({"--method", "mixup", "--ratio", "0.7", "--q-mix", "0.1", "--json"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("note: --ratio is not used by method mixup\n"));
  EXPECT_THAT(outcome.err, HasSubstr("note: --q-mix is not used by method mixup\n"));
  EXPECT_EQ(outcome.json()["method"], "mixup");
  EXPECT_THAT(plan({"--method", "none", "--lam", "0.7"}).err,
              HasSubstr("note: --lam is not used by method none\n"));
  EXPECT_EQ(medley({"plan", "--method", "hmix", "--ratio", "0.1", "--gamma", "2"}).err,
            "note: --ratio is not used beside --gamma\n");
  EXPECT_EQ(medley({"plan", "--method", "nmixup", "--alpha", "2", "--power", "1"}).err,
            "note: --alpha is not used beside --power\n");
  EXPECT_EQ(medley({"plan", "--method", "nmixup", "--alpha", "2", "--lam", "0.5"}).err, "")
      << "the weights of the others depend on it";
  EXPECT_THAT(plan({"--ratio", "0.7", "--quiet"}).err, IsEmpty());
  EXPECT_THAT(plan({"--method", "stochastic", "--q-mix", "0.1", "--lam", "0.5"}).err, IsEmpty());
  EXPECT_EQ(plan({"--method", "mixup", "--ratio", "2"}).code, 2) << "unused, but still wrong";
}

TEST_F(PlanVerb, WritesTheJsonToAFile) {
  const Arguments common = {"--method", "gmix", "--seed", "3"};
  const Outcome printed = plan(common + Arguments{"--json"});
  for (int turn = 0; turn < 2; ++turn) {
    const Outcome written = plan(common + Arguments{"-o", path("plan.json")});
    EXPECT_EQ(written.code, 0);
    EXPECT_THAT(written.out, IsEmpty());
    EXPECT_THAT(written.err, HasSubstr("seed 3"));
    EXPECT_EQ(read_file(path("plan.json")), printed.out);
  }
  EXPECT_EQ(names(), std::vector<std::string>{"plan.json"});
}

TEST_F(PlanVerb, UnwritableOutputLeavesNothing) {
  const Outcome outcome = plan({"-o", path("missing/plan.json")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("there is no folder"));
  EXPECT_EQ(plan({"-o", folder_.string()}).code, 1);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(PlanVerb, ValidatesWhatItWrites) {
  for (const MethodInfo* method : methods()) {
    if (method->name == "custom") continue;
    const Outcome printed = plan({"--method", std::string(method->name), "--height", "7", "--width",
                                  "5", "--batch", "3", "--pad", "1", "--masks", "--json"});
    const Outcome checked = plan({"--validate", "-", "--json"}, {.input = printed.out});
    EXPECT_EQ(checked.code, 0) << method->name << checked.out;
    EXPECT_EQ(checked.json()["valid"], true);
    EXPECT_EQ(checked.json()["method"], method->name);
    EXPECT_EQ(checked.json()["entries"], 3);
  }
}

TEST_F(PlanVerb, ValidationSaysNoWithCodeThree) {
  json broken = plan_json({"--method", "cutmix"});
  broken["entries"][1]["mask"]["height"] = 1000;
  write_file(path("box.json"), broken.dump());
  write_file(path("text.json"), "not JSON");
  for (const char* name : {"box.json", "text.json"}) {
    const Outcome outcome = plan({"--validate", path(name)});
    EXPECT_EQ(outcome.code, 3) << name;
    EXPECT_THAT(outcome.out, HasSubstr("not valid: "));
    const Outcome as_json = plan({"--validate", path(name), "--json"});
    EXPECT_EQ(as_json.code, 3);
    EXPECT_EQ(as_json.json()["schema"], "medley.validation/1");
    EXPECT_EQ(as_json.json()["valid"], false);
    EXPECT_TRUE(as_json.json()["reason"].is_string());
  }
  EXPECT_EQ(plan({"--validate", path("missing.json")}).code, 1);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  write_file(path("huge"), "[");
  std::filesystem::resize_file(path("huge"), std::uintmax_t{5} << 30);
  for (const auto& [file, reason] :
       {std::pair<std::string, std::string>{path("pipe"), "pipe is not a regular file"},
        {"/dev/zero", "/dev/zero is not a regular file"},
        {path("."), "is a directory, expected a file"},
        {path("huge"), "huge is too large: expected at most"}}) {
    for (const Arguments& arguments :
         {Arguments{"--validate", file},
          Arguments{"--method", "mixup", "--same-class", "--labels", file}}) {
      const Outcome outcome = plan(arguments);
      EXPECT_EQ(outcome.code, 1) << file;
      EXPECT_THAT(outcome.err, HasSubstr(reason));
    }
  }
}

TEST_F(PlanVerb, ReadsDesigns) {
  // nu = 1/2 everywhere and independent pixels of variance 1/100, once as each form.
  write_file(path("dense.json"), R"({"schema": "medley.design/1", "height": 1, "width": 2,
             "mean": [0.5, 0.5], "matrix": [[0.26, 0.25], [0.25, 0.26]]})");
  write_file(path("kronecker.json"), R"({"height": 2, "width": 1, "mean": 0.5,
             "rows": [[0.3, 0.25], [0.25, 0.3]], "columns": [[1]]})");
  const json dense = plan_json({"--method", "gaussian-field", "--design", path("dense.json"),
                                "--height", "1", "--width", "2", "--masks"});
  EXPECT_EQ(dense["entries"][0]["lam"], 0.5);
  EXPECT_EQ(dense["entries"][0]["values"][0].size(), 2);
  EXPECT_EQ(plan({"--method", "gaussian-field", "--design", path("kronecker.json"), "--height", "2",
                  "--width", "1"})
                .code,
            0);
  write_file(path("broken.json"), R"({"height": 1, "width": 2, "mean": 0.5, "matrix": [[1]]})");
  const Outcome broken = plan({"--method", "gaussian-field", "--design", path("broken.json")});
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, HasSubstr("\"matrix\" must be 2 rows of 2 numbers"));
}

TEST_F(PlanVerb, ReadsMasks) {
  write_picture(path("color.png"), 1, 4, 4);
  EXPECT_EQ(plan({"--method", "custom"}).code, 2);
  const Outcome color = plan({"--method", "custom", "--mask-in", path("color.png")});
  EXPECT_EQ(color.code, 2);
  EXPECT_THAT(color.err, HasSubstr("gray"));
  EXPECT_EQ(plan({"--method", "custom", "--mask-in", path("missing.png")}).code, 1);
}

// Every method with every mode and pairing.

using Combination = std::tuple<std::string, std::string, std::string>;

class PlanVerbFor : public CliTest, public testing::WithParamInterface<Combination> {};

TEST_P(PlanVerbFor, LabelWeightIsTheMeanOfTheMask) {
  const auto& [method, mode, pairing] = GetParam();
  Arguments arguments = {
      "plan",    "--method", method,    "--mode",  mode,       "--pairing", pairing,
      "--batch", "5",        "--first", "5",       "--height", "7",         "--width",
      "10",      "--seed",   "11",      "--masks", "--quiet",  "--json",    "--dataset-size",
      "40"};
  if (method == "custom") {
    // A flat gray picture made by the program itself.
    write_picture(path("a.png"), 1, 7, 10);
    write_picture(path("b.png"), 2, 7, 10);
    ASSERT_EQ(medley({"mix", path("a.png"), path("b.png"), "--method", "gmix", "--lam", "0.4", "-o",
                      path("mixed.png"), "--mask-out", path("mask.png")})
                  .code,
              0);
    arguments = arguments + Arguments{"--mask-in", path("mask.png")};
  }
  const Outcome outcome = medley(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  const json plan = outcome.json();
  ASSERT_EQ(plan["entries"].size(), 5);
  for (const json& entry : plan["entries"]) {
    EXPECT_NEAR(entry["label_weight"].get<double>(), mean_of(entry["values"]), kMeanTolerance);
  }
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const MethodInfo* method : methods()) names.emplace_back(method->name);
  return names;
}

std::string combination_name(const testing::TestParamInfo<Combination>& combination) {
  const auto& [method, mode, pairing] = combination.param;
  std::string name = method + "_mode_" + mode + "_pairing_" + pairing;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, PlanVerbFor,
                         testing::Combine(testing::ValuesIn(method_names()),
                                          testing::Values("sample", "batch", "pair"),
                                          testing::Values("batch", "reverse", "roll", "dataset")),
                         combination_name);

}  // namespace
}  // namespace medley::cli_test
