#include "report/demo_page.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace medley::report {
namespace {

using testing::HasSubstr;
using testing::Not;

DemoPage trained(double without, double with) {
  DemoPage page;
  page.contact_sheet = "contact_sheet.png";
  page.training = {"fashion-mnist", 300, 2000, 10, "resnet8", 200, 1, {}};
  page.training.runs = {{"none", without, 100}, {"hmix", with, 93.75}};
  return page;
}

TEST(DemoPage, ShowsTestBesideTrainAccuracy) {
  const std::string html = demo_page(trained(76.25, 80.5));
  EXPECT_THAT(html, HasSubstr("<td><code>hmix</code></td><td>80.5</td><td>+4.2</td><td>93.8</td>"));
  EXPECT_THAT(html, HasSubstr("class=\"train\" style=\"width: 75.0%\"></span>93.8"));
  EXPECT_THAT(html, HasSubstr("class=\"test\" style=\"width: 64.4%\"></span>80.5"));
  EXPECT_THAT(html, HasSubstr("300 photographs of clothes (Fashion-MNIST), 30 of each of 10"));
  EXPECT_THAT(html, HasSubstr("scored on 2,000 others"));
}

TEST(DemoPage, SaysWhichMethodsAreNotAboveTrainingWithoutMixing) {
  EXPECT_THAT(demo_page(trained(76, 80)), HasSubstr("each of the 1 methods is above"));
  EXPECT_THAT(demo_page(trained(80, 80)), HasSubstr("0 of 1 methods are above"));
  EXPECT_THAT(demo_page(trained(80, 80)), HasSubstr("<code>hmix</code> not."));
}

TEST(DemoPage, SaysThatTheSettingWasChosenAndWhereMixingDoesNotHelp) {
  const std::string html = demo_page(trained(76, 80));
  EXPECT_THAT(html, HasSubstr("chosen to show what mixing is for"));
  EXPECT_THAT(html, HasSubstr("NVIDIA H200"));
  EXPECT_THAT(html, HasSubstr("three seeds"));
  // 2,000 photographs: none, and mixup below it
  EXPECT_THAT(html, HasSubstr("<td>86.4</td><td><span class=\"below\">84.6 ↓</span></td>"));
  EXPECT_THAT(html, HasSubstr("CutMix loses on the drawn pictures in every setting"));
}

TEST(DemoPage, LeavesOutWhatThereIsNot) {
  const std::string html = demo_page({});
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, HasSubstr("not trained yet"));
  DemoPage page = trained(76, 80);
  page.gallery = "gallery.png";
  EXPECT_THAT(demo_page(page), Not(HasSubstr("gallery.png"))) << "nothing says what it shows";
  page.comparison = {"hmix", 201, 120, 2000};
  EXPECT_THAT(demo_page(page),
              HasSubstr("201 are right only with <code>hmix</code>, and 120 only"));
  EXPECT_THAT(demo_page(page), HasSubstr("<img src=\"gallery.png\""));
}

TEST(DemoPage, NeedsNothingFromElsewhere) {
  DemoPage page = trained(76, 80);
  page.training.model = "<script>&";
  const std::string html = demo_page(page);
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;&amp;"));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
}

}  // namespace
}  // namespace medley::report
