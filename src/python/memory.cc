#include "python/memory.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace medley::python {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kLarge = std::size_t{1} << 20;
constexpr std::size_t kMostBlocks = 2;
constexpr std::size_t kMostBytes = std::size_t{512} << 20;

struct Block {
  std::byte* memory;
  std::size_t bytes;
};

/// Blocks that were given up. Nobody waits for its lock: whoever does not get it does without. So a
/// process that was forked while another thread held it goes on.
class Kept {
 public:
  [[nodiscard]] std::byte* take(std::size_t bytes) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return nullptr;
    const auto found = std::ranges::find(blocks_, bytes, &Block::bytes);
    if (found == blocks_.end()) return nullptr;
    std::byte* const memory = found->memory;
    blocks_.erase(found);
    return memory;
  }

  void give(Block block) {
    {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (lock && block.bytes <= kMostBytes / kMostBlocks) {
        // The oldest goes: sizes that are no longer used do not stay.
        blocks_.push_back(block);
        if (blocks_.size() <= kMostBlocks) return;
        block = blocks_.front();
        blocks_.erase(blocks_.begin());
      }
    }
    std::free(block.memory);
  }

 private:
  std::mutex mutex_;
  std::vector<Block> blocks_;
};

Kept& kept() {
  static Kept* const instance = new Kept;  // results may outlive static objects
  return *instance;
}

}  // namespace

std::shared_ptr<std::byte> result_memory(std::size_t bytes) {
  const std::size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  std::byte* memory = rounded >= kLarge ? kept().take(rounded) : nullptr;
  if (memory == nullptr) {
    memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  }
  if (memory == nullptr) throw std::bad_alloc();
  if (rounded < kLarge) return {memory, [](std::byte* p) { std::free(p); }};
  return {memory, [rounded](std::byte* p) { kept().give({p, rounded}); }};
}

}  // namespace medley::python
