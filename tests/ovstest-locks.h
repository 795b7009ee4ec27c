// SPDX-License-Identifier: Apache-2.0
//
// The kinds of locks that the benchmark compares.  Both have the same rules:
// relocking a mutex is an error, and waiting writers keep new readers out.
#ifndef OVSTHREAD_TESTS_OVSTEST_LOCKS_H_
#define OVSTHREAD_TESTS_OVSTEST_LOCKS_H_

#include "locks.h"
#include "ovsthread/lock-stats.h"

namespace ovstest {

struct OvsLocks {
  using Mutex = bench::OvsMutex;
  using RwLock = bench::OvsRwlock;
  // For statistics.
  template <class Lock>
  static void name(const Lock& lock, const char* text) {
    ovs_lock_set_name(&lock, text);
  }
};

struct PthreadLocks {
  using Mutex = bench::PthreadErrorcheckMutex;
  using RwLock = bench::PthreadWriterRwlock;
  template <class Lock>
  static void name(const Lock&, const char*) {}
};

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_LOCKS_H_
