// SPDX-License-Identifier: Apache-2.0
//
// The mutex as C and C++ callers get it.
#ifndef OVSTHREAD_LIB_MUTEX_OPERATIONS_H_
#define OVSTHREAD_LIB_MUTEX_OPERATIONS_H_

#include <pthread.h>

#include "lock-exclusive.h"
#include "lock-platform.h"
#include "mutex-core.h"

namespace ovsthread {

using RealMutex = MutexCore<RealAtomics, LockPlatform>;
extern template class ExclusiveLock<RealMutex>;

struct LockMutex : ExclusiveLock<RealMutex> {
  static constexpr elision::LockKind kKind = {
      Hold::kElidedExclusive, ~kMutexSticky, kOwnerMask, 0,
      kMutexRecursive,        kMutexGate};

  static void wait(RealMutex& mutex, pthread_cond_t& condition,
                   const char* where);
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_MUTEX_OPERATIONS_H_
