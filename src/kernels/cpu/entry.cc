#include "kernels/cpu/entry.h"

namespace medley {
namespace {

/// Images of at most so many values are streamed in one go; of larger ones, channels have so much
/// to do that it does not matter.
constexpr std::int64_t kStreamedWhole = 1 << 14;

RowStore& make_store(const CpuCall& call, const SourceRows& sources, Scratch& scratch) {
  if (call.in_nhwc == call.out_nhwc) return same_layout_store(call, sources, scratch);
  return call.in_nhwc ? planar_store(call, sources, scratch)
                      : interleaved_store(call, sources, scratch);
}

}  // namespace

EntryMixer::EntryMixer(const CpuCall& call, Scratch& scratch)
    : call_(call),
      scratch_(scratch),
      sources_(call, scratch),
      runs_(scratch.take<Run>(call.height)),
      store_(make_store(call, sources_, scratch)) {}

void EntryMixer::mix_rows(std::int64_t b, std::int32_t y0, std::int32_t y1,
                          const std::byte* partner, std::int64_t next) {
  const LoweredEntry* entries = call_.plan.entries.data();
  const LoweredEntry& e = entries[b];
  EntryPart part{};
  part.entry = &e;
  part.next = next >= 0 ? entries + next : nullptr;
  part.own = call_.image(e.own);
  part.partner = partner != nullptr ? partner : call_.image(e.partner);
  part.b = b;
  part.y0 = y0;
  part.y1 = y1;
  part.contiguous = is_contiguous(e, y0, y1);
  MaskRows& mask = mask_of(e);
  const std::int64_t values = call_.channels * call_.height * call_.row;
  part.whole = call_.direct && call_.planes_follow && part.contiguous && y1 - y0 == call_.height &&
               (!call_.job.streaming || values <= kStreamedWhole) && mask.takes_planes(e);
  mask.start(part);
  if (part.whole) {
    const Region& all = mask.region();
    const Run run{0, static_cast<std::int32_t>(call_.height * call_.channels), true, all.needs_own,
                  all.needs_partner};
    return store_.store(part, mask, {&run, 1});
  }
  RowStore& store = store_of(part);
  store.store(part, mask,
              cut_runs(mask.region(), call_.height, y0, y1, store.most_rows(part, mask), runs_));
}

bool EntryMixer::is_contiguous(const LoweredEntry& e, std::int32_t y0, std::int32_t y1) const {
  if (e.term_count == 0) {
    return call_.windows.contiguous(e.own, y0, y1) && call_.windows.contiguous(e.partner, y0, y1);
  }
  for (std::int32_t k = 0; k < e.term_count; ++k) {
    const LoweredTerm& term = call_.plan.terms[static_cast<std::size_t>(e.term_begin + k)];
    if (!call_.windows.contiguous(term.source, y0, y1)) return false;
  }
  return true;
}

MaskRows& EntryMixer::mask_of(const LoweredEntry& e) {
  constexpr std::size_t kTerms = 5;
  constexpr std::size_t kMaskedTerms = 6;
  constexpr std::size_t kShrunk = 7;
  const std::size_t kind = e.masked != 0                  ? kMaskedTerms
                           : e.term_count > 0             ? kTerms
                           : e.resample != Resample::none ? kShrunk
                                                          : static_cast<std::size_t>(e.kind);
  MaskRows*& mask = masks_[kind];
  if (mask != nullptr) return *mask;
  using Make = MaskRows& (*)(const CpuCall&, Scratch&);
  constexpr std::array<Make, 5> kMakers = {flat_rows, box_rows, gaussian_rows, field_rows,
                                           grid_rows};
  mask = kind == kTerms         ? &term_rows(call_, sources_, scratch_)
         : kind == kMaskedTerms ? &masked_term_rows(call_, sources_, scratch_)
         : kind == kShrunk      ? &shrunk_rows(call_, scratch_)
                                : &kMakers[kind](call_, scratch_);
  return *mask;
}

RowStore& EntryMixer::store_of(const EntryPart& part) {
  const bool planes = part.entry->kind == MaskKind::field && part.entry->term_count == 0 &&
                      part.contiguous && call_.job.streaming && call_.channels == 3 &&
                      call_.whole_lines && call_.dense_out;
  if (!planes) return store_;
  if (field_planes_ == nullptr) field_planes_ = &field_planes_store(call_, sources_, scratch_);
  return *field_planes_;
}

}  // namespace medley
