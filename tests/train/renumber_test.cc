#include "train/renumber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace medley {
namespace {

using testing::ElementsAre;

TEST(Renumber, CountsImagesFromZeroAndTheirNumbersFromTheBase) {
  MixPlan plan;
  plan.base = 100;
  plan.entries.resize(2);
  plan.entries[0].own.index = 107;
  plan.entries[0].partner.index = 103;
  plan.entries[1].own.index = 103;
  plan.entries[1].partner.index = 105;
  plan.terms = {{{105}, 0.5}, {{101}, 0.5}};
  EXPECT_THAT(renumber(plan), ElementsAre(7, 3, 5, 1));
  EXPECT_EQ(plan.base, 0);
  EXPECT_EQ(plan.entries[0].own.index, 0);
  EXPECT_EQ(plan.entries[0].partner.index, 1);
  EXPECT_EQ(plan.entries[1].own.index, 1);
  EXPECT_EQ(plan.entries[1].partner.index, 2);
  EXPECT_EQ(plan.terms[0].source.index, 2);
  EXPECT_EQ(plan.terms[1].source.index, 3);
}

}  // namespace
}  // namespace medley
