#include <algorithm>
#include <csignal>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "medley/mix.h"
#include "medley/policy.h"
#include "medley/version.h"

namespace medley::cli_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(Usage, ProgramHelpListsVerbsAndExamples) {
  const Outcome help = medley({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.err, IsEmpty());
  for (const char* text : {"mix", "plan", "info", "demo", "theory", "Examples:",
                           "medley mix cat.png", "medley plan --method", "Exit codes"}) {
    EXPECT_THAT(help.out, HasSubstr(text));
  }
}

TEST(Usage, VerbHelpHasGroupsDefaultsAndTwoExamples) {
  for (const char* verb : {"mix", "plan", "info", "demo"}) {
    const Outcome help = medley({verb, "--help"});
    EXPECT_EQ(help.code, 0) << verb;
    EXPECT_THAT(help.err, IsEmpty());
    EXPECT_THAT(help.out, HasSubstr(std::string("Usage: medley ") + verb));
    const std::size_t examples = help.out.find("Examples:\n  medley ");
    ASSERT_NE(examples, std::string::npos) << help.out;
    EXPECT_NE(help.out.find("\n  medley ", examples + 12), std::string::npos);
  }
  for (const char* verb : {"mix", "plan"}) {
    const std::string help = medley({verb, "--help"}).out;
    for (const char* text :
         {"Method:", "Options of methods:", "Pairing and labels:", "Output:", "--q-mix X",
          "(default: 0.5)", "--placement clipped|inside|wrap", "--seed N"}) {
      EXPECT_THAT(help, HasSubstr(text)) << verb;
    }
  }
}

TEST(Usage, HelpLinesFitATerminal) {
  std::vector<Arguments> calls = {{"--help"},
                                  {"info"},
                                  {"mix", "--help"},
                                  {"plan", "--help"},
                                  {"info", "--help"},
                                  {"demo", "--help"},
                                  {"theory", "--help"},
                                  {"theory", "coefficients", "--help"},
                                  {"theory", "two-moons", "--help"},
                                  {"theory", "design", "--help"},
                                  {"theory", "errata", "--help"},
                                  {"theory", "figures", "--help"}};
#ifdef MEDLEY_HAS_TRAINING
  for (const char* verb : {"train", "eval", "sweep", "results"}) calls.push_back({verb, "--help"});
  for (const char* topic : {"table", "check", "export", "curves"}) {
    calls.push_back({"results", topic, "--help"});
  }
#endif
  for (const Arguments& call : calls) {
    std::istringstream lines(medley(call).out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80) << line;
  }
}

TEST(Usage, VersionIsTheLibrarys) {
  const Outcome outcome = medley({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, std::string("medley ") + kVersion + "\n");
}

struct WrongCall {
  const char* name;
  Arguments arguments;
  const char* message;
};

void PrintTo(const WrongCall& call, std::ostream* out) { *out << call.name; }

class WrongUsage : public testing::TestWithParam<WrongCall> {};

TEST_P(WrongUsage, IsOneSentenceAndCodeTwo) {
  const Outcome outcome = medley(GetParam().arguments);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, StartsWith("error: "));
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
}

const WrongCall kWrongCalls[] = {
    {"NoVerb", {}, "a verb is needed"},
    {"UnknownVerb", {"blend"}, "there is no verb \"blend\""},
    {"UnknownOption",
     {"plan", "--gama", "1"},
     "expected here: --gama 1; did you mean \"--gamma\"?"},
    {"OptionWithTwoMore", {"plan", "--batch-size=4"}, "did you mean \"--batch\"?"},
    {"OptionWithUnderscore", {"plan", "--q_mix", "1"}, "did you mean \"--q-mix\"?"},
    {"FarOption", {"plan", "--workers", "4"}, "not expected here: --workers 4\n"},
    {"NearVerb", {"tran"}, "there is no verb \"tran\"; did you mean \"train\"?"},
    {"NearTopic", {"theory", "coefficent"}, "did you mean \"coefficients\"?"},
    {"MissingValue", {"plan", "--alpha"}, "--alpha needs a value"},
    {"OptionTwice", {"plan", "--alpha", "1", "--alpha", "2"}, "--alpha was given more than once"},
    {"AlphaZero", {"plan", "--alpha", "0"}, "alpha must be > 0, got 0"},
    {"AlphaNegative", {"plan", "--alpha", "-1"}, "alpha must be > 0, got -1"},
    {"AlphaNaN", {"plan", "--alpha", "nan"}, "expected a finite number, got 'nan'"},
    {"AlphaInfinite", {"plan", "--alpha", "inf"}, "expected a finite number, got 'inf'"},
    {"AlphaTooGreat", {"plan", "--alpha", "1e999"}, "expected a finite number"},
    {"AlphaText", {"plan", "--alpha", "one"}, "expected a finite number, got 'one'"},
    {"AlphaEmpty", {"plan", "--alpha", ""}, "--alpha"},
    {"BetaZero", {"plan", "--beta", "0"}, "beta must be > 0"},
    {"LamNaN", {"plan", "--lam", "nan"}, "expected a finite number"},
    {"LamMinusInfinity", {"plan", "--lam", "-inf"}, "expected a finite number, got '-inf'"},
    {"LamForCutMix", {"plan", "--method", "cutmix", "--lam", "1.5"}, "lam must be in [0, 1]"},
    {"ProbTwo", {"plan", "--prob", "2"}, "prob must be in [0, 1], got 2"},
    {"RatioTwo", {"plan", "--method", "hmix", "--ratio", "2"}, "ratio must be in [0, 1], got 2"},
    {"RatioNegative", {"plan", "--method", "hmix", "--ratio", "-0.1"}, "ratio must be"},
    {"GammaZero", {"plan", "--method", "hmix", "--gamma", "0"}, "gamma must be > 0"},
    {"QMixTwo", {"plan", "--method", "stochastic", "--q-mix", "2"}, "q_mix must be in [0, 1]"},
    {"NOne", {"plan", "--method", "nmixup", "--n", "1"}, "n must be"},
    {"NFraction", {"plan", "--method", "nmixup", "--n", "2.5"}, "expected a whole number"},
    {"UnknownMethod", {"plan", "--method", "cutmx"}, "did you mean \"cutmix\"?"},
    {"UnknownMethodForMix", {"mix", "a", "b", "--method", "gmx"}, "did you mean \"gmix\"?"},
    {"UnknownPlacement", {"plan", "--placement", "torus"}, "one of clipped, inside, wrap"},
    {"UnknownForm", {"plan", "--form", "official"}, "one of code, paper, calibrated"},
    {"UnknownLabel", {"plan", "--label", "soft"}, "one of realized, drawn"},
    {"UnknownMode", {"plan", "--mode", "elem"}, "one of sample, batch, pair"},
    {"UnknownPairing", {"plan", "--pairing", "x"}, "one of batch, reverse, roll, dataset"},
    {"UnknownBackend", {"mix", "a", "b", "--backend", "gpu"}, "one of auto, cpu, cuda, reference"},
    {"BatchZero", {"plan", "--batch", "0"}, "batch must be"},
    {"BatchNegative", {"plan", "--batch", "-4"}, "batch must be"},
    {"BatchHuge", {"plan", "--batch", "9223372036854775808"}, "expected a whole number"},
    {"CountZero", {"plan", "--count", "0"}, "count must be"},
    {"CountOverBatch", {"plan", "--batch", "4", "--count", "5"}, "count must be"},
    {"FirstNotAMultiple", {"plan", "--batch", "8", "--first", "4"}, "multiple of the batch size"},
    {"FirstNegative", {"plan", "--first", "-8"}, "first must be"},
    {"HeightZero", {"plan", "--height", "0"}, "height and width must be"},
    {"WidthNegative", {"plan", "--width", "-3"}, "height and width must be"},
    {"SeedNegative", {"plan", "--seed", "-1"}, "from 0 to 18446744073709551615, got '-1'"},
    {"SeedTooGreat", {"plan", "--seed", "18446744073709551616"}, "--seed: expected"},
    {"SeedText", {"plan", "--seed", "0x10"}, "--seed: expected"},
    {"DataSetWithoutSize", {"plan", "--pairing", "dataset"}, "--dataset-size N"},
    {"BothClassRules", {"plan", "--same-class", "--other-class"}, "--same-class"},
    {"SameClassWithoutLabels", {"plan", "--same-class"}, "--labels FILE"},
    {"CustomWithoutMask", {"plan", "--method", "custom"}, "mask"},
    {"MixNothing", {"mix"}, "IMAGES"},
    {"MixOneFile", {"mix", "a.png"}, "two image files or one folder are needed"},
    {"MixSize", {"mix", ".", "--out", "x", "--count", "1", "--size", "3"}, "HEIGHTxWIDTH"},
    {"DemoWithoutFolder", {"demo", "--out", ""}, "--out"},
};

std::string call_name(const testing::TestParamInfo<WrongCall>& call) { return call.param.name; }

INSTANTIATE_TEST_SUITE_P(All, WrongUsage, testing::ValuesIn(kWrongCalls), call_name);

TEST(Usage, SaysWhereHelpIs) {
  EXPECT_THAT(medley({"plan", "--gama", "1"}).err, HasSubstr("\"medley plan --help\""));
  EXPECT_THAT(medley({}).err, HasSubstr("\"medley --help\""));
}

const std::vector<Arguments> kPrinting = {{"plan", "--json"}, {"plan"},           {"info"},
                                          {"--help"},         {"plan", "--help"}, {"--version"}};

TEST(Streams, FailedWritesAreFailures) {
  using Output = Setting::Output;
  for (const Arguments& call : kPrinting) {
    for (const Output output : {Output::closed, Output::full_device}) {
      const Outcome outcome = medley(call, {.output = output});
      EXPECT_EQ(outcome.code, 1) << call.front();
      EXPECT_THAT(outcome.err, HasSubstr("error: cannot write to standard output"));
    }
  }
}

TEST(Streams, AReaderThatWentIsNoError) {
  for (const Arguments& call : kPrinting) {
    const Outcome outcome = medley(call, {.output = Setting::Output::broken_pipe});
    EXPECT_EQ(outcome.code, 128 + SIGPIPE) << call.front();
    EXPECT_THAT(outcome.err, IsEmpty());
  }
  const Outcome rejected =
      medley({"plan", "--validate", "-"}, {.input = "{}", .output = Setting::Output::broken_pipe});
  EXPECT_EQ(rejected.code, 3) << "what the command found counts for more";
}

TEST(Streams, ColorOnlyOnTerminalsWithoutNoColor) {
  const Arguments wrong = {"plan", "--alpha", "0"};
  EXPECT_THAT(medley(wrong).err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(medley(wrong, {.variables = {"NO_COLOR=1"}, .error_is_terminal = true}).err,
              Not(HasSubstr("\x1b")));
  EXPECT_THAT(medley(wrong, {.variables = {"NO_COLOR="}, .error_is_terminal = true}).err,
              HasSubstr("\x1b[1;31merror:"));
}

TEST(InfoVerb, PrintsTheObjectOfTheContract) {
  const Outcome outcome = medley({"info", "--json"});
  ASSERT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  const json info = outcome.json();
  EXPECT_EQ(info["schema"], "medley.info/2");
  EXPECT_EQ(info["version"], kVersion);
  ASSERT_EQ(info["methods"].size(), methods().size());
  for (std::size_t i = 0; i < methods().size(); ++i) {
    const json& method = info["methods"][i];
    EXPECT_EQ(method["name"], methods()[i]->name);
    EXPECT_EQ(method["summary"], methods()[i]->summary);
    EXPECT_EQ(method["source"], methods()[i]->source);
    EXPECT_EQ(method["options"].size(), methods()[i]->options.size());
    EXPECT_EQ(method["uses_lam"], methods()[i]->uses_lam());
    EXPECT_EQ(method["unbounded_lam"], methods()[i]->unbounded_lam());
  }
  const auto hmix = std::find_if(info["methods"].begin(), info["methods"].end(),
                                 [](const json& method) { return method["name"] == "hmix"; });
  EXPECT_EQ((*hmix)["options"]["ratio"]["default"], 0.5);
  EXPECT_EQ((*hmix)["options"]["ratio"]["high"], 1);
  EXPECT_EQ((*hmix)["options"]["ratio"]["overridden_by"], json({"gamma"}));
  EXPECT_EQ((*hmix)["options"]["placement"]["default"], "clipped");
  EXPECT_EQ((*hmix)["options"]["placement"]["names"], json({"clipped", "inside", "wrap"}));
  EXPECT_EQ((*hmix)["options"]["gamma"]["default"], nullptr);
  EXPECT_EQ(info["common_options"]["mode"]["default"], "sample");
  EXPECT_EQ(info["backends"].size(), available_backends().size());
  EXPECT_EQ(info["simd_targets"].size(), simd_targets().size());
  const auto backends = available_backends();
  const bool cuda = std::find(backends.begin(), backends.end(), Backend::cuda) != backends.end();
  EXPECT_EQ(info["cuda_devices"].empty(), !cuda);
  for (const json& device : info["cuda_devices"]) {
    EXPECT_TRUE(device["name"].is_string());
    EXPECT_TRUE(device["compute_capability"].is_string());
    EXPECT_GT(device["memory"], 0);
  }
  EXPECT_TRUE(info.contains("training"));
  EXPECT_TRUE(info["build"]["cuda"].is_boolean());
  for (const char* key : {"compiler", "type", "sanitizers"}) {
    EXPECT_TRUE(info["build"][key].is_string()) << key;
  }
}

TEST(InfoVerb, TableNamesEveryMethod) {
  const std::string text = medley({"info"}).out;
  for (const MethodInfo* method : methods()) {
    EXPECT_THAT(text, HasSubstr("\n  " + std::string(method->name) + " "));
  }
}

TEST(InfoVerb, KnowsEveryOptionOfTheMethods) {
  // An option of the registry that the command line does not have would be out of reach.
  const std::string help = medley({"plan", "--help"}).out;
  for (const MethodInfo* method : methods()) {
    for (const OptionSpec& option : method->options) {
      std::string flag =
          "--" + (option.name == "masks" ? std::string("mask-in") : std::string(option.name));
      for (char& c : flag) c = c == '_' ? '-' : c;
      EXPECT_THAT(help, HasSubstr("  " + flag + " ")) << method->name;
    }
  }
}

}  // namespace
}  // namespace medley::cli_test
