#include "kernels/cpu/entry.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace medley {
namespace {

/// Rows are short for small images; several go through a loop together up to this many values.
constexpr std::int64_t kGroupValues = 2048;
constexpr std::size_t kStreamBuffer = 8192;
/// Writing many channels at once would keep too many streams open.
constexpr std::int64_t kMaxStreams = 4;

bool rows_are_dense(const ImageBatchView& view) {
  const std::int64_t row = view.layout == Layout::nhwc
                               ? std::int64_t{view.shape.width} * view.shape.channels
                               : view.shape.width;
  return view.strides.row == row;
}

void store_as(DType type, float value, std::byte* out) {
  switch (type) {
    case DType::u8:
      return store(value, *reinterpret_cast<std::uint8_t*>(out));
    case DType::f16:
      return store(value, *reinterpret_cast<F16*>(out));
    case DType::bf16:
      return store(value, *reinterpret_cast<BF16*>(out));
    case DType::f32:
      return store(value, *reinterpret_cast<float*>(out));
  }
}

/// Copies n pixels of T, last first.
template <typename T>
void copy_reversed(const std::byte* from, std::byte* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof(T)),
                from + (n - 1 - i) * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  }
}

void copy_pixels(const std::byte* from, std::byte* to, std::int64_t n, std::int64_t size,
                 bool reverse) {
  if (!reverse) {
    std::memcpy(to, from, static_cast<std::size_t>(n * size));
  } else if (size == 1) {
    copy_reversed<std::uint8_t>(from, to, n);
  } else if (size == 2) {
    copy_reversed<std::uint16_t>(from, to, n);
  } else if (size == 4) {
    copy_reversed<std::uint32_t>(from, to, n);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * size, from + (n - 1 - i) * size, static_cast<std::size_t>(size));
    }
  }
}

}  // namespace

EntryContext::EntryContext(const LoweredPlan& lowered, const MixJob& mix_job)
    : plan(lowered),
      job(mix_job),
      ops(row_ops(job.in.dtype, job.out.dtype)),
      load(row_ops(job.in.dtype, DType::f32)),
      from_f32(row_ops(DType::f32, job.out.dtype)),
      common(common_ops()),
      width(plan.size.width),
      channels(job.in.shape.channels),
      in_nhwc(job.in.layout == Layout::nhwc),
      out_nhwc(job.out.layout == Layout::nhwc),
      unit(in_nhwc && out_nhwc ? channels : 1),
      row(width * unit),
      in_size(size_of(job.in.dtype)),
      out_size(size_of(job.out.dtype)),
      dense_rows(job.in.shape.width == width && rows_are_dense(job.in) && rows_are_dense(job.out)),
      group(dense_rows ? std::max<std::int64_t>(1, kGroupValues / row) : 1) {
  const std::int64_t values = job.affine.empty() ? 0 : unit == 1 ? channels : group * row;
  for (std::int64_t i = 0; i < values; ++i) {
    const Affine a = job.affine[static_cast<std::size_t>(i % channels)];
    scale.push_back(a.scale);
    bias.push_back(a.bias);
  }
  padding.resize(static_cast<std::size_t>(in_size * (in_nhwc ? channels : 1)));
  for (std::size_t at = 0; at < padding.size(); at += static_cast<std::size_t>(in_size)) {
    store_as(job.in.dtype, job.pad_value, padding.data() + at);
  }
}

EntryMixer::EntryMixer(const EntryContext& context, Scratch& scratch) : context_(context) {
  const EntryContext& c = context;
  const std::int64_t values = c.group * c.row;
  const std::int64_t all = c.group * c.width * c.channels;  // with every channel
  const std::int64_t line = std::int64_t{c.width} * c.channels;
  const std::int32_t side = std::max(c.plan.size.height, c.plan.size.width);
  const bool across = c.in_nhwc != c.out_nhwc;
  own_row_ = scratch.take<std::byte>((c.in_nhwc ? all : values) * c.in_size);
  partner_row_ = scratch.take<std::byte>((c.in_nhwc ? all : values) * c.in_size);
  own_planes_ = across && c.in_nhwc ? scratch.take<std::byte>(all * c.in_size) : nullptr;
  partner_planes_ = across && c.in_nhwc ? scratch.take<std::byte>(all * c.in_size) : nullptr;
  out_planes_ = across && c.out_nhwc ? scratch.take<std::byte>(all * c.out_size) : nullptr;
  mask_ = scratch.take<float>(c.group * c.width);
  mask_wide_ = c.unit > 1 ? scratch.take<float>(values) : nullptr;
  profile_ = scratch.take<float>(side);
  columns_ = scratch.take<float>(c.width);
  const bool terms = !c.plan.terms.empty();
  sum_ = scratch.take<float>(terms ? all : c.row);
  const bool resamples = std::ranges::any_of(
      c.plan.entries, [](const LoweredEntry& e) { return e.resample != Resample::none; });
  line_a_ = scratch.take<float>(resamples ? line : 0);
  line_b_ = scratch.take<float>(resamples ? line : 0);
  line_planes_ = scratch.take<float>(resamples ? line : 0);
  resampled_ = scratch.take<float>(resamples ? line : 0);
  first_ = scratch.take<std::int32_t>(resamples ? c.width : 0);
  second_ = scratch.take<std::int32_t>(resamples ? c.width : 0);
  fraction_ = scratch.take<float>(resamples ? c.width : 0);

  const std::int64_t streams = across && !c.out_nhwc ? c.channels : 1;
  const bool streaming = c.job.streaming && rows_are_dense(c.job.out) && streams <= kMaxStreams;
  const auto largest = static_cast<std::size_t>((c.out_nhwc ? all : values) * c.out_size);
  const std::size_t capacity = std::max(kStreamBuffer, largest + 128);
  for (std::int64_t i = 0; i < streams; ++i) {
    if (streaming) {
      writers_.emplace_back(c.common, scratch.take<std::byte>(static_cast<std::int64_t>(capacity)),
                            capacity);
    } else {
      writers_.emplace_back(c.common);
    }
  }
}

void EntryMixer::mix_rows(std::int64_t b, std::int32_t y0, std::int32_t y1,
                          const std::byte* partner) {
  const EntryContext& c = context_;
  const LoweredEntry& e = c.plan.entries[static_cast<std::size_t>(b)];
  entry_ = &e;
  b_ = b;
  partner_image_ = partner != nullptr ? partner : image(e.partner);
  mergeable_ = c.dense_rows && c.job.in.shape.height >= y1;
  if (e.term_count > 0) {
    for (std::int32_t k = 0; k < e.term_count; ++k) {
      mergeable_ =
          mergeable_ && c.plan.terms[static_cast<std::size_t>(e.term_begin + k)].source.whole();
    }
  } else {
    mergeable_ = mergeable_ && e.own.whole() && e.partner.whole();
  }
  if (e.kind == MaskKind::gaussian) {
    const std::int32_t height = c.plan.size.height;
    const std::int32_t far =
        std::max(std::max(e.left, c.width - 1 - e.left), std::max(e.top, height - 1 - e.top));
    for (std::int32_t d = 0; d <= far; ++d) profile_[d] = gaussian_factor_f32(e.gaussian_scale, d);
    for (std::int32_t x = 0; x < c.width; ++x) columns_[x] = profile_[std::abs(x - e.left)];
  }
  if (e.resample != Resample::none) {
    const auto tap = e.resample == Resample::nearest ? nearest_tap : bilinear_tap;
    for (std::int32_t j = 0; j < e.width; ++j) {
      const Tap t = tap(j, e.width, c.width);
      first_[j] = t.first;
      second_[j] = t.second;
      fraction_[j] = t.fraction;
    }
  }
  if (c.in_nhwc == c.out_nhwc) {
    mix_matching_layout(y0, y1);
  } else {
    mix_across_layouts(y0, y1);
  }
}

void EntryMixer::mix_matching_layout(std::int32_t y0, std::int32_t y1) {
  const EntryContext& c = context_;
  const LoweredEntry& e = *entry_;
  const auto passes = static_cast<std::int32_t>(c.in_nhwc ? 1 : c.channels);
  StreamWriter& writer = writers_[0];
  const bool dense_out = rows_are_dense(c.job.out);
  for (std::int32_t channel = 0; channel < passes; ++channel) {
    writer.start(out_row(channel, y0));
    for (std::int32_t y = y0; y < y1;) {
      const std::int64_t rows = std::min<std::int64_t>(rows_together(y), y1 - y);
      const auto bytes = static_cast<std::size_t>(rows * c.row * c.out_size);
      if (!dense_out) writer.start(out_row(channel, y));
      std::byte* out = writer.reserve(bytes);
      if (e.term_count > 0) {
        mix_terms(channel, y, rows, out);
      } else {
        const std::byte* own = fetch(image(e.own), e.own, channel, y, own_row_);
        const std::byte* partner =
            needs_partner(y) ? fetch(partner_image_, e.partner, channel, y, partner_row_) : own;
        if (e.resample != Resample::none && in_interval(y, e.top, e.height, c.plan.size.height)) {
          resample_row(channel, y);
        }
        mix_run(channel, y, rows, own, partner, out);
      }
      writer.commit(bytes);
      y += static_cast<std::int32_t>(rows);
    }
    writer.finish();
  }
}

void EntryMixer::mix_across_layouts(std::int32_t y0, std::int32_t y1) {
  const EntryContext& c = context_;
  const LoweredEntry& e = *entry_;
  const bool dense_out = rows_are_dense(c.job.out);
  const auto channels = static_cast<std::int32_t>(c.channels);
  const auto restart = [&](std::int32_t y) {
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      writers_[i].start(out_row(static_cast<std::int32_t>(i), y));
    }
  };
  restart(y0);
  for (std::int32_t y = y0; y < y1;) {
    const std::int64_t rows = std::min<std::int64_t>(rows_together(y), y1 - y);
    const std::int64_t n = rows * c.width;
    if (!dense_out) restart(y);
    const bool resample_here =
        e.resample != Resample::none && in_interval(y, e.top, e.height, c.plan.size.height);
    if (c.in_nhwc && e.term_count == 0) {
      planes(image(e.own), e.own, y, rows, own_planes_);
      if (needs_partner(y)) planes(partner_image_, e.partner, y, rows, partner_planes_);
      if (resample_here) resample_row(0, y);
    }
    const auto out_bytes = static_cast<std::size_t>(n * c.out_size);
    for (std::int32_t channel = 0; channel < channels; ++channel) {
      std::byte* out = c.out_nhwc ? out_planes_ + channel * n * c.out_size
                                  : writers_[static_cast<std::size_t>(channel)].reserve(out_bytes);
      if (e.term_count > 0) {
        mix_terms(channel, y, rows, out);
      } else if (c.in_nhwc) {
        const std::int64_t plane = channel * n * c.in_size;
        mix_run(channel, y, rows, own_planes_ + plane, partner_planes_ + plane, out);
      } else {
        const std::byte* own = fetch(image(e.own), e.own, channel, y, own_row_);
        const std::byte* partner =
            needs_partner(y) ? fetch(partner_image_, e.partner, channel, y, partner_row_) : own;
        if (resample_here) resample_row(channel, y);
        mix_run(channel, y, rows, own, partner, out);
      }
      if (!c.out_nhwc) writers_[static_cast<std::size_t>(channel)].commit(out_bytes);
    }
    if (c.out_nhwc) {
      const auto bytes = out_bytes * static_cast<std::size_t>(c.channels);
      c.common.interleave(out_planes_, c.out_size, c.channels, writers_[0].reserve(bytes), n);
      writers_[0].commit(bytes);
    }
    y += static_cast<std::int32_t>(rows);
  }
  for (StreamWriter& writer : writers_) writer.finish();
}

/// Mixes `rows` rows from y on; more than one only if rows_together says so.
void EntryMixer::mix_run(std::int32_t c, std::int32_t y, std::int64_t rows, const std::byte* own,
                         const std::byte* partner, std::byte* out) {
  const EntryContext& context = context_;
  const LoweredEntry& e = *entry_;
  const std::int64_t n = rows * context.row;
  switch (e.kind) {
    case MaskKind::flat:
      return mix_segment(e.outside, c, 0, n, own, partner, out);
    case MaskKind::box:
      if (rows == 1) return mix_box_row(c, y, own, partner, out);
      return mix_segment(
          in_interval(y, e.top, e.height, context.plan.size.height) ? e.inside : e.outside, c, 0, n,
          own, partner, out);
    case MaskKind::gaussian:
    case MaskKind::field:
      break;
  }
  const float* mask = mask_;
  if (e.kind == MaskKind::gaussian) {
    context.common.scale_row(profile_[std::abs(y - e.top)], columns_, mask_, context.width);
  } else {
    mask = context.plan.fields + e.field + std::int64_t{y} * context.width;
  }
  if (context.unit > 1) {
    context.common.repeat(mask, context.unit, mask_wide_, rows * context.width);
    mask = mask_wide_;
  }
  const bool own_first = e.kind == MaskKind::field || e.peak_own != 0;
  context.ops.blend_mask(own_first ? own : partner, own_first ? partner : own, mask, affine(c), out,
                         n);
}

/// One row of a box: at most two stretches in the box, since a wrapped box may have two parts.
void EntryMixer::mix_box_row(std::int32_t c, std::int32_t y, const std::byte* own,
                             const std::byte* partner, std::byte* out) {
  const LoweredEntry& e = *entry_;
  const std::int64_t unit = context_.unit;
  const std::int32_t width = context_.width;
  if (!in_interval(y, e.top, e.height, context_.plan.size.height)) {
    return mix_segment(e.outside, c, 0, context_.row, own, partner, out);
  }
  const auto outside = [&](std::int64_t begin, std::int64_t end) {
    mix_segment(e.outside, c, begin * unit, end * unit, own, partner, out);
  };
  const auto inside = [&](std::int64_t begin, std::int64_t end, std::int64_t box_begin) {
    if (e.resample == Resample::none) {
      mix_segment(e.inside, c, begin * unit, end * unit, own, partner, out);
    } else {
      mix_resampled(c, begin, end, box_begin, own, out);
    }
  };
  const std::int32_t right = e.left + e.width;
  if (right <= width) {
    outside(0, e.left);
    inside(e.left, right, 0);
    outside(right, width);
  } else {
    inside(0, right - width, width - e.left);
    outside(right - width, e.left);
    inside(e.left, width, 0);
  }
}

/// Values [begin, end) of a row (or of several) with constant weights.
void EntryMixer::mix_segment(Weights weights, std::int32_t c, std::int64_t begin, std::int64_t end,
                             const std::byte* own, const std::byte* partner, std::byte* out) {
  if (begin >= end) return;
  const EntryContext& context = context_;
  const std::int64_t n = end - begin;
  const std::byte* a = own + begin * context.in_size;
  const std::byte* b = partner + begin * context.in_size;
  std::byte* to = out + begin * context.out_size;
  const RowAffine normalise = affine(c).from(begin);
  if (weights.partner != 0 && weights.own != 0) {
    return context.ops.blend_flat(a, b, weights.own, weights.partner, normalise, to, n);
  }
  const std::byte* from = weights.partner == 0 ? a : b;
  if (context.job.in.dtype == context.job.out.dtype && normalise.scale == nullptr) {
    if (from != to) std::memcpy(to, from, static_cast<std::size_t>(n * context.in_size));
  } else {
    context.ops.convert(from, normalise, to, n);
  }
}

/// Pixels [begin, end) of a row in the box, where the partner is `resampled_` from box column
/// `box_begin` on.
void EntryMixer::mix_resampled(std::int32_t c, std::int64_t begin, std::int64_t end,
                               std::int64_t box_begin, const std::byte* own, std::byte* out) {
  if (begin >= end) return;
  const EntryContext& context = context_;
  const LoweredEntry& e = *entry_;
  const std::int64_t unit = context.unit;
  const std::int64_t n = (end - begin) * unit;
  const std::byte* a = own + begin * unit * context.in_size;
  std::byte* to = out + begin * unit * context.out_size;
  const RowAffine normalise = affine(c).from(begin * unit);
  // Interleaved rows hold all channels of a column; else resampled_ has one plane per channel.
  const bool all_planes = unit == 1 && context.in_nhwc;
  const float* partner = resampled_ + (all_planes ? c * e.width : 0) + box_begin * unit;
  if (e.inside.partner == 0) {
    context.ops.convert(a, normalise, to, n);
  } else if (e.inside.own == 0) {
    context.from_f32.convert(partner, normalise, to, n);
  } else {
    context.load.convert(a, {}, sum_, n);
    context.from_f32.blend_flat(sum_, partner, e.inside.own, e.inside.partner, normalise, to, n);
  }
}

/// Fills resampled_ for row y of the box: the row of channel c, or of all channels if the input is
/// interleaved (planes one after the other, or interleaved like the mixed row).
void EntryMixer::resample_row(std::int32_t c, std::int32_t y) {
  const EntryContext& context = context_;
  const LoweredEntry& e = *entry_;
  const std::int32_t i = y >= e.top ? y - e.top : y - e.top + context.plan.size.height;
  const auto tap = e.resample == Resample::nearest ? nearest_tap : bilinear_tap;
  const Tap rows = tap(i, e.height, context.plan.size.height);
  const std::int64_t lanes = context.in_nhwc ? context.channels : 1;
  const std::int64_t n = context.width * lanes;
  const auto load_row = [&](std::int32_t source_y, float* line) {
    const std::byte* from = fetch(partner_image_, e.partner, c, source_y, partner_row_);
    context.load.convert(from, {}, line, n);
  };
  load_row(rows.first, line_a_);
  if (rows.fraction != 0) {
    load_row(rows.second, line_b_);
    context.common.interpolate_rows(line_a_, line_b_, rows.fraction, line_a_, n);
  }
  if (lanes == 1) {
    return context.common.interpolate_columns(line_a_, first_, second_, fraction_, resampled_,
                                              e.width);
  }
  context.common.deinterleave(line_a_, sizeof(float), lanes, line_planes_, context.width);
  float* target = context.unit == 1 ? resampled_ : line_b_;
  for (std::int64_t k = 0; k < lanes; ++k) {
    context.common.interpolate_columns(line_planes_ + k * context.width, first_, second_, fraction_,
                                       target + k * e.width, e.width);
  }
  if (context.unit > 1) {
    context.common.interleave(line_b_, sizeof(float), lanes, resampled_, e.width);
  }
}

void EntryMixer::mix_terms(std::int32_t c, std::int32_t y, std::int64_t rows, std::byte* out) {
  const EntryContext& context = context_;
  const LoweredEntry& e = *entry_;
  const std::int64_t n = rows * context.row;
  const auto accumulate = context.common.accumulate[static_cast<int>(context.job.in.dtype)];
  bool any = false;
  for (std::int32_t k = 0; k < e.term_count; ++k) {
    const LoweredTerm& term = context.plan.terms[static_cast<std::size_t>(e.term_begin + k)];
    if (term.weight == 0) continue;
    const std::byte* from = nullptr;
    if (context.in_nhwc && !context.out_nhwc) {
      from =
          planes(image(term.source), term.source, y, rows, own_planes_) + c * n * context.in_size;
    } else {
      from = fetch(image(term.source), term.source, c, y, own_row_);
    }
    accumulate(from, term.weight, any, sum_, n);
    any = true;
  }
  if (!any) std::fill_n(sum_, n, 0.0f);
  context.from_f32.convert(sum_, affine(c), out, n);
}

/// How many rows from y on have the same weights in every column and lie together in memory.
std::int64_t EntryMixer::rows_together(std::int32_t y) const {
  const LoweredEntry& e = *entry_;
  if (!mergeable_ || context_.group == 1) return 1;
  const std::int32_t height = context_.plan.size.height;
  std::int64_t rows = height - y;
  if (e.term_count == 0 && e.kind == MaskKind::gaussian) return 1;
  if (e.term_count == 0 && e.kind == MaskKind::box) {
    const bool here = in_interval(y, e.top, e.height, height);
    if (here && (e.width < context_.width || e.resample != Resample::none)) return 1;
    rows = 1;
    while (y + rows < height && rows < context_.group &&
           in_interval(y + static_cast<std::int32_t>(rows), e.top, e.height, height) == here) {
      ++rows;
    }
  }
  return std::min(rows, context_.group);
}

/// Whether the partner has any weight in row y as it is, not resampled.
bool EntryMixer::needs_partner(std::int32_t y) const {
  const LoweredEntry& e = *entry_;
  if (e.kind == MaskKind::gaussian || e.kind == MaskKind::field) return true;
  if (e.outside.partner != 0) return true;
  return e.kind == MaskKind::box && e.resample == Resample::none && e.inside.partner != 0 &&
         in_interval(y, e.top, e.height, context_.plan.size.height);
}

RowAffine EntryMixer::affine(std::int32_t c) const {
  if (context_.scale.empty()) return {};
  if (context_.unit > 1) return {context_.scale.data(), context_.bias.data(), false};
  return {context_.scale.data() + c, context_.bias.data() + c, true};
}

const std::byte* EntryMixer::image(const LoweredSource& source) const {
  return static_cast<const std::byte*>(context_.job.in.data) +
         source.image * context_.job.in.strides.image * context_.in_size;
}

std::byte* EntryMixer::out_row(std::int32_t c, std::int32_t y) const {
  const BatchStrides& s = context_.job.out.strides;
  return static_cast<std::byte*>(context_.job.out.data) +
         (b_ * s.image + c * s.channel + y * s.row) * context_.out_size;
}

/// Row y of a source's window (of channel c, or of all channels if the input is interleaved): a
/// pointer into the image if the window lies inside it, else a copy in `room`.
const std::byte* EntryMixer::fetch(const std::byte* base, const LoweredSource& source,
                                   std::int32_t c, std::int32_t y, std::byte* room) const {
  const EntryContext& context = context_;
  const BatchShape& shape = context.job.in.shape;
  const BatchStrides& strides = context.job.in.strides;
  const std::int64_t pixel = context.in_size * (context.in_nhwc ? context.channels : 1);
  const std::int32_t width = context.width;
  const bool reflected = context.job.pad_mode == PadMode::reflect;
  std::int32_t sy = y + source.dy;
  if (sy < 0 || sy >= shape.height) {
    if (!reflected) {
      for (std::int32_t x = 0; x < width; ++x) {
        std::memcpy(room + x * pixel, context.padding.data(), static_cast<std::size_t>(pixel));
      }
      return room;
    }
    sy = reflect(sy, shape.height);
  }
  const std::byte* line =
      base + (sy * strides.row + (context.in_nhwc ? 0 : c * strides.channel)) * context.in_size;
  if (source.flip == 0 && source.dx >= 0 && source.dx + width <= shape.width) {
    return line + source.dx * pixel;
  }
  // Columns [begin, end) of the unflipped window show the image, the others padding.
  const std::int32_t begin = std::clamp(-source.dx, 0, width);
  const std::int32_t end = std::clamp(shape.width - source.dx, begin, width);
  const bool flip = source.flip != 0;
  const std::int32_t target = flip ? width - end : begin;
  copy_pixels(line + (begin + source.dx) * pixel, room + target * pixel, end - begin, pixel, flip);
  const auto pad = [&](std::int32_t x) {
    const std::byte* from =
        reflected ? line + reflect(x + source.dx, shape.width) * pixel : context.padding.data();
    std::memcpy(room + (flip ? width - 1 - x : x) * pixel, from, static_cast<std::size_t>(pixel));
  };
  for (std::int32_t x = 0; x < begin; ++x) pad(x);
  for (std::int32_t x = end; x < width; ++x) pad(x);
  return room;
}

/// Rows of an interleaved source as one plane per channel, in `room`.
const std::byte* EntryMixer::planes(const std::byte* base, const LoweredSource& source,
                                    std::int32_t y, std::int64_t rows, std::byte* room) const {
  const std::byte* from = fetch(base, source, 0, y, own_row_);
  context_.common.deinterleave(from, context_.in_size, context_.channels, room,
                               rows * context_.width);
  return room;
}

}  // namespace medley
