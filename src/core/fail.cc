#include "core/check.h"

namespace medley {

void fail_argument(const std::string& message) { throw InvalidArgument(message); }

void fail_io(const std::string& message) { throw IoError(message); }

void fail_cuda(const std::string& message) { throw CudaError(message); }

}  // namespace medley
