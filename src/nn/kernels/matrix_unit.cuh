#pragma once

#include <cstdint>

#include "nn/kernels/shared_memory.cuh"

// Instructions around the matrix units of compute capability 9.0, for bf16 values in shared memory.
//
// Matrices are there as rows of 64 values, 128 bytes, of which every 16 bytes trade places with
// others of the row: chunk c of row r is at place c ^ r % 8, r counted from a multiple of 1024
// bytes. A matrix may start at any such row.

namespace medley::nn {

constexpr int kRowValues = 64;
constexpr int kRowBytes = 128;
constexpr int kMatrixAlignment = 1024;

/// Where 16 bytes of a row are.
__device__ inline std::uint32_t place(int row, int chunk) {
  return static_cast<std::uint32_t>(row * kRowBytes + ((chunk ^ row % 8) << 4));
}

/// In shared memory: says when the copies that `threads` threads have started are there.
using CopyBarrier = std::uint64_t;

/// By one thread, followed by __syncthreads.
__device__ inline void start_barrier(CopyBarrier& barrier, int threads) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;\n" ::"r"(shared_address(&barrier)), "r"(threads)
               : "memory");
}

/// By each of the threads, once it has started its copies.
__device__ inline void end_copies(CopyBarrier& barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];\n" ::"r"(shared_address(&barrier))
               : "memory");
}

/// Waits until all copies are there; the matrix units may read them then.
__device__ inline void wait_for_copies(const CopyBarrier& barrier) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n"
      "@!done bra again;\n"
      "}\n"
      "fence.proxy.async.shared::cta;\n" ::"r"(shared_address(&barrier))
      : "memory");
}

/// Barriers of two warp groups that take turns, by number, from 1: a group waits for its own, and
/// gives the other one a sign.
__device__ inline void wait_for_turn(int number) {
  asm volatile("bar.sync %0, 256;\n" ::"r"(number) : "memory");
}
__device__ inline void give_turn(int number) {
  asm volatile("bar.arrive %0, 256;\n" ::"r"(number) : "memory");
}

/// A matrix of 64 columns or 64 rows in shared memory, as the matrix units want to be told.
__device__ inline std::uint64_t matrix_at(std::uint32_t address) {
  constexpr std::uint64_t kChunk = 16;
  constexpr std::uint64_t kEightRows = 8 * kRowBytes;
  constexpr std::uint64_t kTradingPlaces = 1;
  return address / kChunk | 1ull << 16 | kEightRows / kChunk << 32 | kTradingPlaces << 62;
}
/// What to add to move by a row, or by eight values of a row.
constexpr std::uint64_t kRowStep = kRowBytes / 16;
constexpr std::uint64_t kChunkStep = 1;

/// Around the multiplications of a warp group, four warps that run alike. `begin` before the first
/// one, and after sums have been touched.
__device__ inline void begin_multiplying() {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}
__device__ inline void end_multiplying() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}
/// Waits for all but the last kLeft of what `end_multiplying` ended.
template <int kLeft>
__device__ inline void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kLeft) : "memory");
}

/// Sums of 64 x 64 products, spread over a warp group: warp w has rows 16w to 16w+15, a lane of it
/// the values 4n to 4n+3 of rows lane/4 and lane/4+8, columns 8n + lane%4*2 and the next.
using Sums = float[32];

/// Starts to add the product of 64 x 16 and 16 x 64 values to sums. A matrix is [row][k] and
/// [column][k] in shared memory, or [k][row] and [k][column] where turned.
template <bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_add(Sums& sums, std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, 1, 1, 1, %34, %35;\n"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),
        "+f"(sums[6]), "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]),
        "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]),
        "+f"(sums[17]), "+f"(sums[18]), "+f"(sums[19]), "+f"(sums[20]), "+f"(sums[21]),
        "+f"(sums[22]), "+f"(sums[23]), "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]),
        "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]), "+f"(sums[30]), "+f"(sums[31])
      : "l"(a), "l"(b), "n"(kTurnedA ? 1 : 0), "n"(kTurnedB ? 1 : 0));
}

}  // namespace medley::nn
