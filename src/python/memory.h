#pragma once

#include <cstddef>
#include <memory>

namespace medley::python {

/// Memory for a result, not initialized, aligned as DLPack promises. Large blocks that were given
/// up are handed out again: touching fresh pages takes longer than mixing into them. At most two
/// are kept, 512 MiB in all. Thread-safe, and safe after fork().
[[nodiscard]] std::shared_ptr<std::byte> result_memory(std::size_t bytes);

}  // namespace medley::python
