#include "kernels/cpu/entry.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace medley {
namespace {

/// Several rows go through a loop together, up to this many values: …
constexpr std::int64_t kGroupValues = 8192;
/// … or this many, if they wait in a buffer on their way.
constexpr std::int64_t kBufferedValues = 2048;
/// Rows whose window must be copied only gain from that if they are shorter than this.
constexpr std::int64_t kShortRow = 512;
/// Far enough ahead that memory answers in time.
constexpr std::int64_t kAheadBytes = 2048;
/// Where two images take turns in rows, these are asked for earlier: processors do not foresee
/// short stretches. Bytes are read so slowly that they do not need it.
constexpr std::int64_t kFarBytes = 10 << 10;
/// Rows of an output with a shrunk partner are mixed together, this many.
constexpr std::int64_t kShrunkRows = 4;
/// Values beside the columns of a Gaussian.
constexpr std::int64_t kSlack = 16;
/// Writing many channels at once would keep too many streams open.
constexpr std::int64_t kMaxStreams = 4;

bool rows_are_dense(const ImageBatchView& view) {
  const std::int64_t row = view.layout == Layout::nhwc
                               ? std::int64_t{view.shape.width} * view.shape.channels
                               : view.shape.width;
  return view.strides.row == row;
}

/// Whether every row of the output fills whole lines.
bool rows_are_lines(const MutableImageBatchView& out) {
  constexpr std::int64_t kLine = StreamWriter::kLine;
  const std::int64_t size = size_of(out.dtype);
  return reinterpret_cast<std::uintptr_t>(out.data) % kLine == 0 &&
         out.strides.row * size % kLine == 0 && out.strides.channel * size % kLine == 0 &&
         out.strides.image * size % kLine == 0 && out.shape.width * size % kLine == 0;
}

/// Below this weight an image cannot change any bit of the output, with room to spare. In general
/// that is a weight that is 0 in single precision. But normalised u8 values are far from tiny: 0
/// becomes the bias, and what is below an ulp of everything does not matter.
double least_gaussian_weight(const MixJob& job) {
  constexpr double kZero = 0x1p-151;
  constexpr double kBelowUlps = 0x1p-110;
  if (job.in.dtype != DType::u8 || job.affine.empty()) return kZero;
  const bool robust = std::ranges::all_of(job.affine, [](const Affine& a) {
    return std::abs(a.bias) > 0x1p-60f * std::abs(a.scale) && std::abs(a.bias) > 0x1p-60f;
  });
  return robust ? kBelowUlps : kZero;
}

float* as_floats(std::byte* p) { return reinterpret_cast<float*>(p); }

}  // namespace

EntryContext::EntryContext(const LoweredPlan& lowered, const MixJob& mix_job)
    : plan(lowered),
      job(mix_job),
      ops(row_ops(job.in.dtype)),
      f32_ops(row_ops(DType::f32)),
      lines(line_ops()),
      windows(job, lines, plan.size.width),
      width(plan.size.width),
      channels(job.in.shape.channels),
      in_nhwc(job.in.layout == Layout::nhwc),
      out_nhwc(job.out.layout == Layout::nhwc),
      unit(in_nhwc && out_nhwc ? channels : 1),
      row(width * unit),
      in_size(size_of(job.in.dtype)),
      out_size(size_of(job.out.dtype)),
      dense_out(rows_are_dense(job.out)),
      direct(job.out.dtype == DType::f32 && in_nhwc == out_nhwc),
      lines_only(direct && unit == 1 && rows_are_lines(job.out)),
      copies(job.in.dtype == job.out.dtype && job.affine.empty()),
      shrinks(std::ranges::any_of(
          plan.entries, [](const LoweredEntry& e) { return e.resample != Resample::none; })) {
  least_weight = least_gaussian_weight(job);
  // What is staged on its way past the caches leaves in small pieces.
  const std::int64_t staged = static_cast<std::int64_t>(StreamWriter::kFlush) / out_size;
  const std::int64_t values = job.streaming && !direct ? staged : kBufferedValues;
  group = dense_out ? std::max<std::int64_t>(1, values / row) : 1;
  // Normalisation of interleaved rows is as long as a group.
  const bool long_rows = dense_out && direct && (unit == 1 || job.affine.empty());
  long_group = long_rows ? std::max<std::int64_t>(1, kGroupValues / row) : group;
  const std::int64_t in_row = job.in.strides.row * in_size;
  const auto in_rows = [&](std::int64_t bytes) {
    return std::max<std::int64_t>(1, (bytes + in_row / 2) / in_row) * in_row;
  };
  ahead = job.streaming ? in_rows(kAheadBytes) : 0;
  far = job.in.dtype == DType::f32 ? in_rows(kFarBytes) : 0;

  const std::int64_t affine_values = job.affine.empty() ? 0 : unit == 1 ? channels : group * row;
  for (std::int64_t i = 0; i < affine_values; ++i) {
    const Affine a = job.affine[static_cast<std::size_t>(i % channels)];
    scale.push_back(a.scale);
    bias.push_back(a.bias);
  }
}

EntryMixer::EntryMixer(const EntryContext& context, Scratch& scratch) : context_(context) {
  const EntryContext& c = context;
  const std::int64_t all = c.group * c.width * c.channels;  // with every channel
  const std::int64_t in_values = c.in_nhwc ? all : c.group * c.width;
  const bool terms = !c.plan.terms.empty();
  const bool from_nhwc = c.in_nhwc && !c.out_nhwc;
  const bool to_nhwc = !c.in_nhwc && c.out_nhwc;
  for (std::size_t i = 0; i < (terms ? kTerms : 2); ++i) {
    rooms_[i] = scratch.take<std::byte>(in_values * c.in_size);
    if (from_nhwc) plane_rooms_[i] = scratch.take<std::byte>(in_values * c.in_size);
  }
  if (to_nhwc) out_planes_ = scratch.take<std::byte>(all * c.out_size);
  if (c.job.out.dtype != DType::f32) mixed_ = scratch.take<float>(c.group * c.row);
  if (c.unit > 1) mask_wide_ = scratch.take<float>(c.long_group * c.row);
  factors_ = scratch.take<float>(std::max(c.plan.size.height, c.width) + 64);
  row_factors_ = scratch.take<float>(c.plan.size.height);
  reach_ = scratch.take<std::int32_t>(c.plan.size.height);
  // Loops read up to a vector before and behind the columns.
  columns_ = scratch.take<float>(c.row + 2 * kSlack) + kSlack;
  std::fill_n(columns_ - kSlack, kSlack, 0.0f);
  std::fill_n(columns_ + c.row, kSlack, 0.0f);
  sum_ = scratch.take<float>(terms ? c.long_group * c.row : c.row);
  if (c.shrinks) {
    const auto channels = !c.in_nhwc || c.channels == 1 ? Shrinker::Channels::one
                          : c.out_nhwc                  ? Shrinker::Channels::interleaved
                                                        : Shrinker::Channels::planes;
    shrunk_ = scratch.take<float>(c.row);
    shrinker_.emplace(c.job, c.lines, c.windows, c.plan.size, channels, scratch);
  }
  const std::int64_t streams = from_nhwc ? c.channels : 1;
  const bool streaming = c.job.streaming && c.dense_out && streams <= kMaxStreams;
  const std::int64_t largest = (c.out_nhwc ? all : c.group * c.width) * c.out_size;
  writers_.assign(static_cast<std::size_t>(streams), StreamWriter(c.lines));
  for (StreamWriter& writer : writers_) {
    if (!streaming) break;
    writer.stream_through(scratch.take<std::byte>(
        static_cast<std::int64_t>(StreamWriter::kFlush + StreamWriter::kLine) + largest));
  }
}

void EntryMixer::mix_rows(std::int64_t b, std::int32_t y0, std::int32_t y1,
                          const std::byte* partner, std::int64_t next) {
  next_ = next >= 0 ? &context_.plan.entries[static_cast<std::size_t>(next)] : nullptr;
  start(b, y0, y1, partner);
  const EntryContext& c = context_;
  if (entry_->kind == MaskKind::field && c.channels == 3 && c.lines_only && c.job.streaming &&
      c.dense_out && contiguous_) {
    mix_field_planes();
  } else if (context_.in_nhwc == context_.out_nhwc) {
    mix_matching_layout();
  } else {
    mix_across_layouts();
  }
}

/// Prepares what all rows [y0, y1) of output b need.
void EntryMixer::start(std::int64_t b, std::int32_t y0, std::int32_t y1, const std::byte* partner) {
  const EntryContext& c = context_;
  const LoweredEntry& e = c.plan.entries[static_cast<std::size_t>(b)];
  entry_ = &e;
  b_ = b;
  y0_ = y0;
  partner_image_ = partner != nullptr ? partner : image(e.partner);
  region_ = e.kind == MaskKind::box ? Region{e.top, e.left, e.height, e.width, e.outside}
                                    : Region{0, 0, c.plan.size.height, c.width, e.outside};
  if (e.kind == MaskKind::gaussian) start_gaussian(y0, y1);
  if (e.resample != Resample::none) shrinker_->start(e, partner_image_, y0, y1);

  contiguous_ = true;
  if (e.term_count > 0) {
    for (std::int32_t k = 0; k < e.term_count; ++k) {
      const LoweredTerm& term = c.plan.terms[static_cast<std::size_t>(e.term_begin + k)];
      contiguous_ = contiguous_ && c.windows.contiguous(term.source, y0, y1);
    }
  } else {
    contiguous_ = c.windows.contiguous(e.own, y0, y1) && c.windows.contiguous(e.partner, y0, y1);
  }
  pastes_rows_ = contiguous_ && e.resample != Resample::none && shrinker_->pastes_rows();
  cut_runs(y0, y1, contiguous_ ? c.long_group : c.windows.row_bytes() < kShortRow ? c.group : 1);
}

/// Factors of the rows [y0, y1) and of the columns, and how far they matter.
void EntryMixer::start_gaussian(std::int32_t y0, std::int32_t y1) {
  const EntryContext& c = context_;
  const LoweredEntry& e = *entry_;
  const std::int32_t far = std::max({e.left, c.width - 1 - e.left, e.top - y0, y1 - 1 - e.top});
  c.lines.gaussian_factors(e.gaussian_scale, factors_, far + 1);
  for (std::int32_t y = y0; y < y1; ++y) row_factors_[y - y0] = factors_[std::abs(y - e.top)];
  float* column = columns_;
  for (std::int32_t x = 0; x < c.width; ++x) {
    const float factor = factors_[std::abs(x - e.left)];
    for (std::int64_t k = 0; k < c.unit; ++k) *column++ = factor;
  }
  region_.outside = e.peak_own != 0 ? Weights{0, 1} : Weights{1, 0};
  const double radius2 = -std::log(c.least_weight) / e.gaussian_scale;
  if (radius2 >= 2.0 * far * far) {  // everywhere
    std::fill_n(reach_, y1 - y0, static_cast<std::int32_t>(c.row));
    return;
  }
  const auto radius = static_cast<std::int32_t>(std::sqrt(radius2)) + 1;
  for (std::int32_t y = y0; y < y1; ++y) {
    const double distance = y - e.top;
    const double rest = radius2 - distance * distance;
    const auto side = static_cast<std::int32_t>(std::sqrt(std::max(rest, 0.0))) + 1;
    reach_[y - y0] = rest < 0 ? -1 : static_cast<std::int32_t>(std::min(side * c.unit, c.row));
  }
  region_.top = std::max(e.top - radius, 0);
  region_.height = std::min(e.top + radius + 1, c.plan.size.height) - region_.top;
}

/// Cuts [y0, y1) at the edges of the region, into runs of `most` rows at most.
void EntryMixer::cut_runs(std::int32_t y0, std::int32_t y1, std::int64_t most) {
  const LoweredEntry& e = *entry_;
  const std::int32_t height = context_.plan.size.height;
  const bool full_width = region_.width == context_.width;
  const bool whole_mask = e.kind == MaskKind::gaussian || e.kind == MaskKind::field;
  const bool by_plane = context_.in_nhwc && !context_.out_nhwc;
  if (e.resample != Resample::none && !pastes_rows_) {
    most = std::min(most, by_plane ? 1 : kShrunkRows);
  }
  runs_.clear();
  for (std::int32_t y = y0; y < y1;) {
    Run run{y, 1, in_interval(y, region_.top, region_.height, height), false, false, false, false};
    run.shrunk = run.inside && e.resample != Resample::none;
    run.staged = run.shrunk && !shrinker_->pastes();
    // The next edge below.
    std::int32_t end = y1;
    for (const std::int32_t edge :
         {region_.top, region_.top + region_.height, region_.top + region_.height - height}) {
      if (edge > y) end = std::min(end, edge);
    }
    run.rows = static_cast<std::int32_t>(std::min<std::int64_t>(most, end - y));
    const Weights inside = e.kind == MaskKind::box ? e.inside : e.outside;
    const bool shows_outside = !run.inside || !full_width;
    run.needs_own = (shows_outside && region_.outside.own != 0) ||
                    (run.inside && (whole_mask || inside.own != 0));
    run.needs_partner = (shows_outside && region_.outside.partner != 0) ||
                        (run.inside && !run.shrunk && (whole_mask || inside.partner != 0));
    runs_.push_back(run);
    y += run.rows;
  }
}

void EntryMixer::mix_matching_layout() {
  const EntryContext& c = context_;
  const LoweredEntry& e = *entry_;
  const auto passes = static_cast<std::int32_t>(c.in_nhwc ? 1 : c.channels);
  StreamWriter& writer = writers_[0];
  for (std::int32_t channel = 0; channel < passes; ++channel) {
    writer.start(out_row(channel, y0_));
    const bool looks_ahead = e.resample != Resample::none && !c.in_nhwc;
    if (looks_ahead) look_ahead(channel);
    for (const Run& run : runs_) {
      const auto bytes = static_cast<std::size_t>(run.rows * c.row * c.out_size);
      if (looks_ahead && !pastes_rows_) shrinker_->touch(run.y, run.rows);
      if (!c.dense_out) writer.start(out_row(channel, run.y));
      const bool streams =
          run.shrunk || pastes_rows_ ? c.lines_only && !run.staged : c.direct && contiguous_;
      const Piece out = writer.reserve(streams);
      const bool pair = e.term_count == 0;
      const std::byte* own =
          pair && run.needs_own ? window(image(e.own), e.own, channel, run, 0) : rooms_[0];
      const std::byte* partner = pair && run.needs_partner
                                     ? window(partner_image_, e.partner, channel, run, 1)
                                     : rooms_[1];
      mix_run(channel, run, own, partner, out);
      writer.commit(bytes);
    }
    writer.finish();
  }
}

/// A field is read once for all channels.
void EntryMixer::mix_field_planes() {
  const EntryContext& c = context_;
  const LoweredEntry& e = *entry_;
  for (const Run& run : runs_) {
    ThreePlanes planes;
    for (std::int32_t channel = 0; channel < 3; ++channel) {
      planes.a[channel] = window(image(e.own), e.own, channel, run, 0);
      planes.b[channel] = window(partner_image_, e.partner, channel, run, 1);
      planes.affine[channel] = style(channel, true).affine;
      planes.out[channel] = as_floats(out_row(channel, run.y));
    }
    const float* mask = c.plan.fields + e.field + std::int64_t{run.y} * c.width;
    // Three channels take three times as long to get as far.
    c.ops.blend_mask_planes(planes, mask, c.ahead / 2, run.rows * c.row);
  }
}

void EntryMixer::mix_across_layouts() {
  const EntryContext& c = context_;
  const LoweredEntry& e = *entry_;
  const auto channels = static_cast<std::int32_t>(c.channels);
  const auto restart = [&](std::int32_t y) {
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      writers_[i].start(out_row(static_cast<std::int32_t>(i), y));
    }
  };
  restart(y0_);
  for (const Run& run : runs_) {
    const std::int64_t n = run.rows * c.row;
    const auto bytes = static_cast<std::size_t>(n * c.out_size);
    const bool needs_own = e.term_count == 0 && run.needs_own;
    const bool needs_partner = e.term_count == 0 && run.needs_partner;
    if (!c.dense_out) restart(run.y);
    if (c.in_nhwc) {
      if (needs_own) (void)planes(image(e.own), e.own, run, 0);
      if (needs_partner) (void)planes(partner_image_, e.partner, run, 1);
      if (run.shrunk) shrinker_->make_row(0, run.y);
    }
    for (std::int32_t channel = 0; channel < channels; ++channel) {
      const Piece out = c.out_nhwc ? Piece{out_planes_ + channel * n * c.out_size, false}
                                   : writers_[static_cast<std::size_t>(channel)].reserve(false);
      if (c.in_nhwc) {
        const std::int64_t plane = channel * n * c.in_size;
        mix_run(channel, run, plane_rooms_[0] + plane, plane_rooms_[1] + plane, out);
      } else {
        const std::byte* own = needs_own ? window(image(e.own), e.own, channel, run, 0) : rooms_[0];
        const std::byte* partner =
            needs_partner ? window(partner_image_, e.partner, channel, run, 1) : rooms_[1];
        mix_run(channel, run, own, partner, out);
      }
      if (!c.out_nhwc) writers_[static_cast<std::size_t>(channel)].commit(bytes);
    }
    if (c.out_nhwc) {
      const std::size_t all = bytes * static_cast<std::size_t>(c.channels);
      const Piece out = writers_[0].reserve(false);
      c.lines.interleave(out_planes_, c.out_size, c.channels, out.at, n);
      writers_[0].commit(all);
    }
  }
  for (StreamWriter& writer : writers_) writer.finish();
}

/// A run of channel c (or of all, interleaved), in the output type.
void EntryMixer::mix_run(std::int32_t c, const Run& run, const std::byte* own,
                         const std::byte* partner, Piece out) {
  const EntryContext& context = context_;
  const std::int64_t n = run.rows * context.row;
  if (context.job.out.dtype == DType::f32) {
    return mix_floats(c, run, own, partner, style(c, out.stream), as_floats(out.at));
  }
  if (const std::byte* source = copied_source(run, own, partner); source != nullptr) {
    if (source != out.at) context.lines.copy({source, 0, out.at, 0, 1, n, context.in_size});
    return;
  }
  mix_floats(c, run, own, partner, style(c, false), mixed_);
  context.lines.round[static_cast<int>(context.job.out.dtype)](mixed_, out.at, n);
}

/// The image that the run consists of, bit for bit, if there is one.
const std::byte* EntryMixer::copied_source(const Run& run, const std::byte* own,
                                           const std::byte* partner) const {
  const LoweredEntry& e = *entry_;
  if (!context_.copies || e.term_count > 0) return nullptr;
  if (run.inside && e.kind != MaskKind::flat) return nullptr;
  return region_.outside.partner == 0 ? own : region_.outside.own == 0 ? partner : nullptr;
}

void EntryMixer::mix_floats(std::int32_t c, const Run& run, const std::byte* own,
                            const std::byte* partner, const RowStyle& how, float* out) {
  const EntryContext& context = context_;
  const LoweredEntry& e = *entry_;
  const std::int64_t n = run.rows * context.row;
  if (e.term_count > 0) return sum_terms(c, run, how, out);
  if (pastes_rows_) return shrinker_->paste_rows(c, run.y, run.rows, own, how, out);
  if (run.shrunk) {
    const std::int64_t row_bytes = context.row * context.in_size;
    for (std::int32_t r = 0; r < run.rows; ++r) {
      // From nhwc to nchw the row of all channels is there already.
      if (!context.in_nhwc || context.out_nhwc) shrinker_->make_row(c, run.y + r);
      if (shrinker_->pastes()) {
        shrinker_->paste(c, own + r * row_bytes, how, out + r * context.row, context.row);
        continue;
      }
      mix_shrunk_row(c, own + r * row_bytes, partner + r * row_bytes, how, out + r * context.row);
    }
    return;
  }
  if (!run.inside) return mix_segment(region_.outside, own, partner, how, out, n);
  const std::int64_t left = region_.left * context.unit;
  const std::int64_t right = left + region_.width * context.unit;
  switch (e.kind) {
    case MaskKind::flat:
      return mix_segment(e.outside, own, partner, how, out, n);
    case MaskKind::box: {
      if (region_.width == context.width) return mix_segment(e.inside, own, partner, how, out, n);
      // A wrapped box leaves a gap in the middle of the row.
      const bool wraps = right > context.row;
      const BoxRows box{context.row,
                        run.rows,
                        0,
                        run.rows,
                        wraps ? right - context.row : left,
                        wraps ? left : right,
                        wraps ? e.outside : e.inside,
                        wraps ? e.inside : e.outside};
      return context.ops.blend_box(own, partner, box, box_style(how), out, run.rows);
    }
    case MaskKind::gaussian: {
      const bool own_peak = e.peak_own != 0;
      const std::int32_t first = run.y - y0_;
      const GaussianRows mask{row_factors_ + first,
                              columns_,
                              factors_[std::max(e.left, context.width - 1 - e.left)],
                              reach_ + first,
                              e.left * context.unit,
                              (e.left + 1) * context.unit,
                              context.least_weight > 0x1p-124};
      return context.ops.blend_gaussian(own_peak ? own : partner, own_peak ? partner : own, mask,
                                        how, out, run.rows, context.row);
    }
    case MaskKind::field: {
      const float* mask = context.plan.fields + e.field + std::int64_t{run.y} * context.width;
      if (context.unit > 1) {
        context.lines.repeat(mask, context.unit, mask_wide_,
                             std::int64_t{run.rows} * context.width);
        mask = mask_wide_;
      }
      return context.ops.blend_mask(own, partner, mask, how, out, n);
    }
  }
}

/// For rows with a box. Rows far below are asked for if both images are copied, else one is read
/// all along; and not if the box is low, as other columns are needed below it.
RowStyle EntryMixer::box_style(RowStyle how) const {
  const LoweredEntry& e = *entry_;
  const bool copies = e.inside.own == 0 || e.inside.partner == 0;
  const bool high = 2 * context_.far < e.height * context_.row * context_.in_size;
  if (how.stream && contiguous_ && copies && high) how.far = context_.far;
  return how;
}

/// While channel c is mixed, what the next one reads of its partner is asked for.
void EntryMixer::look_ahead(std::int32_t c) {
  const bool last = c + 1 == context_.channels;
  const LoweredEntry* later = last ? next_ : entry_;
  if (later == nullptr) return shrinker_->look_nowhere();
  // Along a chain every partner becomes the image itself.
  const bool chained = next_ != nullptr && next_->own.image == entry_->partner.image;
  shrinker_->look_ahead(*later, image(later->partner), last ? 0 : c + 1, chained);
}

/// One row of a box that holds the shrunk partner, which `shrinker_` has made.
void EntryMixer::mix_shrunk_row(std::int32_t c, const std::byte* own, const std::byte* partner,
                                const RowStyle& row_style, float* out) {
  const EntryContext& context = context_;
  const LoweredEntry& e = *entry_;
  const auto style_from = [&](std::int64_t begin) {
    return RowStyle{row_style.affine.from(begin), row_style.ahead, row_style.far, row_style.stream};
  };
  const auto outside = [&](std::int64_t begin, std::int64_t end) {
    mix_segment(e.outside, own + begin * context.in_size, partner + begin * context.in_size,
                style_from(begin), out + begin, end - begin);
  };
  const auto inside = [&](std::int64_t begin, std::int64_t end, bool wrapped) {
    const std::int64_t n = end - begin;
    const RowStyle how = style_from(begin);
    const std::byte* a = own + begin * context.in_size;
    if (e.inside.partner == 0) return context.ops.convert(a, how, out + begin, n);
    shrinker_->write(c, wrapped, n / context.unit, shrunk_);
    if (e.inside.own == 0) return context.f32_ops.convert(shrunk_, how, out + begin, n);
    context.ops.convert(a, {}, sum_, n);
    context.f32_ops.blend_flat(sum_, shrunk_, e.inside, how, out + begin, n);
  };
  const std::int64_t left = e.left * context.unit;
  const std::int64_t right = left + e.width * context.unit;
  if (right <= context.row) {
    outside(0, left);
    inside(left, right, false);
    outside(right, context.row);
  } else {
    inside(0, right - context.row, true);
    outside(right - context.row, left);
    inside(left, context.row, false);
  }
}

/// n values with the same weights, some of which may be 0.
void EntryMixer::mix_segment(Weights weights, const std::byte* own, const std::byte* partner,
                             const RowStyle& how, float* out, std::int64_t n) {
  if (weights.partner == 0) {
    context_.ops.convert(own, how, out, n);
  } else if (weights.own == 0) {
    context_.ops.convert(partner, how, out, n);
  } else {
    context_.ops.blend_flat(own, partner, weights, how, out, n);
  }
}

/// The weighted sum of the entry's terms, a few of them per pass.
void EntryMixer::sum_terms(std::int32_t c, const Run& run, const RowStyle& how, float* out) {
  const EntryContext& context = context_;
  const LoweredEntry& e = *entry_;
  const std::int64_t n = run.rows * context.row;
  std::array<const void*, kTerms> sources{};
  std::array<float, kTerms> weights{};
  std::int32_t gathered = 0;
  const float* base = nullptr;
  for (std::int32_t k = 0; k < e.term_count; ++k) {
    const LoweredTerm& term = context.plan.terms[static_cast<std::size_t>(e.term_begin + k)];
    if (term.weight == 0) continue;
    if (gathered == kTerms) {
      context.ops.sum(sources.data(), weights.data(), gathered, base, {}, sum_, n);
      base = sum_;
      gathered = 0;
    }
    const auto at = static_cast<std::size_t>(gathered++);
    weights[at] = term.weight;
    sources[at] = context.in_nhwc && !context.out_nhwc
                      ? planes(image(term.source), term.source, run, at) + c * n * context.in_size
                      : window(image(term.source), term.source, c, run, at);
  }
  if (gathered == 0) {
    // No term has any weight.
    std::fill_n(sum_, n, 0.0f);
    return context.f32_ops.convert(sum_, how, out, n);
  }
  context.ops.sum(sources.data(), weights.data(), gathered, base, how, out, n);
}

RowStyle EntryMixer::style(std::int32_t c, bool stream) const {
  RowStyle result;
  result.ahead = context_.ahead;
  result.stream = stream;
  if (context_.scale.empty()) return result;
  if (context_.unit > 1) {
    result.affine = {context_.scale.data(), context_.bias.data(), false};
  } else {
    result.affine = {context_.scale.data() + c, context_.bias.data() + c, true};
  }
  return result;
}

const std::byte* EntryMixer::image(const LoweredSource& source) const {
  return static_cast<const std::byte*>(context_.job.in.data) +
         source.image * context_.job.in.strides.image * context_.in_size;
}

/// Rows of a source as they are mixed: of channel c, or interleaved.
const std::byte* EntryMixer::window(const std::byte* base, const LoweredSource& source,
                                    std::int32_t c, const Run& run, std::size_t room) const {
  return context_.windows.rows(base, source, c, run.y, run.rows, rooms_[room]);
}

/// Rows of an interleaved source as one plane per channel.
const std::byte* EntryMixer::planes(const std::byte* base, const LoweredSource& source,
                                    const Run& run, std::size_t room) const {
  const std::byte* from = window(base, source, 0, run, room);
  context_.lines.deinterleave(from, context_.in_size, context_.channels, plane_rooms_[room],
                              std::int64_t{run.rows} * context_.width);
  return plane_rooms_[room];
}

std::byte* EntryMixer::out_row(std::int32_t c, std::int32_t y) const {
  const BatchStrides& s = context_.job.out.strides;
  return static_cast<std::byte*>(context_.job.out.data) +
         (b_ * s.image + c * s.channel + y * s.row) * context_.out_size;
}

}  // namespace medley
