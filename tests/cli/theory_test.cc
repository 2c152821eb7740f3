#include <sys/resource.h>

#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"

namespace medley::cli_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const Arguments kCoefficients = {"theory", "coefficients"};

TEST(TheoryCoefficients, PrintTheObjectOfTheContract) {
  const Outcome outcome =
      medley(kCoefficients + Arguments{"--method", "hmix", "--ratio", "0.5", "--lam", "0.5",
                                       "--height", "64", "--width", "64", "--placement", "inside",
                                       "--point", "0,0,63,63", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  const json object = outcome.json();
  EXPECT_EQ(object["schema"], "medley.coefficients/1");
  EXPECT_EQ(object["placement"], "inside");
  EXPECT_EQ(object["form"], "code");
  ASSERT_EQ(object["map"].size(), 64u);
  ASSERT_EQ(object["map"][0].size(), 64u);
  EXPECT_NEAR(object["map"][0][0].get<double>(), 1.0 / 3, 1e-12);
  EXPECT_NEAR(object["map"][63][63].get<double>(), object["a"].get<double>(), 1e-12);
  EXPECT_NEAR(object["mean"].get<double>(), 0.5, 1e-12);
}

TEST(TheoryCoefficients, AreIntegratedOverLamOnRequest) {
  const json object = medley(kCoefficients + Arguments{"--method", "cutmix", "--effective",
                                                       "--alpha", "1", "--beta", "1", "--label",
                                                       "drawn", "--placement", "inside", "--json"})
                          .json();
  EXPECT_EQ(object["effective"], true);
  EXPECT_EQ(object["label"], "drawn");
  EXPECT_NEAR(object["map"][63][63].get<double>(), 0.4668597417424406, 1e-10);
}

TEST(TheoryCoefficients, SayOfWhichOptionsTheyAre) {
  const json stochastic =
      medley(kCoefficients + Arguments{"--method", "stochastic", "--q-mix", "0.2", "--prob", "0.3",
                                       "--lam", "0.5", "--json"})
          .json();
  EXPECT_EQ(stochastic["q_mix"], 0.2);
  EXPECT_EQ(stochastic["prob"], 0.3);
  EXPECT_FALSE(stochastic.contains("ratio"));
  const json resized =
      medley(kCoefficients + Arguments{"--method", "resizemix", "--height", "8", "--width", "8",
                                       "--monte-carlo", "64", "--json"})
          .json();
  EXPECT_EQ(resized["scale_max"], 0.8);
  EXPECT_FALSE(resized.contains("alpha"));
}

TEST(TheoryCoefficients, AreEstimatedForMethodsWithoutAFormula) {
  const json object =
      medley(kCoefficients + Arguments{"--method", "fmix", "--lam", "0.4", "--height", "8",
                                       "--width", "8", "--monte-carlo", "2000", "--json"})
          .json();
  EXPECT_EQ(object["source"], "monte-carlo");
  EXPECT_EQ(object["draws"], 2000);
  EXPECT_NEAR(object["map"][0][0].get<double>(), 0.6, 0.01);
  EXPECT_GE(object["map_error"][7][7].get<double>(), 0);
}

TEST(TheoryTwoMoons, NotesOptionsOfTheOtherUse) {
  const Arguments two_moons = {"theory", "two-moons"};
  EXPECT_EQ(medley(two_moons + Arguments{"--steps", "5"}).err, "note: --steps needs --train\n");
  EXPECT_THAT(medley(two_moons + Arguments{"--train", "--steps", "1", "--theta", "1,1,1"}).err,
              HasSubstr("note: --theta is not used with --train\n"));
}

TEST(TheoryTwoMoons, PrintsLossesAndTerms) {
  const Outcome outcome =
      medley({"theory", "two-moons", "--method", "bernoulli", "--theta", "1,-2,0.3", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json object = outcome.json();
  EXPECT_NEAR(object["exact"].get<double>(), 0.536043524, 1e-9);
  EXPECT_NEAR(object["l_m"].get<double>(), 0.357365558, 1e-9);
  EXPECT_NEAR(object["r1"].get<double>(), 0.045248834, 1e-9);
  EXPECT_NEAR(object["r2"].get<double>(), 0.098445721, 1e-9);
  EXPECT_EQ(object["r3"].get<double>(), 0);
  EXPECT_NEAR(object["approx"].get<double>(), 0.501060113, 1e-9);
}

class TheoryPictures : public CliTest {};

class TheoryDesign : public CliTest {};

TEST_F(TheoryDesign, IsUsableAsAMethod) {
  const Arguments design = {"theory", "design", "--height", "6", "--width", "5"};
  const Outcome made = medley(
      design + Arguments{"--preset", "smooth", "--lam", "0.6", "-o", path("d.json"), "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.json()["feasible"], true);
  EXPECT_EQ(made.json()["sampled_map"].size(), 6u);
  const Outcome plan = medley({"plan", "--method", "gaussian-field", "--design", path("d.json"),
                               "--height", "6", "--width", "5", "--json"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_NEAR(plan.json()["entries"][0]["lam"].get<double>(), 0.6, 1e-12);
}

TEST_F(TheoryDesign, SaysByHowMuchItFailsAndProjects) {
  const Arguments design = {"theory",   "design", "--height", "6",   "--width", "6",
                            "--preset", "cutmix", "--lam",    "0.5", "--json"};
  const Outcome refused = medley(design);
  EXPECT_EQ(refused.code, 3);
  EXPECT_LT(refused.json()["smallest_eigenvalue"].get<double>(), -0.1);
  const Outcome projected = medley(design + Arguments{"--project"});
  EXPECT_EQ(projected.code, 0) << projected.err;
  EXPECT_EQ(projected.json()["projected"], true);
  write_file(path("profile.json"), "[[0.3, 0.27], [0.28, 0.26]]");
  const Outcome own = medley({"theory", "design", "--profile", path("profile.json"), "--height",
                              "2", "--width", "2", "--lam", "0.5", "--json"});
  EXPECT_EQ(own.code, 0) << own.err;
}

TEST_F(TheoryDesign, TakesThePlaneWithoutABump) {
  const Outcome outcome = medley({"theory", "design", "--preset", "gmix-plane", "--lam", "1",
                                  "--height", "4", "--width", "4", "--project", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["wanted_map"][0][0], 0);
}

TEST_F(TheoryPictures, ShowTrainingAndMaps) {
  const json object = medley({"theory", "two-moons", "--method", "bernoulli", "--train", "--steps",
                              "8", "--png", path("curves.png"), "--json"})
                          .json();
  EXPECT_EQ(object["on_exact"].size(), 9u);
  EXPECT_EQ(object["on_approx"].size(), 9u);
  EXPECT_NEAR(object["minimizer_exact"]["exact"].get<double>(), 0.5237895148839715, 1e-9);
  EXPECT_EQ(medley(kCoefficients + Arguments{"--lam", "0.5", "--png", path("map.png")}).code, 0);
  EXPECT_EQ(medley(kCoefficients + Arguments{"--lam", "0.5", "--png", path("map.jpg")}).code, 2);
  for (const char* name : {"curves.png", "map.png"}) {
    EXPECT_THAT(read_file(path(name)), StartsWith("\x89PNG"));
  }
}

TEST_F(TheoryPictures, AreAllDrawn) {
  const Outcome outcome = medley({"theory", "figures", "--out", path("figures"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["schema"], "medley.figures/1");
  EXPECT_THAT(
      names("figures"),
      testing::ElementsAre("coefficients.png", "effective_coefficients.png", "negative_lam.png",
                           "samples.png", "two_moons_bernoulli.png", "two_moons_mixup.png"));
}

TEST(TheoryCoefficients, AreThoseOfThePage) {
  // docs/theory.md names them with placement and label rule.
  const std::string page = read_file(MEDLEY_THEORY_PAGE);
  const auto expect_named = [&](const Arguments& options, const std::string& named) {
    const json object =
        medley(kCoefficients + Arguments{"--method", "cutmix", "--json"} + options).json();
    const double far = object["map"][63][63].get<double>();
    EXPECT_NEAR(far, std::stod(named), 5e-4);
    EXPECT_THAT(page, HasSubstr(named));
  };
  const Arguments effective = {"--effective", "--alpha", "1"};
  expect_named(effective + Arguments{"--placement", "inside", "--label", "drawn"}, "0.467");
  expect_named(effective, "0.219");
  const json corner = medley(kCoefficients + Arguments{"--method", "cutmix", "--lam", "0.5",
                                                       "--placement", "inside", "--json"})
                          .json();
  EXPECT_NEAR(corner["mean_low"].get<double>(), 0.0025, 1e-12);
  EXPECT_THAT(page, HasSubstr("0.0025"));
  const json errata = medley({"theory", "errata", "3", "--json"}).json()["errata"][0];
  EXPECT_NEAR(errata["numbers"][0]["true"].get<double>(), 0.12, 5e-3);
  EXPECT_NEAR(errata["numbers"][1]["true"].get<double>(), 0.26, 5e-3);
  EXPECT_THAT(page, HasSubstr("26 % and 12 %"));
}

TEST(TheoryErrata, HaveNumbersByBothStatements) {
  const Outcome outcome = medley({"theory", "errata", "16", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json object = outcome.json();
  EXPECT_EQ(object["schema"], "medley.errata/1");
  ASSERT_EQ(object["errata"].size(), 1u);
  const json& erratum = object["errata"][0];
  EXPECT_EQ(erratum["number"], 16);
  ASSERT_EQ(erratum["numbers"].size(), 1u);
  const json& numbers = erratum["numbers"][0];
  EXPECT_EQ(numbers["claim"], "at-least");
  EXPECT_GT(numbers["printed"].get<double>(), numbers["true"].get<double>());
  EXPECT_LE(numbers["right"].get<double>(), numbers["true"].get<double>());
  EXPECT_THAT(medley({"theory", "errata", "11"}).out, HasSubstr("by the printed statement -9.247"));
  EXPECT_THAT(medley({"theory", "errata", "26"}).out, HasSubstr("nothing to compute"));
}

TEST(TheoryErrata, AreThoseOfThePage) {
  const std::string page = read_file(MEDLEY_ERRATA_PAGE);
  const Outcome outcome = medley({"theory", "errata", "--markdown"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(page, HasSubstr(outcome.out))
      << "put the rows of \"medley theory errata --markdown\" in";
}

struct WrongTopic {
  Arguments arguments;
  const char* message;
};

TEST(Theory, RefusesWrongInputWithOneSentence) {
  const Arguments c = kCoefficients;
  const std::vector<WrongTopic> calls = {
      {{"theory"}, "needs a topic: coefficients"},
      {c, "fix lam, or ask for the effective ones"},
      {{"theory", "design"}, "either --profile FILE or --preset NAME"},
      {{"theory", "design", "--preset", "cutmx"}, "did you mean \"cutmix\""},
      {{"theory", "design", "--preset", "mixup", "--height", "200"}, "1 to 1024 pixels"},
      {{"theory", "errata", "0"}, "the errata are numbered 1 to 33, got 0"},
      {{"theory", "errata", "34"}, "the errata are numbered 1 to 33, got 34"},
      {{"theory", "errata", "eleven"}, "eleven"},
      {{"theory", "errata", "--json", "--markdown"}, "--markdown excludes --json"},
      {{"theory", "two-moons", "--theta", "1,2"}, "three finite numbers"},
      {{"theory", "two-moons", "--theta", "1,2,nan"}, "three finite numbers"},
      {{"theory", "two-moons", "--theta", "1e308,-1e308,0", "--json"},
       "losses of theta 1e+308,-1e+308,0 are too large"},
      {{"theory", "two-moons", "--method", "cutmix"}, "mixup or bernoulli"},
      {{"theory", "two-moons", "--train", "--steps", "-1"}, "steps must be >= 0"},
      {c + Arguments{"--method", "cutmix", "--lam", "2"}, "lam must be in [0, 1]"},
      {c + Arguments{"--lam", "nan"}, "expected a finite number"},
      {c + Arguments{"--lam=", "0.5"}, "--lam= has no value"},
      {c + Arguments{"--lam", "0.5", "--height", "0"}, "height and width must be"},
      {c + Arguments{"--lam", "0.5", "--point", "1,2,3"}, "four whole numbers"},
      {c + Arguments{"--lam", "0.5", "--point", "0,0,64,0"}, "row 0 to 63"},
      {c + Arguments{"--method", "fmix", "--lam", "0.5"},
       "the moments of fmix masks have no closed form; estimate them with --monte-carlo N"},
      {c + Arguments{"--method", "resizemix", "--effective"},
       "the effective moments of resizemix masks have no closed form; estimate them with "
       "--monte-carlo N"},
      {c + Arguments{"--method", "nmixup", "--effective"}, "has no effective mask"},
      {c + Arguments{"--lam", "0.5", "--monte-carlo", "3"}, "at least 64 draws"},
      {c + Arguments{"--lam", "0.5", "--monte-carlo", "64", "--threads", "-5"}, "got -5"},
      {c + Arguments{"--method", "gmix", "--form", "calibrated", "--lam", "0.5", "--height", "3000",
                     "--width", "3000"},
       "use form paper or code"},
  };
  for (const WrongTopic& call : calls) {
    const Outcome outcome = medley(call.arguments);
    EXPECT_EQ(outcome.code, 2) << call.message;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, StartsWith("error: "));
    EXPECT_THAT(outcome.err, HasSubstr(call.message));
  }
}

TEST(TheoryCoefficients, ThatNoMemoryHoldsAreRefusedAtOnce) {
  if (MEDLEY_SANITIZED != 0) GTEST_SKIP() << "a sanitizer needs more memory than that";
  const Outcome outcome =
      medley(kCoefficients + Arguments{"--lam", "0.5", "--height", "32768", "--width", "32768"},
             {.before = [] {
               const rlimit limit{std::size_t{1} << 31, std::size_t{1} << 31};
               setrlimit(RLIMIT_AS, &limit);
             }});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the coefficients of 32768x32768 pixels need about "));
  EXPECT_THAT(outcome.err, HasSubstr(" of memory, and 2.1 GB are free"));
}

TEST(Theory, NamesTheHelpOfTheTopic) {
  EXPECT_THAT(medley(kCoefficients + Arguments{"--gama", "1"}).err,
              HasSubstr("\"medley theory coefficients --help\""));
  EXPECT_THAT(medley({"theory", "--gama"}).err, HasSubstr("\"medley theory --help\""));
}

TEST(Theory, HelpOfEveryTopicHasTwoExamplesAndFits) {
  for (const char* topic : {"coefficients", "two-moons", "design", "errata", "figures"}) {
    const Outcome help = medley({"theory", topic, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr(std::string("Usage: medley theory ") + topic));
    const std::size_t examples = help.out.find("Examples:\n  medley theory");
    ASSERT_NE(examples, std::string::npos) << help.out;
    EXPECT_NE(help.out.find("\n  medley theory", examples + 12), std::string::npos);
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = help.out.find('\n', begin)) != std::string::npos;) {
      EXPECT_LE(end - begin, 100u);
      begin = end + 1;
    }
  }
}

}  // namespace
}  // namespace medley::cli_test
