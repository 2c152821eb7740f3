#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "medley/data/image.h"

namespace medley::cli_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

class FolderMix : public CliTest {
 protected:
  FolderMix() {
    std::filesystem::create_directory(folder_ / "in");
    write_picture(path("in/a.png"), 1, 12, 16);
    write_picture(path("in/b.png"), 2, 12, 16);
    write_jpeg(path("in/c.jpeg"), 3, 40, 30);
  }

  [[nodiscard]] Outcome mix(const Arguments& arguments, Setting setting = {}) const {
    setting.folder = folder_;
    return medley(Arguments{"mix", "in"} + arguments, setting);
  }
};

TEST_F(FolderMix, WritesNumberedPicturesAndThePlan) {
  const Outcome outcome =
      mix({"--out", "out", "--count", "5", "--method", "cutmix", "--seed", "8", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("1 of 3 images resized to 12x16"));
  const json report = outcome.json();
  EXPECT_EQ(report["schema"], "medley.mix/1");
  EXPECT_EQ(report["method"], "cutmix");
  EXPECT_EQ(report["seed"], 8);
  EXPECT_EQ(report["count"], 5);
  EXPECT_EQ(report["images"], 3);
  EXPECT_EQ(report["output"], "out");
  EXPECT_EQ(report["plan"], "out/plan.json");
  EXPECT_THAT(names("out"), ElementsAre("000000.png", "000001.png", "000002.png", "000003.png",
                                        "000004.png", "plan.json"));
  EXPECT_THAT(names(), ElementsAre("in", "out"));

  const json plan = json::parse(read_file(path("out/plan.json")));
  EXPECT_EQ(plan["files"], json({"a.png", "b.png", "c.jpeg"}));
  ASSERT_EQ(plan["entries"].size(), 5);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(plan["entries"][i]["own"], i % 3);
  EXPECT_EQ(medley({"plan", "--validate", path("out/plan.json")}).code, 0);
  EXPECT_EQ(data::read_image(path("out/000004.png")).size, (ImageSize{12, 16}));
}

TEST_F(FolderMix, HiddenFilesArePassedOver) {
  write_file(path("in/._000.jpg"), "what other systems keep beside a.png");
  ASSERT_EQ(mix({"--out", "out", "--count", "1"}).code, 0);
  EXPECT_EQ(json::parse(read_file(path("out/plan.json")))["files"],
            json({"a.png", "b.png", "c.jpeg"}));
}

TEST_F(FolderMix, PicturesFollowThePlan) {
  ASSERT_EQ(mix({"--out", "out", "--count", "4", "--lam", "0.25", "--size", "9x7", "--quiet"}).code,
            0);
  const json plan = json::parse(read_file(path("out/plan.json")));
  for (std::size_t i = 0; i < 4; ++i) {
    const json& entry = plan["entries"][i];
    const auto image = [&](const json& index) {
      return data::resize(data::read_image(path(
                              "in/" + plan["files"][index.get<std::size_t>()].get<std::string>())),
                          {9, 7});
    };
    const data::Image own = image(entry["own"]);
    const data::Image partner = image(entry["partner"]);
    const data::Image out = data::read_image(path("out/00000" + std::to_string(i) + ".png"));
    ASSERT_EQ(out.size, (ImageSize{9, 7}));
    for (std::size_t k = 0; k < out.rgb.size(); ++k) {
      EXPECT_NEAR(out.rgb[k], 0.25 * own.rgb[k] + 0.75 * partner.rgb[k], 0.501);
    }
  }
}

TEST_F(FolderMix, SameSeedSamePictures) {
  const Arguments common = {"--count", "3", "--method", "nmixup", "--n", "2", "--out"};
  ASSERT_EQ(mix(common + Arguments{"one"}).code, 0);
  ASSERT_EQ(mix(common + Arguments{"two", "--threads", "1"}).code, 0);
  for (const std::string& name : names("one")) {
    EXPECT_EQ(read_file(path("one/" + name)), read_file(path("two/" + name))) << name;
  }
}

TEST_F(FolderMix, FullFoldersAreRefusedUnlessToldOtherwise) {
  std::filesystem::create_directory(folder_ / "out");
  EXPECT_EQ(mix({"--out", "out", "--count", "1"}).code, 0) << "an empty folder is fine";
  write_file(path("out/mine"), "keep");
  const std::string before = read_file(path("out/000000.png"));
  const Outcome refused = mix({"--out", "out", "--count", "1", "--seed", "5", "--lam", "0"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("folder out is not empty"));
  EXPECT_EQ(read_file(path("out/000000.png")), before);
  EXPECT_EQ(
      mix({"--out", "out", "--count", "1", "--seed", "5", "--lam", "0.1", "--overwrite"}).code, 0);
  EXPECT_NE(read_file(path("out/000000.png")), before);
  EXPECT_EQ(read_file(path("out/mine")), "keep");
}

TEST_F(FolderMix, NeverWritesAmongItsImages) {
  for (const char* out : {"in", "./in/"}) {
    const Outcome refused = mix({"--out", out, "--count", "1", "--overwrite"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--out must be another folder"));
  }
}

TEST_F(FolderMix, NoImageIsItsOwnPartnerInAnyTurn) {
  for (const char* seed : {"1", "2", "3", "4"}) {
    ASSERT_EQ(mix({"--out", "out", "--count", "7", "--pairing", "batch", "--no-self", "--seed",
                   seed, "--overwrite"})
                  .code,
              0);
    const json plan = json::parse(read_file(path("out/plan.json")));
    int alone = 0;
    for (const json& entry : plan["entries"]) alone += entry["own"] == entry["partner"] ? 1 : 0;
    EXPECT_EQ(alone, 0);
  }
}

TEST_F(FolderMix, BrokenImagesStopOrAreSkipped) {
  write_file(path("in/broken.png"), "no picture");
  const Outcome stopped = mix({"--out", "deep/out", "--count", "2"});
  EXPECT_EQ(stopped.code, 1);
  EXPECT_THAT(stopped.err, HasSubstr("broken.png"));
  EXPECT_THAT(names(), ElementsAre("in"));
  const Outcome skipped = mix({"--out", "deep/out", "--count", "2", "--skip-broken", "--json"});
  EXPECT_EQ(skipped.code, 0);
  EXPECT_THAT(skipped.err, HasSubstr("broken.png"));
  EXPECT_THAT(skipped.err, HasSubstr("1 of 4 images skipped"));
  EXPECT_EQ(skipped.json()["skipped"], 1);
}

TEST_F(FolderMix, LabelsRestrictPartners) {
  write_file(path("labels"), "7\n7\n3\n");
  ASSERT_EQ(mix({"--out", "out", "--count", "6", "--other-class", "--labels", "labels"}).code, 0);
  const json plan = json::parse(read_file(path("out/plan.json")));
  for (const json& entry : plan["entries"]) {
    EXPECT_NE(entry["own"] == 2, entry["partner"] == 2);
  }
  write_file(path("labels"), "7\n7\n");
  EXPECT_EQ(mix({"--out", "o2", "--count", "6", "--other-class", "--labels", "labels"}).code, 2);
}

TEST_F(FolderMix, NeedsItsOptionsAndImages) {
  EXPECT_EQ(mix({"--count", "2"}).code, 2);
  EXPECT_EQ(mix({"--out", "out"}).code, 2);
  EXPECT_EQ(mix({"--out", "out", "--count", "0"}).code, 2);
  EXPECT_EQ(mix({"--out", "out", "--count", "2", "-o", "x.png"}).code, 2);
  EXPECT_EQ(mix({"--out", "in/a.png", "--count", "2"}).code, 2);
  EXPECT_EQ(mix({"--out", "out", "--count", "2", "--alpha", "0"}).code, 2);
  std::filesystem::create_directory(folder_ / "empty");
  const Outcome empty =
      medley({"mix", "empty", "--out", "out", "--count", "1"}, {.folder = folder_});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("holds no PNG or JPEG files"));
  EXPECT_THAT(names(), ElementsAre("empty", "in"));
}

TEST_F(FolderMix, ShowsProgressOnTerminalsOnly) {
  const Arguments job = {"--out", "out", "--count", "3", "--overwrite", "--size", "8x8"};
  const Outcome shown = mix(job, {.error_is_terminal = true});
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.err, HasSubstr("mixing [####################] 3/3"));
  EXPECT_THAT(mix(job).err, testing::Not(HasSubstr("mixing")));
  EXPECT_THAT(mix(job + Arguments{"--quiet"}, {.error_is_terminal = true}).err, IsEmpty());
  EXPECT_THAT(mix(job, {.error_is_terminal = true, .columns = 20}).err,
              HasSubstr("mixing [######] 3/3\x1b"));
}

/// Waits until the program mixes, and signals it.
std::function<void(pid_t)> signal_when_mixing(const std::filesystem::path& folder, int signal) {
  return [=](pid_t program) {
    const auto is_staging = [](const std::filesystem::directory_entry& entry) {
      return entry.path().filename().string().starts_with(".medley-");
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (std::chrono::steady_clock::now() < deadline) {
      using Entries = std::filesystem::recursive_directory_iterator;
      if (std::any_of(Entries(folder), Entries(), is_staging)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(program, signal);
  };
}

TEST_F(FolderMix, LeavesNothingWhenItIsInterrupted) {
  const Arguments job = {"--out", "out", "--count", "100000", "--quiet"};
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Outcome stopped = mix(job, {.meanwhile = signal_when_mixing(folder_, signal)});
    EXPECT_EQ(stopped.code, 1);
    EXPECT_EQ(stopped.err, "error: interrupted; nothing was written\n");
    EXPECT_THAT(names(), ElementsAre("in"));
  }
}

TEST_F(FolderMix, IsNotHeldUpByWhatAKilledOneLeft) {
  const Arguments job = {"--out", "out", "--count", "100000", "--quiet"};
  const Outcome killed = mix(job, {.meanwhile = signal_when_mixing(folder_, SIGKILL)});
  EXPECT_EQ(killed.code, 128 + SIGKILL);
  EXPECT_EQ(names("out").size(), 1);
  const Outcome next = mix({"--out", "out", "--count", "1", "--quiet"});
  EXPECT_EQ(next.code, 0) << next.err;
  EXPECT_THAT(names("out"), ElementsAre("000000.png", "plan.json"));
}

TEST_F(FolderMix, GoesOnUnderNohup) {
  const Outcome outcome = mix({"--out", "out", "--count", "2000", "--quiet"},
                              {.before = [] { std::signal(SIGHUP, SIG_IGN); },
                               .meanwhile = signal_when_mixing(folder_, SIGHUP)});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(names("out").size(), 2001);
}

TEST_F(FolderMix, SaysThatALimitOfSizesIsReached) {
  const Outcome outcome = mix({"--out", "out", "--count", "5", "--quiet"}, {.before = [] {
                                const rlimit limit{512, 512};
                                setrlimit(RLIMIT_FSIZE, &limit);
                              }});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, MatchesRegex("error: cannot write out/00000.\\.png: File too large\n"));
  EXPECT_THAT(names(), ElementsAre("in"));
}

}  // namespace
}  // namespace medley::cli_test
