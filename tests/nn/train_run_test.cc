// Whole runs: the same result however often they are stopped, killed or hurt.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "medley/error.h"
#include "medley/nn/evaluate.h"
#include "medley/nn/trainer.h"
#include "medley/train/result.h"
#include "nn/run_bits.h"
#include "train/checkpoint.h"
#include "train/run_record.h"

namespace medley::nn {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using test::bytes_of;

constexpr const char* kData = "synthetic:train=60,test=20,size=16,classes=4";

class Runs : public testing::Test {
 protected:
  Runs() : root_(fs::temp_directory_path() / ("medley-runs-" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
    options_.recipe = train::find_recipe("demo");
    options_.recipe.epochs = 3;
    options_.recipe.batch = 10;
    options_.recipe.eval_every = 1;
    options_.recipe.mix.method = "hmix";
    options_.seed = 5;
    options_.threads = 1;
  }
  ~Runs() override { fs::remove_all(root_); }

  TrainOptions in(const std::string& name,
                  train::ExistingRun existing = train::ExistingRun::refuse) const {
    TrainOptions options = options_;
    options.out = root_ / name;
    options.existing = existing;
    return options;
  }
  TrainResult run(const TrainOptions& options) const {
    TrainObserver silent;
    return train(data_, options, silent);
  }
  std::vector<fs::path> checkpoints_of(const std::string& name) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(root_ / name)) {
      if (entry.path().filename().string().starts_with("checkpoint-")) found.push_back(entry);
    }
    return found;
  }
  void remove_checkpoints(const std::string& name) const {
    for (const fs::path& file : checkpoints_of(name)) fs::remove(file);
  }
  /// Changes what the newest checkpoint says about its run.
  void edit_state(const std::string& name, const std::function<void(Json&)>& edit) const {
    const fs::path file = std::ranges::max(checkpoints_of(name));
    train::Checkpoint checkpoint = train::read_checkpoint(file);
    Json state = Json::parse(checkpoint.state);
    edit(state);
    checkpoint.state = state.dump();
    const std::vector<std::uint8_t> bytes = train::encode_checkpoint(checkpoint);
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }
  static std::string result(const fs::path& folder) { return test::bits_of_run(folder); }

  fs::path root_;
  data::ImageData data_ = data::open_data(kData);
  TrainOptions options_;
};

/// Stops after a number of steps.
class Stopper : public TrainObserver {
 public:
  explicit Stopper(int steps) : left_(steps) {}
  void on_note(const std::string& sentence) override { notes.push_back(sentence); }
  void on_step(std::int64_t, std::optional<double>) override { --left_; }
  bool stop() override { return left_ <= 0; }

  std::vector<std::string> notes;

 private:
  int left_;
};

TEST_F(Runs, GiveTheSameBitsForTheSameSeed) {
  run(in("a"));
  run(in("b"));
  EXPECT_EQ(result(root_ / "a"), result(root_ / "b"));
  for (const char* file : {"recipe.json", "batch.png", "events.out.tfevents.0.medley"}) {
    EXPECT_TRUE(fs::exists(root_ / "a" / file)) << file;
  }
}

TEST_F(Runs, AreScoredAsOftenAsAskedAndAtTheEnd) {
  run(in("a"));
  options_.recipe.eval_every = 2;
  const TrainResult result = run(in("b"));
  ASSERT_EQ(result.metrics.size(), 3);
  EXPECT_FALSE(result.metrics[0].score);
  EXPECT_TRUE(result.metrics[1].score);
  EXPECT_TRUE(result.metrics[2].score);
  EXPECT_EQ(bytes_of(root_ / "a/weights.safetensors"), bytes_of(root_ / "b/weights.safetensors"));
  EXPECT_EQ(train::read_result(root_ / "b/result.json").metrics[1].score, result.metrics[1].score);
  EXPECT_EQ(train::read_metrics(root_ / "b/metrics.jsonl")[0].score, std::nullopt);
  // How often is no part of what a run is.
  options_.recipe.eval_every = 1;
  options_.recipe.epochs = 5;
  EXPECT_EQ(run(in("b", train::ExistingRun::resume)).metrics.size(), 5);
}

TEST_F(Runs, GoOnWhereTheyWereStopped) {
  options_.recipe.ema = 0.9;
  options_.recipe.accumulate = 2;
  run(in("whole"));
  for (int i = 0; i < 100; ++i) {
    Stopper stopper(4);
    if (!train(data_, in("parts", train::ExistingRun::resume), stopper).stopped) break;
  }
  EXPECT_EQ(result(root_ / "whole"), result(root_ / "parts"));
}

TEST_F(Runs, UseTheGoodCheckpointIfTheNewestIsDamaged) {
  run(in("whole"));
  Stopper stopper(14);
  EXPECT_TRUE(train(data_, in("hurt"), stopper).stopped);
  const std::vector<fs::path> checkpoints = checkpoints_of("hurt");
  ASSERT_EQ(checkpoints.size(), 2);
  fs::resize_file(*std::ranges::max_element(checkpoints), 1000);
  Stopper patient(1000);
  EXPECT_FALSE(train(data_, in("hurt", train::ExistingRun::resume), patient).stopped);
  EXPECT_THAT(patient.notes, testing::Contains(testing::HasSubstr("damaged")));
  EXPECT_EQ(result(root_ / "whole"), result(root_ / "hurt"));
}

/// Calls something after every epoch.
class AfterEpochs : public TrainObserver {
 public:
  explicit AfterEpochs(std::function<void()> call) : call_(std::move(call)) {}
  void on_note(const std::string& sentence) override { notes.push_back(sentence); }
  void on_epoch(const train::EpochMetrics& /*metrics*/) override { call_(); }

  std::vector<std::string> notes;

 private:
  std::function<void()> call_;
};

TEST_F(Runs, AreSavedBeforeAnyoneHearsOfIt) {
  run(in("whole"));
  AfterEpochs failing([] { throw IoError("cannot write to standard output"); });
  EXPECT_THROW(train(data_, in("a"), failing), IoError);
  EXPECT_EQ(train::read_metrics(root_ / "a/metrics.jsonl").size(), 1);
  AfterEpochs silent([] {});
  train(data_, in("a", train::ExistingRun::resume), silent);
  EXPECT_THAT(silent.notes, testing::Contains(testing::HasSubstr("(epoch 2, step 0)")));
  EXPECT_EQ(result(root_ / "whole"), result(root_ / "a"));
}

TEST_F(Runs, KeepOthersOutOfTheirFolder) {
  run(in("whole"));
  AfterEpochs intruder([&] {
    for (const auto existing :
         {train::ExistingRun::refuse, train::ExistingRun::resume, train::ExistingRun::overwrite}) {
      TrainOptions other = in("a", existing);
      other.seed = 77;
      EXPECT_THAT([&] { run(other); },
                  testing::ThrowsMessage<IoError>(testing::HasSubstr("is in use by process")));
    }
  });
  train(data_, in("a"), intruder);
  EXPECT_EQ(result(root_ / "whole"), result(root_ / "a"));
  EXPECT_FALSE(fs::exists(root_ / "a/.lock"));
}

TEST_F(Runs, AreKeptWhereTheirFolderCannotBeRead) {
  run(in("a"));
  const std::string before = result(root_ / "a") + bytes_of(root_ / "a/result.json");
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (const auto existing :
       {train::ExistingRun::refuse, train::ExistingRun::resume, train::ExistingRun::overwrite}) {
    TrainOptions other = in("a", existing);
    other.seed = 77;
    const rlimit none{0, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    EXPECT_THROW(run(other), IoError);
    setrlimit(RLIMIT_NOFILE, &limit);
    EXPECT_EQ(result(root_ / "a") + bytes_of(root_ / "a/result.json"), before);
  }
}

TEST_F(Runs, DrawTheirFirstBatchAgainWhereItIsLost) {
  run(in("whole"));
  const std::string picture = bytes_of(root_ / "whole/batch.png");
  Stopper stopper(8);
  train(data_, in("a"), stopper);
  EXPECT_EQ(bytes_of(root_ / "a/batch.png"), picture);
  std::ofstream(root_ / "a/batch.png", std::ios::trunc).flush();
  Stopper again(4);
  train(data_, in("a", train::ExistingRun::resume), again);
  EXPECT_EQ(bytes_of(root_ / "a/batch.png"), picture);
  fs::remove(root_ / "a/batch.png");
  run(in("a", train::ExistingRun::resume));
  EXPECT_EQ(bytes_of(root_ / "a/batch.png"), picture);
  EXPECT_EQ(result(root_ / "whole"), result(root_ / "a"));
}

TEST_F(Runs, MendMetricsThatACrashTore) {
  run(in("whole"));
  Stopper stopper(14);
  train(data_, in("a"), stopper);
  for (const char* name : {"metrics.jsonl", "events.out.tfevents.0.medley"}) {
    const fs::path file = root_ / "a" / name;
    fs::resize_file(file, fs::file_size(file) - 20);
  }
  run(in("a", train::ExistingRun::resume));
  EXPECT_EQ(result(root_ / "whole"), result(root_ / "a"));
  EXPECT_EQ(fs::file_size(root_ / "whole/events.out.tfevents.0.medley"),
            fs::file_size(root_ / "a/events.out.tfevents.0.medley"));
}

TEST_F(Runs, SayHowTheyWereBegun) {
  TrainOptions options = in("a");
  options.data = {kData, {}, {}, false};
  options.command = {"medley", "train"};
  Stopper stopper(1);
  train(data_, options, stopper);
  train::RunRecord record = train::read_run_record(root_ / "a").value();
  EXPECT_EQ(record.seed, 5);
  EXPECT_EQ(record.data, options.data);
  EXPECT_EQ(record.threads, 1);
  EXPECT_EQ(record.device, "cpu");
  EXPECT_EQ(record.command, options.command);
  EXPECT_FALSE(record.version.empty());
  EXPECT_EQ(record.directory, fs::current_path());
  options.existing = train::ExistingRun::resume;
  options.command = {"another"};
  Stopper again(1);
  train(data_, options, again);
  EXPECT_EQ(train::read_run_record(root_ / "a"), record);
}

TEST_F(Runs, WithoutACheckpointAreStillWhatTheyWereBegunAs) {
  Stopper stopper(1);
  train(data_, in("a"), stopper);
  remove_checkpoints("a");
  const auto refuses = [&](const TrainOptions& other, const char* why) {
    EXPECT_THAT([&] { run(other); },
                testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr(why)));
  };
  TrainOptions other = in("a", train::ExistingRun::resume);
  other.seed = 6;
  refuses(other, "run.json was made with seed 5, this run has 6");
  other = in("a", train::ExistingRun::resume);
  other.recipe.lr = 0.5;
  other.recipe.mix.method = "mixup";
  refuses(other, "method \"hmix\"), this run has lr 0.5, method \"mixup\"");
  run(in("whole"));
  run(in("a", train::ExistingRun::resume));
  EXPECT_EQ(result(root_ / "whole"), result(root_ / "a"));
}

TEST_F(Runs, WithoutACheckpointStartFromTheSameWeights) {
  options_.recipe.epochs = 1;
  run(in("first"));
  TrainOptions options = in("a");
  options.weights = root_ / "first/weights.safetensors";
  options.seed = 9;
  Stopper stopper(1);
  train(data_, options, stopper);
  remove_checkpoints("a");
  TrainOptions whole = options;
  whole.out = root_ / "whole";
  run(whole);
  options.existing = train::ExistingRun::resume;
  options.weights.clear();  // need not be given again
  run(options);
  EXPECT_EQ(result(root_ / "whole"), result(root_ / "a"));
  remove_checkpoints("a");
  fs::remove(root_ / "a/result.json");
  std::string other = bytes_of(root_ / "first/weights.safetensors");
  other.back() = static_cast<char>(other.back() ^ 1);
  std::ofstream(root_ / "first/weights.safetensors", std::ios::binary) << other;
  EXPECT_THAT([&] { run(options); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("weights of hash")));
}

TEST_F(Runs, WithHarmedWeightsAreNoticed) {
  run(in("a"));
  const fs::path file = root_ / "a/weights.safetensors";
  const std::string whole = bytes_of(file);
  std::string hurt = whole;
  hurt[hurt.size() - 5] = static_cast<char>(hurt[hurt.size() - 5] ^ 1);
  std::ofstream(file, std::ios::binary) << hurt;
  EXPECT_THAT([&] { (void)evaluate_file(file, data_, 1); },
              testing::ThrowsMessage<IoError>(testing::HasSubstr("is damaged")));
  // The checkpoint has them still.
  AfterEpochs silent([] {});
  train(data_, in("a", train::ExistingRun::resume), silent);
  EXPECT_THAT(silent.notes, testing::Contains(testing::HasSubstr("is damaged: writes it again")));
  EXPECT_EQ(bytes_of(file), whole);
  // Older results say nothing of them.
  train::RunResult older = train::read_result(root_ / "a/result.json");
  older.weights_hash.reset();
  train::write_result(root_ / "a/result.json", older);
  std::ofstream(file, std::ios::binary) << hurt;
  EXPECT_EQ(evaluate_file(file, data_, 1).count, 20);
}

TEST_F(Runs, AreNotRepeatedOnceFinished) {
  run(in("a"));
  const std::string before = result(root_ / "a");
  std::ofstream(root_ / "a/result.json", std::ios::app) << '\n';  // as if made elsewhere
  const std::string made = bytes_of(root_ / "a/result.json");
  Stopper stopper(1);  // would stop at the first step
  const TrainResult again = train(data_, in("a", train::ExistingRun::resume), stopper);
  EXPECT_FALSE(again.stopped);
  EXPECT_EQ(again.metrics.size(), 3);
  EXPECT_THAT(stopper.notes, testing::ElementsAre(testing::HasSubstr("is finished")));
  EXPECT_EQ(result(root_ / "a"), before);
  EXPECT_EQ(bytes_of(root_ / "a/result.json"), made);
}

TEST_F(Runs, AreFinishedWithoutTheirCheckpointsToo) {
  run(in("a"));
  remove_checkpoints("a");
  const std::string before = result(root_ / "a");
  Stopper stopper(1);
  const TrainResult again = train(data_, in("a", train::ExistingRun::resume), stopper);
  EXPECT_FALSE(again.stopped);
  EXPECT_EQ(again.metrics.size(), 3);
  EXPECT_THAT(stopper.notes, testing::ElementsAre(testing::HasSubstr("is finished")));
  EXPECT_EQ(result(root_ / "a"), before);
}

TEST_F(Runs, LeaveAFinishedOneThatTheyCannotGoOnFrom) {
  run(in("a"));
  remove_checkpoints("a");
  const auto files = [&] {
    std::string text = result(root_ / "a");
    for (const char* file : {"recipe.json", "result.json"}) text += bytes_of(root_ / "a" / file);
    return text;
  };
  const std::string before = files();
  const auto refuses = [&](const TrainOptions& other, const data::ImageData& data,
                           const char* why) {
    TrainObserver silent;
    EXPECT_THAT([&] { train(data, other, silent); },
                testing::ThrowsMessage<InvalidArgument>(
                    testing::AllOf(testing::HasSubstr("result.json"), testing::HasSubstr(why),
                                   testing::HasSubstr("--overwrite"))));
    EXPECT_EQ(files(), before);
  };
  TrainOptions other = in("a", train::ExistingRun::resume);
  refuses(other, data::open_data(std::string(kData) + ",seed=9"), "other data");
  other.seed = 6;
  refuses(other, data_, "seed 5, this run has 6");
  other = in("a", train::ExistingRun::resume);
  other.recipe.mix.method = "mixup";
  refuses(other, data_, "another recipe");
  other = in("a", train::ExistingRun::resume);
  other.recipe.epochs = 5;
  refuses(other, data_, "without a checkpoint");
}

TEST_F(Runs, ThatStartAnewHaveNoEndYet) {
  run(in("a"));
  remove_checkpoints("a");
  fs::remove(root_ / "a" / "result.json");
  Stopper stopper(1);
  EXPECT_TRUE(train(data_, in("a", train::ExistingRun::resume), stopper).stopped);
  EXPECT_FALSE(fs::exists(root_ / "a" / "weights.safetensors"));
}

TEST_F(Runs, SayThatThereIsNothingToResume) {
  Stopper stopper(1);
  train(data_, in("new", train::ExistingRun::resume), stopper);
  EXPECT_THAT(stopper.notes, testing::Contains(testing::HasSubstr("nothing to resume")));
}

TEST_F(Runs, RefuseToResumeSomethingElse) {
  Stopper stopper(8);
  train(data_, in("a"), stopper);
  TrainOptions other = in("a", train::ExistingRun::resume);
  other.recipe.lr = 0.5;
  EXPECT_THROW(run(other), InvalidArgument);
  other = in("a", train::ExistingRun::resume);
  other.seed = 6;
  EXPECT_THROW(run(other), InvalidArgument);
  TrainObserver silent;
  EXPECT_THROW(train(data::open_data(std::string(kData) + ",seed=9"),
                     in("a", train::ExistingRun::resume), silent),
               InvalidArgument);
  EXPECT_THROW(run(in("a")), InvalidArgument);
}

TEST_F(Runs, RefuseToResumeWithOtherOptionsOfTheirMethod) {
  const auto refuses = [&](const TrainOptions& other, const std::string& why) {
    EXPECT_THAT([&] { run(other); },
                testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr(why)));
  };
  options_.recipe.mix.method = {"gaussian-field", {{"sigma", 0.2}}};
  Stopper stopper(8);
  train(data_, in("a"), stopper);
  TrainOptions other = in("a", train::ExistingRun::resume);
  other.recipe.mix.method.set("sigma", 0.3);
  refuses(other, "(sigma 0.2), this run has sigma 0.3");
  other = in("a", train::ExistingRun::resume);
  other.recipe.mix.classes = ClassRule::same;
  refuses(other, "(same_class false), this run has same_class true");
  const ImageSize size = data_.train.shape.size();
  const auto masks = [&](float value) {
    const std::vector<float> values(static_cast<std::size_t>(size.pixels()), value);
    return std::make_shared<const MaskSet>(MaskSet{size, values});
  };
  options_.recipe.mix.method = {"custom", {{"masks", masks(0.25F)}}};
  Stopper early(8);
  train(data_, in("b"), early);
  other = in("b", train::ExistingRun::resume);
  other.recipe.mix.method.set("masks", masks(0.5F));
  refuses(other, "(masks {\"hash\":\"");
  run(in("b", train::ExistingRun::resume));
  options_.recipe.mix.classes = ClassRule::other;
  run(in("whole"));
  EXPECT_NE(result(root_ / "whole"), result(root_ / "b"));
}

TEST_F(Runs, GoOnFromCheckpointsOfOlderSpelling) {
  run(in("whole"));
  Stopper stopper(8);
  train(data_, in("a"), stopper);
  const fs::path file = std::ranges::max(checkpoints_of("a"));
  train::Checkpoint checkpoint = train::read_checkpoint(file);
  const auto section =
      std::ranges::find(checkpoint.sections, "optimizer", &train::CheckpointSection::name);
  ASSERT_NE(section, checkpoint.sections.end());
  section->name = "optimiser";
  Json state = Json::parse(checkpoint.state);
  Json recipe = Json::parse(state["recipe"].get<std::string>());
  recipe["optimiser"] = recipe["optimizer"];
  recipe["stddev"] = recipe["std"];
  recipe["crop_area"] = 0.08;
  for (const char* name : {"optimizer", "std", "same_class", "other_class"}) recipe.erase(name);
  for (const char* name : {"alpha", "form", "power"}) recipe[name] = nullptr;
  recipe["q_mix"] = 0.5;  // of another method
  state["recipe"] = recipe.dump();
  checkpoint.state = state.dump();
  const std::vector<std::uint8_t> bytes = train::encode_checkpoint(checkpoint);
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  run(in("a", train::ExistingRun::resume));
  EXPECT_EQ(result(root_ / "whole"), result(root_ / "a"));
}

TEST_F(Runs, RefuseToResumeWithOtherDraws) {
  const auto refuse = [&] {
    EXPECT_THAT([&] { run(in("a", train::ExistingRun::resume)); },
                testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr(
                    fmt::format("made with draws version 1, this program has {}", kDrawsVersion))));
  };
  Stopper stopper(8);
  train(data_, in("a"), stopper);
  edit_state("a", [](Json& state) {  // as it was before there was the number
    Json recipe = Json::parse(state["recipe"].get<std::string>());
    recipe.erase("draws");
    state["recipe"] = recipe.dump();
  });
  refuse();
  // Neither is a finished run without checkpoints taken for one of these draws.
  run(in("a", train::ExistingRun::overwrite));
  for (const fs::path& path : checkpoints_of("a")) fs::remove(path);
  for (const char* name : {"recipe.json", "result.json"}) {
    Json json = Json::parse(bytes_of(root_ / "a" / name));
    (json.contains("recipe") ? json["recipe"] : json).erase("draws");
    std::ofstream(root_ / "a" / name) << json.dump();
  }
  refuse();
  fs::remove(root_ / "a" / "result.json");  // nor one that was only begun
  refuse();
}

TEST_F(Runs, RefuseARecipeOfOtherDraws) {
  options_.recipe.draws = 1;
  EXPECT_THAT([&] { run(in("a")); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr(fmt::format(
                  "the recipe is of draws version 1, this program has {}", kDrawsVersion))));
  EXPECT_FALSE(fs::exists(root_ / "a"));
}

TEST_F(Runs, RefuseToResumeWithOtherTestImages) {
  Stopper stopper(8);
  train(data_, in("a"), stopper);
  data::ImageData other = data::open_data(kData);
  other.test.pixels.front() ^= 1;
  TrainObserver silent;
  EXPECT_THAT([&] { train(other, in("a", train::ExistingRun::resume), silent); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("test data of hash")));
}

TEST_F(Runs, RefuseToResumeInAnotherPrecision) {
  Stopper stopper(8);
  train(data_, in("a"), stopper);
  edit_state("a", [](Json& state) { state["precision"] = "bf16"; });
  EXPECT_THAT([&] { run(in("a", train::ExistingRun::resume)); },
              testing::ThrowsMessage<InvalidArgument>(
                  testing::HasSubstr("precision \"bf16\", this run has \"f32\"")));
}

TEST_F(Runs, RefuseToResumeWhereTheyCannotHaveBeen) {
  Stopper stopper(8);
  train(data_, in("a"), stopper);
  const std::string file = std::ranges::max(checkpoints_of("a")).string();
  const std::string good = bytes_of(file);
  const std::tuple<const char*, Json, const char*> lies[] = {
      {"epoch", std::int64_t{1} << 62, "epoch must be a whole number from 0 to 3"},
      {"epoch", 2e152, "epoch must be a whole number"},
      {"epoch", 0, "epoch must be 1, as many as there are metrics of"},
      {"step", std::int64_t{1} << 62, "step must be a whole number from 0 to 5"},
      {"epoch_images", 7, "epoch_images must be a whole number from 20 to 20"},
      {"epoch_seconds", -1, "epoch_seconds must be a number from 0"},
      {"loss_sum", "x", "loss_sum must be a number"},
      {"first_epochs", 7, "first_epochs must be a whole number from 1 to 3"},
      {"metrics", "[", "is not JSON"}};
  for (const auto& lie : lies) {
    std::ofstream(file, std::ios::binary) << good;
    edit_state("a", [&](Json& state) { state[std::get<0>(lie)] = std::get<1>(lie); });
    EXPECT_THAT([&] { run(in("a", train::ExistingRun::resume)); },
                testing::ThrowsMessage<IoError>(testing::HasSubstr(std::get<2>(lie))));
  }
}

TEST_F(Runs, NoteThatTheyGoOnElsewhere) {
  Stopper stopper(8);
  train(data_, in("a"), stopper);
  edit_state("a", [](Json& state) {
    state["device"] = "cuda";
    state["deterministic"] = false;
  });
  Stopper patient(1000);
  EXPECT_FALSE(train(data_, in("a", train::ExistingRun::resume), patient).stopped);
  EXPECT_THAT(patient.notes, testing::IsSupersetOf(
                                 {testing::HasSubstr("device \"cuda\", this run has \"cpu\""),
                                  testing::HasSubstr("deterministic false, this run has true")}));
}

TEST_F(Runs, ResumeFromOlderCheckpoints) {
  Stopper stopper(8);
  train(data_, in("a"), stopper);
  edit_state("a", [](Json& state) {
    for (const char* key : {"test_data", "precision", "device", "deterministic"}) state.erase(key);
  });
  Stopper patient(1000);
  EXPECT_FALSE(train(data_, in("a", train::ExistingRun::resume), patient).stopped);
  EXPECT_THAT(patient.notes, testing::ElementsAre(testing::HasSubstr("goes on from")));
}

TEST_F(Runs, AreNotShortened) {
  run(in("a"));
  TrainOptions shorter = in("a", train::ExistingRun::resume);
  shorter.recipe.epochs = 2;
  EXPECT_THROW(run(shorter), InvalidArgument);
  EXPECT_EQ(train::read_result(root_ / "a" / "result.json").metrics.size(), 3);
  Stopper stopper(1);  // in the first epoch
  train(data_, in("b"), stopper);
  shorter.out = root_ / "b";
  EXPECT_THAT([&] { run(shorter); }, testing::ThrowsMessage<InvalidArgument>(
                                         testing::HasSubstr("a run of 3 epochs, this one has 2")));
}

TEST_F(Runs, ThatGoOnHaveNoResultYet) {
  run(in("a"));
  TrainOptions longer = in("a", train::ExistingRun::resume);
  longer.recipe.epochs = 5;
  Stopper stopper(1);
  EXPECT_TRUE(train(data_, longer, stopper).stopped);
  EXPECT_FALSE(fs::exists(root_ / "a" / "result.json"));
  EXPECT_FALSE(fs::exists(root_ / "a" / "weights.safetensors"));
  run(longer);
  const train::RunResult result = train::read_result(root_ / "a" / "result.json");
  EXPECT_EQ(result.metrics.size(), 5);
  EXPECT_EQ(result.lengthened_from, 3);
  run(in("b"));
  EXPECT_EQ(train::read_result(root_ / "b" / "result.json").lengthened_from, std::nullopt);
}

TEST_F(Runs, StopBetweenEpochsOfOneUpdate) {
  for (const std::int64_t accumulate : {1, 6}) {
    options_.recipe.batch = accumulate == 1 ? 60 : 10;
    options_.recipe.accumulate = accumulate;
    const std::string name = fmt::format("one{}", accumulate);
    Stopper stopper(1);
    const TrainResult stopped = train(data_, in(name), stopper);
    EXPECT_TRUE(stopped.stopped);
    EXPECT_EQ(stopped.metrics.size(), 1);
    run(in(name + "whole"));
    run(in(name, train::ExistingRun::resume));
    EXPECT_EQ(result(root_ / name), result(root_ / (name + "whole")));
  }
}

TEST_F(Runs, AverageTheGradientsOfAShortGroup) {
  options_.recipe.batch = 30;  // two batches
  options_.recipe.momentum = 0;
  options_.recipe.weight_decay = 0;
  options_.recipe.accumulate = 2;
  run(in("two"));
  options_.recipe.accumulate = 4;
  run(in("four"));
  EXPECT_EQ(bytes_of(root_ / "two" / "weights.safetensors"),
            bytes_of(root_ / "four" / "weights.safetensors"));
}

/// Batch norms of the last layers see one pixel of one image.
TEST_F(Runs, RefuseALastBatchOfOnePixelBeforeTheyStart) {
  options_.recipe.model = "resnet18";
  const auto refuses = [&](int images, std::int64_t batch, const char* why) {
    data_ = data::open_data(fmt::format("synthetic:train={},test=2,size=32,classes=2", images));
    options_.recipe.batch = batch;
    EXPECT_THAT([&] { run(in("one")); },
                testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr(why)));
    EXPECT_FALSE(fs::exists(root_ / "one"));
  };
  refuses(41, 10, "use --batch 9 or 11");
  refuses(41, 4, "use --batch 3 or 6");
  refuses(5, 1, "use --batch 3");
  refuses(3, 2, "use --batch 3");
  refuses(1, 4, "resnet18 cannot be trained on one image");
}

TEST_F(Runs, TakeALastBatchOfOneLargerImage) {
  options_.recipe.batch = 59;
  options_.recipe.epochs = 1;
  EXPECT_FALSE(run(in("one")).stopped);
}

TEST_F(Runs, StopWithADiagnosisWhenTheLossIsNoNumber) {
  options_.recipe.lr = 1e30;
  options_.recipe.schedule = train::Schedule::constant;
  try {
    run(in("nan"));
    FAIL();
  } catch (const Error& problem) {
    EXPECT_THAT(problem.what(), testing::HasSubstr("learning rate"));
  }
}

TEST_F(Runs, RefuseCheckpointsThatNeverCome) {
  TrainOptions options = in("a");
  options.checkpoint_epochs = 0;
  EXPECT_THAT([&] { run(options); }, testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr(
                                         "checkpoint_epochs must be >= 1, got 0")));
  options = in("a");
  options.checkpoint_minutes = std::nan("");
  EXPECT_THAT([&] { run(options); }, testing::ThrowsMessage<InvalidArgument>(
                                         testing::HasSubstr("checkpoint_minutes must be > 0")));
  EXPECT_FALSE(fs::exists(root_ / "a"));
}

TEST_F(Runs, RefuseClassNamesThatNoCheckpointCanHold) {
  data::ImageData data = data_;
  data.classes[0] = "caf\xe9";
  TrainObserver silent;
  EXPECT_THAT([&] { train(data, in("a"), silent); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("must be UTF-8")));
  EXPECT_FALSE(fs::exists(root_ / "a"));
}

TEST_F(Runs, CanBeEvaluated) {
  const TrainResult trained = run(in("a"));
  const Evaluation e = evaluate_file(root_ / "a" / "weights.safetensors", data_, 1);
  EXPECT_EQ(e.count, 20);
  EXPECT_DOUBLE_EQ(e.top1, trained.metrics.back().score->test_top1);
}

TEST_F(Runs, AreEvaluatedByTheirAveragedWeights) {
  options_.recipe.ema = 0.99;
  const train::Score last = *run(in("a")).metrics.back().score;
  ASSERT_NE(last.ema_test_top1, last.test_top1);
  const Evaluation e = evaluate_file(std::ranges::max(checkpoints_of("a")), data_, 1);
  EXPECT_DOUBLE_EQ(e.top1, *last.ema_test_top1);
  EXPECT_EQ(e.confusion, evaluate_file(root_ / "a" / "weights.safetensors", data_, 1).confusion);
}

/// Starts the program; it dies with SIGKILL after `delay`, unless it is done before.
bool run_and_kill(const fs::path& out, std::chrono::milliseconds delay) {
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    dup2(null, 2);
    const char* often = "0.0005";        // minutes
    if (fs::exists(out / "run.json")) {  // which says the rest
      execl(MEDLEY_NN_PROGRAM, "medley", "train", "--checkpoint-minutes", often, "--resume",
            "--out", out.c_str(), nullptr);
    }
    execl(MEDLEY_NN_PROGRAM, "medley", "train", "--data", kData, "--epochs", "3", "--batch", "10",
          "--method", "hmix", "--seed", "5", "--threads", "1", "--checkpoint-minutes", often,
          "--resume", "--out", out.c_str(), nullptr);
    _exit(127);
  }
  const auto deadline = std::chrono::steady_clock::now() + delay;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(Runs, GiveTheSameBitsHoweverOftenTheyAreKilled) {
  constexpr int kKills = 25;
  run(in("whole"));
  // How long a run takes here, so that the kills fall all over it.
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(run_and_kill(root_ / "timed", std::chrono::minutes(5)));
  const auto whole = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result(root_ / "whole"), result(root_ / "timed"));
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0.3, 1.1);
  int kills = 0;
  for (int runs = 0; kills < kKills; ++runs) {
    const fs::path out = root_ / fmt::format("killed{}", runs);
    for (;;) {
      const auto delay =
          std::chrono::duration_cast<std::chrono::milliseconds>(share(random) * whole);
      if (run_and_kill(out, kills < kKills ? delay : std::chrono::minutes(5))) break;
      ++kills;
    }
    EXPECT_EQ(result(root_ / "whole"), result(out)) << "run " << runs;
    for (const char* file : {"recipe.json", "batch.png"}) {
      EXPECT_EQ(bytes_of(root_ / "timed" / file), bytes_of(out / file)) << "run " << runs;
    }
    for (const auto& entry : fs::directory_iterator(out)) {
      const std::string name = entry.path().filename();
      EXPECT_FALSE(name.ends_with(".part") || name.starts_with(".")) << name;
    }
  }
}

}  // namespace
}  // namespace medley::nn
