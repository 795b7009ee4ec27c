// SPDX-License-Identifier: Apache-2.0
#include "thread-random.h"

#include <ovsthread/hash.h>
#include <time.h>

#include "thread-id.h"

namespace ovsthread {

uint64_t thread_random() {
  static thread_local uint64_t state = 0;
  if (state == 0) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    state = static_cast<uint64_t>(now.tv_nsec) << 32 | thread_id();
  }
  state += 0x9e3779b97f4a7c15;
  return hash_u64(state);
}

}  // namespace ovsthread
