// SPDX-License-Identifier: Apache-2.0
//
// The locks that the benchmark compares, under one interface.  Each pair has
// the same rules: relocking a mutex is an error, and waiting writers keep new
// readers out.
#ifndef OVSTHREAD_TESTS_OVSTEST_LOCKS_H_
#define OVSTHREAD_TESTS_OVSTEST_LOCKS_H_

#include <pthread.h>

#include "openvswitch/thread.h"
#include "ovs-thread.h"

namespace ovstest {

struct OvsLocks {
  class Mutex {
   public:
    Mutex() { ovs_mutex_init(&mutex_); }
    ~Mutex() { ovs_mutex_destroy(&mutex_); }
    void lock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_mutex_lock(&mutex_); }
    void unlock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_mutex_unlock(&mutex_); }

   private:
    struct ovs_mutex mutex_;
  };

  class RwLock {
   public:
    RwLock() { ovs_rwlock_init(&rwlock_); }
    ~RwLock() { ovs_rwlock_destroy(&rwlock_); }
    void rdlock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_rwlock_rdlock(&rwlock_); }
    void wrlock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_rwlock_wrlock(&rwlock_); }
    void unlock() OVS_NO_THREAD_SAFETY_ANALYSIS { ovs_rwlock_unlock(&rwlock_); }

   private:
    struct ovs_rwlock rwlock_;
  };
};

struct PthreadLocks {
  class Mutex {
   public:
    Mutex() {
      pthread_mutexattr_t attributes;
      pthread_mutexattr_init(&attributes);
      pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
      pthread_mutex_init(&mutex_, &attributes);
      pthread_mutexattr_destroy(&attributes);
    }
    ~Mutex() { pthread_mutex_destroy(&mutex_); }
    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }

   private:
    pthread_mutex_t mutex_;
  };

  class RwLock {
   public:
    RwLock() {
      pthread_rwlockattr_t attributes;
      pthread_rwlockattr_init(&attributes);
      pthread_rwlockattr_setkind_np(
          &attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
      pthread_rwlock_init(&rwlock_, &attributes);
      pthread_rwlockattr_destroy(&attributes);
    }
    ~RwLock() { pthread_rwlock_destroy(&rwlock_); }
    void rdlock() { pthread_rwlock_rdlock(&rwlock_); }
    void wrlock() { pthread_rwlock_wrlock(&rwlock_); }
    void unlock() { pthread_rwlock_unlock(&rwlock_); }

   private:
    pthread_rwlock_t rwlock_;
  };
};

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_LOCKS_H_
