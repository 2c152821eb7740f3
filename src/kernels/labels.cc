#include "medley/labels.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "core/check.h"
#include "kernels/lower.h"
#include "plan/validate_mask.h"

namespace medley {
namespace {

/// Calls visit(image, label weight) for each source of an entry. Weights sum to 1.
template <typename Visit>
void for_each_source(const MixPlan& plan, std::size_t b, std::int64_t images, const Visit& visit) {
  const MixEntry& entry = plan.entries[b];
  const auto image_of = [&](const Source& source) {
    const std::int64_t image = source.index - plan.base;
    if (image < 0 || image >= images) {
      fail_argument(fmt::format("entry {} of the plan uses image {}, but there are labels for {}",
                                b, image, images));
    }
    return image;
  };
  if (entry.term_count == 0) {
    visit(image_of(entry.own), entry.label_weight);
    visit(image_of(entry.partner), 1 - entry.label_weight);
    return;
  }
  for (std::int32_t k = 0; k < entry.term_count; ++k) {
    const MixTerm& term = plan.terms[static_cast<std::size_t>(entry.term_begin + k)];
    visit(image_of(term.source), term.weight);
  }
}

void check_rows(const char* what, std::size_t got, std::int64_t rows, std::int64_t width) {
  if (product({rows, width}) != static_cast<std::int64_t>(got)) {
    fail_argument(fmt::format("{} must hold {}x{} values, got {}", what, rows, width, got));
  }
}

template <typename In, typename Out>
void check_separate(std::span<const In> in, std::span<Out> out) {
  const auto a = std::as_bytes(in);
  const auto b = std::as_bytes(out);
  const std::less<> before;
  if (before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size())) {
    fail_argument("labels cannot be mixed in place: input and output must be separate memory");
  }
}

/// A source of an entry with the mask's say at each pixel.
struct MapSource {
  LoweredSource source;
  std::vector<double> weights;  // height x width
};

std::vector<MapSource> map_sources(const MixPlan& plan, const LoweredPlan& lowered, std::size_t b) {
  const MixEntry& entry = plan.entries[b];
  if (entry.resample != Resample::none) {
    fail_argument("class maps cannot follow a resampled partner (resizemix)");
  }
  const auto pixels = static_cast<std::size_t>(plan.size.pixels());
  std::vector<MapSource> sources;
  for (std::int32_t k = 0; k < entry.term_count; ++k) {
    const LoweredTerm& term = lowered.terms[static_cast<std::size_t>(entry.term_begin + k)];
    const MixTerm& exact = plan.terms[static_cast<std::size_t>(entry.term_begin + k)];
    std::vector<double> weights(pixels);
    mask_values(plan, exact, weights);
    sources.push_back({term.source, std::move(weights)});
  }
  if (entry.term_count == 0) {
    std::vector<double> own(pixels);
    mask_values(plan, entry, own);
    std::vector<double> partner(pixels);
    std::ranges::transform(own, partner.begin(), [](double m) { return 1 - m; });
    sources.push_back({lowered.entries[b].own, std::move(own)});
    sources.push_back({lowered.entries[b].partner, std::move(partner)});
  }
  return sources;
}

/// Class at pixel (y, x) of a source's window; `padding` outside the map.
std::int64_t class_at(const ClassMaps& in, const LoweredPlan& lowered, const LoweredSource& s,
                      std::int32_t y, std::int32_t x, std::int64_t padding) {
  const ImageSize size = lowered.size;
  if (s.tiles >= 0) {
    const Place place = moved_place(lowered.tiles.data() + s.tiles, y, x);
    y = place.y;
    x = place.x;
  }
  const std::int32_t sy = y + s.dy;
  const std::int32_t sx = (s.flip != 0 ? size.width - 1 - x : x) + s.dx;
  if (sy < 0 || sy >= in.size.height || sx < 0 || sx >= in.size.width) return padding;
  return in.values[static_cast<std::size_t>(s.image * in.size.pixels() +
                                            std::int64_t{sy} * in.size.width + sx)];
}

LoweredPlan check_maps(const MixPlan& plan, const ClassMaps& in) {
  validate(plan);
  if (in.count < 0 || in.size.height < 1 || in.size.width < 1) {
    fail_argument(fmt::format("class maps must be at least 1x1, got {} of {}x{}", in.count,
                              in.size.height, in.size.width));
  }
  check_rows("class maps", in.values.size(), in.count, in.size.pixels());
  if (!in.windows && in.size != plan.size) {
    fail_argument(
        fmt::format("class maps must have the plan's size, {}x{} (height x width), got {}x{}; set "
                    "windows to have the plan cut or pad them",
                    plan.size.height, plan.size.width, in.size.height, in.size.width));
  }
  return lower(plan, in.count);
}

}  // namespace

MixedLabels mix_labels(const MixPlan& plan, std::span<const std::int64_t> labels,
                       std::int64_t num_classes, std::optional<std::int64_t> ignore) {
  validate(plan);
  require_solved(plan);
  MixedLabels mixed;
  mixed.count = std::ssize(plan.entries);
  for (const MixEntry& entry : plan.entries) mixed.terms = std::max(mixed.terms, entry.term_count);
  const auto terms = static_cast<std::size_t>(mixed.terms);
  mixed.classes.resize(plan.entries.size() * terms);
  mixed.weights.resize(plan.entries.size() * terms);
  for (std::size_t b = 0; b < plan.entries.size(); ++b) {
    std::size_t at = b * terms;
    for_each_source(plan, b, std::ssize(labels), [&](std::int64_t image, double weight) {
      const std::int64_t label = labels[static_cast<std::size_t>(image)];
      if ((label < 0 || (num_classes > 0 && label >= num_classes)) && label != ignore) {
        fail_argument(
            num_classes > 0
                ? fmt::format("labels must be in [0, {}), got {} at {}", num_classes, label, image)
                : fmt::format("labels must be >= 0, got {} at {}", label, image));
      }
      mixed.classes[at] = label;
      mixed.weights[at++] = weight;
    });
    // Entries with fewer sources than others repeat their own class with weight 0.
    for (; at < (b + 1) * terms; ++at) mixed.classes[at] = mixed.classes[b * terms];
  }
  return mixed;
}

void soft_labels(const MixedLabels& labels, std::int64_t num_classes, std::span<float> rows,
                 double smoothing) {
  if (num_classes < 1) fail_argument(fmt::format("num_classes must be >= 1, got {}", num_classes));
  if (!(smoothing >= 0 && smoothing <= 1)) {
    fail_argument(fmt::format("smoothing must be in [0, 1], got {}", smoothing));
  }
  if (labels.count < 0 || labels.terms < 1) {
    fail_argument(fmt::format("mixed labels must be of >= 0 samples with >= 1 term, got {} and {}",
                              labels.count, labels.terms));
  }
  check_rows("the classes of mixed labels", labels.classes.size(), labels.count, labels.terms);
  check_rows("the weights of mixed labels", labels.weights.size(), labels.count, labels.terms);
  check_rows("soft labels", rows.size(), labels.count, num_classes);
  const double off = smoothing / static_cast<double>(num_classes);
  std::vector<double> row(static_cast<std::size_t>(num_classes));
  for (std::int64_t b = 0; b < labels.count; ++b) {
    std::ranges::fill(row, off);
    for (std::int32_t k = 0; k < labels.terms; ++k) {
      const auto at = static_cast<std::size_t>(b * labels.terms + k);
      const std::int64_t label = labels.classes[at];
      if (label < 0 || label >= num_classes) {
        fail_argument(fmt::format("labels must be in [0, {}), got {}", num_classes, label));
      }
      row[static_cast<std::size_t>(label)] += labels.weights[at] * (1 - smoothing);
    }
    std::ranges::transform(row, rows.begin() + b * num_classes,
                           [](double value) { return static_cast<float>(value); });
  }
}

void mix_vectors(const MixPlan& plan, std::span<const float> in, std::int64_t width,
                 std::span<float> out) {
  validate(plan);
  require_solved(plan);
  if (width < 1) fail_argument(fmt::format("vectors must have a width >= 1, got {}", width));
  if (std::ssize(in) % width != 0) {
    fail_argument(fmt::format("vectors of width {} must come in whole rows, got {} values", width,
                              in.size()));
  }
  check_rows("mixed vectors", out.size(), std::ssize(plan.entries), width);
  check_separate(in, out);
  std::vector<double> row(static_cast<std::size_t>(width));
  for (std::size_t b = 0; b < plan.entries.size(); ++b) {
    std::ranges::fill(row, 0.0);
    for_each_source(plan, b, std::ssize(in) / width, [&](std::int64_t image, double weight) {
      if (weight == 0) return;
      const auto source = in.subspan(static_cast<std::size_t>(image * width), row.size());
      for (std::size_t i = 0; i < row.size(); ++i) row[i] += weight * source[i];
    });
    std::ranges::transform(row, out.begin() + static_cast<std::ptrdiff_t>(b) * width,
                           [](double value) { return static_cast<float>(value); });
  }
}

void mix_class_maps(const MixPlan& plan, const ClassMaps& in, std::span<std::int64_t> out,
                    std::int64_t padding) {
  const LoweredPlan lowered = check_maps(plan, in);
  check_rows("mixed class maps", out.size(), std::ssize(plan.entries), plan.size.pixels());
  check_separate(in.values, out);
  std::size_t at = 0;
  for (std::size_t b = 0; b < plan.entries.size(); ++b) {
    const std::vector<MapSource> sources = map_sources(plan, lowered, b);
    std::size_t pixel = 0;
    for (std::int32_t y = 0; y < plan.size.height; ++y) {
      for (std::int32_t x = 0; x < plan.size.width; ++x, ++pixel, ++at) {
        const auto greatest = std::ranges::max_element(
            sources, {}, [&](const MapSource& s) { return s.weights[pixel]; });
        out[at] = class_at(in, lowered, greatest->source, y, x, padding);
      }
    }
  }
}

void mix_class_maps_soft(const MixPlan& plan, const ClassMaps& in, std::int64_t num_classes,
                         std::span<float> out, std::int64_t ignore) {
  const LoweredPlan lowered = check_maps(plan, in);
  if (num_classes < 1) fail_argument(fmt::format("num_classes must be >= 1, got {}", num_classes));
  const std::int64_t pixels = plan.size.pixels();
  check_rows("mixed class maps", out.size(), std::ssize(plan.entries) * num_classes, pixels);
  check_separate(in.values, out);
  std::ranges::fill(out, 0.0f);
  std::vector<double> sums(static_cast<std::size_t>(num_classes));
  for (std::size_t b = 0; b < plan.entries.size(); ++b) {
    const std::vector<MapSource> sources = map_sources(plan, lowered, b);
    std::size_t pixel = 0;
    for (std::int32_t y = 0; y < plan.size.height; ++y) {
      for (std::int32_t x = 0; x < plan.size.width; ++x, ++pixel) {
        std::ranges::fill(sums, 0.0);
        for (const MapSource& s : sources) {
          const std::int64_t label = class_at(in, lowered, s.source, y, x, ignore);
          if (label == ignore) continue;
          if (label < 0 || label >= num_classes) {
            fail_argument(fmt::format("class maps must hold classes in [0, {}) or {}, got {}",
                                      num_classes, ignore, label));
          }
          sums[static_cast<std::size_t>(label)] += s.weights[pixel];
        }
        for (std::int64_t c = 0; c < num_classes; ++c) {
          const auto plane =
              static_cast<std::size_t>((static_cast<std::int64_t>(b) * num_classes + c) * pixels);
          out[plane + pixel] = static_cast<float>(sums[static_cast<std::size_t>(c)]);
        }
      }
    }
  }
}

}  // namespace medley
