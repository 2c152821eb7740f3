#include "kernels/byte_floor.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "kernels/pixel.h"

namespace medley::bench {
namespace {

/// Pixels of an output's two images that are read, and bytes of its field.
struct Reads {
  double own = 0;
  double partner = 0;
  double field_bytes = 0;
};

bool own_counts(double own) { return static_cast<float>(own) != 0; }
bool partner_counts(double own) { return static_cast<float>(1 - own) != 0; }

/// Rows of the partner that shrinking it to `height` rows samples.
double sampled_rows(Resample resample, std::int32_t height, std::int32_t image_height) {
  std::vector<char> used(static_cast<std::size_t>(image_height));
  for (std::int32_t i = 0; i < height; ++i) {
    const Tap tap = resample == Resample::nearest ? nearest_tap(i, height, image_height)
                                                  : bilinear_tap(i, height, image_height);
    used[static_cast<std::size_t>(tap.first)] = 1;
    if (tap.fraction != 0) used[static_cast<std::size_t>(tap.second)] = 1;
  }
  return static_cast<double>(std::ranges::count(used, 1));
}

struct CountReads {
  const MixEntry& entry;
  ImageSize size;

  Reads operator()(const FlatMask& m) const {
    const auto pixels = static_cast<double>(size.pixels());
    return {own_counts(m.value) ? pixels : 0, partner_counts(m.value) ? pixels : 0, 0};
  }
  Reads operator()(const BoxMask& m) const {
    const double inside = static_cast<double>(m.height) * m.width;
    const double outside = static_cast<double>(size.pixels()) - inside;
    Reads reads;
    if (own_counts(m.inside)) reads.own += inside;
    if (own_counts(m.outside)) reads.own += outside;
    if (partner_counts(m.outside)) reads.partner += outside;
    if (partner_counts(m.inside)) {
      reads.partner += entry.resample == Resample::none
                           ? inside
                           : size.width * sampled_rows(entry.resample, m.height, size.height);
    }
    return reads;
  }
  Reads operator()(const GaussianMask& /*mask*/) const {
    const auto pixels = static_cast<double>(size.pixels());
    return {pixels, pixels, 0};
  }
  Reads operator()(const FieldMask& /*mask*/) const {
    const auto pixels = static_cast<double>(size.pixels());
    return {pixels, pixels, pixels * sizeof(float)};
  }
  Reads operator()(const GridMask& m) const {
    const auto pixels = static_cast<double>(size.pixels());
    return {pixels, pixels, static_cast<double>(m.rows) * m.columns * sizeof(float)};
  }
  Reads operator()(const OpenMask& /*mask*/) const { return {}; }
};

}  // namespace

double byte_floor(const MixPlan& plan, std::int32_t channels, DType in_type, DType out_type) {
  const auto pixels = static_cast<double>(plan.size.pixels());
  double in_pixels = 0;
  double field_bytes = 0;
  for (const MixEntry& entry : plan.entries) {
    for (std::int32_t k = 0; k < entry.term_count; ++k) {
      const MixTerm& term = plan.terms[static_cast<std::size_t>(entry.term_begin + k)];
      if (own_counts(term.weight)) in_pixels += pixels;
    }
    if (entry.term_count > 0) continue;
    const Reads reads = std::visit(CountReads{entry, plan.size}, entry.mask);
    const bool alone = entry.own == entry.partner && entry.resample == Resample::none;
    in_pixels += alone ? pixels : reads.own + reads.partner;
    field_bytes += reads.field_bytes;
  }
  const auto out_pixels = pixels * static_cast<double>(plan.entries.size());
  return channels * (in_pixels * static_cast<double>(size_of(in_type)) +
                     out_pixels * static_cast<double>(size_of(out_type))) +
         field_bytes;
}

}  // namespace medley::bench
