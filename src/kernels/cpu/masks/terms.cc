#include <algorithm>
#include <array>

#include "kernels/cpu/masks/mask_rows.h"

namespace medley {
namespace {

class TermRows final : public MaskRows {
 public:
  TermRows(const CpuCall& call, const SourceRows& sources, Scratch& scratch)
      : MaskRows(call), sources_(sources), sum_(scratch.take<float>(call.long_group * call.row)) {}

 protected:
  Region prepare() override {
    Region all;
    all.height = call_.height;
    // The sources are those of the terms.
    all.needs_own = all.needs_partner = false;
    return all;
  }

  /// A few terms per pass.
  void mix_inside(const Slice& slice, const RowStyle& how, float* out) override {
    constexpr std::int32_t kTerms = SourceRows::kRooms;
    const LoweredEntry& e = entry();
    const std::int64_t n = slice.rows * call_.row;
    std::array<const void*, kTerms> sources{};
    std::array<float, kTerms> weights{};
    std::int32_t gathered = 0;
    const float* base = nullptr;
    for (std::int32_t k = 0; k < e.term_count; ++k) {
      const LoweredTerm& term = call_.plan.terms[static_cast<std::size_t>(e.term_begin + k)];
      if (term.weight == 0) continue;
      if (gathered == kTerms) {
        call_.ops.sum(sources.data(), weights.data(), gathered, base, {}, sum_, n);
        base = sum_;
        gathered = 0;
      }
      const auto at = static_cast<std::size_t>(gathered);
      weights[at] = term.weight;
      sources[at] = rows_of(term.source, slice, gathered++);
    }
    if (gathered == 0) {
      // No term has any weight.
      std::fill_n(sum_, n, 0.0f);
      return call_.f32_ops.convert(sum_, how, out, n);
    }
    call_.ops.sum(sources.data(), weights.data(), gathered, base, how, out, n);
  }

 private:
  [[nodiscard]] const std::byte* rows_of(const LoweredSource& source, const Slice& slice,
                                         std::int32_t room) const {
    return sources_.term(call_.image(source), source, slice.c, slice.y, slice.rows, room);
  }

  const SourceRows& sources_;
  float* sum_;
};

}  // namespace

MaskRows& term_rows(const CpuCall& call, const SourceRows& sources, Scratch& scratch) {
  return scratch.make<TermRows>(call, sources, scratch);
}

}  // namespace medley
