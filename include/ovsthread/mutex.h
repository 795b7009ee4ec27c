// SPDX-License-Identifier: Apache-2.0
//
// A mutex whose critical sections run as hardware transactions where that pays.
//
// Sections that don't touch each other's data then run at the same time
// although they share the mutex (ovsthread/elision.h says when and how often).
// A program can't tell but by its speed: who holds the mutex elided and misuses
// it gets the same message as who holds it for real.
//
// Every use is checked.  Locking a mutex that the caller holds, unlocking one
// that it does not hold, and destroying one that is held end the process with a
// message that names the misuse, the mutex, the thread and two places: that of
// the call and where the mutex was last taken.  (Another thread's elided hold
// leaves no trace: destroying the mutex then makes that thread start again and
// find it destroyed.)
//
// When to use something else: an RwLock for long sections that mostly read;
// nothing at all but std::atomic for a single word.  Not for memory shared by
// processes; no priority inheritance.
//
// The C face is compat/openvswitch/thread.h; there a mutex is packed, here it
// fills a cache line, since neighbours on its line would abort its sections.
#ifndef OVSTHREAD_MUTEX_H_
#define OVSTHREAD_MUTEX_H_

#include <ovsthread/annotations.h>
#include <ovsthread/cache-line.h>

#include <cstdint>

namespace ovsthread {

// Meets the Lockable requirements: works with std::lock_guard, unique_lock,
// scoped_lock and condition_variable_any.
class OVSTHREAD_EXPORT OVSTHREAD_CAPABILITY("mutex") Mutex {
 public:
  constexpr Mutex() noexcept = default;
  // Misuse if anyone holds it.  May follow the last unlock at once, in another
  // thread, too.  Lock-free.
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Takes the mutex.  Misuse if the caller holds it.  Messages name the place
  // of the call by its address, or by FILE (a string that lasts) and LINE.
  // Blocking.
  void lock() OVSTHREAD_ACQUIRE();
  void lock_at(const char* file, unsigned line) OVSTHREAD_ACQUIRE();

  // Takes the mutex if nobody, the caller included, holds it.  Never blocks and
  // never fails without cause.  Lock-free.
  bool try_lock() OVSTHREAD_TRY_ACQUIRE(true);

  // Misuse if the caller does not hold it.  Lock-free.
  void unlock() OVSTHREAD_RELEASE();

  // Misuse if the caller does not hold it.  Wait-free.
  void AssertHeld() const OVSTHREAD_ASSERT_CAPABILITY(this);

 private:
  // As in lib/mutex-core.h.
  alignas(OVSTHREAD_CACHE_LINE_SIZE) uint32_t word_ = 1;
  uint16_t spins_ = 10;
  uint16_t depth_ = 0;
  const char* where_ = "<unlocked>";
};

// Holds a mutex for the life of the guard.  Messages name the place where the
// guard was made.
class OVSTHREAD_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex, const char* file = __builtin_FILE(),
                     unsigned line = __builtin_LINE()) OVSTHREAD_ACQUIRE(mutex)
      : mutex_(mutex) {
    mutex.lock_at(file, line);
  }
  ~MutexLock() OVSTHREAD_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_MUTEX_H_
