#include "core/json.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"

namespace medley {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::string refusal(const std::string& text, const JsonLimits& limits = {}) {
  try {
    (void)parse_json(text, "f.json", JsonError::io, limits);
  } catch (const IoError& problem) {
    return problem.what();
  }
  return "accepted";
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(ParseJson, GivesTheValuesOfTheText) {
  for (const char* text :
       {"null", "-1.5", "[]", "{}", R"({"a": [1, -2, 18446744073709551615, 0.5], "b": {"": "ü"}})",
        R"([[[]], {"x": {"y": {}}}, true, false, null, "\u00fc\n"])", "\xEF\xBB\xBF[1]"}) {
    EXPECT_EQ(parse_json(text, "f", JsonError::io), Json::parse(text)) << text;
  }
}

TEST(ParseJson, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal(""), "f.json is not JSON: it ends early, in line 1, column 1");
  EXPECT_THROW((void)parse_json(std::string_view(), "f", JsonError::io), IoError) << "no address";
  EXPECT_EQ(refusal("{\"a\":\n [1,"), "f.json is not JSON: it ends early, in line 2, column 4");
  EXPECT_EQ(refusal("[1,\n x]"), "f.json is not JSON: unexpected x in line 2, column 2");
  EXPECT_EQ(refusal("{} {"), "f.json is not JSON: unexpected { in line 1, column 4");
  EXPECT_EQ(refusal("\xff\xfe"), "f.json is not JSON: unexpected characters in line 1, column 1");
  EXPECT_EQ(refusal("[1,\n1e999]"), "f.json, line 2, column 6: numbers must be finite, got 1e999");
  EXPECT_THAT(refusal("[" + std::string(1000, 'x')), Not(HasSubstr("exception")));
  EXPECT_THROW((void)parse_json("x", "f", JsonError::argument), InvalidArgument);
}

TEST(ParseJson, RefusesAKeyThatIsThereTwice) {
  EXPECT_EQ(refusal("{\"a\": 1,\n\"a\": 2}"),
            "f.json, line 2, column 3: the key \"a\" is there twice");
  EXPECT_THAT(refusal(R"([{"b": {"a": 1, "\u0061": 1}}])"), HasSubstr("\"a\" is there twice"));
  EXPECT_EQ(refusal(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]})"), "accepted");
}

TEST(ParseJson, RefusesDeepTextsAtTheirLimit) {
  EXPECT_EQ(refusal(repeated("[", 64) + repeated("]", 64)), "accepted");
  for (const char* nest : {"[", "{\"a\":", "[{\"a\":"}) {
    EXPECT_THAT(refusal(repeated(nest, 100'000)),
                HasSubstr("more than 64 objects and arrays within each other"));
  }
  EXPECT_THAT(refusal(repeated("[", 65) + "no JSON"), HasSubstr("column 65"));
}

TEST(ParseJson, RefusesManyKeysAtTheirLimit) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_THAT(refusal(text), HasSubstr("an object has more than 4096 keys"));
  text.back() = '}';
  EXPECT_EQ(refusal(text, {.keys = 200'000}), "accepted");
}

TEST(ParseJson, RefusesWhatWouldTakeTooMuchMemory) {
  const JsonLimits small{.memory = std::size_t{1} << 20};
  for (const char* value : {"0,", "{},", "[],", "{\"a\":0},", "\"\",", "\"a long, long text\","}) {
    EXPECT_EQ(refusal("[" + repeated(value, 1000) + "0]", small), "accepted") << value;
    EXPECT_THAT(refusal("[" + repeated(value, 100'000), small),
                HasSubstr("would take more than 1 MiB"))
        << value;
  }
}

}  // namespace
}  // namespace medley
