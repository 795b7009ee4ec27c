// SPDX-License-Identifier: Apache-2.0
//
// A spin lock whose critical sections run as hardware transactions where that
// pays; see ovsthread/mutex.h, which also describes the checks.
//
// Who waits for it never sleeps: it looks again and again, with growing pauses,
// and after some ten microseconds yields the processor between two looks.  So
// it saves the system calls of going to sleep and waking up, if sections take
// less than a microsecond and their threads have processors of their own.
//
// When to use something else: nearly always a Mutex.  It costs as little when
// nobody waits, spins a little itself, and then sleeps; while here the waiters
// of an owner that was preempted burn their time slices, and with priorities a
// waiter that must not be preempted may keep the owner from ever running.  Not
// for sections that may sleep, wait on a condition (there is none for spin
// locks) or call what takes long.  No waiter is preferred, so one may starve.
//
// The C face is compat/openvswitch/thread.h; there a spin lock is packed, here
// it fills a cache line, since neighbours on its line would abort its sections.
#ifndef OVSTHREAD_SPINLOCK_H_
#define OVSTHREAD_SPINLOCK_H_

#include <ovsthread/annotations.h>
#include <ovsthread/cache-line.h>

#include <cstdint>

namespace ovsthread {

// Meets the Lockable requirements: works with std::lock_guard, unique_lock and
// scoped_lock.
class OVSTHREAD_EXPORT OVSTHREAD_CAPABILITY("spin lock") SpinLock {
 public:
  constexpr SpinLock() noexcept = default;
  // Misuse if anyone holds it.  May follow the last unlock at once, in another
  // thread, too.  Lock-free.
  ~SpinLock();
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  // Takes the lock.  Misuse if the caller holds it.  Messages name the place of
  // the call by its address, or by FILE (a string that lasts) and LINE.
  // Blocking.
  void lock() OVSTHREAD_ACQUIRE();
  void lock_at(const char* file, unsigned line) OVSTHREAD_ACQUIRE();

  // Takes the lock if nobody, the caller included, holds it.  Never blocks and
  // never fails without cause.  Lock-free.
  bool try_lock() OVSTHREAD_TRY_ACQUIRE(true);

  // Misuse if the caller does not hold it.  Lock-free.
  void unlock() OVSTHREAD_RELEASE();

  // Misuse if the caller does not hold it.  Wait-free.
  void AssertHeld() const OVSTHREAD_ASSERT_CAPABILITY(this);

 private:
  // As in lib/spinlock-core.h.
  alignas(OVSTHREAD_CACHE_LINE_SIZE) uint32_t word_ = 1;
  const char* where_ = "<unlocked>";
};

// Holds a spin lock for the life of the guard.  Messages name the place where
// the guard was made.
class OVSTHREAD_SCOPED_CAPABILITY SpinLockGuard {
 public:
  explicit SpinLockGuard(SpinLock& lock, const char* file = __builtin_FILE(),
                         unsigned line = __builtin_LINE())
      OVSTHREAD_ACQUIRE(lock)
      : lock_(lock) {
    lock.lock_at(file, line);
  }
  ~SpinLockGuard() OVSTHREAD_RELEASE() { lock_.unlock(); }
  SpinLockGuard(const SpinLockGuard&) = delete;
  SpinLockGuard& operator=(const SpinLockGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_SPINLOCK_H_
