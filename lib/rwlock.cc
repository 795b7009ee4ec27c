// SPDX-License-Identifier: Apache-2.0
#include <ovsthread/rwlock.h>

#include "lock-site.h"
#include "rwlock-operations.h"

namespace ovsthread {
namespace {

// An RwLock is a core that fills a line.
RealRwLock& core(const RwLock* lock) {
  static_assert(sizeof(RwLock) == OVSTHREAD_CACHE_LINE_SIZE);
  static_assert(sizeof(RealRwLock) <= sizeof(RwLock));
  return *reinterpret_cast<RealRwLock*>(const_cast<RwLock*>(lock));
}

}  // namespace

RwLock::~RwLock() {
  EitherRwLock::destroy(core(this), site_in_code(__builtin_return_address(0)));
}

void RwLock::lock() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  lock_by<WriteLockRwLock>(core(this),
                           site_in_code(__builtin_return_address(0)));
}

void RwLock::lock_at(const char* file,
                     unsigned line) OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  lock_by<WriteLockRwLock>(core(this), site_in_file(file, line));
}

void RwLock::lock_shared() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  lock_by<ReadLockRwLock>(core(this),
                          site_in_code(__builtin_return_address(0)));
}

void RwLock::lock_shared_at(const char* file,
                            unsigned line) OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  lock_by<ReadLockRwLock>(core(this), site_in_file(file, line));
}

bool RwLock::try_lock() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  return try_lock_by<WriteLockRwLock>(
      core(this), site_in_code(__builtin_return_address(0)));
}

bool RwLock::try_lock_shared() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  return try_lock_by<ReadLockRwLock>(core(this),
                                     site_in_code(__builtin_return_address(0)));
}

void RwLock::unlock() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  EitherRwLock::unlock(core(this), site_in_code(__builtin_return_address(0)));
}

void RwLock::unlock_shared() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  EitherRwLock::unlock(core(this), site_in_code(__builtin_return_address(0)));
}

void RwLock::AssertHeld() const OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  rwlock_assert_write_held(core(this),
                           site_in_code(__builtin_return_address(0)));
}

void RwLock::AssertReaderHeld() const OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  rwlock_assert_held(core(this), site_in_code(__builtin_return_address(0)));
}

}  // namespace ovsthread
