// SPDX-License-Identifier: Apache-2.0
#include "lock-platform.h"

#include <ovsthread/cache-line.h>

namespace ovsthread {

LockPlatform::Gate& LockPlatform::gate_of(const void* lock) {
  struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Padded {
    Gate gate;
  };
  static constexpr unsigned kLogGates = 6;
  // Trivially destructible: threads may go on while the process exits.
  static constinit Padded gates[1 << kLogGates];
  uint64_t hash = reinterpret_cast<uintptr_t>(lock) * 0x9e3779b97f4a7c15;
  return gates[hash >> (64 - kLogGates)].gate;
}

}  // namespace ovsthread
