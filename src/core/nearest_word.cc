#include "core/nearest_word.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace medley {
namespace {

constexpr std::size_t kLongest = 40;  // text beyond it is no typing mistake

std::string plain(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return out;
}

/// Number of single-letter changes that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row.back();
}

/// Whether the longer one begins with the shorter one, of two letters or more.
bool begins_alike(std::string_view a, std::string_view b) {
  return std::min(a.size(), b.size()) >= 2 && (a.starts_with(b) || b.starts_with(a));
}

}  // namespace

std::string_view nearest_word(std::string_view text, std::span<const std::string_view> words) {
  if (text.empty() || text.size() > kLongest) return {};
  const std::string meant = plain(text);
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(1, meant.size() / 3) + 1;
  for (const std::string_view word : words) {
    const std::size_t distance = edit_distance(meant, plain(word));
    if (distance < least) {
      nearest = word;
      least = distance;
    }
  }
  if (!nearest.empty()) return nearest;
  for (const std::string_view word : words) {
    if (begins_alike(meant, plain(word)) && word.size() > nearest.size()) nearest = word;
  }
  return nearest;
}

std::string suggestion(std::string_view text, std::span<const std::string_view> words) {
  const std::string_view word = nearest_word(text, words);
  return word.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", word);
}

}  // namespace medley
