// SPDX-License-Identifier: Apache-2.0
#include <ovsthread/spinlock.h>

#include "lock-site.h"
#include "spinlock-operations.h"

namespace ovsthread {

template class ExclusiveLock<RealSpinLock>;

namespace {

// A SpinLock is a core that fills a line.
RealSpinLock& core(const SpinLock* lock) {
  static_assert(sizeof(SpinLock) == OVSTHREAD_CACHE_LINE_SIZE);
  static_assert(sizeof(RealSpinLock) <= sizeof(SpinLock));
  return *reinterpret_cast<RealSpinLock*>(const_cast<SpinLock*>(lock));
}

}  // namespace

SpinLock::~SpinLock() {
  LockSpinLock::destroy(core(this), site_in_code(__builtin_return_address(0)));
}

void SpinLock::lock() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  lock_by<LockSpinLock>(core(this), site_in_code(__builtin_return_address(0)));
}

void SpinLock::lock_at(const char* file,
                       unsigned line) OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  lock_by<LockSpinLock>(core(this), site_in_file(file, line));
}

bool SpinLock::try_lock() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  return try_lock_by<LockSpinLock>(core(this),
                                   site_in_code(__builtin_return_address(0)));
}

void SpinLock::unlock() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  LockSpinLock::unlock(core(this), site_in_code(__builtin_return_address(0)));
}

void SpinLock::AssertHeld() const OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  LockSpinLock::assert_held(core(this),
                            site_in_code(__builtin_return_address(0)));
}

}  // namespace ovsthread
