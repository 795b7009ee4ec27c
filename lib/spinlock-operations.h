// SPDX-License-Identifier: Apache-2.0
//
// The spin lock as C and C++ callers get it.
#ifndef OVSTHREAD_LIB_SPINLOCK_OPERATIONS_H_
#define OVSTHREAD_LIB_SPINLOCK_OPERATIONS_H_

#include "lock-exclusive.h"
#include "lock-platform.h"
#include "spinlock-core.h"

namespace ovsthread {

using RealSpinLock = SpinLockCore<RealAtomics, LockPlatform>;
extern template class ExclusiveLock<RealSpinLock>;

struct LockSpinLock : ExclusiveLock<RealSpinLock> {
  static constexpr elision::LockKind kKind = {
      Hold::kElidedExclusive, ~kLockElide, kOwnerMask, 0, 0, 0,
      RealSpinLock::kUse};
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_SPINLOCK_OPERATIONS_H_
