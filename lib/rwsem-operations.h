// SPDX-License-Identifier: Apache-2.0
//
// The reader-writer semaphore as C and C++ callers get it: RwSemCore, waiting
// with deadlines and signals, the held-list and diagnostics.
//
// It is never elided, and every operation on it is a safe point.
#ifndef OVSTHREAD_LIB_RWSEM_OPERATIONS_H_
#define OVSTHREAD_LIB_RWSEM_OPERATIONS_H_

#include <time.h>

#include "lock-platform.h"
#include "rwsem-core.h"

namespace ovsthread {

using RealRwSem = RwSemCore<RealAtomics, LockPlatform>;

// What ends a wait besides the semaphore.
struct RwSemPatience {
  const timespec* deadline;  // of CLOCK_MONOTONIC; null: none
  bool interruptible;        // a signal handler that runs
};

// Take it.  Return 0, or why they gave up: ETIMEDOUT, EINTR.  Report misuse.
int rwsem_read(RealRwSem& sem, const char* where, RwSemPatience patience);
int rwsem_write(RealRwSem& sem, const char* where, RwSemPatience patience);

// Whether it was taken, without waiting.  Report misuse.
bool rwsem_try_read(RealRwSem& sem, const char* where);
bool rwsem_try_write(RealRwSem& sem, const char* where);

// Give up one level of what the caller holds.  Report misuse.
void rwsem_read_unlock(RealRwSem& sem, const char* where);
void rwsem_write_unlock(RealRwSem& sem, const char* where);
void rwsem_downgrade(RealRwSem& sem, const char* where);

// Misuse if it is held, or not initialised.
void rwsem_destroy(RealRwSem& sem, const char* where);

// The library's number of the thread that holds it for writing, or
// kThreadIdUnset.
uint32_t rwsem_holder(const RealRwSem& sem);

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_RWSEM_OPERATIONS_H_
