#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "medley/data/image.h"
#include "medley/mix.h"
#include "medley/policy.h"

namespace medley::cli_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kHeight = 20;
constexpr int kWidth = 27;

class MixVerb : public CliTest {
 protected:
  MixVerb() {
    write_picture(path("a.png"), 1, kHeight, kWidth);
    write_picture(path("b.png"), 2, kHeight, kWidth);
  }

  /// Runs in the test's folder.
  [[nodiscard]] Outcome mix(const Arguments& arguments) const {
    return medley(Arguments{"mix"} + arguments, {.folder = folder_});
  }
  [[nodiscard]] data::Image image(const std::string& name) const {
    return data::read_image(folder_ / name);
  }
};

TEST_F(MixVerb, PrintsTheObjectOfTheContract) {
  for (int turn = 0; turn < 2; ++turn) {  // the second time over existing files
    const Outcome outcome = mix({"a.png", "b.png", "--method", "gmix", "--lam", "0.65", "--seed",
                                 "9", "-o", "out.png", "--mask-out", "mask.png", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, IsEmpty());
    const json report = outcome.json();
    EXPECT_EQ(report["schema"], "medley.mix/1");
    EXPECT_EQ(report["method"], "gmix");
    EXPECT_EQ(report["seed"], 9);
    EXPECT_EQ(report["lam"], 0.65);
    EXPECT_TRUE(report["label_weight"].is_number());
    EXPECT_EQ(report["mask"]["kind"], "gaussian");
    EXPECT_EQ(report["mask"]["peak"], "partner");
    EXPECT_EQ(report["height"], kHeight);
    EXPECT_EQ(report["width"], kWidth);
    EXPECT_EQ(report["inputs"], json({"a.png", "b.png"}));
    EXPECT_EQ(report["output"], "out.png");
    EXPECT_EQ(report["mask_output"], "mask.png");
    EXPECT_THAT(names(), ElementsAre("a.png", "b.png", "mask.png", "out.png"));
  }
  EXPECT_EQ(image("out.png").size, (ImageSize{kHeight, kWidth}));
}

TEST_F(MixVerb, WorksInThePlainFormOfTheContract) {
  const Arguments plain = {"a.png", "b.png", "--method", "gmix", "--lam", "0.65", "-o", "OUT.png"};
  const Outcome first = mix(plain);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("seed 0"));
  const std::string bytes = read_file(path("OUT.png"));
  EXPECT_EQ(mix(plain).code, 0);
  EXPECT_EQ(read_file(path("OUT.png")), bytes) << "same command, same picture";
}

TEST_F(MixVerb, MixupBlendsPixels) {
  ASSERT_EQ(mix({"a.png", "b.png", "--lam", "0.25", "-o", "out.png"}).code, 0);
  const data::Image a = image("a.png");
  const data::Image b = image("b.png");
  const data::Image out = image("out.png");
  for (std::size_t i = 0; i < out.rgb.size(); ++i) {
    // Exact in single precision, so ties are ties.
    EXPECT_EQ(out.rgb[i], std::nearbyint(0.25 * a.rgb[i] + 0.75 * b.rgb[i]));
  }
}

TEST_F(MixVerb, LamOneAndZeroCopy) {
  ASSERT_EQ(mix({"a.png", "b.png", "--lam", "1", "-o", "one.png"}).code, 0);
  EXPECT_EQ(image("one.png"), image("a.png"));
  ASSERT_EQ(mix({"a.png", "b.png", "--lam", "0", "-o", "zero.png"}).code, 0);
  EXPECT_EQ(image("zero.png"), image("b.png"));
}

TEST_F(MixVerb, MaskFileHoldsTheRoundedWeights) {
  for (const char* method : {"mixup", "cutmix", "hmix", "gmix", "fmix", "bernoulli", "resizemix",
                             "gaussian-field", "stochastic", "none"}) {
    const Arguments common = {"--method", method, "--seed", "4", "--quiet", "--json"};
    const Outcome mixed =
        mix(Arguments{"a.png", "b.png", "-o", "out.png", "--mask-out", "mask.png"} + common);
    ASSERT_EQ(mixed.code, 0) << mixed.err;
    const json entry =
        medley(Arguments{"plan", "--batch", "2", "--pairing", "reverse", "--height",
                         std::to_string(kHeight), "--width", std::to_string(kWidth), "--masks"} +
               common)
            .json()["entries"][0];
    EXPECT_EQ(mixed.json()["lam"], entry["lam"]) << method;
    EXPECT_EQ(mixed.json()["label_weight"], entry["label_weight"]) << method;
    EXPECT_EQ(mixed.json()["mask"]["kind"], entry["mask"]["kind"]) << method;
    const data::Image mask = image("mask.png");
    ASSERT_EQ(mask.size, (ImageSize{kHeight, kWidth}));
    const data::Image a = image("a.png");
    const data::Image b = image("b.png");
    const data::Image out = image("out.png");
    for (std::size_t i = 0; i < a.rgb.size(); ++i) {
      const double m = entry["values"][i / 3 / kWidth][i / 3 % kWidth].get<double>();
      EXPECT_EQ(mask.rgb[i], std::nearbyint(255 * std::clamp(m, 0.0, 1.0))) << method;
      if (std::string(method) == "resizemix") continue;
      // One for rounding, and what single precision may add to a tie.
      const double expected = std::clamp(m * a.rgb[i] + (1 - m) * b.rgb[i], 0.0, 255.0);
      EXPECT_NEAR(out.rgb[i], expected, 0.501) << method;
    }
  }
}

TEST_F(MixVerb, MaskFileIsGray) {
  ASSERT_EQ(mix({"a.png", "b.png", "-o", "out.png", "--mask-out", "mask.png"}).code, 0);
  constexpr std::size_t kDepthAt = 24;  // bit depth, then color type, in the IHDR chunk
  EXPECT_EQ(read_file(path("mask.png")).substr(kDepthAt, 2), std::string("\x08\x00", 2));
}

TEST_F(MixVerb, ResizesThePartnerAndSaysSo) {
  write_picture(path("big.png"), 3, 64, 48);
  const Outcome outcome = mix({"a.png", "big.png", "-o", "out.png"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("note: big.png resized from 64x48 to 20x27"));
  EXPECT_EQ(image("out.png").size, (ImageSize{kHeight, kWidth}));
  EXPECT_THAT(mix({"a.png", "big.png", "-o", "out.png", "--quiet"}).err, IsEmpty());
}

TEST_F(MixVerb, ReadsJpeg) {
  write_jpeg(path("photo.jpg"), 5, 33, 17);
  const Outcome outcome = mix({"photo.jpg", "b.png", "--method", "cutmix", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["output"], "photo-mixed.png");
  EXPECT_EQ(image("photo-mixed.png").size, (ImageSize{33, 17}));
}

TEST_F(MixVerb, EveryMethodMakesAPicture) {
  ASSERT_EQ(mix({"a.png", "b.png", "-o", "x.png", "--method", "fmix", "--mask-out", "m.png"}).code,
            0);
  for (const MethodInfo* method : methods()) {
    Arguments arguments = {"a.png",  "b.png",   "--method", std::string(method->name),
                           "-o",     "out.png", "--pad",    "2",
                           "--flip", "0.5",     "--json"};
    if (method->name == "custom") arguments = arguments + Arguments{"--mask-in", "m.png"};
    const Outcome outcome = mix(arguments);
    EXPECT_EQ(outcome.code, 0) << method->name << outcome.err;
    EXPECT_EQ(outcome.json()["method"], method->name);
  }
}

TEST_F(MixVerb, CustomMaskSelectsPixels) {
  const std::vector<std::uint8_t> gray = [] {
    std::vector<std::uint8_t> values(std::size_t{kHeight} * kWidth, 0);
    std::fill(values.begin(), values.begin() + 5 * kWidth, 255);
    return values;
  }();
  data::write_png_gray(path("top.png"), {kHeight, kWidth}, gray);
  const Outcome outcome = mix({"a.png", "b.png", "--method", "custom", "--mask-in", "top.png", "-o",
                               "out.png", "--mask-out", "copy.png", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NEAR(outcome.json()["label_weight"].get<double>(), 0.25, 1e-12);
  EXPECT_EQ(image("copy.png"), image("top.png"));
  data::Image expected = image("b.png");
  const data::Image a = image("a.png");
  std::copy_n(a.rgb.begin(), 3 * 5 * kWidth, expected.rgb.begin());
  EXPECT_EQ(image("out.png"), expected);

  data::write_png_gray(path("small.png"), {1, 1}, std::vector<std::uint8_t>{9});
  const Outcome small = mix({"a.png", "b.png", "--method", "custom", "--mask-in", "small.png"});
  EXPECT_EQ(small.code, 2);
  EXPECT_THAT(small.err, HasSubstr("20x27, got 1x1"));
}

TEST_F(MixVerb, NMixupTakesAsManyFilesAsItIsGiven) {
  write_picture(path("c.png"), 3, kHeight, kWidth);
  const Outcome outcome = mix(
      {"a.png", "b.png", "c.png", "--method", "nmixup", "--seed", "3", "-o", "out.png", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json weights = outcome.json()["weights"];
  ASSERT_EQ(weights.size(), 3);
  const data::Image files[] = {image("a.png"), image("b.png"), image("c.png")};
  const data::Image out = image("out.png");
  for (std::size_t i = 0; i < out.rgb.size(); ++i) {
    double expected = 0;
    for (std::size_t k = 0; k < 3; ++k) expected += weights[k].get<double>() * files[k].rgb[i];
    EXPECT_NEAR(out.rgb[i], expected, 0.501);
  }
  const Outcome few = mix({"a.png", "b.png", "--method", "nmixup", "--n", "3", "-o", "few.png"});
  EXPECT_EQ(few.code, 2);
  EXPECT_THAT(few.err, HasSubstr("n must be the number of files, 2, got 3"));
  const Outcome many = mix({"a.png", "b.png", "c.png", "--method", "gmix", "-o", "many.png"});
  EXPECT_EQ(many.code, 2);
  EXPECT_THAT(many.err, HasSubstr("nmixup mixes more"));
  EXPECT_EQ(mix({"a.png", "-o", "one.png"}).code, 2);
  EXPECT_THAT(names(), ElementsAre("a.png", "b.png", "c.png", "out.png"));
}

TEST_F(MixVerb, DefaultNameIsNeverReplaced) {
  EXPECT_EQ(mix({"a.png", "b.png"}).code, 0);
  const std::string before = read_file(path("a-mixed.png"));
  const Outcome again = mix({"a.png", "b.png", "--seed", "2"});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("a-mixed.png exists; name an output with -o"));
  EXPECT_EQ(read_file(path("a-mixed.png")), before);
  EXPECT_EQ(mix({"a.png", "b.png", "--seed", "2", "--overwrite"}).code, 0);
  EXPECT_NE(read_file(path("a-mixed.png")), before);
}

TEST_F(MixVerb, TurnsPicturesAsExifSaysUnlessToldOtherwise) {
  constexpr int kOnItsSide = 6;
  write_turned_jpeg(path("phone.jpg"), 1, kHeight, kWidth, kOnItsSide);
  write_jpeg(path("plain.jpg"), 1, kHeight, kWidth);
  const Arguments alone = {"--method", "none", "-o", "out.png"};
  ASSERT_EQ(mix(Arguments{"phone.jpg", "phone.jpg"} + alone).code, 0);
  const data::Image upright = image("out.png");
  EXPECT_EQ(upright.size, (ImageSize{kWidth, kHeight}));
  ASSERT_EQ(mix(Arguments{"phone.jpg", "phone.jpg", "--no-exif"} + alone).code, 0);
  const data::Image stored = image("out.png");
  EXPECT_EQ(stored, image("plain.jpg"));
  EXPECT_EQ(upright.rgb[0], stored.rgb[std::size_t{3} * (kHeight - 1) * kWidth]);

  std::filesystem::create_directory(folder_ / "in");
  std::filesystem::rename(folder_ / "phone.jpg", folder_ / "in/phone.jpg");
  for (const auto& [flags, size] : {std::pair<Arguments, ImageSize>{{}, upright.size},
                                    {{"--no-exif", "--overwrite"}, stored.size}}) {
    const Outcome outcome = mix(Arguments{"in", "--out", "out", "--count", "1"} + flags);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(image("out/000000.png").size, size);
  }
}

TEST_F(MixVerb, DamageThatOthersPassOverIsANote) {
  write_jpeg(path("whole.jpg"), 5, 64, 64);
  std::string bytes = read_file(path("whole.jpg"));
  bytes.replace(bytes.size() - 30, 2, "\xFF\xD9");
  write_file(path("odd.jpg"), bytes);
  const Outcome outcome = mix({"odd.jpg", "a.png", "-o", "out.png"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("note: odd.jpg is damaged, but was decoded: "));
}

TEST_F(MixVerb, TooWideAPictureIsNamed) {
  std::string png = read_file(path("a.png"));
  png.replace(16, 4, std::string("\0\0\x80\x01", 4));
  write_file(path("wide.png"), png);
  const Outcome outcome = mix({"a.png", "wide.png", "-o", "out.png"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("error: wide.png is too large: expected at most 134217728 "
                                     "pixels and 32768 on a side, got 32769 x 20"));
}

TEST_F(MixVerb, NeverReplacesAnInput) {
  const std::string before = read_file(path("a.png"));
  EXPECT_EQ(mix({"a.png", "b.png", "-o", "./a.png"}).code, 2);
  EXPECT_EQ(mix({"a.png", "b.png", "-o", "x.png", "--mask-out", "x.png"}).code, 2);
  EXPECT_EQ(mix({"a.png", "b.png", "-o", "out.jpg"}).code, 2);
  EXPECT_EQ(read_file(path("a.png")), before);
  EXPECT_THAT(names(), ElementsAre("a.png", "b.png"));
}

TEST_F(MixVerb, BrokenInputIsAnErrorAndNothingIsWritten) {
  const std::string png = read_file(path("a.png"));
  write_jpeg(path("whole.jpg"), 5, 64, 64);
  write_file(path("short.jpg"), read_file(path("whole.jpg")).substr(0, 700));
  write_file(path("short.png"), png.substr(0, png.size() / 2));
  write_file(path("empty.png"), "");
  write_file(path("text.png"), "this is no picture");
  const std::vector<std::string> before = names();
  for (const char* name : {"short.jpg", "short.png", "empty.png", "text.png", "missing.png", "."}) {
    for (const Arguments& pair : {Arguments{"a.png", name}, Arguments{name, "a.png"}}) {
      const Outcome outcome = mix(pair + Arguments{"-o", "out.png", "--mask-out", "mask.png"});
      EXPECT_EQ(outcome.code, 1) << name;
      EXPECT_THAT(outcome.err, testing::StartsWith("error: ")) << name;
      EXPECT_THAT(outcome.err, HasSubstr(name));
      EXPECT_THAT(outcome.out, IsEmpty());
    }
  }
  EXPECT_EQ(names(), before);
}

TEST_F(MixVerb, WhatCannotWorkIsSaidBeforeAnythingIsRead) {
  write_file(path("broken.png"), "broken");
  const auto answer = [&](const Arguments& more) {
    return mix(Arguments{"broken.png", "b.png"} + more).err;
  };
  EXPECT_THAT(answer({"--method", "cutmix", "--lam", "2"}), HasSubstr("lam must be in [0, 1]"));
  EXPECT_THAT(answer({"--threads", "-1"}), HasSubstr("threads must be in"));
  EXPECT_THAT(answer({"-o", "no/dir/o.png"}), HasSubstr("there is no folder no/dir"));
  EXPECT_THAT(answer({"-o", "o.png", "--mask-out", "no/m.png"}),
              HasSubstr("there is no folder no"));
  EXPECT_THAT(mix({".", "--out", "out", "--count", "1", "--same-class"}).err,
              HasSubstr("--labels FILE"));
}

TEST_F(MixVerb, UnwritableOutputLeavesNothing) {
  EXPECT_EQ(mix({"a.png", "b.png", "-o", "missing/out.png"}).code, 1);
  EXPECT_EQ(mix({"a.png", "b.png", "-o", "a.png/out.png"}).code, 1);
  const Outcome outcome = mix({"a.png", "b.png", "-o", "out.png", "--mask-out", "no/mask.png"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("there is no folder"));
  EXPECT_THAT(names(), ElementsAre("a.png", "b.png"));
}

TEST_F(MixVerb, BackendsGiveTheSameBits) {
  for (const char* method : {"mixup", "hmix", "gmix", "resizemix", "fmix"}) {
    const Arguments common = {"a.png", "b.png", "--method", method, "--seed", "5", "-o"};
    ASSERT_EQ(mix(common + Arguments{"fast.png", "--backend", "cpu", "--threads", "2"}).code, 0);
    ASSERT_EQ(mix(common + Arguments{"plain.png", "--backend", "reference"}).code, 0);
    EXPECT_EQ(read_file(path("fast.png")), read_file(path("plain.png"))) << method;
  }
}

TEST_F(MixVerb, CudaGivesTheSameBitsOrOneClearSentence) {
  const Arguments common = {"a.png", "b.png", "--method", "hmix", "--seed", "5", "-o"};
  ASSERT_EQ(mix(common + Arguments{"auto.png", "--backend", "auto"}).code, 0);
  const auto before = names();
  const Outcome outcome = mix(common + Arguments{"cuda.png", "--backend", "cuda"});
  const auto available = available_backends();
  if (std::find(available.begin(), available.end(), Backend::cuda) != available.end()) {
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(read_file(path("cuda.png")), read_file(path("auto.png")));
    return;
  }
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, testing::StartsWith("error: "));
  EXPECT_THAT(outcome.err, HasSubstr("use --backend cpu"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_EQ(names(), before);
}

TEST_F(MixVerb, RefusesOptionsOfFolders) {
  const Outcome outcome = mix({"a.png", "b.png", "--out", "folder"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--out is for a folder of images"));
  const Outcome pairing = mix({"a.png", "b.png", "-o", "out.png", "--pairing", "roll"});
  EXPECT_EQ(pairing.code, 0);
  EXPECT_THAT(pairing.err, HasSubstr("note: --pairing is not used with files"));
}

}  // namespace
}  // namespace medley::cli_test
