// SPDX-License-Identifier: Apache-2.0
//
// The locks that benchmarks compare, under one interface: that of the standard
// library (lock, unlock, lock_shared, unlock_shared), which the C++ locks have
// already.
#ifndef OVSTHREAD_BENCH_LOCKS_H_
#define OVSTHREAD_BENCH_LOCKS_H_

#include <pthread.h>

#include "openvswitch/thread.h"
#include "ovs-thread.h"

namespace bench {

// INIT is ovs_mutex_init or one of its kin.
template <void (*init)(struct ovs_mutex*)>
class OvsMutexOf {
 public:
  OvsMutexOf() { init(&mutex_); }
  ~OvsMutexOf() { ovs_mutex_destroy(&mutex_); }
  void lock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_mutex_lock(&mutex_); }
  void unlock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_mutex_unlock(&mutex_); }

 private:
  struct ovs_mutex mutex_;
};

using OvsMutex = OvsMutexOf<ovs_mutex_init>;
using OvsAdaptiveMutex = OvsMutexOf<ovs_mutex_init_adaptive>;
using OvsRecursiveMutex = OvsMutexOf<ovs_mutex_init_recursive>;

class OvsSpin {
 public:
  OvsSpin() { ovs_spin_init(&spin_); }
  ~OvsSpin() { ovs_spin_destroy(&spin_); }
  void lock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_spin_lock(&spin_); }
  void unlock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_spin_unlock(&spin_); }

 private:
  struct ovs_spin spin_;
};

class OvsRwlock {
 public:
  OvsRwlock() { ovs_rwlock_init(&rwlock_); }
  ~OvsRwlock() { ovs_rwlock_destroy(&rwlock_); }
  void lock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_rwlock_wrlock(&rwlock_); }
  void unlock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_rwlock_unlock(&rwlock_); }
  void lock_shared() OVS_NO_THREAD_SAFETY_ANALYSIS {
    ovs_rwlock_rdlock(&rwlock_);
  }
  void unlock_shared() OVS_NO_THREAD_SAFETY_ANALYSIS { unlock(); }

 private:
  struct ovs_rwlock rwlock_;
};

// KIND is one of pthread_mutexattr_settype().
template <int kind>
class PthreadMutexOf {
 public:
  PthreadMutexOf() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  ~PthreadMutexOf() { pthread_mutex_destroy(&mutex_); }
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
};

using PthreadMutex = PthreadMutexOf<PTHREAD_MUTEX_DEFAULT>;
// Relocking is an error, as it is of an ovs_mutex.
using PthreadErrorcheckMutex = PthreadMutexOf<PTHREAD_MUTEX_ERRORCHECK>;

// KIND is one of pthread_rwlockattr_setkind_np().
template <int kind>
class PthreadRwlockOf {
 public:
  PthreadRwlockOf() {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, kind);
    pthread_rwlock_init(&rwlock_, &attributes);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~PthreadRwlockOf() { pthread_rwlock_destroy(&rwlock_); }
  void lock() { pthread_rwlock_wrlock(&rwlock_); }
  void unlock() { pthread_rwlock_unlock(&rwlock_); }
  void lock_shared() { pthread_rwlock_rdlock(&rwlock_); }
  void unlock_shared() { pthread_rwlock_unlock(&rwlock_); }

 private:
  pthread_rwlock_t rwlock_;
};

using PthreadRwlock = PthreadRwlockOf<PTHREAD_RWLOCK_DEFAULT_NP>;
// Waiting writers keep new readers out, as those of an ovs_rwlock do.
using PthreadWriterRwlock =
    PthreadRwlockOf<PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP>;

class PthreadSpinlock {
 public:
  PthreadSpinlock() { pthread_spin_init(&spinlock_, PTHREAD_PROCESS_PRIVATE); }
  ~PthreadSpinlock() { pthread_spin_destroy(&spinlock_); }
  void lock() { pthread_spin_lock(&spinlock_); }
  void unlock() { pthread_spin_unlock(&spinlock_); }

 private:
  pthread_spinlock_t spinlock_;
};

// Hold a lock for the life of the guard.
template <class L>
class Writing {
 public:
  using Lock = L;
  static constexpr bool kExclusive = true;

  explicit Writing(L& lock) OVS_NO_THREAD_SAFETY_ANALYSIS : lock_(lock) {
    lock_.lock();
  }
  ~Writing() OVS_NO_THREAD_SAFETY_ANALYSIS { lock_.unlock(); }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  L& lock_;
};

template <class L>
class Reading {
 public:
  using Lock = L;
  static constexpr bool kExclusive = false;

  explicit Reading(L& lock) OVS_NO_THREAD_SAFETY_ANALYSIS : lock_(lock) {
    lock_.lock_shared();
  }
  ~Reading() OVS_NO_THREAD_SAFETY_ANALYSIS { lock_.unlock_shared(); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  L& lock_;
};

}  // namespace bench

#endif  // OVSTHREAD_BENCH_LOCKS_H_
