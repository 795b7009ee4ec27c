// SPDX-License-Identifier: Apache-2.0
//
// The reader-writer lock itself: one word for all, a count of waiting writers,
// and a futex with one queue for readers and one for writers.
//
//   bit 0    LIVE             initialised and not destroyed
//   bit 1    READERS_WAIT     readers may sleep
//   bit 2    WRITERS_WAIT     at least one writer waits: new readers wait too
//   bit 3    ELIDE            in mode auto: elide; for all threads alike
//   bit 4    WRITER           held for writing
//   5 to 31  owner or count   number of the writer, or how many readers
//
//   state \ operation  read        write    try read  try write  destroy
//   0, destroyed       misuse      misuse   misuse    misuse     misuse
//   free               take        take     take      take       destroy
//   free, WRITERS_WAIT sleep       take     busy      take       misuse
//   readers            take        sleep    take      busy       misuse
//   the same, W..WAIT  sleep       sleep    busy      busy       misuse
//   WRITER, another    sleep       sleep    busy      busy       misuse
//   WRITER, caller     misuse      misuse   busy      busy       misuse
//
// Whether the caller is one of the readers is not in the word; who needs that
// asks its held-list (lib/held-locks.h).
//
// Writers are preferred: WRITERS_WAIT stays set from the moment that a writer
// waits until the last waiting writer has the lock, and no reader enters
// meanwhile; readers can therefore starve under writers without a pause.  A
// release that leaves the lock free wakes one writer if WRITERS_WAIT is set,
// else all readers; READERS_WAIT is cleared by a writer's release that wakes
// them.  (Readers only go to sleep behind a writer, so that a reader's release
// never has readers to wake.)  Nothing is written after a release, so the next
// owner may destroy the lock at once.
//
// Progress: read_lock, write_lock: blocking.  The rest: lock-free.
#ifndef OVSTHREAD_LIB_RWLOCK_CORE_H_
#define OVSTHREAD_LIB_RWLOCK_CORE_H_

#include <climits>
#include <cstdint>

#include "atomics.h"
#include "futex.h"
#include "lock-word.h"

namespace ovsthread {

inline constexpr uint32_t kRwReadersWait = 2;
inline constexpr uint32_t kRwWritersWait = 4;
inline constexpr uint32_t kRwWriter = 16;
// A destroyed lock, as against memory that was never initialised (0).
inline constexpr uint32_t kRwDestroyed = kRwReadersWait;

// Platform: as for MutexCore, without the gate, and with kRwSpins, how often a
// held lock is looked at before sleeping.
template <class A, class Platform>
struct RwLockCore {
  typename A::template Atomic<uint32_t> word;
  typename A::template Atomic<uint32_t> waiting_writers;
  // Where the lock was last taken for real.  Relaxed throughout: it only feeds
  // messages.
  typename A::template Atomic<const char*> where;

  static bool is_free(uint32_t word) {
    return !(word & (kRwWriter | kOwnerMask));
  }
  static bool written_by(uint32_t word, uint32_t self) {
    return (word & (kRwWriter | kOwnerMask)) == (kRwWriter | self);
  }

  bool write_held_by(uint32_t self) const {
    // Relaxed: only the caller itself can put its number there or remove it.
    return written_by(word.load(kRelaxed), self);
  }

  LockResult try_read_lock() {
    // Relaxed: what is seen is confirmed by compare-and-swap.
    uint32_t old = word.load(kRelaxed);
    while (!(old & (kRwWriter | kRwWritersWait))) {
      if (!(old & kLockLive)) return LockResult::kDead;
      if (old >= kOwnerMask) return LockResult::kTooMany;
      // (1) what the last writer wrote; pairs with (4).
      if (word.compare_exchange(old, old + kOwnerOne, A::acquire(1),
                                kRelaxed)) {
        return LockResult::kDone;
      }
    }
    return old & kLockLive ? LockResult::kBusy : LockResult::kDead;
  }

  LockResult read_lock(uint32_t self) {
    for (unsigned looks = 0;; looks++) {
      LockResult result = try_read_lock();
      if (result != LockResult::kBusy) return result;
      // Relaxed: what is seen is confirmed by compare-and-swap or futex.
      uint32_t old = word.load(kRelaxed);
      if (!(old & (kRwWriter | kRwWritersWait))) continue;
      if (written_by(old, self)) return LockResult::kHeld;
      if (looks < Platform::kRwSpins) {
        A::relax();
      } else if ((old & kRwReadersWait) ||
                 // Relaxed: announces a sleeper, publishes nothing.
                 word.compare_exchange(old, old | kRwReadersWait, kRelaxed,
                                       kRelaxed)) {
        Platform::wait(word, old | kRwReadersWait, FutexQueue::kShared);
      }
    }
  }

  LockResult try_write_lock(uint32_t self) {
    // Relaxed: what is seen is confirmed by compare-and-swap.
    uint32_t old = word.load(kRelaxed);
    while (is_free(old)) {
      if (!(old & kLockLive)) return LockResult::kDead;
      // (2) what the last holders did; pairs with (3) and (4).
      if (word.compare_exchange(old, old | kRwWriter | self, A::acquire(2),
                                kRelaxed)) {
        return LockResult::kDone;
      }
    }
    return LockResult::kBusy;
  }

  LockResult write_lock(uint32_t self) {
    for (unsigned looks = 0; looks <= Platform::kRwSpins; looks++) {
      LockResult result = try_write_lock(self);
      if (result != LockResult::kBusy) return result;
      if (write_held_by(self)) return LockResult::kHeld;
      A::relax();
    }
    // Relaxed: what counts is the kernel's look at the word in wait(), which a
    // barrier of its own precedes; see (5).
    waiting_writers.fetch_add(1, kRelaxed);
    LockResult result;
    while ((result = try_write_lock(self)) == LockResult::kBusy) {
      // Relaxed: what is seen is confirmed by compare-and-swap or futex.
      uint32_t old = word.load(kRelaxed);
      if (!is_free(old) && ((old & kRwWritersWait) ||
                            // Relaxed: announces a sleeper, publishes nothing.
                            word.compare_exchange(old, old | kRwWritersWait,
                                                  kRelaxed, kRelaxed))) {
        Platform::wait(word, old | kRwWritersWait, FutexQueue::kExclusive);
      }
    }
    if (result == LockResult::kDone) stop_waiting();
    return result;
  }

  // For who would elide a read hold rather than take it: sleeps until a writer
  // has left, and just goes on then, since its wake-up went to all readers.
  void await() {
    // Relaxed: what is seen is confirmed by compare-and-swap or futex.
    uint32_t old = word.load(kRelaxed);
    while (old & (kRwWriter | kRwWritersWait)) {
      if ((old & kRwReadersWait) ||
          // Relaxed: announces a sleeper, publishes nothing.
          word.compare_exchange(old, old | kRwReadersWait, kRelaxed,
                                kRelaxed)) {
        return Platform::wait(word, old | kRwReadersWait, FutexQueue::kShared);
      }
    }
  }

  // The caller is one of the readers.
  void read_unlock() {
    // (3) hands on that the section has ended; pairs with (2).
    uint32_t old = word.fetch_sub(kOwnerOne, A::release(3));
    if ((old & kRwWritersWait) && (old & kOwnerMask) == kOwnerOne) {
      Platform::wake(word, 1, FutexQueue::kExclusive);
    }
  }

  // The caller is the writer.
  void write_unlock() {
    // Relaxed: the compare-and-swap fails if a waiter has come since.
    uint32_t old = word.load(kRelaxed);
    uint32_t left;
    do {
      left = old & ~(kOwnerMask | kRwWriter);
      if (!(old & kRwWritersWait)) left &= ~kRwReadersWait;
      // (4) hands the section's writes on; pairs with (1) and (2).
    } while (!word.compare_exchange(old, left, A::release(4), kRelaxed));
    if (old & kRwWritersWait) {
      Platform::wake(word, 1, FutexQueue::kExclusive);
    } else if (old & kRwReadersWait) {
      Platform::wake(word, INT_MAX, FutexQueue::kShared);
    }
  }

  // Afterwards the word says destroyed.
  LockResult destroy() {
    // Relaxed: destruction is ordered after all use by the program.
    uint32_t old = word.load(kRelaxed);
    if (!(old & kLockLive)) return LockResult::kDead;
    if ((old & ~kLockElide) != kLockLive) return LockResult::kHeld;
    return word.compare_exchange(old, kRwDestroyed, kRelaxed, kRelaxed)
               ? LockResult::kDone
               : LockResult::kHeld;
  }

 private:
  // The caller, a writer that waited, has the lock now.  The last one to stop
  // waiting clears WRITERS_WAIT; a writer that has come meanwhile either finds
  // the bit clear and sets it, or is found here.
  void stop_waiting() {
    // Relaxed: only holders subtract, one at a time.
    if (waiting_writers.fetch_sub(1, kRelaxed) != 1) return;
    word.fetch_and(~kRwWritersWait, kRelaxed);  // ordered by (5)
    // (5) before the count is looked at again; pairs with the kernel's barrier
    // before its look at the word of a thread that goes to sleep.
    A::fence(A::seq_cst(5));
    if (waiting_writers.load(kRelaxed) != 0) {  // ordered by (5)
      word.fetch_or(kRwWritersWait, kRelaxed);
    }
  }
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_RWLOCK_CORE_H_
