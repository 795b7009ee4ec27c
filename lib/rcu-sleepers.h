// SPDX-License-Identifier: Apache-2.0
//
// Where threads wait for a grace period, for callbacks or for work: see the
// end of the essay in rcu-core.h.
//
// An event counter on a futex.  wake() counts and wakes everybody; a sleeper
// notes the count, looks a last time at what it waits for, and sleeps only
// while the count is still the same.
#ifndef OVSTHREAD_LIB_RCU_SLEEPERS_H_
#define OVSTHREAD_LIB_RCU_SLEEPERS_H_

#include <cstdint>

#include "atomics.h"

namespace ovsthread::rcu {

class Sleepers {
 public:
  // Lock-free.  A safe point: no transaction can wake a thread.
  void wake();

  class Wait {
   public:
    explicit Wait(Sleepers& sleepers);

    void prepare();

    // Both block, at times returning early.
    void sleep();
    // The thread with this number is named in a warning when it has held the
    // caller up for 1 s, 2 s, 4 s, ... since the construction.
    void sleep_for(uint32_t thread);

   private:
    Sleepers& sleepers_;
    uint32_t count_ = 0;
    int64_t start_ms_;
    int64_t patience_ms_ = 1000;
  };

 private:
  RealAtomics::Atomic<uint32_t> count_{0};
};

}  // namespace ovsthread::rcu

#endif  // OVSTHREAD_LIB_RCU_SLEEPERS_H_
