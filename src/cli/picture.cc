#include "cli/picture.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace medley::cli {
namespace {

/// The images of a small batch, one after the other.
class Gathered {
 public:
  explicit Gathered(const ImageLookup& image_at) : image_at_(image_at) {}

  /// Adds the image of `source` and makes it refer to the place in this batch.
  void take(Source& source) {
    const Image image = image_at_(source.index);
    pixels_.insert(pixels_.end(), image.rgb.begin(), image.rgb.end());
    source.index = count_++;
  }

  [[nodiscard]] ImageBatchView view(ImageSize size) const {
    return view_of(pixels_, BatchShape{count_, 3, size.height, size.width}, Layout::nhwc);
  }

 private:
  const ImageLookup& image_at_;
  std::vector<std::uint8_t> pixels_;
  std::int64_t count_ = 0;
};

}  // namespace

Image mix_entry(const MixPlan& plan, std::size_t entry, const ImageLookup& image_at,
                const MixOptions& options) {
  MixPlan single;
  single.method = plan.method;
  single.size = plan.size;
  single.entries = {plan.entries.at(entry)};
  MixEntry& only = single.entries.front();
  Gathered gathered(image_at);
  if (only.term_count > 0) {
    const auto begin = plan.terms.begin() + only.term_begin;
    single.terms.assign(begin, begin + only.term_count);
    only.term_begin = 0;
    for (MixTerm& term : single.terms) gathered.take(term.source);
    only.own = single.terms.front().source;
    only.partner = only.term_count > 1 ? single.terms[1].source : only.own;
  } else {
    gathered.take(only.own);
    gathered.take(only.partner);
  }
  if (auto* field = std::get_if<FieldMask>(&only.mask)) {
    const auto begin = plan.fields.begin() + field->offset;
    single.fields.assign(begin, begin + plan.size.pixels());
    field->offset = 0;
  }

  Image out{plan.size, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * plan.size.pixels()))};
  const BatchShape shape = {1, 3, plan.size.height, plan.size.width};
  mix(single, gathered.view(plan.size), mutable_view_of(out.rgb, shape, Layout::nhwc), options);
  return out;
}

std::vector<std::uint8_t> mask_picture(const MixPlan& plan, const MixEntry& entry) {
  std::vector<double> values(static_cast<std::size_t>(plan.size.pixels()));
  mask_values(plan, entry, values);
  std::vector<std::uint8_t> grey(values.size());
  std::transform(values.begin(), values.end(), grey.begin(), [](double m) {
    return static_cast<std::uint8_t>(std::nearbyint(255 * std::clamp(m, 0.0, 1.0)));
  });
  return grey;
}

}  // namespace medley::cli
