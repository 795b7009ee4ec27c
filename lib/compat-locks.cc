// SPDX-License-Identifier: Apache-2.0
//
// The C entry points of mutexes, spin locks, reader-writer locks and one-time
// initialisation.
#include <cstddef>

#include "lock-site.h"
#include "mutex-operations.h"
#include "ovsthread-rwlock.h"
#include "rwlock-operations.h"
#include "spinlock-operations.h"

namespace ovsthread {
namespace {

// Objects of C callers are the cores themselves; const ones may embed a lock.
RealMutex& core(const ovs_mutex* mutex) {
  static_assert(sizeof(RealMutex) == sizeof(ovs_mutex));
  static_assert(offsetof(RealMutex, word) == offsetof(ovs_mutex, word));
  static_assert(offsetof(RealMutex, spins) == offsetof(ovs_mutex, spins));
  static_assert(offsetof(RealMutex, depth) == offsetof(ovs_mutex, depth));
  static_assert(offsetof(RealMutex, where) == offsetof(ovs_mutex, where));
  return *reinterpret_cast<RealMutex*>(const_cast<ovs_mutex*>(mutex));
}

RealSpinLock& core(const ovs_spin* lock) {
  static_assert(sizeof(RealSpinLock) == sizeof(ovs_spin));
  static_assert(offsetof(RealSpinLock, word) == offsetof(ovs_spin, word));
  static_assert(offsetof(RealSpinLock, where) == offsetof(ovs_spin, where));
  return *reinterpret_cast<RealSpinLock*>(const_cast<ovs_spin*>(lock));
}

RealRwLock& core(const ovs_rwlock* lock) {
  static_assert(sizeof(RealRwLock) == sizeof(ovs_rwlock));
  static_assert(offsetof(RealRwLock, word) == offsetof(ovs_rwlock, word));
  static_assert(offsetof(RealRwLock, waiting_writers) ==
                offsetof(ovs_rwlock, waiting_writers));
  static_assert(offsetof(RealRwLock, where) == offsetof(ovs_rwlock, where));
  static_assert(offsetof(RealRwLock, inhibited_until) ==
                offsetof(ovs_rwlock, inhibited_until));
  return *reinterpret_cast<RealRwLock*>(const_cast<ovs_rwlock*>(lock));
}

}  // namespace
}  // namespace ovsthread

using ovsthread::core;

void ovs_mutex_init(ovs_mutex* mutex) { *mutex = OVS_MUTEX_INITIALIZER; }

void ovs_mutex_init_recursive(ovs_mutex* mutex) {
  *mutex = OVS_MUTEX_INITIALIZER;
  mutex->word |= ovsthread::kMutexRecursive;
}

void ovs_mutex_init_adaptive(ovs_mutex* mutex) {
  *mutex = OVS_ADAPTIVE_MUTEX_INITIALIZER;
}

void ovs_spin_init(ovs_spin* lock) {
  *lock = {ovsthread::kLockLive, ovsthread::kNeverTaken};
}

// Relaxed: a lock more or less that becomes biased is no harm.
void ovs_rwlock_set_bias(bool allowed) {
  ovsthread::bias_allowed.store(allowed, ovsthread::kRelaxed);
}
bool ovs_rwlock_get_bias() {
  return ovsthread::bias_allowed.load(ovsthread::kRelaxed);
}

void ovs_rwlock_init(ovs_rwlock* lock) { *lock = OVS_RWLOCK_INITIALIZER; }

LOCK_FUNCTION(mutex, lock, LockMutex)
TRY_LOCK_FUNCTION(mutex, trylock, LockMutex)
UNLOCK_FUNCTION(mutex, LockMutex)
DESTROY_FUNCTION(mutex, LockMutex)

LOCK_FUNCTION(spin, lock, LockSpinLock)
TRY_LOCK_FUNCTION(spin, trylock, LockSpinLock)
UNLOCK_FUNCTION(spin, LockSpinLock)
DESTROY_FUNCTION(spin, LockSpinLock)

LOCK_FUNCTION(rwlock, rdlock, ReadLockRwLock)
LOCK_FUNCTION(rwlock, wrlock, WriteLockRwLock)
TRY_LOCK_FUNCTION(rwlock, tryrdlock, ReadLockRwLock)
TRY_LOCK_FUNCTION(rwlock, trywrlock, WriteLockRwLock)
UNLOCK_FUNCTION(rwlock, EitherRwLock)
DESTROY_FUNCTION(rwlock, EitherRwLock)

void ovs_mutex_cond_wait_at(pthread_cond_t* condition, const ovs_mutex* mutex,
                            const char* where) {
  ovsthread::LockMutex::wait(core(mutex), *condition, where);
}

void(ovs_mutex_cond_wait)(pthread_cond_t* condition, const ovs_mutex* mutex) {
  ovsthread::LockMutex::wait(
      core(mutex), *condition,
      ovsthread::site_in_code(__builtin_return_address(0)));
}

bool ovsthread_once_start__(ovsthread_once* once)
    OVS_NO_THREAD_SAFETY_ANALYSIS {
  const char* where = ovsthread::site_in_code(__builtin_return_address(0));
  ovs_mutex_lock_at(&once->mutex, where);
  // Relaxed: written under the mutex.
  if (!__atomic_load_n(&once->done, __ATOMIC_RELAXED)) return true;
  ovs_mutex_unlock_at(&once->mutex, where);
  return false;
}

void ovsthread_once_done(ovsthread_once* once) OVS_NO_THREAD_SAFETY_ANALYSIS {
  const char* where = ovsthread::site_in_code(__builtin_return_address(0));
  ovsthread::LockMutex::assert_held(core(&once->mutex), where);
  // (1) publishes what the initialisation wrote; pairs with (30) of thread.
  __atomic_store_n(&once->done, true, __ATOMIC_RELEASE);
  ovs_mutex_unlock_at(&once->mutex, where);
}
