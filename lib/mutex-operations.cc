// SPDX-License-Identifier: Apache-2.0
#include "mutex-operations.h"

namespace ovsthread {

template class ExclusiveLock<RealMutex>;

void LockMutex::wait(RealMutex& mutex, pthread_cond_t& condition,
                     const char* where) {
  elision::safe_point(OVS_SAFE_POINT_CONDITION_WAIT);
  LockResult result = mutex.wait(condition, held_locks().self());
  if (result == LockResult::kDone) {
    mutex.where.store(where, kRelaxed);
    return;
  }
  if (result == LockResult::kNotHeld) {
    report(mutex, where, "wait with a %s that the caller does not hold",
           "last taken at");
  }
  report_dead(mutex, where, "wait with an uninitialised %s",
              "wait with a destroyed %s");
}

}  // namespace ovsthread
