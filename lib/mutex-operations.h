// SPDX-License-Identifier: Apache-2.0
//
// The mutex as C and C++ callers get it: MutexCore, elision and diagnostics.
#ifndef OVSTHREAD_LIB_MUTEX_OPERATIONS_H_
#define OVSTHREAD_LIB_MUTEX_OPERATIONS_H_

#include <pthread.h>

#include "lock-operations.h"
#include "lock-platform.h"
#include "mutex-core.h"

namespace ovsthread {

using RealMutex = MutexCore<RealAtomics, LockPlatform>;

// The rest of the operations below when the word is not simply free, or not
// simply the caller's.  They report every misuse.
void mutex_lock_slowly(RealMutex& mutex, const char* where);
bool mutex_try_lock(RealMutex& mutex, const char* where);
void mutex_unlock_slowly(RealMutex& mutex, const char* where);
[[noreturn]] void mutex_report_relock(const RealMutex& mutex,
                                      const char* where);

struct LockMutex {
  using Lock = RealMutex;
  using Engine = elision::LibraryEngine;
  static constexpr elision::LockKind kKind = {
      Hold::kElidedExclusive, ~kMutexSticky, kOwnerMask, 0,
      kMutexRecursive,        kMutexGate};

  static void take(RealMutex& mutex, const char* where) {
    if (__builtin_expect(
            !mutex.lock_fast(elision::tls_elision.held.self_if_known()), 0)) {
      return mutex_lock_slowly(mutex, where);
    }
    mutex.where.store(where, kRelaxed);
  }
  static bool try_take(RealMutex& mutex, const char* where) {
    return mutex_try_lock(mutex, where);
  }
  [[noreturn]] static void report_relock(RealMutex& mutex, const char* where) {
    mutex_report_relock(mutex, where);
  }
};

inline void mutex_unlock(RealMutex& mutex, const char* where) {
  HeldLocks& held = elision::tls_elision.held;
  if (__builtin_expect(
          held.any_elided() || !mutex.unlock_fast(held.self_if_known()), 0)) {
    return mutex_unlock_slowly(mutex, where);
  }
  elision::LibraryEngine::released_for_real(mutex.word);
}

// Misuse: if it is held, or not initialised.
void mutex_destroy(RealMutex& mutex, const char* where);

void mutex_wait(RealMutex& mutex, pthread_cond_t& condition, const char* where);

// Whether the caller holds it, elided or for real.
bool mutex_is_held(const RealMutex& mutex);

// Reports unless the caller holds it.
void mutex_assert_held(const RealMutex& mutex, const char* where);

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_MUTEX_OPERATIONS_H_
