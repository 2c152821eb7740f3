#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/call.h"
#include "kernels/cpu/masks/mask_rows.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/source_rows.h"
#include "kernels/cpu/stores/row_store.h"

namespace medley {

/// Mixes rows of outputs, one after the other; one per thread.
class EntryMixer {
 public:
  EntryMixer(const CpuCall& call, Scratch& scratch);

  /// Rows [y0, y1) of output b. `partner` replaces the memory of the partner's image, which is then
  /// laid out like one image of the input; null: as the plan says. `next`: the output whose same
  /// rows will be mixed after these, or -1; only a hint.
  void mix_rows(std::int64_t b, std::int32_t y0, std::int32_t y1,
                const std::byte* partner = nullptr, std::int64_t next = -1);

 private:
  [[nodiscard]] bool is_contiguous(const LoweredEntry& e, std::int32_t y0, std::int32_t y1) const;
  [[nodiscard]] MaskRows& mask_of(const LoweredEntry& e);
  [[nodiscard]] RowStore& store_of(const EntryPart& part);

  const CpuCall& call_;
  Scratch& scratch_;
  SourceRows sources_;
  Run* runs_;
  RowStore& store_;
  // Made when first needed.
  RowStore* field_planes_ = nullptr;
  std::array<MaskRows*, 8> masks_{};
};

}  // namespace medley
