// SPDX-License-Identifier: Apache-2.0
//
// A reader-writer lock whose critical sections run as hardware transactions
// where that pays; see ovsthread/mutex.h, which also describes the checks.
//
// Writers are preferred: once one waits, no further reader enters, so readers
// can starve under writers without a pause.  A thread must therefore not take a
// second read lock: it would wait for the writer that waits for its first one,
// which ends the process with a message.  (Without a waiting writer it gets the
// lock.)
//
// A lock that is mostly read, and not elided, becomes biased towards readers,
// as ovs_rwlock does (ovsthread-rwlock.h, which also has the switch).
//
// When to use something else: a Mutex for short sections, it costs less.
#ifndef OVSTHREAD_RWLOCK_H_
#define OVSTHREAD_RWLOCK_H_

#include <ovsthread/annotations.h>
#include <ovsthread/cache-line.h>

#include <cstdint>

namespace ovsthread {

// Meets the SharedLockable requirements: works with std::shared_lock,
// unique_lock, scoped_lock and condition_variable_any.
class OVSTHREAD_EXPORT OVSTHREAD_CAPABILITY("rwlock") RwLock {
 public:
  constexpr RwLock() noexcept = default;
  // Misuse if anyone holds it.  May follow the last unlock at once, in another
  // thread, too.  Lock-free.
  ~RwLock();
  RwLock(const RwLock&) = delete;
  RwLock& operator=(const RwLock&) = delete;

  // Take the lock for writing, for reading.  Misuse if the caller holds it, but
  // for reading twice while no writer waits.  Messages name the place of the
  // call by its address, or by FILE (a string that lasts) and LINE.  Blocking.
  void lock() OVSTHREAD_ACQUIRE();
  void lock_at(const char* file, unsigned line) OVSTHREAD_ACQUIRE();
  void lock_shared() OVSTHREAD_ACQUIRE_SHARED();
  void lock_shared_at(const char* file, unsigned line)
      OVSTHREAD_ACQUIRE_SHARED();

  // The same if the lock can be had now, else false.  A reader may read again.
  // Never block and never fail without cause.  Lock-free.
  bool try_lock() OVSTHREAD_TRY_ACQUIRE(true);
  bool try_lock_shared() OVSTHREAD_TRY_ACQUIRE_SHARED(true);

  // Release what the caller holds; misuse if nothing.  Lock-free.
  void unlock() OVSTHREAD_RELEASE();
  void unlock_shared() OVSTHREAD_RELEASE_SHARED();

  // Misuse if the caller does not hold it for writing; at all.  Wait-free, but
  // for a search in the caller's held read locks.
  void AssertHeld() const OVSTHREAD_ASSERT_CAPABILITY(this);
  void AssertReaderHeld() const OVSTHREAD_ASSERT_SHARED_CAPABILITY(this);

 private:
  // As in lib/rwlock-core.h.
  alignas(OVSTHREAD_CACHE_LINE_SIZE) uint32_t word_ = 1;
  uint32_t waiting_writers_ = 0;
  const char* where_ = "<unlocked>";
  uint64_t inhibited_until_ = 0;
};

// Hold a lock for the life of the guard.  Messages name the place where the
// guard was made.
class OVSTHREAD_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(RwLock& lock, const char* file = __builtin_FILE(),
                      unsigned line = __builtin_LINE())
      OVSTHREAD_ACQUIRE_SHARED(lock)
      : lock_(lock) {
    lock.lock_shared_at(file, line);
  }
  ~ReaderLock() OVSTHREAD_RELEASE_GENERIC() { lock_.unlock_shared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  RwLock& lock_;
};

class OVSTHREAD_SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(RwLock& lock, const char* file = __builtin_FILE(),
                      unsigned line = __builtin_LINE()) OVSTHREAD_ACQUIRE(lock)
      : lock_(lock) {
    lock.lock_at(file, line);
  }
  ~WriterLock() OVSTHREAD_RELEASE() { lock_.unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  RwLock& lock_;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_RWLOCK_H_
