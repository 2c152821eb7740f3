#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/cpu/line_ops.h"
#include "kernels/cpu/row_ops.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/shrink.h"
#include "kernels/cpu/stream_writer.h"
#include "kernels/cpu/window.h"
#include "kernels/lower.h"

namespace medley {

/// What all outputs of a call have in common: operations, sizes, normalisation as rows.
struct EntryContext {
  EntryContext(const LoweredPlan& lowered, const MixJob& mix_job);

  const LoweredPlan& plan;
  const MixJob& job;
  const RowOps& ops;      // input type to f32
  const RowOps& f32_ops;  // f32 to f32
  const LineOps& lines;
  WindowReader windows;

  std::int32_t width;  // of the outputs, in pixels
  std::int64_t channels;
  bool in_nhwc;
  bool out_nhwc;
  /// Rows are mixed interleaved when input and output are nhwc, else channel by channel.
  std::int64_t unit;     // values per pixel of a mixed row: channels, or 1
  std::int64_t row;      // values of a mixed row: width * unit
  std::int64_t in_size;  // bytes of an element
  std::int64_t out_size;
  bool dense_out;            // rows of the output follow each other without gaps
  bool direct;               // who mixes can store into the output itself
  bool lines_only;           // rows of the output are whole lines on line boundaries
  bool copies;               // an image of weight 1 is copied as it is
  bool shrinks;              // some entry resamples its partner
  double least_weight;       // Gaussian weights below do not change any output
  std::int64_t group;        // most rows mixed in one go …
  std::int64_t long_group;   // … if all sources lie in memory as they are needed
  std::int64_t ahead;        // bytes to prefetch ahead
  std::int64_t far;          // … before that, where two images take turns in rows
  std::vector<float> scale;  // channels (unit 1), or one entry per value of `group` rows
  std::vector<float> bias;
};

/// Mixes rows of outputs, one after the other; one per thread.
class EntryMixer {
 public:
  EntryMixer(const EntryContext& context, Scratch& scratch);

  /// Rows [y0, y1) of output b. `partner` replaces the memory of the partner's image, which is then
  /// laid out like one image of the input; null: as the plan says. `next`: the output whose same
  /// rows will be mixed after these, or -1; only a hint.
  void mix_rows(std::int64_t b, std::int32_t y0, std::int32_t y1,
                const std::byte* partner = nullptr, std::int64_t next = -1);

 private:
  /// Sources that are summed in one pass.
  static constexpr std::int32_t kTerms = 4;

  /// The rows and columns with weights of their own: the box, the support of a Gaussian, or all.
  /// They may wrap around.
  struct Region {
    std::int32_t top;
    std::int32_t left;
    std::int32_t height;
    std::int32_t width;
    Weights outside;
  };

  /// Rows that are mixed in one go: all in the region, or all outside.
  struct Run {
    std::int32_t y;
    std::int32_t rows;
    bool inside;
    bool needs_own;
    bool needs_partner;  // as it is, not shrunk
    bool shrunk;         // holds the shrunk partner
    bool staged;         // made in pieces that are no whole lines
  };

  void start(std::int64_t b, std::int32_t y0, std::int32_t y1, const std::byte* partner);
  void start_gaussian(std::int32_t y0, std::int32_t y1);
  void cut_runs(std::int32_t y0, std::int32_t y1, std::int64_t most);
  void mix_matching_layout();
  void mix_field_planes();
  void mix_across_layouts();
  void mix_run(std::int32_t c, const Run& run, const std::byte* own, const std::byte* partner,
               Piece out);
  void mix_floats(std::int32_t c, const Run& run, const std::byte* own, const std::byte* partner,
                  const RowStyle& style, float* out);
  void look_ahead(std::int32_t c);
  void mix_shrunk_row(std::int32_t c, const std::byte* own, const std::byte* partner,
                      const RowStyle& style, float* out);
  void mix_segment(Weights weights, const std::byte* own, const std::byte* partner,
                   const RowStyle& style, float* out, std::int64_t n);
  void sum_terms(std::int32_t c, const Run& run, const RowStyle& style, float* out);
  [[nodiscard]] const std::byte* copied_source(const Run& run, const std::byte* own,
                                               const std::byte* partner) const;

  [[nodiscard]] RowStyle style(std::int32_t c, bool stream) const;
  [[nodiscard]] RowStyle box_style(RowStyle how) const;
  [[nodiscard]] const std::byte* image(const LoweredSource& source) const;
  [[nodiscard]] const std::byte* window(const std::byte* base, const LoweredSource& source,
                                        std::int32_t c, const Run& run, std::size_t room) const;
  [[nodiscard]] const std::byte* planes(const std::byte* base, const LoweredSource& source,
                                        const Run& run, std::size_t room) const;
  [[nodiscard]] std::byte* out_row(std::int32_t c, std::int32_t y) const;

  const EntryContext& context_;
  const LoweredEntry* entry_ = nullptr;
  const std::byte* partner_image_ = nullptr;
  const LoweredEntry* next_ = nullptr;
  std::int64_t b_ = 0;
  std::int32_t y0_ = 0;
  bool contiguous_ = false;   // all sources lie in memory as they are needed
  bool pastes_rows_ = false;  // a shrunk partner goes into rows of the image, many at a time
  Region region_{};
  std::vector<Run> runs_;

  // Working memory.
  std::array<std::byte*, kTerms> rooms_{};        // windows: own, partner; or terms
  std::array<std::byte*, kTerms> plane_rooms_{};  // the same as planes, for nhwc to nchw
  std::byte* out_planes_ = nullptr;               // nchw to nhwc
  float* mixed_ = nullptr;                        // before rounding to a type other than f32
  float* mask_wide_ = nullptr;                    // field of interleaved rows
  float* factors_ = nullptr;                      // Gaussian by distance
  float* row_factors_ = nullptr;                  // … of the rows from y0_ on
  std::int32_t* reach_ = nullptr;                 // … and how far to the sides it matters there
  float* columns_ = nullptr;                      // … of the values of a row
  float* sum_ = nullptr;
  float* shrunk_ = nullptr;
  std::optional<Shrinker> shrinker_;
  std::vector<StreamWriter> writers_;  // one, or one per channel from nhwc to nchw
};

}  // namespace medley
