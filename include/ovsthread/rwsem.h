// SPDX-License-Identifier: Apache-2.0
//
// A recursive reader-writer semaphore with the semantics of the rw_semaphore of
// NuttX: its writer may take it again, for writing or for reading, and releases
// each level by either unlock.  Waiters are served in the order in which they
// came; one is woken once, when it has the semaphore.  The checks, and what
// they can't do, are described in compat/ovsthread-rwsem.h.
//
// When to use something else: an RwLock wherever no recursion is needed; it is
// elided, and clang's analysis follows it.
#ifndef OVSTHREAD_RWSEM_H_
#define OVSTHREAD_RWSEM_H_

#include <ovsthread/annotations.h>
#include <ovsthread/cache-line.h>

#include <chrono>
#include <cstdint>

namespace ovsthread {

// Meets the SharedLockable requirements, and those of timed locks for
// durations: works with std::shared_lock, unique_lock and lock_guard.
class OVSTHREAD_EXPORT RwSemaphore {
 public:
  constexpr RwSemaphore() noexcept = default;
  // Misuse if anyone holds it.  Lock-free.
  ~RwSemaphore();
  RwSemaphore(const RwSemaphore&) = delete;
  RwSemaphore& operator=(const RwSemaphore&) = delete;

  // Take it for writing, for reading.  Misuse if the caller is a reader, but
  // for reading again while nobody waits.  Blocking.
  void lock();
  void lock_shared();

  // The same if it can be had now without overtaking a waiter, else false.
  // Never sleep.
  bool try_lock();
  bool try_lock_shared();

  // The same, but wait no longer than DURATION; false: it was too short.
  // Blocking.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> duration) {
    return try_lock_until(deadline(duration));
  }
  template <class Rep, class Period>
  bool try_lock_shared_for(std::chrono::duration<Rep, Period> duration) {
    return try_lock_shared_until(deadline(duration));
  }
  bool try_lock_until(std::chrono::steady_clock::time_point deadline) {
    return lock_before(nanoseconds(deadline));
  }
  bool try_lock_shared_until(std::chrono::steady_clock::time_point deadline) {
    return lock_shared_before(nanoseconds(deadline));
  }

  // The same, but false when a signal handler has run in the calling thread
  // while it slept.  Blocking.
  bool lock_interruptible();
  bool lock_shared_interruptible();

  // Release one level: the writer's, either kind of hold.  Misuse if the caller
  // does not have it.  Never sleep.
  void unlock();
  void unlock_shared();

  // Makes the writer, which must have one level, a reader.  Never sleeps.
  void downgrade();

  // The number (ovsthread/thread.h) of the thread that holds it for writing, or
  // UINT32_MAX.  Wait-free.
  uint32_t holder() const;

  // To how many waiters it was handed so far; each was woken once, at most.
  // Wait-free.
  uint64_t handed() const;

 private:
  // What is exported names no type of the standard library.
  static int64_t nanoseconds(std::chrono::steady_clock::time_point time) {
    return std::chrono::nanoseconds(time.time_since_epoch()).count();
  }
  bool lock_before(int64_t deadline);
  bool lock_shared_before(int64_t deadline);

  template <class Rep, class Period>
  static std::chrono::steady_clock::time_point deadline(
      std::chrono::duration<Rep, Period> duration) {
    return std::chrono::steady_clock::now() +
           std::chrono::ceil<std::chrono::steady_clock::duration>(duration);
  }

  struct State {
    uint32_t word = 1;
    uint32_t depth = 0;
    void* first = nullptr;
    void* last = nullptr;
    uint64_t handed = 0;
    const char* where = "<unlocked>";
  };

  // A core of lib/rwsem-core.h, and only used as such.
  [[maybe_unused]] alignas(OVSTHREAD_CACHE_LINE_SIZE) State state_;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_RWSEM_H_
