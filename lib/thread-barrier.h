// SPDX-License-Identifier: Apache-2.0
//
// A cyclic barrier that may be destroyed by the first thread that leaves it.
//
// Arrivals are numbered; those with numbers r * size to (r + 1) * size - 1 make
// up round r.  The last one of a round counts a finished round and wakes the
// others.  `inside` counts the threads that will still touch the barrier: the
// destroyer waits until it is 0.  Leaving is one subtraction, after which
// nothing is written; the destroyer's flag in the same word tells the last one
// to leave that somebody sleeps.
//
// SLEEP has wait(atomic, value), which blocks while the atomic has this value
// and may return early, and wake_all(atomic), which doesn't access it.
//
// Progress: block() and destroy() are blocking.
#ifndef OVSTHREAD_LIB_THREAD_BARRIER_H_
#define OVSTHREAD_LIB_THREAD_BARRIER_H_

#include <cstdint>

#include "atomics.h"

namespace ovsthread {

// The layout of ovs_barrier.
template <class A, class Sleep>
struct BarrierCore {
  static constexpr uint32_t kDestroying = 1u << 31;

  typename A::template Atomic<uint64_t> arrivals;
  typename A::template Atomic<uint32_t> size;
  typename A::template Atomic<uint32_t> rounds;  // Finished ones.
  typename A::template Atomic<uint32_t> inside;

  // Relaxed: not shared yet.
  void init(uint32_t threads) {
    arrivals.store(0, kRelaxed);
    size.store(threads, kRelaxed);
    rounds.store(0, kRelaxed);
    inside.store(0, kRelaxed);
  }

  // Calls BEFORE_WAITING() if the thread has to wait.
  template <class BeforeWaiting>
  void block(BeforeWaiting before_waiting) {
    inside.fetch_add(1, kRelaxed);  // Relaxed: (11) publishes it.
    // Relaxed: fixed.
    uint32_t threads = size.load(kRelaxed);
    // (11) what this thread and those before it have done; pairs with (11).
    uint64_t arrival = arrivals.fetch_add(1, A::acq_rel(11));
    uint32_t round = static_cast<uint32_t>(arrival / threads);
    if ((arrival + 1) % threads == 0) {
      // (12) what all of the round have done; pairs with (13).
      rounds.fetch_add(1, A::release(12));
      Sleep::wake_all(rounds);
    } else {
      before_waiting();
      for (;;) {
        // (13) what all of the round have done; pairs with (12).
        uint32_t finished = rounds.load(A::acquire(13));
        if (static_cast<int32_t>(finished - round) > 0) break;
        Sleep::wait(rounds, finished);
      }
    }
    // (14) the thread's last access; pairs with (15).
    if (inside.fetch_sub(1, A::release(14)) == (kDestroying | 1)) {
      Sleep::wake_all(inside);
    }
  }

  void destroy() {
    // (15) the last access of all others; pairs with (14).
    uint32_t value = inside.fetch_or(kDestroying, A::acquire(15));
    while ((value & ~kDestroying) != 0) {
      Sleep::wait(inside, value | kDestroying);
      // (15) pairs with (14).
      value = inside.load(A::acquire(15));
    }
  }
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_THREAD_BARRIER_H_
