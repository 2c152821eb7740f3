#pragma once

#include <cstdint>

// Another revision of the library beside this one in a process: a shared object of it, all of whose
// symbols are hidden but these.

extern "C" {

struct MedleyRevisionView {
  void* data;
  std::int32_t dtype;   // as medley::DType
  std::int32_t layout;  // as medley::Layout
  std::int64_t shape[4];
  std::int64_t strides[4];
};

struct MedleyRevisionJob {
  MedleyRevisionView in;
  MedleyRevisionView out;
  std::int32_t threads;
  std::int32_t channels;  // of mean and stddev; 0: not normalized
  const float* mean;
  const float* stddev;
};

/// A plan from its JSON; null if that revision cannot read it.
void* medley_revision_plan(const char* json);
void medley_revision_free(void* plan);
/// Restricts mixing to an instruction set; "" lifts that.
void medley_revision_target(const char* name);
/// Whether the batch was mixed.
int medley_revision_mix(const void* plan, const MedleyRevisionJob* job);
}
