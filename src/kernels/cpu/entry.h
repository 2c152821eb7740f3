#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/row_ops.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/stream_writer.h"
#include "kernels/lower.h"

namespace medley {

/// What all outputs of a call have in common: operations, sizes, normalisation as rows.
struct EntryContext {
  EntryContext(const LoweredPlan& lowered, const MixJob& mix_job);

  const LoweredPlan& plan;
  const MixJob& job;
  const RowOps& ops;       // input type to output type
  const RowOps& load;      // input type to f32
  const RowOps& from_f32;  // f32 to output type
  const CommonOps& common;

  std::int32_t width;  // of the outputs, in pixels
  std::int64_t channels;
  bool in_nhwc;
  bool out_nhwc;
  /// Rows are mixed interleaved when input and output are nhwc, else channel by channel.
  std::int64_t unit;     // values per pixel of a mixed row: channels, or 1
  std::int64_t row;      // values of a mixed row: width * unit
  std::int64_t in_size;  // bytes of an element
  std::int64_t out_size;
  bool dense_rows;           // rows follow each other without gaps in input and output
  std::int64_t group;        // most rows mixed in one go
  std::vector<float> scale;  // channels (unit 1), or one entry per value of `group` rows
  std::vector<float> bias;
  std::vector<std::byte> padding;  // one pixel of it
};

/// Mixes rows of outputs, one after the other; one per thread.
class EntryMixer {
 public:
  EntryMixer(const EntryContext& context, Scratch& scratch);

  /// Rows [y0, y1) of output b. `partner` replaces the memory of the partner's image, which is then
  /// laid out like one image of the input; null: as the plan says.
  void mix_rows(std::int64_t b, std::int32_t y0, std::int32_t y1,
                const std::byte* partner = nullptr);

 private:
  struct Rows;  // one stretch of rows that is mixed in one go

  void mix_matching_layout(std::int32_t y0, std::int32_t y1);
  void mix_across_layouts(std::int32_t y0, std::int32_t y1);
  void mix_run(std::int32_t c, std::int32_t y, std::int64_t rows, const std::byte* own,
               const std::byte* partner, std::byte* out);
  void mix_box_row(std::int32_t c, std::int32_t y, const std::byte* own, const std::byte* partner,
                   std::byte* out);
  void mix_segment(Weights weights, std::int32_t c, std::int64_t begin, std::int64_t end,
                   const std::byte* own, const std::byte* partner, std::byte* out);
  void mix_resampled(std::int32_t c, std::int64_t begin, std::int64_t end, std::int64_t box_begin,
                     const std::byte* own, std::byte* out);
  void mix_terms(std::int32_t c, std::int32_t y, std::int64_t rows, std::byte* out);
  void resample_row(std::int32_t c, std::int32_t y);

  [[nodiscard]] std::int64_t rows_together(std::int32_t y) const;
  [[nodiscard]] bool needs_partner(std::int32_t y) const;
  [[nodiscard]] RowAffine affine(std::int32_t c) const;
  [[nodiscard]] const std::byte* image(const LoweredSource& source) const;
  const std::byte* fetch(const std::byte* base, const LoweredSource& source, std::int32_t c,
                         std::int32_t y, std::byte* room) const;
  const std::byte* planes(const std::byte* base, const LoweredSource& source, std::int32_t y,
                          std::int64_t rows, std::byte* room) const;
  [[nodiscard]] std::byte* out_row(std::int32_t c, std::int32_t y) const;

  const EntryContext& context_;
  const LoweredEntry* entry_ = nullptr;
  const std::byte* partner_image_ = nullptr;
  std::int64_t b_ = 0;
  bool mergeable_ = false;

  // Working memory, see the constructor.
  std::byte* own_row_;
  std::byte* partner_row_;
  std::byte* own_planes_;
  std::byte* partner_planes_;
  std::byte* out_planes_;
  float* mask_;
  float* mask_wide_;
  float* profile_;
  float* columns_;
  float* sum_;
  float* line_a_;
  float* line_b_;
  float* line_planes_;
  float* resampled_;
  std::int32_t* first_;
  std::int32_t* second_;
  float* fraction_;
  std::vector<StreamWriter> writers_;
};

}  // namespace medley
