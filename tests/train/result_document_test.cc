#include "train/result_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"
#include "train/made_up_results.h"

namespace medley::train {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string kBegin = "<!-- results: preactresnet18 -->\n";
const std::string kEnd = "<!-- /results -->\n";

std::vector<ResultTable> one_table() {
  return tabulate({{"a", made_up_result("preactresnet18", "none", 1, 76.8)}});
}

TEST(ResultDocument, GetsItsTablesAndKeepsTheRest) {
  const std::string before = "# Title\n\n" + kBegin;
  const std::string after = kEnd + "    " + kBegin + "\nThe end";
  const std::string filled = with_tables(before + after, "d.md", one_table());
  EXPECT_EQ(filled, before + "\n" + to_markdown(one_table()[0]) + "\n" + after);
  EXPECT_EQ(with_tables(filled, "d.md", one_table()), filled);
  EXPECT_FALSE(first_difference(filled, filled));
}

TEST(ResultDocument, SaysWhichLineDiffers) {
  const std::string filled = with_tables("a\n" + kBegin + kEnd, "d.md", one_table());
  std::string edited = filled;
  edited.replace(edited.find("76.80"), 5, "77.80");
  const auto difference = first_difference(edited, filled);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->line, 6);
  EXPECT_THAT(difference->a, HasSubstr("| 77.80 |"));
  EXPECT_THAT(difference->b, HasSubstr("| 76.80 |"));
  EXPECT_EQ(first_difference("a\n", "a\nb\n")->line, 2);
  EXPECT_EQ(first_difference("a\nb\n", "a\nc\n")->b, "c");
}

TEST(ResultDocument, RefusesMarkersThatDoNotMatch) {
  const auto refused = [](const std::string& document, const char* text) {
    EXPECT_THAT([&] { (void)with_tables(document, "d.md", one_table()); },
                ThrowsMessage<IoError>(HasSubstr(text)));
  };
  refused("a\n" + kBegin, "d.md:2: this table has no end");
  refused(kBegin + kBegin + kEnd, "d.md:1: this table has no end");
  refused(kBegin + kEnd + kEnd, "d.md:3: no table begins");
  refused(kBegin + kEnd + "<!-- results: wrn28-2 -->\n" + kEnd, "d.md:3: no results of wrn28-2");
  refused("<!-- results: -->\n" + kEnd, "d.md:1: no results of");
  refused("text\n", "d.md has no table of preactresnet18: add the lines");
}

}  // namespace
}  // namespace medley::train
