// Calls that use their plan again do not ask for memory. The program counts what operator new is
// asked for.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "medley/medley.h"
#include "support/batches.h"

namespace {

std::atomic<std::int64_t> allocations{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, whole > 0 ? whole : alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

/// Out of sight of the compiler, which would see memory of new go to free.
[[gnu::noinline]] void release(void* block) noexcept { std::free(block); }

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { release(block); }
void operator delete[](void* block, std::size_t /*bytes*/) noexcept { release(block); }
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept { release(block); }
void operator delete[](void* block, std::align_val_t /*alignment*/) noexcept { release(block); }
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  release(block);
}
void operator delete[](void* block, std::size_t /*bytes*/,
                       std::align_val_t /*alignment*/) noexcept {
  release(block);
}

namespace medley {
namespace {

using test::Batch;

constexpr BatchShape kShape{16, 3, 32, 32};

MixPlan plan_of(std::string_view method) {
  MixPolicy policy;
  policy.method = method;
  PlanRequest request;
  request.batch = kShape.count;
  return Sampler(policy, kShape.size(), 1).plan(request);
}

class MixMemory : public testing::TestWithParam<std::string_view> {};

TEST_P(MixMemory, ServesTheNextCallOfTheThread) {
  const MixPlan plan = plan_of(GetParam());
  for (const Layout from : {Layout::nchw, Layout::nhwc}) {
    for (const Layout to : {Layout::nchw, Layout::nhwc}) {
      for (const DType type : {DType::u8, DType::f32}) {
        for (const Stores stores : {Stores::cached, Stores::streaming}) {
          Batch in(DType::f32, from, kShape);
          Batch out(type, to, kShape);
          MixOptions options;
          options.threads = 1;
          options.stores = stores;
          options.normalize = {{0.5f, 0.4f, 0.3f}, {0.2f, 0.3f, 0.4f}};
          // Memory grows with the first call and becomes one piece with the second.
          for (int i = 0; i < 3; ++i) mix(plan, in.view(), out.mutable_view(), options);
          const std::int64_t before = allocations;
          mix(plan, in.view(), out.mutable_view(), options);
          EXPECT_EQ(allocations - before, 0);
        }
      }
    }
  }
}

TEST(MixMemoryInPlace, ServesTheNextCallOfTheThread) {
  for (const std::string_view method : {"mixup", "cutmix", "gmix", "fmix"}) {
    const MixPlan plan = plan_of(method);
    Batch batch(DType::f32, Layout::nchw, kShape);
    MixOptions options;
    options.threads = 1;
    for (int i = 0; i < 3; ++i) mix(plan, batch.view(), batch.mutable_view(), options);
    const std::int64_t before = allocations;
    mix(plan, batch.view(), batch.mutable_view(), options);
    EXPECT_EQ(allocations - before, 0) << method;
  }
}

// A worker that has just finished may still hold on to its part of the last call.
TEST(MixMemoryOfThreads, IsRarelyNew) {
  const MixPlan plan = plan_of("hmix");
  Batch in(DType::f32, Layout::nchw, kShape);
  Batch out(DType::f32, Layout::nchw, kShape);
  MixOptions options;
  options.threads = 3;
  for (int i = 0; i < 20; ++i) mix(plan, in.view(), out.mutable_view(), options);
  const std::int64_t before = allocations;
  for (int i = 0; i < 100; ++i) mix(plan, in.view(), out.mutable_view(), options);
  EXPECT_LT(allocations - before, 50);
}

INSTANTIATE_TEST_SUITE_P(Methods, MixMemory,
                         testing::Values("none", "mixup", "cutmix", "hmix", "gmix", "nmixup",
                                         "fmix", "resizemix"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace medley
