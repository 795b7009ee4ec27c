// SPDX-License-Identifier: Apache-2.0
//
// Readers who leave no trace in their lock.
//
// Two readers who count themselves in a lock's word bounce its line between
// their cores, and so two are slower than one.  While a lock is *biased*
// towards readers (BIAS in its word, lib/rwlock-core.h), a reader instead
// announces itself in a line of its own thread, which nobody else writes.  A
// writer first takes the lock and the bias off in one step, then looks through
// the lines of all threads for readers who are still there, and waits for each.
//
//   reader                            writer
//   announce: slot := lock      (a)   take WRITER, clear BIAS          (c)
//   fence                             fence
//   BIAS still set?             (b)   anybody announced for the lock?  (d)
//
// Of (b) and (d) at least one sees what the other side did in (c) or (a): the
// reader withdraws, or the writer waits for it.  Both fences order a store
// before a load; the reader's, on the path that is to be cheap, is light, the
// writer's is heavy and makes up for it (lib/atomics-fences.cc).
//
// A writer that has to wait long sleeps on the line of the reader: it says so
// in `sleepers` and looks again, the reader leaves and then looks at
// `sleepers`, by the same pair of fences.  A reader does not touch its lock
// once it has left: the next owner may have destroyed it.
//
// One table serves all locks of the process, at a line per thread.  Lines are
// never freed; one that a thread left behind serves a later one.  A thread that
// has all its slots in use, or no line, counts itself in the word.
//
// Progress: announce(), withdraw(): wait-free.  any(): wait-free, in the number
// of lines.  await_none(): blocking.
//
// Source: Dice and Kogan, BRAVO (USENIX ATC 2019), whose readers share a table
// of hashed slots; lines of one's own, as in distributed rwlocks, keep apart
// what two threads announce.
#ifndef OVSTHREAD_LIB_RWLOCK_READERS_H_
#define OVSTHREAD_LIB_RWLOCK_READERS_H_

#include <ovsthread/cache-line.h>

#include <climits>
#include <cstdint>

#include "atomics.h"
#include "futex.h"

namespace ovsthread {

// Platform: as for RwLockCore.  SLOTS: as many as fill a line.
template <class A, class Platform, unsigned slots>
class RwReaders {
  using Slot = typename A::template Atomic<const void*>;

 public:
  struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Line {
    Slot locks[slots];                                 // that the thread reads
    typename A::template Atomic<uint32_t> sleepers;    // on departures
    typename A::template Atomic<uint32_t> departures;  // a futex
    Line* next = nullptr;  // constant once the line is in the list
    typename A::template Atomic<bool> in_use;
    uint8_t counted = 0;  // the owner's alone: counted holds since a look at
                          // the clock
  };

  // A line that a thread left behind, now the caller's, or null.
  Line* reuse() {
    // (8) the line's content; pairs with (9).
    for (Line* line = head_.load(A::acquire(8)); line; line = line->next) {
      bool free = false;
      // (10) what the last owner wrote; pairs with (11).
      // Relaxed: only a look.
      if (!line->in_use.load(kRelaxed) &&
          line->in_use.compare_exchange(free, true, A::acquire(10), kRelaxed)) {
        return line;
      }
    }
    return nullptr;
  }

  // LINE, all zero, is the caller's from now on.
  void add(Line* line) {
    line->in_use.store(true, kRelaxed);  // Relaxed: (9) publishes it.
    Line* head = head_.load(kRelaxed);   // Relaxed: confirmed below.
    do {
      line->next = head;
      // (9) publishes the line; pairs with (8).
    } while (!head_.compare_exchange(head, line, A::release(9), kRelaxed));
  }

  // The caller ends.  A line with holds in it stays, and its locks held.
  static void give_back(Line& line) {
    for (const Slot& slot : line.locks) {
      if (slot.load(kRelaxed) != nullptr) return;  // Relaxed: the caller's own.
    }
    // (11) hands the line on; pairs with (10).
    line.in_use.store(false, A::release(11));
  }

  // False: LINE, the caller's, has no room.
  static bool announce(Line& line, const void* lock) {
    for (Slot& slot : line.locks) {
      if (slot.load(kRelaxed) != nullptr) continue;  // Relaxed: own.
      // (12) as in withdraw(), for who misses that store; pairs with (13).
      slot.store(lock, A::release(12));
      // (6) before the next look at the word; pairs with (7).
      A::light_fence(A::seq_cst(6));
      return true;
    }
    return false;
  }

  // Undoes one announce().
  static void withdraw(Line& line, const void* lock) {
    Slot* slot = line.locks;
    while (slot->load(kRelaxed) != lock) slot++;  // Relaxed: the caller's own.
    // (12) hands on that the section has ended; pairs with (13).
    slot->store(nullptr, A::release(12));
    // (14) before the look at the sleepers; pairs with (15).
    A::light_fence(A::seq_cst(14));
    if (__builtin_expect(line.sleepers.load(kRelaxed) == 0, 1)) {  // (14)
      return;
    }
    // (16) a sleeper that sees it sees the slot; pairs with (17).  (The search
    // over interleavings does not miss it: there (14) is a full fence.)
    line.departures.fetch_add(1, A::release(16));
    Platform::wake(line.departures, INT_MAX, FutexQueue::kShared);
  }

  // Whether anybody is announced for LOCK, or just about to withdraw.
  bool any(const void* lock) const {
    // (8) the lines' content; pairs with (9).
    for (Line* line = head_.load(A::acquire(8)); line; line = line->next) {
      for (const Slot& slot : line->locks) {
        if (is(slot, lock)) return true;
      }
    }
    return false;
  }

  // Waits until nobody is, given that nobody new comes.
  void await_none(const void* lock) {
    // (8) the lines' content; pairs with (9).
    for (Line* line = head_.load(A::acquire(8)); line; line = line->next) {
      for (const Slot& slot : line->locks) await_departure(*line, slot, lock);
    }
  }

 private:
  static bool is(const Slot& slot, const void* lock) {
    // (13) that the reader's section has ended; pairs with (12).
    return slot.load(A::acquire(13)) == lock;
  }

  static void await_departure(Line& line, const Slot& slot, const void* lock) {
    for (unsigned looks = 0; looks < Platform::kRwSpins; looks++) {
      if (!is(slot, lock)) return;
      A::relax();
    }
    if (!is(slot, lock)) return;
    line.sleepers.fetch_add(1, kRelaxed);  // ordered by (15)
    // (15) before the next look at the slot; pairs with (14).
    A::heavy_fence(A::seq_cst(15));
    for (;;) {
      // (17) the slot, as it was then or later; pairs with (16).
      uint32_t departures = line.departures.load(A::acquire(17));
      if (!is(slot, lock)) break;
      Platform::sleep(line.departures, departures);
    }
    line.sleepers.fetch_sub(1, kRelaxed);  // Relaxed: one wake-up too many.
  }

  typename A::template Atomic<Line*> head_{nullptr};
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_RWLOCK_READERS_H_
