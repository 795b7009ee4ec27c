// SPDX-License-Identifier: Apache-2.0
#include "model/lock-types.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock-word.h"
#include "mutex-core.h"
#include "rwlock-core.h"

// What is called here rightly looks unbalanced to the analysis.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wthread-safety-analysis"
#endif

namespace ovsthread::model {
namespace {

uint32_t load(const uint32_t& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

// The mode bit says nothing of holds.
bool is_plain(uint32_t word, uint32_t also) {
  return (word & ~(kLockElide | also)) == kLockLive;
}

RealHolds look_at_mutex(const Lock& lock) {
  uint32_t word = load(lock.mutex.word);
  uint32_t owner = word & kOwnerMask;
  return {(word & kLockLive) != 0,
          owner,
          owner ? lock.mutex.depth + 1u : 0,
          0,
          (word & kMutexWaiters) != 0,
          is_plain(word, kMutexRecursive) && lock.mutex.depth == 0};
}

RealHolds look_at_spin(const Lock& lock) {
  uint32_t word = load(lock.spin.word);
  uint32_t owner = word & kOwnerMask;
  return {(word & kLockLive) != 0, owner, owner ? 1u : 0, 0, false,
          is_plain(word, 0)};
}

RealHolds look_at_rwlock(const Lock& lock) {
  uint32_t word = load(lock.rwlock.word);
  uint32_t number = word & kOwnerMask;
  bool waited_for = (word & (kRwReadersWait | kRwWritersWait)) != 0;
  bool at_rest = is_plain(word, 0) && lock.rwlock.waiting_writers == 0;
  if (word & kRwWriter) return {true, number, 1, 0, waited_for, at_rest};
  return {(word & kLockLive) != 0, 0,          0,
          number / kOwnerOne,      waited_for, at_rest};
}

constexpr LockType mutex_type(const char* name, bool nests,
                              void (*init)(Lock&)) {
  return {name,
          "mutex",
          nests,
          true,
          init,
          [](Lock& lock, const char* where) {
            ovs_mutex_destroy_at(&lock.mutex, where);
          },
          [](Lock& lock, const char* where) {
            ovs_mutex_lock_at(&lock.mutex, where);
          },
          [](Lock& lock, const char* where) {
            return ovs_mutex_trylock_at(&lock.mutex, where);
          },
          nullptr,
          nullptr,
          [](Lock& lock, const char* where) {
            ovs_mutex_unlock_at(&lock.mutex, where);
          },
          [](pthread_cond_t& condition, Lock& lock, const char* where) {
            ovs_mutex_cond_wait_at(&condition, &lock.mutex, where);
          },
          look_at_mutex};
}

constexpr LockType kTypes[] = {
    mutex_type("mutex", false, [](Lock& lock) { ovs_mutex_init(&lock.mutex); }),
    mutex_type("recursive", true,
               [](Lock& lock) { ovs_mutex_init_recursive(&lock.mutex); }),
    mutex_type("adaptive", false,
               [](Lock& lock) { ovs_mutex_init_adaptive(&lock.mutex); }),
    {"spin", "spin lock", false, false,
     [](Lock& lock) { ovs_spin_init(&lock.spin); },
     [](Lock& lock, const char* where) {
       ovs_spin_destroy_at(&lock.spin, where);
     },
     [](Lock& lock, const char* where) { ovs_spin_lock_at(&lock.spin, where); },
     [](Lock& lock, const char* where) {
       return ovs_spin_trylock_at(&lock.spin, where);
     },
     nullptr, nullptr,
     [](Lock& lock, const char* where) {
       ovs_spin_unlock_at(&lock.spin, where);
     },
     nullptr, look_at_spin},
    {"rwlock", "rwlock", false, true,
     [](Lock& lock) { ovs_rwlock_init(&lock.rwlock); },
     [](Lock& lock, const char* where) {
       ovs_rwlock_destroy_at(&lock.rwlock, where);
     },
     [](Lock& lock, const char* where) {
       ovs_rwlock_wrlock_at(&lock.rwlock, where);
     },
     [](Lock& lock, const char* where) {
       return ovs_rwlock_trywrlock_at(&lock.rwlock, where);
     },
     [](Lock& lock, const char* where) {
       ovs_rwlock_rdlock_at(&lock.rwlock, where);
     },
     [](Lock& lock, const char* where) {
       return ovs_rwlock_tryrdlock_at(&lock.rwlock, where);
     },
     [](Lock& lock, const char* where) {
       ovs_rwlock_unlock_at(&lock.rwlock, where);
     },
     nullptr, look_at_rwlock},
};

}  // namespace

const std::span<const LockType> kLockTypes = kTypes;

bool is_slept_on(const Lock& lock) {
  // Counts those that it moves, here to where they are, and wakes none.
  const void* word = &lock;
  return syscall(SYS_futex, word, FUTEX_REQUEUE_PRIVATE, 0, 1, word, 0) > 0;
}

void change_mode(Lock& lock) {
  // Every lock begins with its word.
  __atomic_fetch_xor(reinterpret_cast<uint32_t*>(&lock), kLockElide,
                     __ATOMIC_RELAXED);
}

}  // namespace ovsthread::model
