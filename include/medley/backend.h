#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace medley {

/// Where mixing runs. `reference` is the plain-loop specification, `cpu` the vectorised and
/// threaded version of it, `cuda` a GPU (images in host memory are copied there and back; for
/// images that live on the device see medley/cuda.h). `automatic` is `cpu`: copying costs more than
/// mixing.
enum class Backend : std::uint8_t { automatic, reference, cpu, cuda };

[[nodiscard]] std::string_view name_of(Backend backend) noexcept;

/// Throws InvalidArgument for an unknown name.
[[nodiscard]] Backend backend_from_name(std::string_view name);

/// The backends that work in this build on this machine, fastest first.
[[nodiscard]] std::vector<Backend> available_backends();

/// Instruction sets that `cpu` can use on this machine, best first ("AVX3_DL", "AVX2", …).
[[nodiscard]] std::vector<std::string_view> simd_targets();

/// Restricts `cpu` to one instruction set of `simd_targets()`, or lifts that with "". For tests and
/// comparisons; not to be called while another thread mixes.
void set_simd_target(std::string_view name);

}  // namespace medley
