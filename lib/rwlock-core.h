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
//   bit 5    BIAS             there may be readers who are not counted here
//   6 to 31  owner or count   number of the writer, or how many readers
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
// With BIAS the same holds for those who are counted.  Others have announced
// themselves in a line of their own (rwlock-readers.h); who takes the lock for
// writing takes BIAS away with the same step and then waits for them (a try
// gives both back if there is one: it may fail because another thread is just
// deciding).  A reader who is counted may set BIAS again, once the *inhibited*
// time is over: a multiple of what the last writer paid to take it away, so
// that bias costs writers a few per cent at most.
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
// Progress: read_lock, write_lock: blocking.  read_biased: wait-free.  The
// rest: lock-free.
#ifndef OVSTHREAD_LIB_RWLOCK_CORE_H_
#define OVSTHREAD_LIB_RWLOCK_CORE_H_

#include <climits>
#include <cstdint>
#include <type_traits>

#include "atomics.h"
#include "futex.h"
#include "lock-word.h"
#include "rwlock-readers.h"

namespace ovsthread {

inline constexpr uint32_t kRwReadersWait = 2;
inline constexpr uint32_t kRwWritersWait = 4;
inline constexpr uint32_t kRwWriter = 16;
inline constexpr uint32_t kRwBias = 32;
// A destroyed lock, as against memory that was never initialised (0).
inline constexpr uint32_t kRwDestroyed = kRwReadersWait;

// Platform: as for MutexCore, without the gate, and with kRwSpins, how often a
// held lock is looked at before sleeping; readers(), all who are announced;
// sleep() on another word than that of a lock; now(), a clock for inhibited
// times.
template <class A, class Platform>
struct RwLockCore {
  typename A::template Atomic<uint32_t> word;
  typename A::template Atomic<uint32_t> waiting_writers;
  // Where the lock was last taken for real.  Relaxed throughout: it only feeds
  // messages.
  typename A::template Atomic<const char*> where;
  // By Platform::now(): before, BIAS is not set again.  Relaxed throughout: one
  // bias more or less is no harm.
  typename A::template Atomic<uint64_t> inhibited_until;

  using Readers = std::remove_reference_t<decltype(Platform::readers())>;
  using Line = typename Readers::Line;

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

  // Announces the caller in its LINE.  False: it has to count itself.
  bool read_biased(Line& line) {
    // Relaxed: what is seen is confirmed below.
    constexpr uint32_t kOpen = kRwBias | kRwWriter | kRwWritersWait;
    if ((word.load(kRelaxed) & kOpen) != kRwBias) return false;
    if (!Readers::announce(line, this)) return false;
    // (1) what the last writer wrote; pairs with (4).
    if (__builtin_expect(word.load(A::acquire(1)) & kRwBias, 1)) return true;
    Readers::withdraw(line, this);
    return false;
  }

  // The caller is announced in LINE.  The lock is not touched.
  void read_unlock_biased(Line& line) const { Readers::withdraw(line, this); }

  // The caller is counted: sets BIAS if that is allowed again.
  void set_bias() {
    // Relaxed: what is seen is confirmed by compare-and-swap.
    uint32_t old = word.load(kRelaxed);
    if ((old & (kRwBias | kRwWritersWait | kLockElide)) != 0 ||
        static_cast<int64_t>(Platform::now() - inhibited_until.load(kRelaxed)) <
            0) {
      return;
    }
    // Relaxed: readers who see BIAS see through it what the last writer
    // released, as every other change of the word since is one of this kind.
    word.compare_exchange(old, old | kRwBias, kRelaxed, kRelaxed);
  }

  LockResult try_write_lock(uint32_t self) {
    // Relaxed: who is announced is looked for again.
    if ((word.load(kRelaxed) & kRwBias) && Platform::readers().any(this)) {
      return LockResult::kBusy;
    }
    bool biased = false;
    LockResult result = claim(self, &biased);
    if (biased && revoke()) {
      leave(kRwBias);
      return LockResult::kBusy;
    }
    return result;
  }

  LockResult write_lock(uint32_t self) {
    bool biased = false;
    LockResult result = wait_for_claim(self, &biased);
    if (biased && revoke()) Platform::readers().await_none(this);
    return result;
  }

  // Whether somebody seems to hold it, other than elided: by the word alone, so
  // that `where` is about that hold; by all that is known.
  bool is_held_in_word() const {
    return !is_free(word.load(kRelaxed));  // Relaxed: for messages.
  }
  bool seems_held() const {
    // Relaxed: for messages.
    return is_held_in_word() ||
           ((word.load(kRelaxed) & kRwBias) && Platform::readers().any(this));
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
  void write_unlock() { leave(0); }

  // Afterwards the word says destroyed.
  LockResult destroy() {
    // Relaxed: destruction is ordered after all use by the program.
    uint32_t old = word.load(kRelaxed);
    if (!(old & kLockLive)) return LockResult::kDead;
    if ((old & ~(kLockElide | kRwBias)) != kLockLive ||
        !word.compare_exchange(old, kRwDestroyed, kRelaxed, kRelaxed)) {
      return LockResult::kHeld;
    }
    return (old & kRwBias) && revoke() ? LockResult::kHeld : LockResult::kDone;
  }

 private:
  // How many times as long as it took to take BIAS away it is not set again.
  static constexpr uint64_t kInhibit = 32;

  // Takes the lock for writing as far as the word goes.  *BIASED: BIAS was set,
  // so that the caller has to revoke().
  LockResult claim(uint32_t self, bool* biased) {
    // Relaxed: what is seen is confirmed by compare-and-swap.
    uint32_t old = word.load(kRelaxed);
    while (is_free(old)) {
      if (!(old & kLockLive)) return LockResult::kDead;
      // (2) what the last holders did; pairs with (3) and (4).
      if (word.compare_exchange(old, (old & ~kRwBias) | kRwWriter | self,
                                A::acquire(2), kRelaxed)) {
        *biased = (old & kRwBias) != 0;
        return LockResult::kDone;
      }
    }
    return LockResult::kBusy;
  }

  LockResult wait_for_claim(uint32_t self, bool* biased) {
    for (unsigned looks = 0; looks <= Platform::kRwSpins; looks++) {
      LockResult result = claim(self, biased);
      if (result != LockResult::kBusy) return result;
      if (write_held_by(self)) return LockResult::kHeld;
      A::relax();
    }
    // Relaxed: what counts is the kernel's look at the word in wait(), which a
    // barrier of its own precedes; see (5).
    waiting_writers.fetch_add(1, kRelaxed);
    LockResult result;
    while ((result = claim(self, biased)) == LockResult::kBusy) {
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

  // The caller has taken BIAS away.  Returns whether readers are announced.
  bool revoke() {
    uint64_t start = Platform::now();
    // (7) before the look at the readers; pairs with (6).
    A::heavy_fence(A::seq_cst(7));
    bool any = Platform::readers().any(this);
    uint64_t end = Platform::now();
    inhibited_until.store(end + kInhibit * (end - start), kRelaxed);
    return any;
  }

  // Ends the caller's hold for writing; BIAS: kRwBias, to set that, or 0.
  void leave(uint32_t bias) {
    // Relaxed: the compare-and-swap fails if a waiter has come since.
    uint32_t old = word.load(kRelaxed);
    uint32_t left;
    do {
      left = (old & ~(kOwnerMask | kRwWriter)) | bias;
      if (!(old & kRwWritersWait)) left &= ~kRwReadersWait;
      // (4) hands the section's writes on; pairs with (1) and (2).
    } while (!word.compare_exchange(old, left, A::release(4), kRelaxed));
    if (old & kRwWritersWait) {
      Platform::wake(word, 1, FutexQueue::kExclusive);
    } else if (old & kRwReadersWait) {
      Platform::wake(word, INT_MAX, FutexQueue::kShared);
    }
  }

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
