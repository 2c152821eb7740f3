#include "train/events.h"

#include <gtest/gtest.h>

#include "medley/error.h"

namespace medley::train {
namespace {

const std::vector<ScalarEvent> kEvents = {
    {"train/loss", 1, 2.25f, 1.7e9}, {"test/top1", 300, 77.5f, 1.7e9 + 1}, {"x", 1 << 20, -1, 0}};

TEST(Events, ComeBackAsTheyWere) {
  EXPECT_EQ(decode_events(encode_events(kEvents), "e"), kEvents);
  EXPECT_TRUE(decode_events(encode_events({}), "e").empty());
}

TEST(Events, HaveTheBytesOfTheFormat) {
  // A file of one version record, made by hand: length 24, its masked CRC-32C, the event, its CRC.
  const std::string file = encode_events({});
  ASSERT_EQ(file.size(), 8 + 4 + 24 + 4);
  EXPECT_EQ(file.substr(0, 8), std::string("\x18\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(file.substr(8, 4), "\xA3\x7F\x4B\x22");  // as in every event file of TensorFlow
  EXPECT_EQ(file.substr(12 + 9, 15),
            "\x1A\x0D"
            "brain.Event:2");
}

TEST(Events, AnyDamageIsFound) {
  const std::string good = encode_events(kEvents);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_THROW((void)decode_events(bad, "e"), IoError) << i;
  }
}

}  // namespace
}  // namespace medley::train
