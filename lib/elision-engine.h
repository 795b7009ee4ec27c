// SPDX-License-Identifier: Apache-2.0
//
// Lock elision: runs a critical section as a transaction that only reads its
// lock.
//
// - A transaction first *subscribes*: it reads the lock's word and goes on only
//   if the word allows the hold.  Any thread that takes the lock for real later
//   writes the word, and so aborts the transaction.
// - A thread has one transaction.  It starts with the outermost elided lock;
//   locks taken inside are subscribed and put on the thread's held-list, and it
//   commits when the list has no elided hold left, whatever the order.
// - No lock is taken for real inside.  One that was taken before may be
//   released or taken again there: its word is then just data that becomes
//   visible at the commit.
// - Nothing shared is written on the library's behalf inside; statistics are
//   added before the start, after an abort and after the commit.
// - A *safe point* is what can't happen inside (safe_point() below): it aborts,
//   the section starts again with its lock taken for real, and until that lock
//   is released the thread elides nothing.
//
//   inside, the lock is     lock         try            unlock
//   free                    subscribe    subscribe      misuse
//   free, but gated         abort: busy  abort: busy    misuse
//   busy                    abort: busy  busy           misuse
//   held elided by caller   misuse       busy           drop; the last commits
//   the same, nests         push         push           drop
//   held real by caller     real         real           real, speculatively
//
// A misuse inside is reported by aborting first: run for real, the section gets
// there again.
//
// A lock that is busy is looked at for at most some ten microseconds.  Then the
// caller waits in the lock's queue, since one that took it for real would have
// all others do the same (the lemming effect), and elides when it is woken.
//
// Layer: see elision-rtm.h.  Progress: wait-free but for the looks; what the
// caller does then is up to the real lock.
#ifndef OVSTHREAD_LIB_ELISION_ENGINE_H_
#define OVSTHREAD_LIB_ELISION_ENGINE_H_

#include <ovsthread/cache-line.h>
#include <ovsthread/elision.h>

#include <cstdint>
#include <utility>

#include "atomics.h"
#include "elision-counts.h"
#include "elision-layer.h"
#include "elision-policy.h"
#include "elision-sampling.h"
#include "held-locks.h"
#include "lock-word.h"

namespace ovsthread::elision {

// All that a thread keeps for its locks: one block, so that a test can put it
// back as a transaction's abort would.
struct ThreadElision {
  HeldLocks held;
  // The lock that a safe point made the thread take for real; null, unless
  // held.suspended().
  const void* suspended_by;
  Counts* counts;

  void suspend(const void* lock) {
    held.suspend();
    suspended_by = lock;
  }
  // LOCK is not held, or no longer.
  void resume_after(const void* lock) {
    if (__builtin_expect(suspended_by != lock, 1)) return;
    held.resume();
    suspended_by = nullptr;
  }
};
static_assert(sizeof(ThreadElision) <= 192, "static TLS is scarce");

extern constinit thread_local ThreadElision tls_elision;

// What locks have to attend to, as bits.
enum Attention : uint8_t {
  kAttendNone = 0,   // nothing: they are taken for real
  kAttendMode = 1,   // the mode bits of their words, and samples (mode auto)
  kAttendCount = 2,  // some acquisitions are counted (statistics)
  kAttendAll = 4,    // each acquisition is tried (mode always)
};

// What the process does, on a line that is hardly ever written.  Transactions
// subscribe to it, too, so that switching off aborts them all.
struct alignas(OVSTHREAD_CACHE_LINE_SIZE) State {
  RealAtomics::Atomic<Attention> attention;
  RealAtomics::Atomic<ovs_elision_mode> effective;  // off where none can run
  RealAtomics::Atomic<ovs_elision_mode> mode;       // as it was set
};
extern constinit State state;

extern constinit Histories histories;

// How the word of a lock reads to one kind of hold.
struct LockKind {
  Hold hold;
  uint32_t mask;        // (word & mask) == kLockLive: the hold is free to take
  uint32_t owner_mask;  // (word & owner_mask) == (owner_flag | self):
  uint32_t owner_flag;  //   the caller holds it for real and alone
  uint32_t recursive;   // word & recursive: exclusive holds nest
  uint32_t real_only;   // free but for these bits: to be taken for real
  ovs_lock_use use = OVS_LOCK_USE_MUTEX;
  bool queues = true;    // who waited can leave without taking the lock
  bool recorded = true;  // it is a lock of the program
};

enum class Acquired : uint8_t {
  kElided,    // done
  kReal,      // the real lock decides
  kFallback,  // take it for real, and say so to took_for_real()
  kBusy,      // try: held
  kQueue,     // wait until the lock is released, then acquire() again
  kRelock,    // held elided by the caller, and does not nest
};

// Process supplies what is not an argument: thread(), the caller's
// ThreadElision; attention(); mode(), the effective one, and active(), whether
// that is not off; recording(), whether statistics are on; make_counts();
// attempts(), what an acquisition starts with; histories(), of all locks;
// now(), for them; suspect_storm(), see StormWatch.
template <class A, class Layer, class Process>
class Engine {
 public:
  using Word = typename A::template Atomic<uint32_t>;

  static bool active() { return Layer::kCompiled && Process::active(); }
  static Attempts attempts() { return Process::attempts(); }

  // Whether acquire() would do nothing: nothing is to be attended to, or mode
  // auto has the lock at WORD taken for real, the thread is in no section that
  // matters, and neither a sample is due nor is this acquisition to be counted.
  // On the path of every lock, hence as little as can be.
  __attribute__((always_inline)) static bool plainly_real(const Word& word) {
    Attention attention = Process::attention();
    ThreadElision& thread = Process::thread();
    // Relaxed: the bit is a hint.
    auto real_by_mode = [&] {
      return !(word.load(kRelaxed) & kLockElide) && thread.held.disengaged();
    };
    if (__builtin_expect(attention == kAttendMode, 1)) {
      return real_by_mode() && thread.counts != nullptr &&
             thread.counts->acquisitions.pass();
    }
    if (attention == kAttendNone) return true;
    if ((attention & kAttendAll) || thread.counts == nullptr) return false;
    if (!(attention & kAttendMode)) return thread.counts->recorder.pass();
    // One that passes the recorder and not the sampler passes the recorder in
    // acquire() again: that is too rare to be seen in the statistics.
    return real_by_mode() && thread.counts->recorder.pass() &&
           thread.counts->acquisitions.pass();
  }

  // False: acquire() would do nothing, and there is nothing to count.
  static bool attention() { return Process::attention() != kAttendNone; }

  // The caller's, null if statistics are off.
  static stats::Recorder* recorder() {
    if (__builtin_expect(!Process::recording(), 1)) return nullptr;
    ThreadElision& thread = Process::thread();
    if (thread.counts == nullptr) thread.counts = Process::make_counts();
    return &thread.counts->recorder;
  }

  // A lock is known by the address of its WORD.  TRY_ONLY: don't wait.
  // ATTEMPTS: of this acquisition so far.
  static Acquired acquire(const LockKind& kind, Word& word, const char* where,
                          bool try_only, Attempts& attempts) {
    ThreadElision& thread = Process::thread();
    if (thread.held.any_elided()) {
      return nested(thread, kind, word, where, try_only);
    }
    stats::Recorder* recorder = kind.recorded ? Engine::recorder() : nullptr;
    // Whether or not there is a recorder: statistics are switched off before
    // attention, and where elision is off the CPU may know no transactions.
    bool active = Engine::active();
    if (recorder != nullptr && attempts.queued == 0) recorder->arrive(active);
    if (!active) return Acquired::kReal;
    // Inside a transaction that the program started itself we can't tell when
    // it ends: locks are taken for real.
    if (thread.held.suspended() || Layer::active()) {
      return Acquired::kReal;
    }
    if (thread.counts == nullptr) thread.counts = Process::make_counts();
    return outermost(thread, recorder, kind, word, where, try_only, attempts);
  }

  // The lock at WORD was taken for real.
  static void count_real(stats::Recorder& recorder, const LockKind& kind,
                         const Word& word, const char* where) {
    if (Process::thread().held.any_elided()) {
      recorder.nest(&word, where, kind.use, false);
    } else {
      recorder.take(&word, where, kind.use);
    }
  }

  // HELD, an elided hold, ends.
  static void release(HeldLock* held) {
    ThreadElision& thread = Process::thread();
    thread.held.remove(held);
    if (thread.held.any_elided()) return;
    Layer::end();
    thread.counts->elided.increment();
    thread.counts->recorder.commit();
  }

  // After kFallback: the lock was TAKEN for real, or a try failed.
  static void took_for_real(const Word& word, bool taken) {
    ThreadElision& thread = Process::thread();
    thread.counts->recorder.leave();
    if (taken) return;
    thread.counts->acquisitions.take_back();
    // Not if a section that began before still reads it.
    if (thread.held.find(&word) == nullptr) thread.resume_after(&word);
  }

  // The lock at WORD was released for real by the caller, and wholly.  WORD may
  // be gone.
  static void released_for_real(const Word& word) {
    Process::thread().resume_after(&word);
  }

  // The caller is about to sleep until the lock at WORD is released.
  static void waits(Word& word) {
    ThreadElision& thread = Process::thread();
    // Relaxed: a hint.  Who wants to elide waits for a real owner, however the
    // lock is acquired.
    if (thread.counts == nullptr || (word.load(kRelaxed) & kLockElide)) return;
    note_trouble(thread, word);
  }

  static void safe_point(ovs_safe_point what) {
    if (Process::thread().held.any_elided()) {
      abort_at(what, std::make_integer_sequence<unsigned, OVS_N_SAFE_POINTS>());
    }
  }

 private:
  // The code of an abort is part of its instruction.
  template <unsigned... kinds>
  static void abort_at(ovs_safe_point what,
                       std::integer_sequence<unsigned, kinds...>) {
    ((what == kinds ? Layer::template abort<kCodeSafePoint + kinds>() : void()),
     ...);
  }

  static bool is_free(const LockKind& kind, uint32_t word) {
    return (word & kind.mask) == kLockLive;
  }
  static bool is_own(const LockKind& kind, uint32_t word, HeldLocks& held) {
    return (word & kind.owner_mask) == (kind.owner_flag | held.self());
  }

  static Acquired nested(ThreadElision& thread, const LockKind& kind,
                         const Word& word, const char* where, bool try_only) {
    const HeldLock* mine = thread.held.find(&word);
    if (mine != nullptr && mine->elided()) {
      bool nests = kind.hold == Hold::kElidedShared
                       ? mine->hold() == Hold::kElidedShared
                       // Relaxed: subscribed already.
                       : (word.load(kRelaxed) & kind.recursive) != 0;
      if (!nests) return try_only ? Acquired::kBusy : Acquired::kRelock;
    } else {
      Layer::access(&word);
      // Relaxed: the transaction orders it.
      uint32_t now = word.load(kRelaxed);
      if (!is_free(kind, now)) {
        if (!(now & kLockLive) || is_own(kind, now, thread.held)) {
          return Acquired::kReal;
        }
        if (try_only && !is_free(kind, now & ~kind.real_only)) {
          return Acquired::kBusy;
        }
        Layer::template abort<kCodeBusy>();
      }
    }
    if (thread.held.full()) Layer::template abort<kCodeListFull>();
    thread.held.push_elided(&word, kind.hold, where);
    thread.counts->recorder.nest(&word, where, kind.use, true);
    return Acquired::kElided;
  }

  // Samples the lock at WORD, which the caller is about to acquire, outside of
  // any transaction.  Returns after how many acquisitions to sample again.
  __attribute__((noinline)) static uint32_t sample(ThreadElision& thread,
                                                   Word& word) {
    Counts& counts = *thread.counts;
    uint32_t period = kFirstPeriod;
    if (Process::mode() != OVS_ELISION_AUTO) {
      // What happens now tells nothing of mode auto.
      counts.sampler = Sampler(counts.acquisitions.read());
      return period;
    }
    // Relaxed: a change by another thread meanwhile is as good as one later.
    bool elides = (word.load(kRelaxed) & kLockElide) != 0;
    Process::histories().visit(&word, elides, [&](Adaptation& history) {
      period =
          counts.sampler.sample(&word, history, thread.held.self(),
                                Process::now(), counts.acquisitions.read());
      set_elide_bit(word, history.elides());
    });
    return period;
  }

  // A wait for the lock at WORD, or an abort.
  static void note_trouble(ThreadElision& thread, Word& word) {
    if (!thread.counts->sampler.trouble(&word)) return;
    thread.counts->acquisitions.shorten(sample(thread, word));
  }

  // The only place where transactions start.  Not inlined, so that there is
  // one; it returns inside the transaction.
  __attribute__((noinline)) static Acquired outermost(
      ThreadElision& thread, stats::Recorder* recorder, const LockKind& kind,
      Word& word, const char* where, bool try_only, Attempts& attempts) {
    Counts& counts = *thread.counts;
    // Relaxed: only a look; the transaction reads the word again.
    uint32_t now = word.load(kRelaxed);
    if (!is_free(kind, now) &&
        (try_only || !(now & kLockLive) || is_own(kind, now, thread.held))) {
      return Acquired::kReal;
    }
    bool vetoed = false;
    if (attempts.queued == 0) {
      if (!counts.acquisitions.pass()) {
        counts.acquisitions.restart(sample(thread, word));
        counts.acquisitions.pass();
      }
      // A veto counts what would have been tried.
      vetoed = should_elide(Process::mode(), now, false) &&
               counts.vetoes.forbid(&word, where);
    }
    for (;; now = word.load(kRelaxed)) {  // Relaxed: as above.
      if (thread.held.full() || !should_elide(Process::mode(), now, vetoed)) {
        if (recorder != nullptr) recorder->refuse(vetoed);
        return Acquired::kFallback;
      }
      if (!is_free(kind, now)) {
        if (try_only || is_free(kind, now & ~kind.real_only)) {
          return Acquired::kFallback;
        }
        if (recorder != nullptr) recorder->wait();
        if (attempts.busy_looks++ >= kMaxBusyLooks) {
          // A reader that wants to write, or the like, would wait for itself.
          if (!kind.queues || attempts.queued >= kMaxQueued ||
              thread.held.find(&word) != nullptr) {
            return Acquired::kFallback;
          }
          attempts.queued++;
          attempts.busy_looks = 0;
          return Acquired::kQueue;
        }
        A::relax();
        continue;
      }
      if (recorder != nullptr) recorder->start(&word, where, kind.use);
      counts.started.increment();
      uint32_t status = Layer::begin();
      if (__builtin_expect(status == Layer::kStarted, 1)) {
        Layer::access(&word);
        // Relaxed: the transaction orders it.
        if (!is_free(kind, word.load(kRelaxed))) {
          Layer::template abort<kCodeBusy>();
        }
        if (!Process::active()) {
          Layer::template abort<kCodeSwitchedOff>();
        }
        thread.held.push_elided(&word, kind.hold, where);
        return Acquired::kElided;
      }
      ovs_elision_abort cause = classify(status);
      counts.aborts[cause].increment();
      if (recorder != nullptr) {
        recorder->abort(&word, where, kind.use, cause,
                        safe_point_kind(status_code(status)));
      }
      if (__builtin_expect(
              counts.storm.aborted(counts.started.read(), counts.elided.read()),
              0)) {
        Process::suspect_storm();
      }
      // A busy lock costs its wait, however it is acquired.
      if (cause != OVS_ABORT_BUSY) note_trouble(thread, word);
      Next next = after_abort(attempts, cause, spread(counts));
      if (!next.retry) {
        counts.vetoes.aborted(&word, where, cause);
        if (cause == OVS_ABORT_SAFE_POINT) {
          counts.safe_points[safe_point_kind(status_code(status))].increment();
          thread.suspend(&word);
        }
        return Acquired::kFallback;
      }
      for (unsigned i = 0; i < next.looks; i++) A::relax();
    }
  }

  // A number that differs between threads and between attempts.
  static unsigned spread(const Counts& counts) {
    uint64_t seed =
        reinterpret_cast<uintptr_t>(&counts) + counts.started.read();
    return static_cast<unsigned>((seed * 0x9e3779b97f4a7c15) >> 40);
  }
};

// No transaction of the calling thread has committed for long: switches elision
// off if trial ones don't commit either.
void suspect_storm();

struct LibraryProcess {
  static ThreadElision& thread() { return tls_elision; }
  // Relaxed: a late answer costs a try, or an elided section less.
  static Attention attention() { return state.attention.load(kRelaxed); }
  static bool recording() { return stats::is_recording(); }
  static ovs_elision_mode mode() { return state.effective.load(kRelaxed); }
  static bool active() { return mode() != OVS_ELISION_OFF; }
  static Counts* make_counts() { return register_counts(); }
  static Attempts attempts() { return {}; }
  static Histories& histories() { return elision::histories; }
  static uint64_t now() { return TransactionLayer::now(); }
  static void suspect_storm() { elision::suspect_storm(); }
};

using LibraryEngine = Engine<RealAtomics, TransactionLayer, LibraryProcess>;

}  // namespace ovsthread::elision

#endif  // OVSTHREAD_LIB_ELISION_ENGINE_H_
