#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/program.h"
#include "medley/data/image.h"
#include "medley/method.h"
#include "train/run_folder.h"

namespace medley::cli_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

const Arguments kSmall = {"--data",   "synthetic:train=40,test=20,size=16,classes=4",
                          "--model",  "resnet8",
                          "--epochs", "2",
                          "--batch",  "10",
                          "--seed",   "1"};

class Train : public CliTest {
 protected:
  [[nodiscard]] Outcome train(const std::string& out, const Arguments& more = {}) const {
    return medley(Arguments{"train"} + kSmall + Arguments{"--out", path(out)} + more);
  }
};

TEST_F(Train, LeavesEverythingInTheFolderOfTheRun) {
  const Outcome outcome = train("run", {"--method", "hmix", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(names("run"), IsSupersetOf({"recipe.json", "metrics.jsonl", "batch.png",
                                          "weights.safetensors", "result.json"}));
  // The lines that it printed are those of the file.
  EXPECT_EQ(outcome.out, read_file(path("run/metrics.jsonl")));
  const auto line = nlohmann::json::parse(outcome.out.substr(0, outcome.out.find('\n')));
  for (const char* field : {"epoch", "lr", "train_loss", "test_top1", "test_top5",
                            "clean_train_top1", "seconds", "images_per_s"}) {
    EXPECT_TRUE(line.contains(field)) << field;
  }
  EXPECT_EQ(line["epoch"], 1);
}

TEST_F(Train, LeavesAResultThatCanBeTabulated) {
  ASSERT_EQ(train("run", {"--method", "hmix"}).code, 0);
  const auto result = nlohmann::json::parse(read_file(path("run/result.json")));
  EXPECT_EQ(result["precision"], "f32");
  EXPECT_EQ(result["schema"], "medley.result/1");
  EXPECT_EQ(result["method"], "hmix");
  EXPECT_EQ(result["seed"], 1);
  EXPECT_EQ(result["data"]["name"], "synthetic");
  EXPECT_EQ(result["data"]["test"], 20);
  EXPECT_TRUE(result["gpu"].is_null());
  EXPECT_TRUE(result["versions"]["cuda"].is_null());
  EXPECT_EQ(result["metrics"].size(), 2);
  const Outcome kept = medley({"results", "export", path("run"), "--out", path("kept")});
  EXPECT_EQ(kept.code, 0) << kept.err;
  const Outcome table = medley({"results", "table", path("kept")});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, StartsWith("resnet8 on synthetic\n"));
}

TEST_F(Train, RefusesAFolderThatHoldsARun) {
  ASSERT_EQ(train("run").code, 0);
  const Outcome again = train("run");
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, AllOf(HasSubstr("--resume"), HasSubstr("--overwrite")));
  EXPECT_EQ(train("run", {"--overwrite"}).code, 0);
  const Outcome longer = train("run", {"--resume"});
  EXPECT_EQ(longer.code, 0) << longer.err;
  const Outcome changed = train("run", {"--resume", "--lr", "0.01"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, HasSubstr("another recipe"));
}

TEST_F(Train, LeavesARunThatItCannotReplace) {
  ASSERT_EQ(train("run").code, 0);
  const std::vector<std::string> before = names("run");
  const Outcome unknown = medley(
      {"train", "--data", kSmall[1], "--model", "resnet9", "--out", path("run"), "--overwrite"});
  EXPECT_THAT(unknown.err, HasSubstr("no network"));
  EXPECT_EQ(train("run", {"--overwrite", "--weights", path("none")}).code, 1);
  EXPECT_EQ(train("run", {"--overwrite", "--mean", "0.5,0.5", "--stddev", "0.5,0.5"}).code, 2);
  EXPECT_EQ(names("run"), before);
}

TEST_F(Train, StartsAnewWhereNothingIsToResume) {
  const Outcome outcome = train("run", {"--resume"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("nothing to resume"));
  // Without a word of what to train, the folder has the wrong name.
  const Outcome misspelled = medley({"train", "--out", path("rum"), "--resume", "--quiet"});
  EXPECT_EQ(misspelled.code, 2);
  EXPECT_THAT(misspelled.err, HasSubstr("rum holds no run to go on with"));
  EXPECT_THAT(names(), Not(Contains("rum")));
}

/// Takes away all but the first checkpoint, as if the run had been killed in its second epoch.
void undo(const fs::path& run) {
  for (const char* end : {"result.json", "weights.safetensors"}) fs::remove(run / end);
  std::vector<fs::path> checkpoints;
  for (const auto& entry : fs::directory_iterator(run)) {
    if (entry.path().extension() == ".medley" && entry.path().stem() != "events.out.tfevents.0") {
      checkpoints.push_back(entry.path());
    }
  }
  std::sort(checkpoints.begin(), checkpoints.end());
  for (std::size_t i = 1; i < checkpoints.size(); ++i) fs::remove(checkpoints[i]);
}

TEST_F(Train, GoesOnWithWhatTheFolderSays) {
  ASSERT_EQ(
      train("run", {"--method", "hmix", "--lr", "0.05", "--threads", "1", "--train-images", "36"})
          .code,
      0);
  const std::string weights = read_file(path("run/weights.safetensors"));
  const std::string recipe = read_file(path("run/recipe.json"));
  const auto record = nlohmann::json::parse(read_file(path("run/run.json")));
  EXPECT_EQ(record["seed"], 1);
  EXPECT_EQ(record["data"]["source"], kSmall[1]);
  EXPECT_EQ(record["data"]["train_images"], 36);
  EXPECT_EQ(record["command"][1], "train");
  EXPECT_FALSE(record["version"].get<std::string>().empty());
  undo(path("run"));
  const fs::path elsewhere = folder_ / "elsewhere";
  fs::create_directory(elsewhere);
  const Outcome bare = medley({"train", "--out", path("run"), "--resume"}, {.folder = elsewhere});
  ASSERT_EQ(bare.code, 0) << bare.err;
  EXPECT_THAT(bare.err, AllOf(HasSubstr("(epoch 2, step 0)"), HasSubstr("(seed 1)")));
  EXPECT_EQ(read_file(path("run/weights.safetensors")), weights);
  EXPECT_EQ(read_file(path("run/recipe.json")), recipe);
  EXPECT_THAT(medley({"train", "--out", path("run"), "--resume"}).err, HasSubstr("is finished"));
  // What differs is named with both values.
  undo(path("run"));
  const auto refused = [&](const Arguments& more, const char* why) {
    const Outcome outcome = medley(Arguments{"train", "--out", path("run"), "--resume"} + more);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(why));
  };
  refused({"--lr", "0.01"}, "(lr 0.05), this run has lr 0.01");
  refused({"--seed", "2"}, "seed 1, this run has 2");
  refused({"--train-images", "20"},
          "data \"synthetic:train=40,test=20,size=16,classes=4 --train-images 36\", this run has "
          "\"synthetic:train=40,test=20,size=16,classes=4 --train-images 20\"");
  const Outcome longer = medley({"train", "--out", path("run"), "--resume", "--epochs", "3"});
  EXPECT_EQ(longer.code, 0) << longer.err;
  EXPECT_THAT(read_file(path("run/recipe.json")), HasSubstr("\"epochs\": 3"));
}

TEST_F(Train, DoesNotGoOnWithOtherDraws) {
  ASSERT_EQ(train("run").code, 0);
  auto recipe = nlohmann::ordered_json::parse(read_file(path("run/recipe.json")));
  recipe["draws"] = 1;
  write_file(folder_ / "run/recipe.json", recipe.dump());
  for (const std::string& name : names("run")) {
    if (name.starts_with("checkpoint-") || name == "result.json") fs::remove(path("run/" + name));
  }
  const Outcome outcome = medley({"train", "--out", path("run"), "--resume"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("made with draws version 1, this program has"));
}

TEST_F(Train, NeedsTheDataOfRunsThatDoNotSayThem) {
  ASSERT_EQ(train("run").code, 0);
  fs::remove(folder_ / "run/run.json");  // as older versions made them
  const Outcome bare = medley({"train", "--out", path("run"), "--resume"});
  EXPECT_EQ(bare.code, 2);
  EXPECT_THAT(bare.err, AllOf(HasSubstr("without run.json"), HasSubstr("--data")));
  EXPECT_EQ(train("run", {"--resume"}).code, 0);
}

TEST_F(Train, GoesOnWithoutAnyoneToListen) {
  const auto with_output = [&](const std::string& out, Setting::Output output,
                               const Arguments& more) {
    return medley(Arguments{"train"} + kSmall + Arguments{"--out", path(out)} + more,
                  {.output = output});
  };
  using Output = Setting::Output;
  const Outcome gone = with_output("gone", Output::broken_pipe, {});
  EXPECT_EQ(gone.code, 128 + SIGPIPE) << gone.err;
  EXPECT_THAT(names("gone"), Contains("result.json"));
  const Outcome full = with_output("full", Output::full_device, {});
  EXPECT_EQ(full.code, 0) << full.err;
  EXPECT_THAT(full.err, AllOf(HasSubstr("standard output"), HasSubstr("training goes on")));
  EXPECT_THAT(names("full"), Contains("result.json"));
  EXPECT_EQ(with_output("closed", Output::closed, {"--quiet"}).err, "");
  // The lines are what --json is for.
  const Outcome lines = with_output("lines", Output::full_device, {"--json"});
  EXPECT_EQ(lines.code, 1);
  EXPECT_THAT(lines.err, AllOf(HasSubstr("the run is finished"), HasSubstr("lines/metrics.jsonl")));
  EXPECT_THAT(names("lines"), Contains("result.json"));
}

TEST_F(Train, IsAloneInItsFolder) {
  ASSERT_EQ(train("run").code, 0);
  undo(path("run"));
  {
    const train::RunFolder holder(path("run"), train::ExistingRun::resume);
    for (const char* how : {"--resume", "--overwrite"}) {
      const Outcome outcome = train("run", {how});
      EXPECT_EQ(outcome.code, 1);
      EXPECT_THAT(outcome.err,
                  HasSubstr("run is in use by process " + std::to_string(getpid()) + " on host "));
    }
    EXPECT_EQ(train("run").code, 1);
    // Looking is free.
    EXPECT_EQ(medley({"eval", "--data", kSmall[1], "--checkpoint",
                      path("run/checkpoint-0000000004.medley")})
                  .code,
              0);
    EXPECT_THAT(medley({"results", "table", path("run")}).err, HasSubstr("holds no result of"));
  }
  EXPECT_EQ(train("run", {"--resume"}).code, 0);
}

TEST_F(Train, SweepsLeaveRunsThatOthersTrain) {
  fs::create_directories(folder_ / "all/none-seed1");
  const train::RunFolder holder(path("all/none-seed1"), train::ExistingRun::resume);
  const Outcome outcome =
      medley(Arguments{"sweep"} + Arguments(kSmall.begin(), kSmall.end() - 2) +
             Arguments{"--methods", "none", "--seeds", "1", "--out", path("all")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("none-seed1 is in use by process"));
}

TEST_F(Train, FollowsNoLinksThatOthersPutThere) {
  ASSERT_EQ(train("run").code, 0);
  undo(path("run"));
  write_file(folder_ / "victim", "mine");
  for (const char* name : {"recipe.json.part", "run.json.part", "result.json.part",
                           "weights.safetensors.part", "batch.png.part"}) {
    fs::create_symlink(path("victim"), folder_ / "run" / name);
  }
  fs::remove(folder_ / "run/batch.png");
  EXPECT_EQ(train("run", {"--resume"}).code, 0);
  EXPECT_EQ(read_file(path("victim")), "mine");
  EXPECT_FALSE(fs::is_symlink(folder_ / "run/result.json"));
}

TEST_F(Train, TakesAFolderWithAFileNamedPart) {
  fs::create_directory(folder_ / "run");
  write_file(folder_ / "run/.part", "mine");
  EXPECT_EQ(train("run").code, 0);
  EXPECT_EQ(read_file(path("run/.part")), "mine");
}

TEST_F(Train, StartsFromWeights) {
  ASSERT_EQ(train("a").code, 0);
  // A learning rate of next to nothing leaves them as they are.
  const Outcome outcome = train("b", {"--weights", path("a/weights.safetensors"), "--lr", "1e-30",
                                      "--weight-decay", "0", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(read_file(path("b/result.json")), HasSubstr("\"weights\": \""));
  EXPECT_THAT(read_file(path("a/result.json")), Not(HasSubstr("\"weights\"")));
  // Runs go on with the weights that they started from, or without a word of them.
  EXPECT_EQ(train("a", {"--resume"}).code, 0);
  const Outcome changed = train("a", {"--resume", "--weights", path("a/weights.safetensors")});
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, HasSubstr("weights of hash"));
  const Outcome absent = train("a", {"--resume", "--weights", path("nowhere.safetensors")});
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.err, HasSubstr("nowhere.safetensors"));
  const Outcome other =
      medley({"train", "--data", "synthetic:train=40,test=20,size=16,classes=5", "--model",
              "resnet8", "--out", path("d"), "--weights", path("a/weights.safetensors")});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("weights.safetensors"));
}

TEST_F(Train, CheckpointsAreNoWeights) {
  const Outcome outcome = train("run", {"--weights", path("checkpoint-0000000001.medley")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--weights must be a .safetensors file, got the checkpoint"));
}

TEST_F(Train, DivergingIsSaidInOneSentence) {
  const Outcome outcome = train("run", {"--lr", "1e30", "--schedule", "constant"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the loss became"), HasSubstr("smaller lr")));
}

TEST_F(Train, NotesClassesWithoutImages) {
  std::filesystem::create_directory(path("cifar"));
  for (const std::string name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                                 "data_batch_5", "test_batch"}) {
    std::ofstream file(path("cifar/" + name + ".bin"), std::ios::binary);
    for (const char label : {0, 3})
      file << label << std::string(3072, static_cast<char>(40 * label));
  }
  const Outcome outcome =
      medley({"train", "--data", "cifar10:" + path("cifar"), "--model", "resnet8", "--epochs", "1",
              "--batch", "4", "--out", path("run")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("8 of 10 classes have no training image"));
}

TEST_F(Train, WrongArgumentsAreOneSentenceAndCodeTwo) {
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"--recipe", "nothing"}, "nothing"},
      {{"--method", "hmixx"}, "hmix"},
      {{"--optimizer", "adam"}, "adamw"},
      {{"--std", "0"}, "std must be > 0"},
      {{"--stddev", "0"}, "std must be > 0"},
      {{"--crop-area", "0.5,0.4"}, "crop_area must go from the least"},
      {{"--same-class", "--other-class"}, "exclude each other"},
      {{"--method", "custom"}, "custom needs at least one mask"},
      {{"--ratios", "1"}, "did you mean \"--ratio\"?"},
      {{"--smoothing", "1"}, "smoothing"},
      {{"--image-size", "4"}, "image_size"},
      {{"--test-resize", "100"}, "test_resize"},
      {{"--resume", "--overwrite"}, "exclude each other"},
      {{"--checkpoint-epochs", "0"}, "checkpoint_epochs"},
      {{"--weight_decay", "0"}, "did you mean \"--weight-decay\"?"},
      {{"--recipe", "/"}, "no recipe"},
      {{"--threads", "5000"}, "threads must be in [0, 4096]"},
      {{"--threads", "-1"}, "threads must be in [0, 4096]"},
  };
  for (const auto& [arguments, text] : cases) {
    const Outcome outcome = train("run", arguments);
    EXPECT_EQ(outcome.code, 2) << text << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  }
  EXPECT_THAT(
      medley({"train", "--model", "resnet9", "--data", "idx:nowhere", "--out", path("run")}).err,
      HasSubstr("did you mean \"resnet8\"?"))
      << "before the data are read";
  EXPECT_EQ(medley({"train", "--data", "cifar:x", "--out", path("run")}).code, 2);
  EXPECT_EQ(medley({"train", "--data", "cifar100:" + path("x"), "--out", path("run")}).code, 1);
  EXPECT_THAT(names(), Not(Contains("run")));
}

TEST_F(Train, TakesEveryOptionOfEveryMethod) {
  const std::string help = medley({"train", "--help"}).out;
  for (const MethodInfo* method : methods()) {
    for (const OptionSpec& option : method->options) {
      std::string flag = option.name == "masks" ? "mask-in" : option.name;
      std::ranges::replace(flag, '_', '-');
      EXPECT_THAT(help, HasSubstr("  --" + flag + " ")) << method->name;
    }
  }
  EXPECT_THAT(help, Not(AnyOf(HasSubstr("--optimiser"), HasSubstr("--stddev"))));
  const auto recipe_of = [&](const std::string& run) {
    return nlohmann::json::parse(read_file(path(run + "/recipe.json")));
  };
  const Outcome field =
      train("field", {"--method", "gaussian-field", "--sigma", "0.2", "--length", "0.3",
                      "--same-class", "--optimiser", "sgd", "--crop-area", "0.25,0.4", "--label",
                      "realised", "--learning-rate", "0.03"});
  ASSERT_EQ(field.code, 0) << field.err;
  const auto recorded = recipe_of("field");
  EXPECT_EQ(recorded["sigma"], 0.2);
  EXPECT_EQ(recorded["length"], 0.3);
  EXPECT_EQ(recorded["same_class"], true);
  EXPECT_EQ(recorded["label"], "realized");
  EXPECT_EQ(recorded["lr"], 0.03);
  EXPECT_EQ(recorded["crop_area"], (std::vector<double>{0.25, 0.4}));
  const Outcome other = medley({"train", "--out", path("field"), "--resume", "--sigma", "0.3"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("(sigma 0.2), this run has sigma 0.3"));
  const Outcome idle =
      medley({"train", "--data", kSmall[1], "--epochs", "1", "--method", "mixup", "--sigma", "1",
              "--alpha", "2", "--lam", "0.5", "--out", path("idle")});
  EXPECT_THAT(idle.err, AllOf(HasSubstr("--sigma is not used by method mixup"),
                              HasSubstr("--alpha is not used beside --lam")));
}

TEST_F(Train, RemembersMasksByTheirContent) {
  const auto write_mask = [&](const char* name, std::uint8_t value) {
    data::Image mask;
    mask.size = {16, 16};
    mask.rgb.assign(16 * 16 * 3, value);
    data::write_png(path(name), mask);
  };
  write_mask("a.png", 0);
  write_mask("b.png", 255);
  const Outcome outcome =
      train("run", {"--method", "custom", "--mask-in", path("a.png"), "--mask-in", path("b.png")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto masks = nlohmann::json::parse(read_file(path("run/recipe.json")))["masks"];
  EXPECT_EQ(masks["files"], (std::vector<std::string>{path("a.png"), path("b.png")}));
  EXPECT_THAT(read_file(path("run/result.json")), Not(HasSubstr("a.png")));
  const Arguments resume = {"train", "--out", path("run"), "--resume", "--epochs", "3"};
  EXPECT_EQ(medley(resume).code, 0);
  const Outcome one = medley(resume + Arguments{"--mask-in", path("a.png")});
  EXPECT_EQ(one.code, 2);
  EXPECT_THAT(one.err, AllOf(HasSubstr(masks["hash"].get<std::string>()), HasSubstr("a.png\"]")));
  EXPECT_EQ(
      medley({"eval", "--data", kSmall[1], "--checkpoint", path("run/weights.safetensors")}).code,
      0);
  write_mask("b.png", 128);
  const Outcome changed = medley(resume);
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, HasSubstr("changed since"));
}

TEST_F(Train, SweepsGiveMethodsTheirOwnValues) {
  const Arguments sweep = Arguments{"sweep"} + Arguments(kSmall.begin(), kSmall.end() - 2) +
                          Arguments{"--recipe", path("r.json"), "--methods", "mixup,gmix,hmix"};
  write_file(path("r.json"), R"({"schema": "medley.recipe/1", "epochs": 1, "alpha": 1,
    "methods": {"mixup": {"alpha": 0.8}, "hmix": {"ratio": 0.75}}})");
  const auto value = [&](const std::string& run, const char* option) {
    return nlohmann::json::parse(read_file(path(run + "/recipe.json")))[option];
  };
  const Outcome own = medley(sweep + Arguments{"--out", path("own")});
  ASSERT_EQ(own.code, 0) << own.err;
  EXPECT_EQ(value("own/mixup-seed1", "alpha"), 0.8);
  EXPECT_EQ(value("own/gmix-seed1", "alpha"), 1);
  EXPECT_EQ(value("own/hmix-seed1", "ratio"), 0.75);
  const Outcome given = medley(sweep + Arguments{"--alpha", "0.3", "--out", path("given")});
  ASSERT_EQ(given.code, 0) << given.err;
  for (const char* method : {"mixup", "gmix", "hmix"}) {
    EXPECT_EQ(value(std::string("given/") + method + "-seed1", "alpha"), 0.3);
  }
}

TEST_F(Train, AMissingDeviceOrEngineIsAFailure) {
  if (medley({"info", "--json"}).json()["backends"].size() > 2) GTEST_SKIP() << "may have a GPU";
  const Outcome gpu = train("run", {"--device", "cuda"});
  EXPECT_EQ(gpu.code, 1);
  EXPECT_THAT(gpu.err, HasSubstr("use --device cpu"));
}

TEST_F(Train, LargeBatchesAreNoted) {
  const Outcome outcome = medley(
      {"train", "--data", kSmall[1], "--epochs", "1", "--batch", "1000000", "--out", path("run")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("a batch of 1000000 is more than the 40 training images"));
}

TEST_F(Train, ReadsFoldersOfImages) {
  for (int i = 0; i < 24; ++i) {
    const fs::path folder =
        folder_ / "data" / (i < 16 ? "train" : "val") / (i % 2 == 0 ? "even" : "odd");
    fs::create_directories(folder);
    write_jpeg(folder / (std::to_string(i) + ".jpg"), i, 30 + i, 40);
  }
  const Arguments common = {"train",
                            "--data",
                            "folder:" + path("data"),
                            "--epochs",
                            "1",
                            "--image-size",
                            "16",
                            "--test-resize",
                            "18",
                            "--batch",
                            "5",
                            "--out"};
  EXPECT_EQ(medley(common + Arguments{path("a")}).code, 0);
  write_file(folder_ / "data/train/odd/3.jpg", "broken");
  const Outcome strict = medley(common + Arguments{path("b")});
  EXPECT_EQ(strict.code, 1);
  EXPECT_THAT(strict.err, AllOf(HasSubstr("odd/3.jpg"), HasSubstr("--skip-broken")));
  const Outcome lenient = medley(common + Arguments{path("c"), "--skip-broken"});
  EXPECT_EQ(lenient.code, 0);
  EXPECT_THAT(lenient.err, AllOf(HasSubstr("left out: "), HasSubstr("1 of 24 images")));
  fs::create_symlink("nowhere", folder_ / "data/train/odd/99.jpg");
  const Outcome without = medley(common + Arguments{path("d"), "--skip-broken"});
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_THAT(without.err, AllOf(HasSubstr("odd/99.jpg"), HasSubstr("2 of 25 images")));
  write_file(folder_ / "data/val/odd/0.jpg", "broken");
  const Outcome eval = medley({"eval", "--data", "folder:" + path("data"), "--skip-broken",
                               "--checkpoint", path("c/weights.safetensors")});
  EXPECT_EQ(eval.code, 0) << eval.err;
  EXPECT_THAT(eval.err, AllOf(HasSubstr("left out: "), HasSubstr("odd/0.jpg")));
}

TEST_F(Train, TestPicturesFollowTheImageSize) {
  for (int i = 0; i < 12; ++i) {
    const fs::path folder = folder_ / "data" / (i < 8 ? "train" : "val") / (i % 2 == 0 ? "a" : "b");
    fs::create_directories(folder);
    write_jpeg(folder / (std::to_string(i) + ".jpg"), i, 30, 40);
  }
  const Arguments common = {"train", "--data", "folder:" + path("data"), "--epochs", "1", "--batch",
                            "4",     "--out"};
  const auto test_resize = [&](const std::string& run) {
    return nlohmann::json::parse(read_file(path(run + "/recipe.json")))["test_resize"];
  };
  const Outcome chosen = medley(common + Arguments{path("a"), "--image-size", "16"});
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_EQ(test_resize("a"), 18);
  EXPECT_THAT(chosen.err, HasSubstr("note: test pictures are resized to 18, 8/7 of --image-size"));
  const Outcome given =
      medley(common + Arguments{path("b"), "--image-size", "16", "--test-resize", "24"});
  ASSERT_EQ(given.code, 0) << given.err;
  EXPECT_EQ(test_resize("b"), 24);
  EXPECT_THAT(given.err, Not(HasSubstr("resized")));
  const Outcome resumed =
      medley({"train", "--out", path("b"), "--resume", "--image-size", "16", "--epochs", "2"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(test_resize("b"), 24);
}

TEST_F(Train, EvalMeasuresWhatWasTrained) {
  ASSERT_EQ(train("run").code, 0);
  const Arguments eval = {"eval", "--data", kSmall[1], "--checkpoint"};
  const Outcome outcome = medley(
      eval + Arguments{path("run/weights.safetensors"), "--confusion", path("c.png"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto report = outcome.json();
  EXPECT_EQ(report["images"], 20);
  int all = 0;
  for (const auto& row : report["confusion"]) {
    for (const int count : row) all += count;
  }
  EXPECT_EQ(all, 20);
  EXPECT_THAT(names(), Contains("c.png"));
  const std::string last = read_file(path("run/metrics.jsonl"));
  const auto metrics = nlohmann::json::parse(last.substr(last.find('\n') + 1));
  EXPECT_EQ(report["top1"], metrics["test_top1"]);
  EXPECT_EQ(medley(eval + Arguments{path("nothing.medley")}).code, 1);
  EXPECT_THAT(medley(eval + Arguments{path("none.safetensors")}).err,
              HasSubstr("there is no file " + path("none.safetensors")));
  fs::copy(path("run/weights.safetensors"), path("w.safetensors"));
  EXPECT_THAT(medley(eval + Arguments{path("w.safetensors")}).err,
              HasSubstr("w.safetensors needs the recipe.json of its run beside it"));
  const Outcome nowhere =
      medley(eval + Arguments{path("run/weights.safetensors"), "--confusion", path("no/c.png")});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("create it first"));
}

TEST_F(Train, EvalReadsWhatItTestsAlone) {
  for (int i = 0; i < 12; ++i) {
    const fs::path folder = folder_ / "data" / (i < 8 ? "train" : "val") / (i % 2 == 0 ? "a" : "b");
    fs::create_directories(folder);
    write_jpeg(folder / (std::to_string(i) + ".jpg"), i, 30, 40);
  }
  const std::string data = "folder:" + path("data");
  ASSERT_EQ(medley({"train", "--data", data, "--epochs", "1", "--image-size", "16", "--test-resize",
                    "18", "--batch", "4", "--out", path("run")})
                .code,
            0);
  const Arguments eval = {"eval", "--data", data, "--checkpoint", path("run/weights.safetensors")};
  const Outcome whole = medley(eval);
  ASSERT_EQ(whole.code, 0) << whole.err;
  write_file(folder_ / "data/train/a/0.jpg", "broken");
  EXPECT_EQ(medley(eval).out, whole.out);
  fs::remove_all(folder_ / "data/val/b");
  EXPECT_THAT(medley(eval).out, HasSubstr("  b                         –\n"));
  fs::remove_all(folder_ / "data/train");
  fs::create_directories(folder_ / "data/val/b");
  write_jpeg(folder_ / "data/val/b/9.jpg", 9, 30, 40);
  EXPECT_EQ(medley(eval).code, 0) << "a folder without training images";
  fs::create_directories(folder_ / "data/val/c");
  write_jpeg(folder_ / "data/val/c/9.jpg", 9, 30, 40);
  const Outcome other = medley(eval);
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("weights.safetensors: the network knows 2 classes, the data "
                                   "has 3"));
}

TEST_F(Train, EvalComparesTwoNetworks) {
  ASSERT_EQ(train("a").code, 0);
  ASSERT_EQ(medley({"train", "--data", kSmall[1], "--model", "resnet8", "--epochs", "1", "--batch",
                    "10", "--seed", "2", "--out", path("b")})
                .code,
            0);
  const Arguments eval = {
      "eval", "--data", kSmall[1], "--checkpoint", path("a/weights.safetensors"), "--against"};
  const Outcome outcome =
      medley(eval + Arguments{path("b/weights.safetensors"), "--gallery", path("g.png"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto report = outcome.json();
  const auto& against = report["against"];
  const auto both = against["both_right"].get<std::size_t>();
  const std::size_t gained = against["only_this"].size();
  EXPECT_EQ(both + gained + against["only_other"].size() + against["both_wrong"].get<std::size_t>(),
            20U);
  EXPECT_DOUBLE_EQ(5.0 * static_cast<double>(both + gained), report["top1"].get<double>());
  if (gained > 0) {
    EXPECT_THAT(names(), Contains("g.png"));
  } else {
    EXPECT_THAT(outcome.err, HasSubstr("no image that only this network gets right"));
  }
  const Outcome itself =
      medley(eval + Arguments{path("a/weights.safetensors"), "--gallery", path("h.png")});
  EXPECT_EQ(itself.code, 0) << itself.err;
  EXPECT_THAT(itself.out, HasSubstr(" 0 only this one, 0 only the other, "));
  EXPECT_THAT(itself.err, HasSubstr("h.png is not written"));
  const Outcome alone = medley({"eval", "--data", kSmall[1], "--checkpoint",
                                path("a/weights.safetensors"), "--gallery", path("g.png")});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("name the other with --against"));
}

TEST_F(Train, NotesOptionsThatNoMethodUses) {
  EXPECT_THAT(train("run", {"--method", "mixup", "--ratio", "0.3"}).err,
              HasSubstr("note: --ratio is not used by method mixup\n"));
  EXPECT_THAT(train("none", {"--method", "none", "--lam", "0.3"}).err,
              HasSubstr("note: --lam is not used by method none\n"));
  EXPECT_THAT(train("fixed", {"--method", "mixup", "--lam", "0.3", "--alpha", "2"}).err,
              HasSubstr("note: --alpha is not used beside --lam\n"));
  EXPECT_THAT(train("other", {"--method", "hmix", "--ratio", "0.3"}).err,
              Not(HasSubstr("not used")));
  EXPECT_THAT(
      train("power", {"--method", "mixup", "--alpha", "2", "--power", "1"}).err,
      AllOf(HasSubstr("note: --power is not used by method mixup\n"), Not(HasSubstr("--alpha"))));
}

TEST_F(Train, SweepsSkipWhatIsFinished) {
  const Arguments sweep = Arguments{"sweep"} + Arguments(kSmall.begin(), kSmall.end() - 2) +
                          Arguments{"--methods", "none,mixup", "--seeds", "1,2",
                                    "--format",  "csv",        "--out",   path("all")};
  const Outcome first = medley(sweep);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(
      first.out,
      StartsWith("model,method,seeds,test_top1_mean,test_top1_std,failed\nresnet8,none,2,"));
  EXPECT_THAT(first.err, Not(HasSubstr("resume")));
  EXPECT_THAT(first.err, AllOf(HasSubstr("none seed 1: test "), HasSubstr("; 1 of 4 runs done, "),
                               HasSubstr(" left\n"), HasSubstr("; 4 of 4 runs done\n")));
  EXPECT_THAT(names("all"), Contains("curves.png"));
  const std::string weights = read_file(path("all/mixup-seed2/weights.safetensors"));
  const Outcome second = medley(sweep);
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(second.out, first.out);
  EXPECT_THAT(second.err, Not(HasSubstr("runs done")));
  EXPECT_EQ(read_file(path("all/mixup-seed2/weights.safetensors")), weights);
  for (const std::string& name : names("all/mixup-seed2")) {
    if (name.starts_with("checkpoint-")) fs::remove(folder_ / "all/mixup-seed2" / name);
  }
  const Outcome third = medley(sweep);
  EXPECT_EQ(third.code, 0) << third.err;
  EXPECT_EQ(third.out, first.out);
  EXPECT_THAT(third.err, AllOf(HasSubstr("mixup-seed2 is finished"), Not(HasSubstr("runs done"))));
}

TEST_F(Train, SweepsSayWhichRunsWereLengthened) {
  const auto sweep = [&](const char* methods, const char* epochs) {
    return medley(
        Arguments{"sweep"} + Arguments(kSmall.begin(), kSmall.begin() + 4) +
        Arguments{"--batch", "10", "--methods", methods, "--epochs", epochs, "--out", path("s")});
  };
  ASSERT_EQ(sweep("none", "1").code, 0);
  const Outcome longer = sweep("none,mixup", "2");
  ASSERT_EQ(longer.code, 0) << longer.err;
  EXPECT_THAT(longer.err, AllOf(HasSubstr("none seed 1 was lengthened from 1 epoch"),
                                Not(HasSubstr("mixup seed 1 was"))));
}

TEST_F(Train, RunsSideBySideGiveWhatTheyGiveAlone) {
  const auto sweep = [&](const std::string& out, const std::string& parallel) {
    const Outcome outcome =
        medley(Arguments{"sweep"} + Arguments(kSmall.begin(), kSmall.end() - 2) +
               Arguments{"--methods", "none,hmix", "--seeds", "1,2", "--models", "resnet8",
                         "--threads", "1", "--json", "--parallel", parallel, "--out", path(out)});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("note: --model is not used beside --models\n"));
    return outcome.json();
  };
  EXPECT_EQ(sweep("one", "1"), sweep("many", "3"));
  for (const std::string run : {"resnet8-none-seed1", "resnet8-hmix-seed2"}) {
    EXPECT_EQ(read_file(path("one/" + run + "/weights.safetensors")),
              read_file(path("many/" + run + "/weights.safetensors")));
  }
}

TEST_F(Train, SweepsGoOnWithoutRunsThatFail) {
  fs::create_directories(folder_ / "all/mixup-seed1");
  const train::RunFolder holder(path("all/mixup-seed1"), train::ExistingRun::resume);
  const Arguments sweep = Arguments{"sweep"} + Arguments(kSmall.begin(), kSmall.end() - 2) +
                          Arguments{"--seeds", "1,2", "--out", path("all"), "--quiet"};
  const Outcome text = medley(sweep + Arguments{"--methods", "mixup,none"});
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.err, AllOf(HasSubstr("error: mixup seed 1 failed: "), HasSubstr("is in use by"),
                              HasSubstr("error: 1 of 4 runs failed")));
  EXPECT_THAT(text.out, AllOf(HasSubstr(" (1 of 2 failed)\nnone "), HasSubstr("    2  ")));
  const Outcome json = medley(sweep + Arguments{"--methods", "mixup,none", "--json"});
  EXPECT_EQ(json.code, 1);
  const auto methods = json.json()["methods"];
  EXPECT_TRUE(methods[0]["test_top1"][0].is_null());
  EXPECT_EQ(methods[0]["test_top1"][1], methods[0]["mean"]);
  EXPECT_TRUE(methods[1]["test_top1"][0].is_number());
}

TEST_F(Train, SweepsOfDivergingRunsHaveATableAllTheSame) {
  const Outcome outcome = medley(Arguments{"sweep"} + Arguments(kSmall.begin(), kSmall.end() - 2) +
                                 Arguments{"--methods", "none,mixup", "--lr", "1e30", "--schedule",
                                           "constant", "--format", "csv", "--out", path("all")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out,
            "model,method,seeds,test_top1_mean,test_top1_std,failed\n"
            "resnet8,none,0,,,1\nresnet8,mixup,0,,,1\n");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("none seed 1 failed: the loss became"),
                                 HasSubstr("mixup seed 1 failed: the loss became"),
                                 HasSubstr("error: 2 of 2 runs failed")));
  EXPECT_THAT(names("all"), Not(Contains("curves.png")));
}

TEST_F(Train, SweepsThatCannotBeAreRefused) {
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"--parallel", "0"}, "parallel must be >= 1"},
      {{"--checkpoint-epochs", "0"}, "checkpoint_epochs"},
      {{"--models", "resnet9"}, "resnet8"},
      {{"--methods", "hmixx"}, "hmix"},
      {{"--methods", "none,hmix,none"}, "--methods names none twice"},
      {{"--models", "resnet8,resnet8"}, "--models names resnet8 twice"},
      {{"--seeds", "3,3", "--parallel", "2"}, "--seeds names 3 twice"},
      {{"--seeds", "1,-1"}, "a whole number from 0"},
      {{"--seeds", "0x10"}, "a whole number from 0"},
      {{"--seeds", "1,,2"}, "a whole number from 0"},
      {{"--methods", "none,custom"}, "custom needs at least one mask"},
      {{"--method", "hmix"}, "--method"},
  };
  for (const auto& [arguments, text] : cases) {
    const Outcome outcome = medley(Arguments{"sweep", "--out", path("all")} + arguments);
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  }
  EXPECT_THAT(names(), Not(Contains("all")));
}

TEST_F(Train, ProfilesSayWhereTheTimeGoes) {
  const Outcome outcome = train("run", {"--profile", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::size_t at = outcome.out.find("{\"schema\":\"medley.profile/1\"");
  ASSERT_NE(at, std::string::npos) << outcome.out;
  const auto profile =
      nlohmann::json::parse(outcome.out.substr(at, outcome.out.find('\n', at) - at));
  double sum = 0;
  for (const char* part : {"load+mix", "forward", "backward", "optimizer"}) {
    EXPECT_GT(profile["parts_ms"][part], 0) << part;
    sum += profile["parts_ms"][part].get<double>();
  }
  EXPECT_NEAR(sum, profile["ms_per_step"], 1e-6);
  EXPECT_THAT(train("other", {"--profile"}).err, HasSubstr("load+mix"));
}

/// Exit codes of the child of the test below.
enum : int { kGood = 0, kNoDisk = 70, kBad = 71 };

TEST_F(Train, AClosedTerminalSavesAndStops) {
  const auto hang_up = [this](pid_t program) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!fs::exists(path("run/metrics.jsonl")) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(program, SIGHUP);
  };
  Arguments call = Arguments{"train"} + kSmall + Arguments{"--out", path("run"), "--quiet"};
  *(std::ranges::find(call, "--epochs") + 1) = "100000";
  const Outcome stopped = medley(call, {.meanwhile = hang_up});
  EXPECT_EQ(stopped.code, 1);
  EXPECT_THAT(stopped.err, HasSubstr("stopped; a checkpoint is in"));
  EXPECT_THAT(names("run"), Contains(StartsWith("checkpoint-")));
}

TEST_F(Train, AFullDiskStopsTheRunAndLeavesTheLastCheckpoint) {
  // A disk of its own, seen by a child process only.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    fs::create_directory(path("disk"));
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", path("disk").c_str(), "tmpfs", 0, "size=1700k") != 0) {
      _exit(kNoDisk);
    }
    // A checkpoint takes 0.6 MB, and there are three while a new one replaces the oldest.
    const Arguments longer = {"train",   "--data", kSmall[1], "--epochs",      "4",
                              "--batch", "10",     "--out",   path("disk/run")};
    const Outcome full = medley(longer);
    const bool stopped = full.code == 1 && full.err.find("No space left") != std::string::npos;
    const std::string lines = read_file(path("disk/run/metrics.jsonl"));
    const bool kept = std::count(lines.begin(), lines.end(), '\n') == 2 &&
                      names("disk/run").size() == 7;  // nothing half-written
    mount("tmpfs", path("disk").c_str(), "tmpfs", MS_REMOUNT, "size=9m");
    const Outcome resumed = medley(longer + Arguments{"--resume"});
    const bool went_on =
        resumed.code == 0 && resumed.err.find("(epoch 3, step 0)") != std::string::npos;
    if (!stopped || !kept || !went_on) std::cerr << full.err << lines << resumed.err;
    _exit(stopped && kept && went_on ? kGood : kBad);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoDisk) GTEST_SKIP() << "mounting a disk needs more rights";
  EXPECT_EQ(WEXITSTATUS(status), kGood);
}

}  // namespace
}  // namespace medley::cli_test
