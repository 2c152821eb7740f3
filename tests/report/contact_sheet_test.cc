#include "medley/report/pictures.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "medley/data/dataset.h"
#include "medley/error.h"
#include "report/sheet_cell.h"

namespace medley::report {
namespace {

ContactSheetOptions small_options() {
  ContactSheetOptions options;
  options.tile = 24;
  options.lams = {0.2, 0.8};
  return options;
}

SheetRow row_of(std::string_view method) {
  SheetRow row;
  row.title = method;
  row.policy.method = method;
  return row;
}

std::vector<data::Image> pictures(std::int32_t side) {
  return {data::synthetic_image(1, 0, 0, {side, side}),
          data::synthetic_image(1, 1, 2, {side, side}),
          data::synthetic_image(1, 2, 8, {side, side})};
}

std::size_t colors(const data::Image& image) {
  std::set<std::uint32_t> seen;
  for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
    seen.insert(image.rgb[i] << 16 | image.rgb[i + 1] << 8 | image.rgb[i + 2]);
  }
  return seen.size();
}

TEST(ContactSheet, HasARowForEveryMethod) {
  const auto rows = default_sheet_rows();
  ASSERT_EQ(rows.size(), methods().size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].title, methods()[i]->name);
}

TEST(ContactSheet, ShowsPicturesAndIsDeterministic) {
  const data::Image sheet = contact_sheet(small_options());
  EXPECT_EQ(sheet.rgb.size(), static_cast<std::size_t>(3 * sheet.size.pixels()));
  EXPECT_GT(colors(sheet), 1000u);
  EXPECT_EQ(contact_sheet(small_options()), sheet);
  ContactSheetOptions other = small_options();
  other.seed += 1;
  EXPECT_NE(contact_sheet(other), sheet);
}

TEST(ContactSheet, GrowsByARowAndAColumn) {
  ContactSheetOptions options = small_options();
  options.rows = {row_of("mixup"), row_of("cutmix")};
  const ImageSize two = contact_sheet(options).size;
  options.rows.push_back(row_of("hmix"));
  const ImageSize three = contact_sheet(options).size;
  EXPECT_EQ(three.width, two.width);
  EXPECT_GT(three.height, two.height + options.tile);
  options.lams.push_back(1);
  EXPECT_GT(contact_sheet(options).size.width, two.width + 2 * options.tile);
}

TEST(ContactSheet, ResizesTheSourcesItIsGiven) {
  ContactSheetOptions options = small_options();
  options.rows = {row_of("mixup")};
  options.sources = {data::synthetic_image(5, 1, 1, {50, 70}),
                     data::synthetic_image(5, 2, 3, {20, 20})};
  EXPECT_NE(contact_sheet(options), contact_sheet(small_options()));
}

TEST(ContactSheet, RefusesWrongOptions) {
  const auto refuses = [](auto&& change) {
    ContactSheetOptions options = small_options();
    EXPECT_THROW(
        {
          change(options);
          (void)contact_sheet(options);
        },
        InvalidArgument);
  };
  refuses([](auto& o) { o.tile = 4; });
  refuses([](auto& o) { o.tile = 5000; });
  refuses([](auto& o) { o.lams.clear(); });
  refuses([](auto& o) { o.lams = {std::numeric_limits<double>::quiet_NaN()}; });
  refuses([](auto& o) { o.lams = {1.5}; });
  refuses([](auto& o) { o.rows = {row_of("cutmux")}; });
  refuses([](auto& o) {
    o.rows = {row_of("nmixup")};
    o.rows[0].policy.method.set("n", 1000);
  });
  refuses([](auto& o) { o.sources = {data::Image{}}; });
}

TEST(SheetCell, ShowsTheBlendAndItsMask) {
  const auto sources = pictures(16);
  const SheetCell cell = mix_cell(row_of("mixup"), 0.25, sources, 1, 0);
  for (std::size_t i = 0; i < cell.mixed.rgb.size(); ++i) {
    EXPECT_NEAR(cell.mixed.rgb[i], 0.25 * sources[0].rgb[i] + 0.75 * sources[1].rgb[i], 0.51);
  }
  EXPECT_TRUE(std::all_of(cell.mask.begin(), cell.mask.end(), [](int v) { return v == 64; }));
  EXPECT_EQ(cell.label, "0.25 + 0.75");
}

TEST(SheetCell, MasksAreWhiteWhereTheOwnImageIs) {
  const auto sources = pictures(32);
  const SheetCell cell = mix_cell(row_of("cutmix"), 0.7, sources, 6, 0);
  for (std::size_t i = 0; i < cell.mask.size(); ++i) {
    const data::Image& from = sources[cell.mask[i] == 255 ? 0 : 1];
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(cell.mixed.rgb[3 * i + c], from.rgb[3 * i + c]);
    }
  }
}

TEST(SheetCell, CustomShowsADiscOfMeanLam) {
  const auto sources = pictures(32);
  for (const double lam : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    const SheetCell cell = mix_cell(row_of("custom"), lam, sources, 1, 0);
    double sum = 0;
    for (const std::uint8_t value : cell.mask) sum += value / 255.0;
    EXPECT_NEAR(sum / static_cast<double>(cell.mask.size()), lam, 0.01);
  }
}

TEST(SheetCell, NamesEveryWeightOfNMixup) {
  const auto sources = pictures(16);
  const SheetCell cell = mix_cell(row_of("nmixup"), 0.5, sources, 1, 0);
  EXPECT_EQ(std::count(cell.label.begin(), cell.label.end(), '+'), 2);
  EXPECT_EQ(cell.label.substr(0, 4), "0.50");
}

TEST(SheetCell, ClampsUnboundedMasks) {
  const auto sources = pictures(16);
  const SheetCell cell = mix_cell(row_of("gaussian-field"), 1.5, sources, 1, 0);
  EXPECT_GT(*std::max_element(cell.mask.begin(), cell.mask.end()), 200);
  EXPECT_NE(cell.label.find("−"), std::string::npos);
}

TEST(MethodPicture, WorksForEveryMethod) {
  for (const SheetRow& row : default_sheet_rows()) {
    const data::Image picture = method_picture(row, small_options());
    EXPECT_GT(colors(picture), 200u) << row.title;
    EXPECT_GT(picture.size.height, 2 * 24) << row.title;
  }
}

}  // namespace
}  // namespace medley::report
