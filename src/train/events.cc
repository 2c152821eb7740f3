#include "train/events.h"

#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "core/check.h"

namespace medley::train {
namespace {

constexpr std::string_view kVersion = "brain.Event:2";

// Fields of the messages Event, Summary and Summary.Value, and their wire types.
constexpr std::uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
constexpr std::uint32_t kSummaryValue = 1;
constexpr std::uint32_t kTag = 1, kSimpleValue = 2;
constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

std::uint32_t masked_crc(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? c >> 1 ^ 0x82F63B78u : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  std::uint32_t crc = ~0u;
  for (const char c : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<std::uint8_t>(c)) & 0xFF];
  crc = ~crc;
  return std::rotr(crc, 15) + 0xA282EAD8u;
}

template <typename T>
void put_fixed(T value, std::string& out) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

void put_varint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void put_key(std::uint32_t field, std::uint32_t type, std::string& out) {
  put_varint(field << 3 | type, out);
}

void put_bytes(std::uint32_t field, std::string_view bytes, std::string& out) {
  put_key(field, kBytes, out);
  put_varint(bytes.size(), out);
  out += bytes;
}

std::string event_start(double wall_time) {
  std::string event;
  put_key(kWallTime, kFixed64, event);
  put_fixed(wall_time, event);
  return event;
}

void put_record(std::string_view event, std::string& out) {
  std::string length;
  put_fixed(static_cast<std::uint64_t>(event.size()), length);
  out += length;
  put_fixed(masked_crc(length), out);
  out += event;
  put_fixed(masked_crc(event), out);
}

/// Takes a message apart, field by field.
class Reader {
 public:
  Reader(std::string_view bytes, std::string_view name) : rest_(bytes), name_(name) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }

  template <typename T>
  T fixed() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    fail_io(fmt::format("{} has a broken number", name_));
  }
  std::string_view take(std::uint64_t n) {
    if (n > rest_.size()) fail_io(fmt::format("{} is truncated", name_));
    const std::string_view bytes = rest_.substr(0, static_cast<std::size_t>(n));
    rest_.remove_prefix(static_cast<std::size_t>(n));
    return bytes;
  }
  std::string_view bytes() { return take(varint()); }
  void skip(std::uint32_t type) {
    if (type == kVarint) {
      (void)varint();
    } else if (type == kFixed64) {
      (void)take(8);
    } else if (type == kBytes) {
      (void)bytes();
    } else if (type == kFixed32) {
      (void)take(4);
    } else {
      fail_io(fmt::format("{} has a field of unknown type {}", name_, type));
    }
  }

 private:
  std::string_view rest_;
  std::string_view name_;
};

void read_summary(std::string_view bytes, std::string_view name, ScalarEvent& event) {
  for (Reader summary(bytes, name); !summary.done();) {
    const std::uint64_t key = summary.varint();
    if (key >> 3 != kSummaryValue) {
      summary.skip(key & 7);
      continue;
    }
    for (Reader value(summary.bytes(), name); !value.done();) {
      const std::uint64_t field = value.varint();
      if (field >> 3 == kTag) {
        event.tag = value.bytes();
      } else if (field >> 3 == kSimpleValue) {
        event.value = value.fixed<float>();
      } else {
        value.skip(field & 7);
      }
    }
  }
}

/// False if the event holds no summary (the first says the version).
bool read_event(std::string_view bytes, std::string_view name, ScalarEvent& event) {
  bool has_summary = false;
  for (Reader reader(bytes, name); !reader.done();) {
    const std::uint64_t key = reader.varint();
    if (key >> 3 == kWallTime) {
      event.wall_time = reader.fixed<double>();
    } else if (key >> 3 == kStep) {
      event.step = static_cast<std::int64_t>(reader.varint());
    } else if (key >> 3 == kSummary) {
      read_summary(reader.bytes(), name, event);
      has_summary = true;
    } else {
      reader.skip(key & 7);
    }
  }
  return has_summary;
}

}  // namespace

std::string encode_events(const std::vector<ScalarEvent>& events) {
  std::string file;
  std::string first = event_start(events.empty() ? 0 : events.front().wall_time);
  put_bytes(kFileVersion, kVersion, first);
  put_record(first, file);
  for (const ScalarEvent& e : events) {
    std::string value;
    put_bytes(kTag, e.tag, value);
    put_key(kSimpleValue, kFixed32, value);
    put_fixed(e.value, value);
    std::string summary;
    put_bytes(kSummaryValue, value, summary);
    std::string event = event_start(e.wall_time);
    put_key(kStep, kVarint, event);
    put_varint(static_cast<std::uint64_t>(e.step), event);
    put_bytes(kSummary, summary, event);
    put_record(event, file);
  }
  return file;
}

std::vector<ScalarEvent> decode_events(std::string_view bytes, std::string_view name) {
  std::vector<ScalarEvent> events;
  for (Reader file(bytes, name); !file.done();) {
    const std::string_view length = file.take(8);
    if (file.fixed<std::uint32_t>() != masked_crc(length)) {
      fail_io(fmt::format("{} has a damaged record length", name));
    }
    std::uint64_t size;
    std::memcpy(&size, length.data(), sizeof size);
    const std::string_view event = file.take(size);
    if (file.fixed<std::uint32_t>() != masked_crc(event)) {
      fail_io(fmt::format("{} has a damaged record", name));
    }
    ScalarEvent scalar;
    if (read_event(event, name, scalar)) events.push_back(scalar);
  }
  return events;
}

}  // namespace medley::train
