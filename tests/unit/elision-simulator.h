// SPDX-License-Identifier: Apache-2.0
//
// Threads that share one lock, simulated: what the elision policy costs, on no
// hardware and by no clock but its own.
//
// The policy is the library's (Adaptation, Sampler, Vetoes, should_elide,
// after_abort); the lock and the processors are a model.  Each thread spends
// `outside` cycles, then holds the lock for a section of `section` cycles.
//
// - For real: the lock's line costs kBounce to fetch from another thread.  A
//   thread that finds the lock held sleeps; a release wakes one, which costs
//   both; others may take the lock meanwhile.
// - Elided: sections overlap.  When one starts, each that runs conflicts with
//   it with the given probability and aborts at some moment of the overlap.
//   Taking the lock for real aborts all.
//
// Times are in cycles; the costs are measured ones of an Emerald Rapids.
#ifndef OVSTHREAD_TESTS_UNIT_ELISION_SIMULATOR_H_
#define OVSTHREAD_TESTS_UNIT_ELISION_SIMULATOR_H_

#include <cstdint>
#include <vector>

#include "elision-policy.h"
#include "elision-sampling.h"
#include "elision-veto.h"

namespace ovsthread::elision {

struct Workload {
  unsigned threads;
  unsigned section;
  unsigned outside;
  double conflict = 0;   // of two sections that overlap
  bool fits = true;      // else: exceeds the capacity
  unsigned n_locks = 1;  // that a thread takes in turn; the others are its own
};

class Simulator {
 public:
  Simulator(const Workload& workload, ovs_elision_mode mode)
      : load_(workload), mode_(mode), threads_(workload.threads) {
    for (Thread& thread : threads_) thread.time = random(load_.outside + 1);
  }

  // Another workload of as many threads from now on.
  void change(const Workload& workload) { load_ = workload; }

  // Until N more acquisitions of the shared lock have ended.  Returns the
  // cycles that each of them took.
  double run(uint64_t n) {
    uint64_t start = now_;
    uint64_t end = done_ + n;
    while (done_ < end) step();
    return static_cast<double>(now_ - start) / static_cast<double>(n);
  }

  uint64_t acquisitions() const { return done_; }
  bool elides() const { return (word_ & kLockElide) != 0; }
  uint64_t begun() const { return begun_; }

 private:
  static constexpr uint64_t kElidedPair = 51;
  static constexpr uint64_t kRealPair = 42;
  static constexpr uint64_t kAbort = 139;
  static constexpr uint64_t kBounce = 150;
  static constexpr uint64_t kSleep = 2000;  // a system call, and to be woken
  static constexpr uint64_t kWake = 1000;   // the call of who wakes
  static constexpr uint64_t kLook = 45;
  // A sample: the clock, the entry, perhaps from another thread.
  static constexpr uint64_t kSample = 120;
  // What mode auto adds to each real pair.
  static constexpr uint64_t kLookAtMode = 2;

  enum class At { kOutside, kBegin, kElided, kReal, kSleeping };

  struct Thread {
    At at = At::kOutside;
    uint64_t time = 0;    // of the next event
    bool woken = false;   // owes the next sleeper a wake-up
    bool aborts = false;  // at `time`
    ovs_elision_abort cause = OVS_ABORT_CONFLICT;
    Attempts attempts;
    uint64_t acquisitions = 0;
    uint32_t left = 0;
    uint32_t turn = 0;
    Sampler sampler;
    Vetoes vetoes;
  };

  uint32_t random(uint32_t bound) {
    random_ = random_ * 0x5851f42d4c957f2d + 0x14057b7ef767814f;
    return static_cast<uint32_t>((random_ >> 33) * bound >> 31);
  }
  uint32_t number(const Thread& thread) const {
    return static_cast<uint32_t>(&thread - threads_.data() + 1) * kOwnerOne;
  }
  bool held() const { return (word_ & kOwnerMask) != 0; }

  void step() {
    Thread* next = nullptr;
    for (Thread& thread : threads_) {
      if (thread.at == At::kSleeping) continue;
      if (next == nullptr || thread.time < next->time) next = &thread;
    }
    now_ = next->time;
    Thread& thread = *next;
    switch (thread.at) {
      case At::kOutside:
        return arrive(thread);
      case At::kBegin:
        return enter(thread);
      case At::kElided:
        return thread.aborts ? abort(thread) : leave(thread);
      case At::kReal:
        return release(thread);
      case At::kSleeping:
        break;
    }
  }

  void arrive(Thread& thread) {
    count(thread);
    thread.attempts = {};
    thread.at = At::kBegin;
    if (++thread.turn % load_.n_locks != 0) {
      // A lock of its own: the time counts, nothing else.
      thread.at = At::kOutside;
      thread.time += kRealPair + load_.section + outside();
    }
  }

  void count(Thread& thread) {
    if (mode_ != OVS_ELISION_AUTO) return;
    bool shared = (thread.turn + 1) % load_.n_locks == 0;
    if (thread.left == 0) thread.left = sample(thread, shared);
    thread.left--;
    thread.acquisitions++;
  }

  uint32_t sample(Thread& thread, bool shared) {
    thread.time = std::max(thread.time, now_) + kSample;
    const char* lock = locks_ + (shared ? 0 : &thread - threads_.data() + 1);
    uint32_t period = 64;
    histories_.visit(lock, shared && elides(), [&](Adaptation& history) {
      period = thread.sampler.sample(lock, history, number(thread),
                                     thread.time + 1, thread.acquisitions);
      if (shared) set_bit(history.elides());
    });
    return period;
  }

  void set_bit(bool elide) {
    if (elides() == elide) return;
    word_ ^= kLockElide;
    abort_others(nullptr);
  }

  void enter(Thread& thread) {
    if (!should_elide(mode_, word_, thread.vetoes.forbid(locks_, "section"))) {
      return take(thread);
    }
    if (held()) {
      if (thread.attempts.busy_looks++ >= kMaxBusyLooks) return take(thread);
      thread.time += kLook;
      return;
    }
    begun_++;
    if (thread.woken) wake_next(thread);
    thread.at = At::kElided;
    thread.time = std::max(thread.time, now_) + kElidedPair + load_.section;
    thread.aborts = !load_.fits;
    thread.cause = OVS_ABORT_CAPACITY;
    if (thread.aborts) thread.time -= random(load_.section / 2 + 1);
    for (Thread& other : threads_) {
      if (&other == &thread || other.at != At::kElided) continue;
      if (random(1 << 20) >= load_.conflict * (1 << 20)) continue;
      uint64_t overlap = std::min(thread.time, other.time) - now_;
      abort_at(other, now_ + random(static_cast<uint32_t>(overlap) + 1));
    }
  }

  void abort_at(Thread& thread, uint64_t time) {
    if (thread.aborts && thread.time <= time) return;
    thread.aborts = true;
    thread.cause = OVS_ABORT_CONFLICT;
    thread.time = time;
  }
  void abort_others(const Thread* thread) {
    for (Thread& other : threads_) {
      if (&other != thread && other.at == At::kElided) abort_at(other, now_);
    }
  }

  void abort(Thread& thread) {
    thread.time = now_ + kAbort;
    thread.at = At::kBegin;
    thread.aborts = false;
    if (mode_ == OVS_ELISION_AUTO) trouble(thread);
    Next next = after_abort(thread.attempts, thread.cause, random(1 << 16));
    if (next.retry) {
      thread.time += next.looks * kLook;
      return;
    }
    thread.vetoes.aborted(locks_, "section", thread.cause);
    now_ = thread.time;
    take(thread);
  }

  void trouble(Thread& thread) {
    if (thread.sampler.trouble(locks_)) sample(thread, true);
  }

  void take(Thread& thread) {
    if (held()) {
      if (mode_ == OVS_ELISION_AUTO && !elides()) trouble(thread);
      thread.at = At::kSleeping;
      return;
    }
    thread.woken = false;  // its release wakes the next
    abort_others(&thread);
    word_ |= number(thread);
    thread.at = At::kReal;
    thread.time = now_ + kRealPair + load_.section +
                  (last_ == &thread ? 0 : kBounce) +
                  (mode_ == OVS_ELISION_AUTO ? kLookAtMode : 0);
    last_ = &thread;
  }

  void release(Thread& thread) {
    word_ &= ~kOwnerMask;
    leave(thread);
    wake_next(thread);
  }

  // The one that sleeps longest, as the kernel does.
  void wake_next(Thread& thread) {
    thread.woken = false;
    Thread* next = nullptr;
    for (Thread& other : threads_) {
      if (other.at != At::kSleeping) continue;
      if (next == nullptr || other.time < next->time) next = &other;
    }
    if (next == nullptr) return;
    thread.time += kWake;
    next->at = At::kBegin;
    next->woken = true;
    next->time = now_ + kSleep;
  }

  void leave(Thread& thread) {
    done_++;
    thread.at = At::kOutside;
    thread.time = now_ + outside();
  }

  uint64_t outside() {
    return load_.outside * 3 / 4 + random(load_.outside / 2 + 1);
  }

  Workload load_;
  ovs_elision_mode mode_;
  std::vector<Thread> threads_;
  uint32_t word_ = kLockLive;
  const Thread* last_ = nullptr;  // whose cache has the lock's line
  uint64_t now_ = 0;
  uint64_t done_ = 0;
  uint64_t begun_ = 0;
  uint64_t random_ = 1;
  Histories histories_;
  static constexpr char locks_[16] = {};
};

}  // namespace ovsthread::elision

#endif  // OVSTHREAD_TESTS_UNIT_ELISION_SIMULATOR_H_
