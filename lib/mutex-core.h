// SPDX-License-Identifier: Apache-2.0
//
// The mutex itself: one word, a futex, and the gate for conditions.
//
// The word says everything that another thread, or a transaction that wants to
// elide the lock, must know:
//
//   bit 0    LIVE       initialised and not destroyed
//   bit 1    WAITERS    threads may sleep on the word
//   bit 2    GATE       a waiter on a condition left the lock through the gate
//   bit 3    ELIDE      in mode auto: elide; for all threads alike
//   bit 4    RECURSIVE  the holder may lock again
//   6 to 31  owner      number of the holder, 0: free
//
//   state \ operation  lock            trylock   unlock        destroy
//   0, destroyed       misuse          misuse    misuse        misuse
//   free               take            take      misuse        destroy
//   free, GATE         take, pass gate the same  misuse        destroy
//   held by another    sleep           busy      misuse        misuse
//   held by caller     misuse          busy      release       misuse
//   the same,RECURSIVE nest            nest      release a level  misuse
//
// Waking: who sleeps has set WAITERS; a release clears it and wakes one; who
// has slept takes the lock with WAITERS set again, since others may still
// sleep (Drepper, "Futexes are tricky", mutex 2), or hands the wake-up on if it
// does not want the lock any more (await()).  Nothing is written after
// the release, so the next owner may destroy the lock at once.
//
// The gate lets a thread wait on a plain pthread condition that others signal
// with plain pthread_cond_signal(), although the lock is none of pthread's.  A
// waiter takes the gate (an internal pthread mutex), releases the lock leaving
// GATE in its word, and waits on (condition, gate).  Who next takes the lock
// finds GATE, passes once through the gate and clears the bit: only then can it
// change what the waiter waits for, and by then the waiter is on the condition.
// No thread waits for a lock while it has the gate.
//
// Progress: lock, wait: blocking.  The rest: lock-free, but for who passes the
// gate: it waits until the waiter ahead is on its condition.
#ifndef OVSTHREAD_LIB_MUTEX_CORE_H_
#define OVSTHREAD_LIB_MUTEX_CORE_H_

#include <ovsthread/lock-stats.h>

#include <cstdint>
#include <type_traits>

#include "atomics.h"
#include "futex.h"
#include "lock-word.h"

namespace ovsthread {

inline constexpr uint32_t kMutexWaiters = 2;
inline constexpr uint32_t kMutexGate = 4;
inline constexpr uint32_t kMutexRecursive = 16;
// Bits that don't say whether the lock is free.
inline constexpr uint32_t kMutexSticky = kLockElide | kMutexRecursive;
// A destroyed lock, as against memory that was never initialised (0).
inline constexpr uint32_t kMutexDestroyed = kMutexWaiters;

// Platform supplies wait(word, expected, queue), wake(word, count, queue),
// which is a safe point, gate_of(lock) with lock() and unlock(), and
// wait_on(condition, gate).  SELF is the caller's number in the owner's bits.
template <class A, class Platform>
struct MutexCore {
  static constexpr const char* kName = "mutex";
  static constexpr ovs_lock_use kUse = OVS_LOCK_USE_MUTEX;
  static constexpr uint32_t kDestroyed = kMutexDestroyed;

  typename A::template Atomic<uint32_t> word;
  uint16_t spins;  // looks at a held lock before sleeping
  uint16_t depth;  // levels beyond the first; the holder's
  // Where the lock was last taken for real.  Relaxed throughout: it only feeds
  // messages.
  typename A::template Atomic<const char*> where;

  static uint32_t owner(uint32_t word) { return word & kOwnerMask; }

  bool held_by(uint32_t self) const {
    // Relaxed: only the caller itself can put its number there or remove it.
    return owner(word.load(kRelaxed)) == self;
  }

  // Whether an unlock() would release the lock, not only a level of it.
  bool held_once_by(uint32_t self) const { return held_by(self) && depth == 0; }

  // The whole of an uncontended lock() of a lock that does not nest and is not
  // in elide mode.  SELF may be 0 (not known yet).  The word is guessed, not
  // loaded: the compare-and-swap would have to wait for the load.
  bool lock_fast(uint32_t self) {
    uint32_t free = kLockLive;
    return self != 0 &&
           // (1) the last section's writes; pairs with (2).
           word.compare_exchange(free, kLockLive | self, A::acquire(1),
                                 kRelaxed);
  }

  LockResult lock(uint32_t self) {
    uint32_t mark = self;
    for (unsigned looks = 0;; looks++) {
      // Relaxed: what is seen is confirmed by compare-and-swap or futex.
      uint32_t old = word.load(kRelaxed);
      if (!(old & kLockLive)) return LockResult::kDead;
      if (owner(old) == 0) {
        if (take(old, mark)) return LockResult::kDone;
      } else if (owner(old) == self) {
        return relock(old, LockResult::kHeld);
      } else if (looks < spins) {
        A::relax();
      } else if ((old & kMutexWaiters) ||
                 // Relaxed: announces a sleeper, publishes nothing.
                 word.compare_exchange(old, old | kMutexWaiters, kRelaxed,
                                       kRelaxed)) {
        Platform::wait(word, old | kMutexWaiters, FutexQueue::kExclusive);
        mark = self | kMutexWaiters;
      }
    }
  }

  // For who would elide the lock rather than take it: sleeps until a release,
  // or returns at once if there is none to wait for.  The wake-up that it
  // uses up goes on: to the next sleeper if the lock is free, to the owner's
  // release if it is held again.
  void await() {
    // Relaxed: what is seen is confirmed by compare-and-swap or futex.
    uint32_t old = word.load(kRelaxed);
    if (!announce_sleeper(old)) return;
    Platform::wait(word, old | kMutexWaiters, FutexQueue::kExclusive);
    old = word.load(kRelaxed);
    if (!announce_sleeper(old)) Platform::wake(word, 1, FutexQueue::kExclusive);
  }

  LockResult try_lock(uint32_t self) {
    // Relaxed: what is seen is confirmed by compare-and-swap.
    uint32_t old = word.load(kRelaxed);
    while (owner(old) == 0) {
      if (!(old & kLockLive)) return LockResult::kDead;
      if (take(old, self)) return LockResult::kDone;
      old = word.load(kRelaxed);
    }
    return owner(old) == self ? relock(old, LockResult::kBusy)
                              : LockResult::kBusy;
  }

  // The same for unlock().  Not inside a transaction: even a compare-and-swap
  // that fails counts as a write of the word there.
  bool unlock_fast(uint32_t self) {
    uint32_t held = kLockLive | self;
    // Relaxed: spares a compare-and-swap that would fail; a branch, unlike the
    // word itself, is no wait.
    return self != 0 && !(word.load(kRelaxed) & kLockElide) &&
           // (2) hands the section's writes on; pairs with (1).
           word.compare_exchange(held, kLockLive, A::release(2), kRelaxed);
  }

  LockResult unlock(uint32_t self) {
    // Relaxed: the caller's own write, or it is not the owner.
    uint32_t old = word.load(kRelaxed);
    if (!(old & kLockLive)) return LockResult::kDead;
    if (owner(old) != self) return LockResult::kNotHeld;
    if (depth > 0) {
      depth--;
    } else {
      release(old, 0);
    }
    return LockResult::kDone;
  }

  // Releases all levels, waits on CONDITION until woken (maybe for no reason),
  // and takes them again.  A thread that is cancelled meanwhile holds the lock
  // again when its cleanup runs, as after pthread_cond_wait().
  template <class Condition>
  LockResult wait(Condition& condition, uint32_t self) {
    // Relaxed: as in unlock().
    uint32_t old = word.load(kRelaxed);
    if (!(old & kLockLive)) return LockResult::kDead;
    if (owner(old) != self) return LockResult::kNotHeld;
    auto& gate = Platform::gate_of(this);
    gate.lock();
    LockResult result;
    {
      Retake retake{*this, gate, self, depth, result};
      depth = 0;
      release(old, kMutexGate);
      Platform::wait_on(condition, gate);
    }
    return result;
  }

  // Afterwards the word says destroyed.
  LockResult destroy() {
    // Relaxed: destruction is ordered after all use by the program.
    uint32_t old = word.load(kRelaxed);
    if (!(old & kLockLive)) return LockResult::kDead;
    if (owner(old) != 0) return LockResult::kHeld;
    return word.compare_exchange(old, kMutexDestroyed, kRelaxed, kRelaxed)
               ? LockResult::kDone
               : LockResult::kHeld;
  }

 private:
  // Sets WAITERS unless the lock is free; OLD is then the word but for that
  // bit.
  bool announce_sleeper(uint32_t& old) {
    while (owner(old) != 0) {
      // Relaxed: announces a sleeper, publishes nothing.  A word that has the
      // bit is written, too: it may have been read before the last release.
      if (word.compare_exchange(old, old | kMutexWaiters, kRelaxed, kRelaxed)) {
        return true;
      }
    }
    return false;
  }

  using Gate = std::remove_reference_t<decltype(Platform::gate_of(nullptr))>;

  struct Retake {
    ~Retake() {
      gate.unlock();
      result = mutex.lock(self);
      if (result == LockResult::kDone) mutex.depth = depth;
    }
    MutexCore& mutex;
    Gate& gate;
    uint32_t self;
    uint16_t depth;
    LockResult& result;
  };

  bool take(uint32_t old, uint32_t mark) {
    // (1) the last section's writes; pairs with (2).
    if (!word.compare_exchange(old, old | mark, A::acquire(1), kRelaxed)) {
      return false;
    }
    if (old & kMutexGate) pass_gate();
    return true;
  }

  void pass_gate() {
    auto& gate = Platform::gate_of(this);
    gate.lock();
    gate.unlock();
    // Relaxed: only holders look at the bit, and this one has the lock.
    word.fetch_and(~kMutexGate, kRelaxed);
  }

  LockResult relock(uint32_t old, LockResult otherwise) {
    if (!(old & kMutexRecursive)) return otherwise;
    if (depth == UINT16_MAX) return LockResult::kTooMany;
    depth++;
    return LockResult::kDone;
  }

  // ADD: bits to leave in the word.
  void release(uint32_t old, uint32_t add) {
    // (2) hands the section's writes on; pairs with (1).
    while (!word.compare_exchange(old,
                                  (old & ~(kOwnerMask | kMutexWaiters)) | add,
                                  A::release(2), kRelaxed)) {
    }
    if (old & kMutexWaiters) Platform::wake(word, 1, FutexQueue::kExclusive);
  }
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_MUTEX_CORE_H_
