// SPDX-License-Identifier: Apache-2.0
//
// Sleeping until a 32-bit word changes: Linux's futex, process-private.
//
// Two queues share one word, so that a lock can wake its readers or one of its
// writers without a second word.  Waking passes only the word's address to the
// kernel and writes nothing: the word may be gone by then (its last owner may
// have destroyed it), at worst a stranger at the same address wakes early, and
// every sleeper here looks again.
#ifndef OVSTHREAD_LIB_FUTEX_H_
#define OVSTHREAD_LIB_FUTEX_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>

#include "atomics.h"

namespace ovsthread {

enum class FutexQueue : uint32_t { kExclusive = 1, kShared = 2 };

// Returns 0 or an error number.
inline int futex(const uint32_t* word, int operation, uint32_t value,
                 const timespec* deadline, FutexQueue queue) {
  // Locks leave errno alone, as the pthread ones do.
  int saved_errno = errno;
  long result = syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value,
                        deadline, nullptr, static_cast<uint32_t>(queue));
  int error = result < 0 ? errno : 0;
  errno = saved_errno;
  return error;
}

// Sleeps in QUEUE while WORD is EXPECTED, but not beyond the DEADLINE, if there
// is one, of CLOCK_MONOTONIC.  May return early.  Returns 0, or what ended it:
// EAGAIN (WORD is not EXPECTED), ETIMEDOUT, or EINTR (a signal; always if a
// handler ran and there is a deadline).  Blocking.
inline int futex_wait(const RealAtomics::Atomic<uint32_t>& word,
                      uint32_t expected, FutexQueue queue,
                      const timespec* deadline = nullptr) {
  return futex(word.address(), FUTEX_WAIT_BITSET, expected, deadline, queue);
}

// Wakes up to COUNT threads that sleep in QUEUE of WORD.  Lock-free.
inline void futex_wake(const RealAtomics::Atomic<uint32_t>& word, int count,
                       FutexQueue queue) {
  futex(word.address(), FUTEX_WAKE_BITSET, static_cast<uint32_t>(count),
        nullptr, queue);
}

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_FUTEX_H_
