#include "nn/libtorch.h"

#include <link.h>

#include <cstddef>
#include <filesystem>

#include <torch/version.h>

namespace medley::nn {
namespace {

int take_folder(dl_phdr_info* library, std::size_t /*size*/, void* folder) {
  const std::filesystem::path path = library->dlpi_name;
  if (!path.filename().string().starts_with("libtorch_cpu.so")) return 0;
  std::error_code ignored;
  *static_cast<std::string*>(folder) =
      std::filesystem::weakly_canonical(path, ignored).parent_path();
  return 1;
}

}  // namespace

LibTorch libtorch() {
  LibTorch result{TORCH_VERSION, ""};
  dl_iterate_phdr(take_folder, &result.folder);
  return result;
}

}  // namespace medley::nn
