// SPDX-License-Identifier: Apache-2.0
//
// The spin lock itself: one word, and back-off.
//
//   bit 0    LIVE      initialised and not destroyed
//   bit 1    set alone: destroyed
//   bit 3    ELIDE     as in lock-word.h
//   6 to 31  owner     number of the holder, 0: free
//
//   state \ operation  lock     trylock  unlock   destroy
//   0, destroyed       misuse   misuse   misuse   misuse
//   free               take     take     misuse   destroy
//   held by another    spin     busy     misuse   misuse
//   held by caller     misuse   busy     release  misuse
//
// Test and test-and-set (Rudolph and Segall 1984) with exponential back-off
// (Anderson 1990): a waiter only reads the word, which stays in its cache while
// the lock is held, and tries to write it when it has seen the lock free; the
// pauses between two looks double, so that fewer waiters meet at a release.
//
// A waiter never sleeps on the lock, and nobody wakes it.  But the owner may
// have been preempted, in the worst case by the waiter itself; so after a
// bounded number of pauses, more than a short section takes, a waiter yields
// the processor before each further look.
//
// Nothing is written after the release, so the next owner may destroy the lock
// at once.
//
// Progress: lock: blocking, and not fair: a waiter can starve.  The rest:
// lock-free.
#ifndef OVSTHREAD_LIB_SPINLOCK_CORE_H_
#define OVSTHREAD_LIB_SPINLOCK_CORE_H_

#include <ovsthread/lock-stats.h>

#include <cstdint>

#include "atomics.h"
#include "lock-word.h"

namespace ovsthread {

// A destroyed lock, as against memory that was never initialised (0).
inline constexpr uint32_t kSpinDestroyed = 2;

// Platform supplies kMaxPauses, the most between two looks, kPausesToYield,
// all pauses of one wait before it yields, and yield().  SELF is the caller's
// number in the owner's bits.
template <class A, class Platform>
struct SpinLockCore {
  static constexpr const char* kName = "spin lock";
  static constexpr ovs_lock_use kUse = OVS_LOCK_USE_SPIN;
  static constexpr uint32_t kDestroyed = kSpinDestroyed;

  typename A::template Atomic<uint32_t> word;
  // Where the lock was last taken for real.  Relaxed throughout: it only feeds
  // messages.
  typename A::template Atomic<const char*> where;

  static uint32_t owner(uint32_t word) { return word & kOwnerMask; }

  bool held_by(uint32_t self) const {
    // Relaxed: only the caller itself can put its number there or remove it.
    return owner(word.load(kRelaxed)) == self;
  }

  // Whether an unlock() would release the lock.
  bool held_once_by(uint32_t self) const { return held_by(self); }

  // As MutexCore::lock_fast().
  bool lock_fast(uint32_t self) {
    uint32_t free = kLockLive;
    return self != 0 &&
           // (1) the last section's writes; pairs with (2).
           word.compare_exchange(free, kLockLive | self, A::acquire(1),
                                 kRelaxed);
  }

  LockResult lock(uint32_t self) {
    BackOff back_off;
    for (;;) {
      LockResult result = try_lock(self);
      if (result != LockResult::kBusy) return result;
      if (held_by(self)) return LockResult::kHeld;
      back_off.pause();
    }
  }

  // For who would elide the lock rather than take it: until it is free.
  void await() {
    BackOff back_off;
    // Relaxed: only a look.
    while (owner(word.load(kRelaxed)) != 0) back_off.pause();
  }

  LockResult try_lock(uint32_t self) {
    // Relaxed: what is seen is confirmed by compare-and-swap.
    uint32_t old = word.load(kRelaxed);
    while (owner(old) == 0) {
      if (!(old & kLockLive)) return LockResult::kDead;
      // (1) the last section's writes; pairs with (2).
      if (word.compare_exchange(old, old | self, A::acquire(1), kRelaxed)) {
        return LockResult::kDone;
      }
    }
    return LockResult::kBusy;
  }

  // As MutexCore::unlock_fast(), and as there not inside a transaction.
  bool unlock_fast(uint32_t self) {
    uint32_t held = kLockLive | self;
    // Relaxed: as there.
    return self != 0 && !(word.load(kRelaxed) & kLockElide) &&
           // (2) hands the section's writes on; pairs with (1).
           word.compare_exchange(held, kLockLive, A::release(2), kRelaxed);
  }

  LockResult unlock(uint32_t self) {
    // Relaxed: the caller's own write, or it is not the owner.
    uint32_t old = word.load(kRelaxed);
    if (!(old & kLockLive)) return LockResult::kDead;
    if (owner(old) != self) return LockResult::kNotHeld;
    // (2) hands the section's writes on; pairs with (1).
    word.fetch_and(~kOwnerMask, A::release(2));
    return LockResult::kDone;
  }

  // Afterwards the word says destroyed.
  LockResult destroy() {
    // Relaxed: destruction is ordered after all use by the program.
    uint32_t old = word.load(kRelaxed);
    if (!(old & kLockLive)) return LockResult::kDead;
    if (owner(old) != 0) return LockResult::kHeld;
    return word.compare_exchange(old, kSpinDestroyed, kRelaxed, kRelaxed)
               ? LockResult::kDone
               : LockResult::kHeld;
  }

 private:
  class BackOff {
   public:
    void pause() {
      if (spent_ >= Platform::kPausesToYield) return Platform::yield();
      for (unsigned i = 0; i < pauses_; i++) A::relax();
      spent_ += pauses_;
      if (pauses_ < Platform::kMaxPauses) pauses_ *= 2;
    }

   private:
    unsigned pauses_ = 1;
    unsigned spent_ = 0;
  };
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_SPINLOCK_CORE_H_
