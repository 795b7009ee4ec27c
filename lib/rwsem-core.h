// SPDX-License-Identifier: Apache-2.0
//
// The recursive reader-writer semaphore itself: one word for who comes when
// nobody waits, and a queue, first come, first served, for all others.
//
//   bit 0    LIVE      initialised and not destroyed
//   bit 1    WAITERS   the queue is not empty
//   bit 2    LATCH     a thread works on the queue: the word is its own
//   bit 4    WRITER    held for writing
//   6 to 31  owner or count   number of the writer, or how many readers
//
//   state \ operation  read   write   try read  try write  destroy
//   0                  misuse misuse  misuse    misuse     misuse
//   free               take   take    take      take       destroy
//   readers            take   queue   take      busy       misuse
//   readers, WAITERS   queue  queue   busy      busy       misuse
//   WRITER, another    queue  queue   busy      busy       misuse
//   WRITER, caller     nest   nest    nest      nest       misuse
//
// (A semaphore that is free has no waiters.)  A writer's levels, be they asked
// for reading or for writing, are counted beside the word; all but the last one
// are given up without a look at it.
//
// Hand-over.  Nobody takes the semaphore past a waiter: with WAITERS set who
// comes queues up, and who gives the semaphore up gives it to the head of the
// queue, one writer or all the readers in front of the first writer, before it
// wakes them.  So a waiter is woken once, when it has the semaphore, and nobody
// overtakes it: neither side starves.  The price is that the semaphore is idle
// from the hand-over until the new holder runs.
//
// The word changes by compare-and-swap from values without LATCH, so that
// between latch() and unlatch() nobody else changes it, nor the queue.  A
// waiter's record lies on its stack.  Who dequeues it says so in it under the
// latch and writes GRANTED last of all, without it; a waiter that gives up and
// finds itself dequeued has the semaphore, and waits for that.  Nothing else is
// written after a release, so the next owner may destroy the semaphore at once.
//
// The semantics are those of the rw_semaphore of NuttX; that waiters are
// granted the lock in their queue is from Mellor-Crummey and Scott, "Scalable
// reader-writer synchronization for shared-memory multiprocessors", 1991.
//
// Progress: try: lock-free while nobody holds the latch, who never sleeps under
// it.  The rest: blocking.
#ifndef OVSTHREAD_LIB_RWSEM_CORE_H_
#define OVSTHREAD_LIB_RWSEM_CORE_H_

#include <cstdint>

#include "atomics.h"
#include "futex.h"
#include "lock-word.h"

namespace ovsthread {

inline constexpr uint32_t kRwSemWaiters = 2;
inline constexpr uint32_t kRwSemLatch = 4;
inline constexpr uint32_t kRwSemWriter = 16;

// Platform supplies wake(word, count, queue), yield() and kPausesToYield.  SELF
// is the caller's number in the owner's bits.
template <class A, class Platform>
struct RwSemCore {
  using Word = typename A::template Atomic<uint32_t>;
  template <class T>
  using Var = typename A::template Var<T>;

  struct Waiter {
    uint32_t writer;  // its number, or 0: a reader
    Var<Waiter*> next;
    Var<bool> queued;
    Word granted;
  };

  Word word;
  uint32_t depth;  // levels beyond the first; the writer's
  Var<Waiter*> first;
  Var<Waiter*> last;
  // To how many waiters the semaphore was given.  Relaxed throughout: written
  // under the latch, published with it.
  typename A::template Atomic<uint64_t> handed;
  // Where it was last taken.  Relaxed throughout: it only feeds messages.
  typename A::template Atomic<const char*> where;

  static uint32_t writer(uint32_t word) {
    return word & kRwSemWriter ? word & kOwnerMask : 0;
  }

  bool write_held_by(uint32_t self) const {
    // Relaxed: only the caller itself can put its number there or remove it.
    return writer(word.load(kRelaxed)) == self;
  }

  LockResult try_read(uint32_t self) {
    // (1) what the last writer did; pairs with (4) and (6).
    return try_enter(self, 0, A::acquire(1));
  }
  LockResult try_write(uint32_t self) {
    // (2) what the last holders did; pairs with (3), (4) and (6).
    return try_enter(self, self, A::acquire(2));
  }

  // After a try was busy: queues up, as a writer with that number or, if it is
  // 0, as a reader.  WAIT(granted) sleeps while GRANTED is 0, or says with
  // false that the caller gives up: kBusy then.  HOPELESS: the caller knows
  // that it would wait for itself if it queued up: kHeld then.
  template <class Wait>
  LockResult queue_up(uint32_t as_writer, bool hopeless, Wait wait) {
    Waiter me{as_writer, nullptr, true, 0};
    uint32_t old = latch();
    if (!(old & kRwSemWaiters) && admits(old, as_writer)) {
      unlatch(entered(old, as_writer));
      return LockResult::kDone;
    }
    if (hopeless) {
      unlatch(old);
      return LockResult::kHeld;
    }
    if (old & kRwSemWaiters) {
      static_cast<Waiter*>(last)->next = &me;
    } else {
      first = &me;
    }
    last = &me;
    unlatch(old | kRwSemWaiters);
    // (8) what the last holders did; pairs with (7).
    while (me.granted.load(A::acquire(8)) == 0) {
      if (!wait(me.granted) && leave(me)) return LockResult::kBusy;
    }
    return LockResult::kDone;
  }

  // The caller is one of the readers.
  void read_unlock() {
    // Relaxed: what is seen is confirmed by compare-and-swap.
    uint32_t old = word.load(kRelaxed);
    while (!(old & (kRwSemWaiters | kRwSemLatch))) {
      // (3) hands on that the section has ended; pairs with (2) and (5).
      if (word.compare_exchange(old, old - kOwnerOne, A::release(3),
                                kRelaxed)) {
        return;
      }
    }
    settle(latch() - kOwnerOne);
  }

  // The caller is the writer; gives up one level.
  void write_unlock() {
    if (depth > 0) {
      depth--;
    } else {
      leave_as_writer(0);
    }
  }

  // The caller is the writer; kHeld if it has more than one level.
  LockResult downgrade() {
    if (depth > 0) return LockResult::kHeld;
    leave_as_writer(kOwnerOne);
    return LockResult::kDone;
  }

  LockResult destroy() {
    uint32_t old = kLockLive;
    // Relaxed: destruction is ordered after all use by the program.
    if (word.compare_exchange(old, 0, kRelaxed, kRelaxed)) {
      return LockResult::kDone;
    }
    return old & kLockLive ? LockResult::kHeld : LockResult::kDead;
  }

 private:
  // Whether the state lets a writer in, or a reader if AS_WRITER is 0.
  static bool admits(uint32_t state, uint32_t as_writer) {
    if (state & kRwSemWriter) return false;
    return as_writer == 0 ? state < kOwnerMask : !(state & kOwnerMask);
  }
  static uint32_t entered(uint32_t state, uint32_t as_writer) {
    return as_writer == 0 ? state + kOwnerOne
                          : state | kRwSemWriter | as_writer;
  }

  // As a reader if AS_WRITER is 0, else as that writer.
  LockResult try_enter(uint32_t self, uint32_t as_writer,
                       std::memory_order order) {
    // Relaxed: what is seen is confirmed by compare-and-swap.
    uint32_t old = word.load(kRelaxed);
    for (unsigned looks = 0;; looks++) {
      if (!(old & kLockLive)) return LockResult::kDead;
      if (writer(old) == self) return nest();
      if (old & kRwSemLatch) {
        old = look_again(looks);
      } else if ((old & kRwSemWaiters) || !admits(old, as_writer)) {
        return LockResult::kBusy;
      } else if (word.compare_exchange(old, entered(old, as_writer), order,
                                       kRelaxed)) {
        return LockResult::kDone;
      }
    }
  }

  LockResult nest() {
    if (depth == UINT32_MAX) return LockResult::kTooMany;
    depth++;
    return LockResult::kDone;
  }

  uint32_t look_again(unsigned looks) {
    if (looks < Platform::kPausesToYield) {
      A::relax();
    } else {
      Platform::yield();
    }
    // Relaxed: what is seen is confirmed by compare-and-swap.
    return word.load(kRelaxed);
  }

  // Returns the word as it was; it and the queue are the caller's until
  // unlatch(), which also sets the word.
  uint32_t latch() {
    // Relaxed: what is seen is confirmed by compare-and-swap.
    uint32_t old = word.load(kRelaxed);
    for (unsigned looks = 0;; looks++) {
      if (old & kRwSemLatch) {
        old = look_again(looks);
        // (5) the queue, and what readers that left did; pairs with (3) and
        // (6).
      } else if (word.compare_exchange(old, old | kRwSemLatch, A::acquire(5),
                                       kRelaxed)) {
        return old;
      }
    }
  }
  void unlatch(uint32_t state) {
    // (6) the queue, and what the caller did while it held the semaphore; pairs
    // with (1), (2) and (5).
    word.store(state, A::release(6));
  }

  // The writer goes; READERS is what it leaves in the owner's bits.
  void leave_as_writer(uint32_t readers) {
    // Relaxed: what is seen is confirmed by compare-and-swap.
    uint32_t old = word.load(kRelaxed);
    while (!(old & (kRwSemWaiters | kRwSemLatch))) {
      // (4) what the writer did; pairs with (1) and (2).
      if (word.compare_exchange(old, kLockLive | readers, A::release(4),
                                kRelaxed)) {
        return;
      }
    }
    settle((latch() & (kLockLive | kRwSemWaiters)) | readers);
  }

  // Under the latch, after the state or the queue has changed: gives the
  // semaphore to those at the head of the queue that can have it, unlatches and
  // wakes them.
  void settle(uint32_t state) {
    Waiter* granted = first;
    Waiter* head = granted;
    unsigned n = 0;
    for (; head != nullptr && admits(state, head->writer); n++) {
      state = entered(state, head->writer);
      head->queued = false;
      head = head->next;
    }
    first = head;
    if (head == nullptr) {
      last = nullptr;
      state &= ~kRwSemWaiters;
    }
    handed.store(handed.load(kRelaxed) + n, kRelaxed);
    unlatch(state);
    for (; n > 0; n--) {
      Waiter* next = granted->next;
      Word& word_of_waiter = granted->granted;
      // (7) what the last holders did; pairs with (8).
      word_of_waiter.store(1, A::release(7));
      Platform::wake(word_of_waiter, 1, FutexQueue::kExclusive);
      granted = next;
    }
  }

  // ME does not want to wait any more.  False: it has got the semaphore.
  bool leave(Waiter& me) {
    uint32_t old = latch();
    if (!me.queued) {
      unlatch(old);
      return false;
    }
    Waiter* before = nullptr;
    for (Waiter* at = first; at != &me; at = at->next) before = at;
    Waiter* behind = me.next;
    if (before == nullptr) {
      first = behind;
    } else {
      before->next = behind;
    }
    if (behind == nullptr) last = before;
    // A writer that goes may have kept readers out.
    settle(old);
    return true;
  }
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_RWSEM_CORE_H_
