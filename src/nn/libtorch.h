#pragma once

#include <string>

namespace medley::nn {

/// The LibTorch of this process.
struct LibTorch {
  std::string version;  ///< that it was built with
  std::string folder;   ///< that its libraries were loaded from, "" if the system does not say
};
[[nodiscard]] LibTorch libtorch();

}  // namespace medley::nn
