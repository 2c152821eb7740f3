#pragma once

#include <string>

#include "kernels/report.h"
#include "medley/types.h"
#include "support/buffer.h"
#include "support/rounds.h"

namespace medley::bench {

/// What the parts of a run share. Buffers hold a batch of `shape`.
struct Setup {
  BatchShape shape;
  int threads = 2;
  int rounds = 0;
  std::string filter;  // only methods whose name contains this
  const Buffer& f32_in;
  const Buffer& u8_in;
  const Buffer& out;   // f32
  const Buffer& work;  // f32, for mixing in place
  /// The better of two copies of the output's size.
  Contender copy;
  std::string before;  // shared object of another revision, or empty

  [[nodiscard]] ImageBatchView input(DType type) const {
    return {(type == DType::u8 ? u8_in : f32_in).data(), type, Layout::nchw, shape,
            dense_strides(shape, Layout::nchw)};
  }
  [[nodiscard]] MutableImageBatchView output() const {
    return {out.data(), DType::f32, Layout::nchw, shape, dense_strides(shape, Layout::nchw)};
  }
};

/// Measures copying, reading and writing, prints it and returns the better copy. The other members
/// of the setup must be there.
[[nodiscard]] Contender measure_copies(const Setup& setup, Report& report);

// Each checks, measures, prints a table and adds to the report.

/// Against plain loops, memcpy and another revision: every way of storing, offset, size of page and
/// instruction set. Needs nothing of the setup but rounds, filter and `before`.
void run_versus_plain(const Setup& setup, Report& report);
/// One call on one small image: time and allocations. To be called before anything else mixes on
/// several threads.
void run_call(const Setup& setup, Report& report);
/// Memory that a call takes beyond input and output. To be called before anything else mixes, since
/// threads keep their working memory.
void run_memory(const Setup& setup, Report& report);
/// Every static method, as share of copy bandwidth.
void run_methods(const Setup& setup, Report& report);
/// Against compositions of LibTorch operations.
void run_versus_torch(const Setup& setup, Report& report);
/// Planning 1024 samples against mixing them.
void run_planning(const Setup& setup, Report& report);
/// Small images in the caches: crop, flip, mix, normalize.
void run_small(const Setup& setup, Report& report);

}  // namespace medley::bench
