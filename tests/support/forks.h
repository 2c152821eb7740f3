#pragma once

namespace medley::test {

/// Whether a child forked beside running threads may go on as a process of its own. Sanitizers have
/// locks of their own, which a child finds as the parent's threads held them.
inline constexpr bool kForks = MEDLEY_SANITIZED == 0;
inline constexpr const char* kNoForks = "a sanitizer's own locks do not survive fork()";

}  // namespace medley::test
