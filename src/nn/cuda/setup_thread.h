#pragma once

#include <functional>

namespace medley::nn {

/// Runs `work` on the process's one thread for work outside graphs, with the caller's stream and
/// modes, and waits for it. Runs side by side do not meet then in what they share: autograd's
/// thread of the device, and memory that is given back. Nor does each tune its convolutions beside
/// the others' steps: LibTorch keeps the choice per thread, so the first run's serves them all.
void on_setup_thread(const std::function<void()>& work);

}  // namespace medley::nn
