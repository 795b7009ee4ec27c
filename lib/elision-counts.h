// SPDX-License-Identifier: Apache-2.0
//
// Counters of what elision did, and what it taught: one block per thread.
//
// A thread writes its own block only, outside transactions; readers add up all
// blocks.  A block outlives its thread and goes to a later one with its counts,
// so that sums include threads that ended.  A reset remembers the sums of the
// moment, nobody ever writes another thread's block.
#ifndef OVSTHREAD_LIB_ELISION_COUNTS_H_
#define OVSTHREAD_LIB_ELISION_COUNTS_H_

#include <ovsthread/cache-line.h>
#include <ovsthread/elision.h>

#include <algorithm>
#include <cstdint>

#include "atomics.h"
#include "elision-policy.h"
#include "elision-sampling.h"
#include "elision-veto.h"
#include "lock-stats-recorder.h"

namespace ovsthread::elision {

class Counter {
 public:
  // Relaxed: one writer, and readers want no order between counters.
  void increment() { value_.store(value_.load(kRelaxed) + 1, kRelaxed); }
  uint64_t read() const { return value_.load(kRelaxed); }

 private:
  RealAtomics::Atomic<uint64_t> value_{0};
};

// Counts acquisitions, and says now and then that one is to be sampled.
class Countdown {
 public:
  // Counts one acquisition; false, and not counted, if a sample is due.
  bool pass() {
    uint64_t n = n_.load(kRelaxed);
    if (n == due_) return false;
    n_.store(n + 1, kRelaxed);
    return true;
  }
  // One that was counted has failed.
  void take_back() { n_.store(n_.load(kRelaxed) - 1, kRelaxed); }

  // When a sample is due: the next one comes after PERIOD acquisitions.
  void restart(uint32_t period) { due_ = read() + period; }

  // The next sample comes after PERIOD acquisitions at the latest.
  void shorten(uint32_t period) { due_ = std::min(due_, read() + period); }

  uint64_t read() const { return n_.load(kRelaxed); }

 private:
  // Relaxed throughout: as in Counter.
  RealAtomics::Atomic<uint64_t> n_{0};
  uint64_t due_ = 0;  // the owner's alone: the count at which to sample
};

struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Counts {
  Countdown acquisitions;
  Counter elided;
  Counter started;
  Counter aborts[OVS_N_ABORTS];
  Counter safe_points[OVS_N_SAFE_POINTS];
  stats::Recorder recorder;  // the owner's alone
  Vetoes vetoes;             // the owner's alone
  Sampler sampler;           // the owner's alone
  StormWatch storm;          // the owner's alone
  Counts* next = nullptr;    // in the list of all blocks
  bool in_use = true;        // under the registry's lock
};

// A block for the calling thread, given back when the thread ends.  Aborts the
// process if memory is exhausted.  Blocking.
Counts* register_counts();

}  // namespace ovsthread::elision

#endif  // OVSTHREAD_LIB_ELISION_COUNTS_H_
