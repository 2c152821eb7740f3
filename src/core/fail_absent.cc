#include "core/check.h"

/// Where there are no exceptions, a refused call ends here; the program that embeds the library
/// defines it and does not return from it.
extern "C" [[noreturn]] void medley_fail(const char* message);

namespace medley {

void fail_argument(const std::string& message) { medley_fail(message.c_str()); }

void fail_io(const std::string& message) { medley_fail(message.c_str()); }

void fail_cuda(const std::string& message) { medley_fail(message.c_str()); }

}  // namespace medley
