// SPDX-License-Identifier: Apache-2.0
//
// What the lock algorithms need of the machine, for the real locks.
#ifndef OVSTHREAD_LIB_LOCK_PLATFORM_H_
#define OVSTHREAD_LIB_LOCK_PLATFORM_H_

#include <pthread.h>
#include <sched.h>

#include <cstdint>

#include "atomics.h"
#include "cpu-clock.h"
#include "elision.h"
#include "futex.h"

namespace ovsthread {

template <class A, class Platform, unsigned slots>
class RwReaders;

struct LockPlatform {
  // A pthread mutex, since only such a one can wait on a pthread condition.
  class Gate {
   public:
    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }

   private:
    friend struct LockPlatform;
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  };

  static constexpr unsigned kRwSpins = 20;

  // A PAUSE takes 40 to 140 cycles: some microseconds between two looks at
  // most, some ten before the first yield.
  static constexpr unsigned kMaxPauses = 32;
  static constexpr unsigned kPausesToYield = 256;
  static void yield() { sched_yield(); }

  static void wait(RealAtomics::Atomic<uint32_t>& word, uint32_t expected,
                   FutexQueue queue) {
    elision::waits_for(word);
    futex_wait(word, expected, queue);
  }
  static void wake(const RealAtomics::Atomic<uint32_t>& word, int count,
                   FutexQueue queue) {
    // An abort takes the release back, too.
    elision::safe_point(OVS_SAFE_POINT_WAKE);
    futex_wake(word, count, queue);
  }
  // On another word than that of a lock.
  static void sleep(const RealAtomics::Atomic<uint32_t>& word,
                    uint32_t expected) {
    futex_wait(word, expected, FutexQueue::kShared);
  }

  static uint64_t now() { return cpu_clock(); }

  // All readers who are announced, of all locks.  With so many slots a thread's
  // part fills a line.
  static constexpr unsigned kReaderSlots = 5;
  static RwReaders<RealAtomics, LockPlatform, kReaderSlots>& readers();

  // Locks share gates: one is had only for moments.
  static Gate& gate_of(const void* lock);
  static void wait_on(pthread_cond_t& condition, Gate& gate) {
    pthread_cond_wait(&condition, &gate.mutex_);
  }
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_LOCK_PLATFORM_H_
