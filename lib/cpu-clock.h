// SPDX-License-Identifier: Apache-2.0
//
// A clock to compare short spans of one thread with each other.
#ifndef OVSTHREAD_LIB_CPU_CLOCK_H_
#define OVSTHREAD_LIB_CPU_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace ovsthread {

// In cycles of the time stamp counter where there is one, else nanoseconds; not
// 0.  A thread that moves between processors may see it stand still or jump.
// Wait-free.
inline uint64_t cpu_clock() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
#endif
}

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_CPU_CLOCK_H_
