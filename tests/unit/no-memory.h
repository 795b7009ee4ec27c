// SPDX-License-Identifier: Apache-2.0
//
// A process that has no memory left, for death tests.
#ifndef OVSTHREAD_TESTS_UNIT_NO_MEMORY_H_
#define OVSTHREAD_TESTS_UNIT_NO_MEMORY_H_

#include <ovsthread/log.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace ovsthread {

// The sanitizers, and what a program runs under, need memory of their own.
inline bool can_exhaust_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
#if defined(__has_feature)
  if (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)) {
    return false;
  }
#endif
  return std::getenv("OVSTHREAD_TEST_WRAPPER") == nullptr;
#endif
}

inline void limit_memory(rlim_t bytes) {
  rlimit limit = {bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

inline void exhaust(size_t size) {
  // Volatile, lest the compiler drops blocks that nobody uses.
  void* volatile block;
  do {
    block = std::malloc(size);
  } while (block != nullptr);
}

// Takes all memory that can be had.  The next message is written when there is
// some again: how a process ends may need it.
inline void exhaust_memory() {
  ovsthread_set_log_handler(
      [](ovsthread_log_level, const char* message, void*) {
        limit_memory(RLIM_INFINITY);
        std::fprintf(stderr, "%s\n", message);
      },
      nullptr);
  limit_memory(0);
  for (size_t size = size_t{1} << 20; size > 2048; size /= 2) exhaust(size);
  // Freed blocks are kept by size.
  for (size_t size = 2048; size > 0; size -= 8) exhaust(size);
}

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_UNIT_NO_MEMORY_H_
