#include "kernels/copy.h"

#include <cstddef>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace medley::bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kAhead = 2048;

void stream_copy(const std::uint8_t* from, std::uint8_t* to, std::int64_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < bytes; i += lanes) {
    hwy::Prefetch(from + i + kAhead);
    hn::Stream(hn::LoadU(d, from + i), d, to + i);
  }
  hwy::FlushStream();
}

void stream_fill(std::uint8_t* to, std::int64_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto value = hn::Set(d, kFill);
  for (std::int64_t i = 0; i < bytes; i += lanes) hn::Stream(value, d, to + i);
  hwy::FlushStream();
}

void read(const std::uint8_t* from, std::int64_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto all = hn::Zero(d);
  for (std::int64_t i = 0; i < bytes; i += lanes) {
    hwy::Prefetch(from + i + kAhead);
    all = hn::Xor(all, hn::LoadU(d, from + i));
  }
  alignas(64) std::uint8_t lane[HWY_MAX_BYTES];
  hn::Store(all, d, lane);
  volatile std::uint8_t sink = lane[0];
  (void)sink;
}

}  // namespace HWY_NAMESPACE
}  // namespace medley::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "core/parallel.h"

namespace medley::bench {

HWY_EXPORT(stream_copy);
HWY_EXPORT(stream_fill);
HWY_EXPORT(read);

void copy_with_memcpy(const void* from, void* to, std::int64_t bytes, int threads) {
  const std::int64_t part = bytes / threads;
  parallel_for(threads, threads, [&](std::int64_t i) {
    std::memcpy(static_cast<std::byte*>(to) + i * part,
                static_cast<const std::byte*>(from) + i * part, static_cast<std::size_t>(part));
  });
}

void copy_with_streaming(const void* from, void* to, std::int64_t bytes, int threads) {
  const std::int64_t part = bytes / threads;
  parallel_for(threads, threads, [&](std::int64_t i) {
    HWY_DYNAMIC_DISPATCH(stream_copy)
    (static_cast<const std::uint8_t*>(from) + i * part, static_cast<std::uint8_t*>(to) + i * part,
     part);
  });
}

void fill_with_streaming(void* to, std::int64_t bytes, int threads) {
  const std::int64_t part = bytes / threads;
  parallel_for(threads, threads, [&](std::int64_t i) {
    HWY_DYNAMIC_DISPATCH(stream_fill)(static_cast<std::uint8_t*>(to) + i * part, part);
  });
}

void fill_with_memset(void* to, std::int64_t bytes, int threads) {
  const std::int64_t part = bytes / threads;
  parallel_for(threads, threads, [&](std::int64_t i) {
    std::memset(static_cast<std::byte*>(to) + i * part, kFill, static_cast<std::size_t>(part));
  });
}

void read_all(const void* from, std::int64_t bytes, int threads) {
  const std::int64_t part = bytes / threads;
  parallel_for(threads, threads, [&](std::int64_t i) {
    HWY_DYNAMIC_DISPATCH(read)(static_cast<const std::uint8_t*>(from) + i * part, part);
  });
}

}  // namespace medley::bench

#endif  // HWY_ONCE
