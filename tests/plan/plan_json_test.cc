#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "medley/medley.h"
#include "plan/plans.h"

namespace medley {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Json = nlohmann::json;

constexpr ImageSize kSize{4, 6};
constexpr std::uint64_t kSeed = 7007;

MixPlan plan_of(const MixPolicy& policy, std::int64_t batch = 8) {
  PlanRequest request{.batch = batch, .first = 2 * batch, .epoch = 5};
  if (policy.pairing == Pairing::dataset) request.dataset_size = 100;
  return Sampler(policy, kSize, kSeed).plan(request);
}

// ---- round trips ----

class RoundTrip : public testing::TestWithParam<std::string> {
 protected:
  static MixPolicy policy() { return test::policy_of(GetParam(), kSize); }
};

TEST_P(RoundTrip, WithValuesGivesThePlanBack) {
  for (const Mode mode : {Mode::sample, Mode::batch, Mode::pair}) {
    for (const Pairing pairing : {Pairing::batch, Pairing::dataset}) {
      for (const double prob : {1.0, 0.5}) {
        MixPolicy p = policy();
        p.mode = mode;
        p.pairing = pairing;
        p.prob = prob;
        const MixPlan plan = plan_of(p);
        EXPECT_EQ(plan_from_json(to_json(plan, true)), plan);
      }
    }
  }
}

TEST_P(RoundTrip, WithoutValuesGivesParametricPlansBack) {
  const MixPlan plan = plan_of(policy());
  const std::string text = to_json(plan);
  if (plan.fields.empty()) {
    EXPECT_EQ(plan_from_json(text), plan);
  } else {
    EXPECT_THAT([&] { (void)plan_from_json(text); },
                ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("entry 0"), HasSubstr("values"))));
  }
}

TEST_P(RoundTrip, KeepsWindows) {
  MixPolicy p = policy();
  p.augment = {3, 0.5};
  const MixPlan plan = plan_of(p);
  EXPECT_EQ(plan_from_json(to_json(plan, true)), plan);
}

TEST_P(RoundTrip, WritesTheSameTextAgain) {
  const std::string text = to_json(plan_of(policy()), true);
  EXPECT_EQ(to_json(plan_from_json(text), true), text);
}

INSTANTIATE_TEST_SUITE_P(Methods, RoundTrip, testing::ValuesIn(test::method_names()),
                         [](const auto& param) { return test::test_name(param.param); });

TEST(PlanJson, KeepsEveryBitOfItsNumbers) {
  MixPlan plan;
  plan.size = {1, 2};
  plan.seed = ~std::uint64_t{0};
  plan.epoch = 0xFFFFFFFFull;
  plan.first = (std::int64_t{1} << 55) + 1;
  plan.base = plan.first;
  MixEntry entry;
  entry.own.index = entry.partner.index = plan.first;
  entry.lam = 0.1 + 0.2;
  entry.label_weight = std::numeric_limits<double>::denorm_min();
  entry.mask = GaussianMask{0, 1, 1e-300, Peak::own};
  plan.entries.push_back(entry);
  entry.mask = BoxMask{0, 1, 1, 2, -0.0, 1.0 / 3};
  plan.entries.push_back(entry);
  entry.mask = FieldMask{0};
  plan.entries.push_back(entry);
  plan.fields = {std::numeric_limits<float>::max(), 1e-45f};
  EXPECT_EQ(plan_from_json(to_json(plan, true)), plan);
}

TEST(PlanJson, WritesFieldsThatLieApartOrOverlap) {
  MixPlan plan;
  plan.size = {1, 2};
  plan.fields = {9, 1, 2, 3, 9};
  plan.entries.resize(3);
  plan.entries[0].mask = FieldMask{2};
  plan.entries[1].mask = FieldMask{1};
  plan.entries[2].mask = FieldMask{2};
  const MixPlan read = plan_from_json(to_json(plan, true));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(test::values_of(read, read.entries[i]), test::values_of(plan, plan.entries[i])) << i;
  }
}

TEST(PlanJson, RefusesFieldsThatNoOneCanRead) {
  MixPlan plan;
  plan.size = {1, 2};
  plan.entries.resize(1);
  plan.entries[0].mask = FieldMask{0};
  plan.fields = {std::numeric_limits<float>::quiet_NaN(), 0.5f};
  EXPECT_THROW((void)to_json(plan, true), InvalidArgument);
}

TEST(PlanJson, SharesFieldsOfABatch) {
  MixPolicy policy = test::policy_of("fmix", kSize);
  policy.mode = Mode::batch;
  const MixPlan plan = plan_of(policy);
  EXPECT_EQ(plan.fields.size(), 24u);
  EXPECT_EQ(plan_from_json(to_json(plan, true)).fields.size(), 24u);
}

// ---- the contract ----

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

Json written(const std::string& method, const std::function<void(MixPolicy&)>& change = {},
             bool with_values = false) {
  MixPolicy policy = test::policy_of(method, kSize);
  if (change) change(policy);
  return Json::parse(to_json(plan_of(policy), with_values));
}

TEST(PlanJson, RefusesTwoMasksInOneField) {
  const MixPlan plan = test::draw_samples(MixPolicy{.method = "fmix"}, {4, 4}, 1, 2);
  nlohmann::json json = nlohmann::json::parse(to_json(plan, /*with_values=*/true));
  json["entries"][1]["mask"]["field"] = json["entries"][0]["mask"]["field"];
  EXPECT_THAT([&] { (void)plan_from_json(json.dump()); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("other values")));
  json["entries"][1]["mask"]["field"] = -1;
  EXPECT_THAT([&] { (void)plan_from_json(json.dump()); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("got -1")));
}

TEST(PlanContract, HasTheKeysOfThePlan) {
  const Json json = written("mixup");
  EXPECT_EQ(json.at("schema"), "medley.plan/2");
  EXPECT_EQ(json.at("method"), "mixup");
  EXPECT_EQ(json.at("draws"), kDrawsVersion);
  EXPECT_EQ(json.at("seed"), kSeed);
  EXPECT_EQ(json.at("epoch"), 5);
  EXPECT_EQ(json.at("first"), 16);
  EXPECT_EQ(json.at("height"), 4);
  EXPECT_EQ(json.at("width"), 6);
  EXPECT_EQ(json.at("entries").size(), 8u);
}

TEST(PlanContract, NamesOwnAndPartnerByOrdinal) {
  const Json json = written("mixup");
  std::int64_t ordinal = 16;
  for (const Json& entry : json.at("entries")) {
    EXPECT_EQ(keys_of(entry),
              (std::set<std::string>{"own", "partner", "lam", "label_weight", "mask"}));
    EXPECT_EQ(entry.at("own"), ordinal++);
    EXPECT_GE(entry.at("partner"), 16);
    EXPECT_LT(entry.at("partner"), 24);
  }
}

TEST(PlanContract, HasTheKeysOfAFlatMask) {
  const Json mask = written("mixup").at("entries")[0].at("mask");
  EXPECT_EQ(keys_of(mask), (std::set<std::string>{"kind", "value"}));
  EXPECT_EQ(mask.at("kind"), "flat");
}

TEST(PlanContract, HasTheKeysOfABox) {
  const Json mask = written("cutmix").at("entries")[0].at("mask");
  EXPECT_EQ(keys_of(mask),
            (std::set<std::string>{"kind", "top", "left", "height", "width", "inside", "outside"}));
  EXPECT_EQ(mask.at("kind"), "box");
}

TEST(PlanContract, HasTheKeysOfAGaussian) {
  for (const double lam : {0.3, 0.7}) {
    const Json mask = written("gmix", [&](MixPolicy& p) { p.method.set("lam", lam); })
                          .at("entries")[0]
                          .at("mask");
    EXPECT_EQ(keys_of(mask), (std::set<std::string>{"kind", "cy", "cx", "tau", "peak"}));
    EXPECT_EQ(mask.at("kind"), "gaussian");
    EXPECT_EQ(mask.at("peak"), lam < 0.5 ? "own" : "partner");
  }
}

TEST(PlanContract, CallsAFieldAField) {
  EXPECT_EQ(written("fmix").at("entries")[0].at("mask").at("kind"), "field");
}

TEST(PlanContract, ListsSourcesAndWeightsOfManySamples) {
  const Json entry = written("nmixup").at("entries")[3];
  EXPECT_EQ(keys_of(entry),
            (std::set<std::string>{"sources", "weights", "lam", "label_weight", "mask"}));
  EXPECT_EQ(entry.at("sources").size(), 3u);
  EXPECT_EQ(entry.at("sources")[0], 19);
  EXPECT_EQ(entry.at("weights").size(), 3u);
  EXPECT_EQ(entry.at("weights")[0], entry.at("lam"));
}

TEST(PlanContract, AddsValuesAsRowsOnlyWhenAsked) {
  for (const std::string& method : test::method_names()) {
    EXPECT_FALSE(written(method).at("entries")[0].contains("values")) << method;
    const Json values = written(method, {}, true).at("entries")[0].at("values");
    ASSERT_EQ(values.size(), 4u) << method;
    for (const Json& row : values) EXPECT_EQ(row.size(), 6u) << method;
  }
}

TEST(PlanContract, ValuesAreTheMask) {
  const MixPlan plan = plan_of(test::policy_of("gmix", kSize));
  const Json json = Json::parse(to_json(plan, true));
  const std::vector<double> values = test::values_of(plan, plan.entries[2]);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(json.at("entries")[2].at("values")[i / 6][i % 6], values[i]);
  }
}

TEST(PlanContract, IsOneLine) {
  EXPECT_EQ(to_json(plan_of({}), true).find('\n'), std::string::npos);
}

// ---- what is not a plan ----

/// A plan of every kind of mask, as JSON to break.
Json good() {
  return Json::parse(R"({"schema": "medley.plan/1", "method": "any", "seed": 1, "epoch": 0,
    "first": 0, "height": 2, "width": 3, "entries": [
    {"own": 0, "partner": 1, "lam": 1, "label_weight": 1, "mask": {"kind": "flat", "value": 1}},
    {"own": 1, "partner": 0, "lam": 0.5, "label_weight": 0.5, "window": {"dy": 1, "dx": -1, "flip": true},
     "mask": {"kind": "box", "top": 0, "left": 1, "height": 2, "width": 1, "inside": 0, "outside": 1,
              "resample": "nearest"}},
    {"own": 2, "partner": 0, "lam": 0.5, "label_weight": 0.5,
     "mask": {"kind": "gaussian", "cy": 1, "cx": 2, "tau": 0.5, "peak": "own"}},
    {"sources": [3, 1], "weights": [0.25, 0.75], "lam": 0.25, "label_weight": 0.25,
     "mask": {"kind": "flat", "value": 0.25}},
    {"own": 4, "partner": 0, "lam": 0.5, "label_weight": 0.5, "mask": {"kind": "field"},
     "values": [[0, 1, 0], [1, 0, 1]]}]})");
}

TEST(PlanFromJson, ReadsAPlanWrittenByHand) {
  const MixPlan plan = plan_from_json(good().dump());
  ASSERT_EQ(plan.entries.size(), 5u);
  EXPECT_EQ(plan.draws, kFirstDrawsVersion);  // of plans that do not say
  EXPECT_EQ(plan.entries[0].mask, Mask(FlatMask{1}));
  EXPECT_EQ(plan.entries[1].own, (Source{1, 1, -1, true}));
  EXPECT_EQ(plan.entries[1].resample, Resample::nearest);
  EXPECT_EQ(plan.entries[2].mask, Mask(GaussianMask{1, 2, 0.5, Peak::own}));
  EXPECT_EQ(plan.entries[3].term_count, 2);
  EXPECT_EQ(plan.terms[1].weight, 0.75);
  EXPECT_EQ(plan.fields, (std::vector<float>{0, 1, 0, 1, 0, 1}));
}

// As they were written with medley.plan/1.
TEST(PlanFromJson, ReadsWhatTheFirstVersionWrote) {
  std::size_t count = 0;
  const std::filesystem::path folder = std::filesystem::path(MEDLEY_TEST_DATA) / "plans_v1";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(file.path());
    const Json before = Json::parse(stream);
    const MixPlan plan = plan_from_json(before.dump());
    Json after = Json::parse(to_json(plan, before["entries"][0].contains("values")));
    after["schema"] = "medley.plan/1";
    if (!before.contains("draws")) after.erase("draws");
    EXPECT_EQ(after, before) << file.path();
    ++count;
  }
  EXPECT_EQ(count, 11u);
}

/// A plan of everything that medley.plan/2 added, as JSON.
Json blocks() {
  return Json::parse(
      R"({"schema": "medley.plan/2", "method": "any", "draws": 2, "seed": 1, "epoch": 0,
    "first": 0, "height": 4, "width": 6, "base": 0,
    "tile_maps": [{"rows": 2, "columns": 3, "tiles": [5, 1, 2, 3, 4, 0]}],
    "grids": [{"rows": 2, "columns": 2, "values": [[0.0, 1.0], [0.5, 0.25]]},
              {"rows": 1, "columns": 3, "values": [[1.0, 0.0, 1.0]]}],
    "fields": [{"field": 0, "values": [[1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
                                       [0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]}],
    "entries": [
    {"own": 0, "partner": 1, "partner_window": {"dy": 1, "dx": 0, "flip": false, "tiles": 0}, "lam": 0.5,
     "label_weight": 0.4375, "mask": {"kind": "grid", "grid": 0, "interpolation": "bilinear"}},
    {"sources": [2, 3], "weights": [0.5, 0.25], "masks": [{"kind": "field", "field": 0},
     {"kind": "grid", "grid": 1, "interpolation": "constant"}], "lam": 0.5, "label_weight": 0.5,
     "mask": {"kind": "flat", "value": 0.5}},
    {"sources": [2, 3], "weights": [0.5, 0.5], "masks": [null, {"kind": "grid", "grid": 1,
     "interpolation": "bilinear"}], "lam": 0.5, "label_weight": 0.5, "mask": {"kind": "flat", "value": 0.5}},
    {"own": 4, "partner": 0, "lam": 0.5, "label_weight": 0.5, "mask": {"kind": "open"}}]})");
}

TEST(PlanFromJson, ReadsTilesGridsMasksOfTermsAndOpenMasks) {
  const MixPlan plan = plan_from_json(blocks().dump());
  EXPECT_EQ(plan.tile_maps, (std::vector<TileMap>{{2, 3, {5, 1, 2, 3, 4, 0}}}));
  EXPECT_EQ(plan.entries[0].partner, (Source{1, 1, 0, false, 0}));
  EXPECT_EQ(plan.entries[0].mask, Mask(GridMask{24, 2, 2, GridInterpolation::bilinear}));
  EXPECT_EQ(plan.terms[0].mask, TermMask(FieldMask{0}));
  EXPECT_EQ(plan.terms[1].mask, TermMask(GridMask{28, 1, 3, GridInterpolation::constant}));
  EXPECT_EQ(plan.terms[2].mask, TermMask());
  EXPECT_EQ(plan.terms[3].mask, TermMask(GridMask{28, 1, 3, GridInterpolation::bilinear}));
  EXPECT_EQ(plan.entries[3].mask, Mask(OpenMask{}));
  EXPECT_EQ(plan.fields.size(), 24u + 4 + 3);
  EXPECT_TRUE(is_open(plan));
}

TEST(PlanToJson, WritesTilesGridsMasksOfTermsAndOpenMasks) {
  const MixPlan plan = plan_from_json(blocks().dump());
  Json written = Json::parse(to_json(plan, true));
  for (Json& entry : written["entries"]) entry.erase("values");
  EXPECT_EQ(written, blocks());
  EXPECT_EQ(plan_from_json(to_json(plan, true)), plan);
}

TEST(PlanFromJson, RefusesBlocksThatCannotBeMeant) {
  const auto refusal = [](const std::function<void(Json&)>& change) -> std::string {
    Json json = blocks();
    change(json);
    try {
      (void)plan_from_json(json.dump());
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal([](Json& j) { j["entries"][0]["mask"]["grid"] = 2; }),
              HasSubstr("entry 0 of the plan, \"mask\": \"grid\" must be in [0, 2), got 2"));
  EXPECT_THAT(refusal([](Json& j) { j["entries"][0]["mask"]["interpolation"] = "cubic"; }),
              HasSubstr("must be \"constant\" or \"bilinear\""));
  EXPECT_THAT(refusal([](Json& j) { j["entries"][1]["masks"].erase(0); }),
              HasSubstr("must be of one length"));
  EXPECT_THAT(refusal([](Json& j) {
                j["entries"][1]["masks"][0] = {{"kind", "box"}};
              }),
              HasSubstr("\"kind\" must be field or grid, got \"box\""));
  EXPECT_THAT(refusal([](Json& j) { j.erase("fields"); }), HasSubstr("needs its \"values\""));
  EXPECT_THAT(refusal([](Json& j) {
                j["grids"][1]["values"] = {{1, 0}};
              }),
              HasSubstr("element 1 of \"grids\": a row of \"values\" must have 3 numbers"));
  EXPECT_THAT(refusal([](Json& j) { j["entries"][0]["partner_window"]["tiles"] = 1; }),
              HasSubstr("a source's tiles must be in [-1, 0], got 1"));
  EXPECT_THAT(refusal([](Json& j) { j["tile_maps"][0]["rows"] = 3; }),
              HasSubstr("must cut outputs of 4x6 into tiles of one size, got 3x3"));
}

TEST(PlanFromJson, IgnoresKeysItDoesNotKnow) {
  Json json = good();
  json["comment"] = "from elsewhere";
  json["entries"][0]["comment"] = 7;
  EXPECT_EQ(plan_from_json(json.dump()), plan_from_json(good().dump()));
}

TEST(PlanFromJson, CountsSourcesFromFirstUnlessToldOtherwise) {
  Json json = good();
  json["first"] = 0;
  EXPECT_EQ(plan_from_json(json.dump()).base, 0);
  json["first"] = 8;
  EXPECT_EQ(plan_from_json(json.dump()).base, 8);
  json["base"] = 3;
  EXPECT_EQ(plan_from_json(json.dump()).base, 3);
}

struct Flaw {
  std::string name;
  std::function<void(Json&)> change;
  std::string place;
  std::string reason;

  friend std::ostream& operator<<(std::ostream& out, const Flaw& flaw) { return out << flaw.name; }
};

class BrokenJson : public testing::TestWithParam<Flaw> {};

TEST_P(BrokenJson, IsRefusedWithPlaceAndReason) {
  Json json = good();
  GetParam().change(json);
  EXPECT_THAT([&] { (void)plan_from_json(json.dump()); },
              ThrowsMessage<InvalidArgument>(
                  AllOf(HasSubstr(GetParam().place), HasSubstr(GetParam().reason))));
}

Flaw entry_flaw(std::string name, const char* pointer, const Json& value, std::string place,
                std::string reason) {
  return {std::move(name),
          [path = Json::json_pointer(std::string("/entries") + pointer), value](Json& j) {
            j[path] = value;
          },
          std::move(place), std::move(reason)};
}

Flaw missing(std::string name, const char* pointer, const char* key, std::string place) {
  return {std::move(name),
          [path = Json::json_pointer(pointer), key](Json& j) { j.at(path).erase(key); },
          std::move(place), std::string("\"") + key + "\" is missing"};
}

INSTANTIATE_TEST_SUITE_P(
    Flaws, BrokenJson,
    testing::Values(
        Flaw{"Array", [](Json& j) { j = Json::array(); }, "plan", "must be a JSON object"},
        Flaw{"Number", [](Json& j) { j = 3; }, "plan", "must be a JSON object"},
        Flaw{"OtherSchema", [](Json& j) { j["schema"] = "medley.plan/3"; }, "\"medley.plan/2\"",
             "got \"medley.plan/3\""},
        Flaw{"SchemaNumber", [](Json& j) { j["schema"] = 1; }, "\"schema\"", "must be a string"},
        missing("NoSchema", "", "schema", "the plan"),
        missing("NoMethod", "", "method", "the plan"), missing("NoSeed", "", "seed", "the plan"),
        missing("NoEpoch", "", "epoch", "the plan"), missing("NoFirst", "", "first", "the plan"),
        missing("NoHeight", "", "height", "the plan"), missing("NoWidth", "", "width", "the plan"),
        missing("NoEntries", "", "entries", "the plan"),
        missing("NoOwn", "/entries/0", "own", "entry 0"),
        missing("NoPartner", "/entries/1", "partner", "entry 1"),
        missing("NoLam", "/entries/2", "lam", "entry 2"),
        missing("NoLabelWeight", "/entries/2", "label_weight", "entry 2"),
        missing("NoMask", "/entries/2", "mask", "entry 2"),
        missing("NoKind", "/entries/0/mask", "kind", "entry 0"),
        missing("NoValue", "/entries/0/mask", "value", "entry 0"),
        missing("NoTop", "/entries/1/mask", "top", "entry 1"),
        missing("NoOutside", "/entries/1/mask", "outside", "entry 1"),
        missing("NoFlip", "/entries/1/window", "flip", "entry 1"),
        missing("NoTau", "/entries/2/mask", "tau", "entry 2"),
        missing("NoPeak", "/entries/2/mask", "peak", "entry 2"),
        missing("NoWeights", "/entries/3", "weights", "entry 3"),
        Flaw{"NoValues", [](Json& j) { j["entries"][4].erase("values"); }, "entry 4",
             "needs its \"values\""},
        Flaw{"NegativeSeed", [](Json& j) { j["seed"] = -1; }, "\"seed\"", "whole number in range"},
        Flaw{"FractionalFirst", [](Json& j) { j["first"] = 0.5; }, "\"first\"",
             "whole number in range"},
        Flaw{"HugeHeight", [](Json& j) { j["height"] = 1e12; }, "\"height\"",
             "whole number in range"},
        Flaw{"HeightBeyond32Bits", [](Json& j) { j["height"] = 4294967298; }, "\"height\"",
             "whole number in range"},
        Flaw{"NoPixels", [](Json& j) { j["width"] = 0; }, "[1, 32768]", "2x0"},
        Flaw{"TooManyPixels", [](Json& j) { j["width"] = 40000; }, "[1, 32768]", "2x40000"},
        Flaw{"EntriesObject", [](Json& j) { j["entries"] = Json::object(); }, "\"entries\"",
             "must be an array"},
        entry_flaw("EntryNumber", "/3", 5, "entry 3", "must be an object"),
        entry_flaw("OwnText", "/0/own", "0", "entry 0", "whole number in range"),
        entry_flaw("OwnNegative", "/0/own", -1, "entry 0", "got -1"),
        entry_flaw("OwnHuge", "/0/own", 18446744073709551615u, "entry 0", "whole number in range"),
        entry_flaw("LamText", "/1/lam", "half", "entry 1", "finite number"),
        // NaN has no JSON; writers make null of it.
        entry_flaw("LamNull", "/1/lam", nullptr, "entry 1", "finite number"),
        entry_flaw("MaskNumber", "/0/mask", 1, "entry 0", "must be an object"),
        entry_flaw("OtherKind", "/0/mask/kind", "blob", "entry 0", "got \"blob\""),
        entry_flaw("FlatNull", "/0/mask/value", nullptr, "entry 0", "finite number"),
        entry_flaw("BoxTopTooFar", "/1/mask/top", 3, "entry 1", "the box's top must be in [0, 2]"),
        entry_flaw("BoxNegative", "/1/mask/left", -1, "entry 1", "the box's left must be in"),
        entry_flaw("BoxTooTall", "/1/mask/height", 3, "entry 1",
                   "the box's height must be in [0, 2]"),
        entry_flaw("BoxFraction", "/1/mask/width", 0.5, "entry 1", "whole number in range"),
        entry_flaw("OtherResample", "/1/mask/resample", "cubic", "entry 1", "\"nearest\""),
        entry_flaw("ResampledGaussian", "/2/mask/resample", "nearest", "entry 2", "box mask"),
        entry_flaw("WindowFlipNumber", "/1/window/flip", 1, "entry 1", "true or false"),
        entry_flaw("WindowArray", "/1/window", Json::array(), "entry 1", "must be an object"),
        entry_flaw("CenterOutside", "/2/mask/cy", 2, "entry 2", "cy must be in [0, 1]"),
        entry_flaw("TauZero", "/2/mask/tau", 0, "entry 2", "tau must be > 0"),
        entry_flaw("OtherPeak", "/2/mask/peak", "both", "entry 2", "\"own\" or \"partner\""),
        entry_flaw("OneSource", "/3/sources", Json{3}, "entry 3", "of one length"),
        entry_flaw("WeightsTooMany", "/3/weights", Json{1, 2, 3}, "entry 3", "of one length"),
        entry_flaw("WeightText", "/3/weights/1", "x", "entry 3", "finite number"),
        entry_flaw("SourcesNumber", "/3/sources", 3, "entry 3", "must be an array"),
        entry_flaw("WindowsOfTerms", "/3/windows", Json{1, 2}, "entry 3", "must hold objects"),
        entry_flaw("RowMissing", "/4/values", Json{{0, 1, 0}}, "entry 4",
                   "must have 2 rows, got 1"),
        entry_flaw("RowTooLong", "/4/values/1", Json{0, 1, 0, 1}, "entry 4", "3 numbers"),
        entry_flaw("ValueNull", "/4/values/1/2", nullptr, "entry 4", "finite number"),
        entry_flaw("ValueTooLarge", "/4/values/1/2", 1e39, "entry 4", "single precision"),
        entry_flaw("FieldNegative", "/4/mask/field", -1, "entry 4", "\"field\""),
        entry_flaw("FieldsMissing", "/4/mask/field", 2000000000, "field 0", "missing")),
    [](const auto& param) { return param.param.name; });

TEST(PlanFromJson, RefusesTextThatIsNotJson) {
  for (const char* text : {"", "plan", "{", "{\"schema\": }", "[1, 2", "\xff\xfe", "{} x"}) {
    EXPECT_THAT([&] { (void)plan_from_json(text); },
                ThrowsMessage<InvalidArgument>(HasSubstr("the plan is not JSON: ")))
        << text;
  }
}

TEST(PlanFromJson, RefusesNanAndInfinity) {
  for (const char* word : {"NaN", "Infinity", "-Infinity", "nan"}) {
    std::string text = good().dump();
    const std::string one = "\"lam\":1,";
    text.replace(text.find(one), one.size(), std::string("\"lam\":") + word + ",");
    EXPECT_THROW((void)plan_from_json(text), InvalidArgument) << word;
  }
}

TEST(PlanFromJson, RefusesNumbersBeyondDoublePrecision) {
  std::string text = good().dump();
  const std::string one = "\"lam\":1,";
  text.replace(text.find(one), one.size(), "\"lam\":1e400,");
  EXPECT_THAT([&] { (void)plan_from_json(text); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("finite"), HasSubstr("1e400"))));
}

TEST(PlanFromJson, SurvivesDeepNesting) {
  constexpr std::size_t kDepth = 200000;
  const std::string open(kDepth, '['), close(kDepth, ']');
  EXPECT_THROW((void)plan_from_json(open), InvalidArgument);
  EXPECT_THROW((void)plan_from_json(open + close), InvalidArgument);
  std::string text = good().dump();
  const std::string one = "\"lam\":1,";
  text.replace(text.find(one), one.size(), "\"lam\":" + open + close + ",");
  EXPECT_THROW((void)plan_from_json(text), InvalidArgument);
}

TEST(PlanFromJson, QuotesOnlyTheStartOfLongWords) {
  Json json = good();
  json["schema"] = std::string(100000, 'x');
  try {
    (void)plan_from_json(json.dump());
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_LT(std::string(error.what()).size(), 300u);
  }
}

TEST(ToJson, RefusesABrokenPlan) {
  MixPlan plan = plan_of({});
  plan.entries[0].lam = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { (void)to_json(plan); },
              ThrowsMessage<InvalidArgument>(HasSubstr("lam must be finite")));
}

}  // namespace
}  // namespace medley
