// SPDX-License-Identifier: Apache-2.0
//
// How the policy (elision-adapt.h) learns of locks: by samples.
//
// A thread counts its acquisitions down privately and samples one in some 64 to
// 256, or earlier if it has had trouble: waits for a real lock, aborts of an
// elided one.  A sample is taken when an acquisition begins: then the lock
// surely lives, the thread is outside of any transaction, and nothing of this
// runs while the lock is held.  It goes to the lock's entry of one table of the
// process, so that nothing is added to a lock, and nothing is written to its
// line but a change of its mode.
//
// Between two samples of a thread, of whatever locks, lie so many acquisitions
// and so much time.  Both are counted for the lock of the later sample: which
// one that is changes from sample to sample as the acquisitions do.
//
// The table is hashed by address and never grows.  Of locks that share an
// entry one is found there, until the others have been sampled often enough in
// between to take it over; what is in it is no more than a hint.
//
// Progress: set_elide_bit(): lock-free.  The rest: wait-free; a sample that
// finds its entry in use is dropped.
#ifndef OVSTHREAD_LIB_ELISION_SAMPLING_H_
#define OVSTHREAD_LIB_ELISION_SAMPLING_H_

#include <ovsthread/cache-line.h>

#include <algorithm>
#include <cstdint>

#include "atomics.h"
#include "elision-adapt.h"
#include "lock-word.h"

namespace ovsthread::elision {

// Gives a lock its mode for all threads, unless it dies or another one is
// quicker.  The caller may use the lock.
template <class Word>
void set_elide_bit(Word& word, bool elide) {
  uint32_t old = word.load(kRelaxed);
  // Relaxed: the bit is a hint.
  while ((old & kLockLive) && ((old & kLockElide) != 0) != elide &&
         !word.compare_exchange(old, old ^ kLockElide, kRelaxed, kRelaxed)) {
  }
}

// Until something is known, a thread samples one acquisition in so many.
inline constexpr uint32_t kFirstPeriod = 64;

// What a thread remembers from one sample to the next.
class Sampler {
 public:
  Sampler() = default;
  // Of a thread that takes over after ACQUISITIONS.
  explicit Sampler(uint64_t acquisitions) : acquisitions_(acquisitions) {}

  // The lock at LOCK had the thread wait, or aborted its transaction; true if
  // it should be sampled at once.
  bool trouble(const void* lock) {
    if (lock != troubled_by_) {
      troubled_by_ = lock;
      trouble_ = 0;
    }
    trouble_++;
    return trouble_ == (lock == lock_ ? patience_ : kPatience);
  }

  // Adds to HISTORY, that of LOCK, what the thread OWNER knows NOW that it has
  // made ACQUISITIONS in all.  Returns in how many it should sample again.
  uint32_t sample(const void* lock, Adaptation& history, uint32_t owner,
                  uint64_t now, uint64_t acquisitions) {
    // Fewer than before if a try that was counted has failed.
    uint64_t made = acquisitions - std::min(acquisitions, acquisitions_);
    history.add({owner, static_cast<uint32_t>(made),
                 lock == troubled_by_ ? trouble_ : 0, now_, now});
    lock_ = lock;
    now_ = now;
    acquisitions_ = acquisitions;
    trouble_ = 0;
    patience_ = history.patience();
    // Not in step with a program that takes its locks in turn.
    spread_ = spread_ * 0x9e3779b1 + owner;
    return history.period() + (spread_ >> 28);
  }

 private:
  // With a lock of which nothing is known.
  static constexpr uint32_t kPatience = 4;

  const void* lock_ = nullptr;  // the last one sampled
  uint64_t now_ = 0;            // then
  uint64_t acquisitions_ = 0;   // then
  uint32_t patience_ = 0;
  const void* troubled_by_ = nullptr;
  uint32_t trouble_ = 0;
  uint32_t spread_ = 0;
};

// The histories of a process.
class Histories {
 public:
  // F(history) for the lock at LOCK, which has mode ELIDES, unless another
  // thread is there.  Returns whether F was called.
  template <class F>
  bool visit(const void* lock, bool elides, F f) {
    Entry& entry =
        entries_[reinterpret_cast<uintptr_t>(lock) * 0x9e3779b97f4a7c15 >>
                 (64 - kLogEntries)];
    // Relaxed: (1) decides.
    if (entry.in_use.load(kRelaxed)) return false;
    // (1) what the last visitor wrote; pairs with (2).
    if (entry.in_use.exchange(true, RealAtomics::acquire(1))) return false;
    bool found = entry.lock == lock;
    if (!found && ++entry.misses > kMisses) {
      entry.history = {};
      entry.lock = lock;
      found = true;
    }
    if (found) {
      entry.misses = 0;
      entry.history.adopt(elides);
      f(entry.history);
    }
    // (2) hands the entry on; pairs with (1).
    entry.in_use.store(false, RealAtomics::release(2));
    return found;
  }

  // For the only thread of a process: no other one is inside.
  void release_all() {
    for (Entry& entry : entries_) entry.in_use.store(false, kRelaxed);
  }

 private:
  static constexpr unsigned kLogEntries = 8;
  // Samples of other locks that an entry outlasts.
  static constexpr unsigned kMisses = 8;

  struct alignas(2 * OVSTHREAD_CACHE_LINE_SIZE) Entry {
    RealAtomics::Atomic<bool> in_use{false};
    uint32_t misses = kMisses;
    const void* lock = nullptr;
    Adaptation history;
  };
  Entry entries_[1 << kLogEntries];
};

}  // namespace ovsthread::elision

#endif  // OVSTHREAD_LIB_ELISION_SAMPLING_H_
