// SPDX-License-Identifier: Apache-2.0
//
// Abseil's mutex under the interface of bench/locks.h.
#ifndef OVSTHREAD_BENCH_PEERS_ABSL_LOCKS_H_
#define OVSTHREAD_BENCH_PEERS_ABSL_LOCKS_H_

#include "absl/synchronization/mutex.h"

namespace bench {

class AbslMutex {
 public:
  void lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }
  void lock_shared() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.ReaderLock(); }
  void unlock_shared() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.ReaderUnlock(); }

  // Its search for deadlocks is off in any program that cares for speed.
  static void without_deadlock_detection() {
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  }

 private:
  absl::Mutex mutex_;
};

}  // namespace bench

#endif  // OVSTHREAD_BENCH_PEERS_ABSL_LOCKS_H_
