#pragma once

#include <string>

#include "medley/medley.h"
#include "revision/shim.h"

namespace medley::bench {

/// Another revision of the library, from bench/revision.
class Revision {
 public:
  /// Throws medley::Error if the file is none.
  explicit Revision(const std::string& file);
  Revision(const Revision&) = delete;
  Revision& operator=(const Revision&) = delete;

  [[nodiscard]] void* plan(const MixPlan& plan) const;
  void free_plan(void* plan) const { free_(plan); }
  void set_simd_target(const std::string& name) const { target_(name.c_str()); }
  /// Throws medley::Error if that revision refuses.
  void mix(const void* plan, const MedleyRevisionJob& job) const;

 private:
  decltype(&medley_revision_plan) plan_;
  decltype(&medley_revision_free) free_;
  decltype(&medley_revision_target) target_;
  decltype(&medley_revision_mix) mix_;
};

[[nodiscard]] MedleyRevisionJob revision_job(const ImageBatchView& in,
                                             const MutableImageBatchView& out,
                                             const MixOptions& options);

}  // namespace medley::bench
