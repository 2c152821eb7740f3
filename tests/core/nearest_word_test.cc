#include "core/nearest_word.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace medley {
namespace {

constexpr std::array<std::string_view, 8> kWords = {"none",  "mixup", "cutmix",       "batch",
                                                    "train", "lam",   "weight-decay", "optimiser"};

TEST(NearestWord, IsAFewLettersAway) {
  EXPECT_EQ(nearest_word("cutmx", kWords), "cutmix");
  EXPECT_EQ(nearest_word("tran", kWords), "train");
  EXPECT_EQ(nearest_word("optimizer", kWords), "optimiser");
}

TEST(NearestWord, DoesNotMindCaseAndUnderscores) {
  EXPECT_EQ(nearest_word("CUTMIX", kWords), "cutmix");
  EXPECT_EQ(nearest_word("weight_decay", kWords), "weight-decay");
}

TEST(NearestWord, MayBeTheBeginningOrTheContinuation) {
  EXPECT_EQ(nearest_word("batch-size", kWords), "batch");
  EXPECT_EQ(nearest_word("lambda", kWords), "lam");
  EXPECT_EQ(nearest_word("weight", kWords), "weight-decay");
}

TEST(NearestWord, IsNoneIfNothingIsNear) {
  for (const char* text : {"", "x", "foo", "puzzlemix", "smoth"}) {
    EXPECT_EQ(nearest_word(text, kWords), "") << text;
  }
  EXPECT_EQ(nearest_word(std::string(1000000, 'c'), kWords), "");
}

TEST(NearestWord, IsSuggestedInASentence) {
  EXPECT_EQ(suggestion("mixp", kWords), "; did you mean \"mixup\"?");
  EXPECT_EQ(suggestion("foo", kWords), "");
}

}  // namespace
}  // namespace medley
