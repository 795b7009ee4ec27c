// SPDX-License-Identifier: Apache-2.0
#include "thread.h"

#include "atomics.h"

namespace ovsthread {
namespace {

RealAtomics::Atomic<bool> multithreaded{false};

}  // namespace

// Relaxed: whoever can be asked was created after the store.
bool single_threaded() { return !multithreaded.load(kRelaxed); }

}  // namespace ovsthread
