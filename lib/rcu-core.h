// SPDX-License-Identifier: Apache-2.0
//
// The grace-period algorithm of the library: quiescent-state-based reclamation
// (QSBR), as in liburcu and in Open vSwitch, with the hand-over of callbacks
// built into it.
//
// The domain has one counter, the *epoch*.  Each registered thread has a
// record; its `seen` is 0 while the thread is quiescent, else the epoch that
// the thread read at its last quiescent state.  Readers write nothing but that,
// and nothing at all between two quiescent states.
//
// A callback waits in the private batch of its poster until the poster
// quiesces.  Only then the batch gets its target, by advancing the epoch.  It
// is due when no record has 0 < seen < target:
//
//   - A thread whose seen is at least the target read the epoch after the
//     poster had advanced it, hence after the poster's unpublishing.  What it
//     did before, it did before it stored seen.
//   - A thread whose seen is 0 either never saw what was unpublished, or became
//     active after the scan.  To become active it stores seen, then reads data;
//     whoever scans reads the epoch, then seen.  Sequentially consistent fences
//     between the two on either side let at least one see the other's store.
//
// So posting may come long before unpublishing: what counts is that both come
// before the poster quiesces.
//
// `through` says that all batches up to that target have run.  A scan that
// finds the smallest seen to be S knows of every batch with a target up to S:
// its poster stored a seen of at least S, or 0, only after the hand-over.
//
// One thread at a time is the *runner*: the helper thread, or while there is
// none a thread that quiesces, or one in barrier().  It runs due batches in the
// order of their targets, so the callbacks of one thread run in order even if
// that thread had several records one after the other.
//
// Records are reused but never freed, so that scans need no lock and fork finds
// none held.
//
// Sleeping.  A thread that waits for a grace period flags the records that hold
// it up and sleeps; a thread that quiesces looks at the flag on its own line.
// SLEEPERS is one place where all sleepers of the domain wait.  It has
//
//   void wake()          wakes all of them;
//   class Wait           one wait: prepare(), then a last look at what is
//   waited
//                        for, then sleep(), or sleep_for(the number of a thread
//                        that holds the caller up); both return at once if
//                        wake() was called since prepare().
//
// Progress: all functions are wait-free but for the callbacks that run() runs,
// allocation, add(), which is lock-free, and the blocking wait_*() ones.
#ifndef OVSTHREAD_LIB_RCU_CORE_H_
#define OVSTHREAD_LIB_RCU_CORE_H_

#include <ovsthread/cache-line.h>

#include <cstdint>
#include <new>

#include "atomics.h"
#include "log.h"
#include "rcu-batch.h"

namespace ovsthread::rcu {

template <class A, class Sleepers, class BatchType = Batch<A>>
class Core {
 public:
  struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Record {
    // What other threads look at.
    typename A::template Atomic<uint64_t> seen{0};
    // Somebody sleeps until this thread quiesces.
    typename A::template Atomic<uint32_t> watched{0};
    typename A::template Atomic<uint32_t> owned{1};
    typename A::template Atomic<uint32_t> thread{0};  // Its number.
    Record* next = nullptr;  // Fixed once the record is on the list.

    // The owner's, but for what the batch gives to the runner.  Shares its last
    // line with what follows.
    [[no_unique_address]] BatchType batch;
    typename A::template Var<bool> active{false};
    bool guard_activated = false;  // The read-side guard made it active.
    uint32_t guard_depth = 0;
  };

  // Gives the calling thread, whose number is THREAD, a record of its own.
  Record* add(uint32_t thread) {
    // (9) the link and the fields of a new record; pairs with (10).
    Record* first = records_.load(A::acquire(9));
    for (Record* record = first; record != nullptr; record = record->next) {
      uint32_t free = 0;
      // (11) the record as the last owner left it; pairs with (4), (20).
      if (record->owned.compare_exchange(free, 1, A::acquire(11), kRelaxed)) {
        record->thread.store(thread, kRelaxed);  // Relaxed: only for messages.
        return record;
      }
    }
    Record* record = new (std::nothrow) Record;
    if (record == nullptr) fatal("out of memory for a thread's RCU record");
    record->thread.store(thread, kRelaxed);  // Relaxed: only for messages.
    do {
      record->next = first;
      // (10) the link and the fields; pairs with (9).
    } while (!records_.compare_exchange(first, record, A::release(10),
                                        A::acquire(9)));
    return record;
  }

  // Gives up RECORD, which is quiescent.
  void remove(Record& record) {
    // (20) the record; pairs with (11).  (4) in deactivate() does as much, but
    // the thread sanitizer doesn't see that; likewise at (21).
    record.owned.store(0, A::release(20));
  }

  void activate(Record& record) {
    // Relaxed: (3) puts what follows behind the advance that is read here, and
    // an older epoch only delays.
    record.seen.store(epoch_.load(kRelaxed), kRelaxed);
    // (3) before the thread's first read of shared data; pairs with (1), (5),
    // (8).
    A::fence(A::seq_cst(3));
    record.active = true;
  }

  // A quiescent state that leaves RECORD active.
  void quiesce(Record& record) {
    bool handed_over = hand_over(record);
    // Relaxed: (4) puts what follows behind the advance that is read here.
    pass(record, epoch_.load(kRelaxed), handed_over);
    record.active = true;
  }

  void deactivate(Record& record) {
    bool handed_over = hand_over(record);
    record.active = false;
    pass(record, 0, handed_over);
  }

  // Starts a grace period and returns its number.  What the caller did before
  // is seen by every thread that has passed that grace period.
  uint64_t advance() {
    // (1) the caller's unpublishing; pairs with (3), (4), (5), (8).
    return epoch_.fetch_add(1, A::release(1)) + 1;
  }

  // The latest grace period.  Relaxed: where more is meant, a scan follows.
  uint64_t epoch() const { return epoch_.load(kRelaxed); }

  // Every batch with a target up to this has run, and the caller sees what its
  // callbacks did.
  uint64_t through() const {
    // (13) the effects of callbacks; pairs with (14).
    return through_.load(A::acquire(13));
  }

  // Whether a batch may be waiting to be run.  Relaxed: as epoch().
  bool has_pending() const { return through_.load(kRelaxed) < epoch(); }

  // Blocks until no thread holds up grace period TARGET.  The caller is
  // quiescent.
  void wait_for_readers(uint64_t target) {
    typename Sleepers::Wait wait(sleepers_);
    for (;;) {
      wait.prepare();
      if (lagging(target) == nullptr) return;
      watch(target);
      const Record* laggard = lagging(target);
      if (laggard == nullptr) return;
      // Relaxed: only for a message.
      wait.sleep_for(laggard->thread.load(kRelaxed));
    }
  }

  // Blocks until every batch with a target up to TARGET has run, after
  // wait_for_readers(TARGET).  Runs them unless another runner does.
  void wait_for_callbacks(uint64_t target, Record& self) {
    // Relaxed: (4) in quiesce() puts the look at the runner behind it.
    waiting_.fetch_add(1, kRelaxed);
    typename Sleepers::Wait wait(sleepers_);
    for (;;) {
      wait.prepare();
      quiesce(self);
      run(self);
      if (through() >= target) break;
      // The callback that another runner is in may wait for readers.
      deactivate(self);
      wait.sleep();
    }
    waiting_.fetch_sub(1, kRelaxed);  // Relaxed: too late only wakes in vain.
  }

  // Blocks until a batch may be waiting to be run, or END() says so.
  template <class End>
  void wait_for_work(End end) {
    typename Sleepers::Wait wait(sleepers_);
    for (;;) {
      wait.prepare();
      idle_.store(1, kRelaxed);  // Relaxed: ordered by (6).
      // (6) before the look for work; pairs with (4).
      A::fence(A::seq_cst(6));
      if (has_pending() || end()) break;
      wait.sleep();
    }
    idle_.store(0, kRelaxed);  // Relaxed: too late only wakes in vain.
  }

  // Runs what is due, unless another thread does so now.
  void run(Record& self) {
    Record* nobody = nullptr;
    // (21) what the last runner left, as (5) below; pairs with (12).
    if (!runner_.compare_exchange(nobody, &self, A::acquire(21), kRelaxed)) {
      return;
    }
    uint64_t oldest = oldest_seen();
    while (Record* record = next_due(oldest)) record->batch.run();
    // Relaxed: only the runner writes it.
    if (through_.load(kRelaxed) < oldest) {
      // (14) the effects of callbacks; pairs with (13).
      through_.store(oldest, A::release(14));
    }
    // (12) the runner's side of all batches; pairs with (5), (21).
    runner_.store(nullptr, A::release(12));
    // (7) before the look for waiters; pairs with (4).
    A::fence(A::seq_cst(7));
    if (waiting_.load(kRelaxed) != 0) sleepers_.wake();  // Relaxed: (7).
  }

  // Whether SELF is inside run(), hence its thread inside a callback.
  bool is_running(const Record& self) const {
    return runner_.load(kRelaxed) == &self;  // Relaxed: its own store.
  }

  // Whether some record other than SELF (which may be null) has an owner.
  bool has_others(const Record* self) const {
    // (9) pairs with (10).
    for (const Record* record = records_.load(A::acquire(9)); record != nullptr;
         record = record->next) {
      // Relaxed: a thread that registers only now was not there at the call.
      if (record != self && record->owned.load(kRelaxed) != 0) return true;
    }
    return false;
  }

  // In a child of fork, where only the thread of SELF (which may be null) still
  // exists: drops the records of the others and hands over what they posted.
  void drop_others(const Record* self) {
    // Relaxed in all of it: nobody else is left.
    for (Record* record = records_.load(kRelaxed); record != nullptr;
         record = record->next) {
      if (record == self) continue;
      hand_over(*record);
      record->active = false;
      record->guard_activated = false;
      record->guard_depth = 0;
      record->seen.store(0, kRelaxed);
      record->owned.store(0, kRelaxed);
    }
    if (runner_.load(kRelaxed) != self) runner_.store(nullptr, kRelaxed);
    idle_.store(0, kRelaxed);
  }

  // Frees all records, after every use.  Only for a domain that is not the
  // process's.
  void forget_records() {
    // Relaxed: nobody else is left.
    for (Record* record = records_.load(kRelaxed); record != nullptr;) {
      Record* next = record->next;
      delete record;
      record = next;
    }
    records_.store(nullptr, kRelaxed);
  }

  Sleepers& sleepers() { return sleepers_; }

 private:
  bool hand_over(Record& record) {
    if (record.batch.empty()) return false;
    record.batch.hand_over([this] { return advance(); });
    return true;
  }

  // The quiescent state itself.
  void pass(Record& record, uint64_t seen, bool handed_over) {
    // (2) what the thread read, and the hand-over; pairs with (15).
    record.seen.store(seen, A::release(2));
    // (4) all use of the record so far, and what is stored above, before the
    // thread's next read of shared data and the looks for sleepers; pairs with
    // (1), (5), (6), (7), (8), (11).
    A::fence(A::seq_cst(4));
    bool wake = false;
    // Relaxed, here and below: (4) puts the loads behind the stores above.
    if (record.watched.load(kRelaxed) != 0) {
      record.watched.store(0, kRelaxed);  // Relaxed: only a request.
      wake = true;
    }
    if (handed_over && idle_.load(kRelaxed) != 0) wake = true;
    if (wake) sleepers_.wake();
  }

  // (15) what the thread read before it quiesced, and what it handed over;
  // pairs with (2).
  static uint64_t load_seen(const Record& record) {
    return record.seen.load(A::acquire(15));
  }

  static bool lags(const Record& record, uint64_t target) {
    uint64_t seen = load_seen(record);
    return seen != 0 && seen < target;
  }

  // A record that holds up grace period TARGET, or null.
  const Record* lagging(uint64_t target) const {
    // (8) behind the advance to TARGET, and behind watch(); pairs with (1),
    // (3), (4).
    A::fence(A::seq_cst(8));
    // (9) pairs with (10).
    for (const Record* record = records_.load(A::acquire(9)); record != nullptr;
         record = record->next) {
      if (lags(*record, target)) return record;
    }
    return nullptr;
  }

  // Asks the threads that hold up TARGET for a wake-up.  If lagging() still
  // finds one afterwards, a wake-up will come.
  void watch(uint64_t target) {
    // (9) pairs with (10).
    for (Record* record = records_.load(A::acquire(9)); record != nullptr;
         record = record->next) {
      // Relaxed: (8) puts the next look at seen behind it.
      if (lags(*record, target)) record->watched.store(1, kRelaxed);
    }
  }

  // No thread that is active from now on holds up a grace period up to this.
  uint64_t oldest_seen() const {
    uint64_t oldest = epoch();
    // (5) behind the advance to that epoch, and behind the last runner; pairs
    // with (1), (3), (4), (12).
    A::fence(A::seq_cst(5));
    // (9) pairs with (10).
    for (const Record* record = records_.load(A::acquire(9)); record != nullptr;
         record = record->next) {
      uint64_t seen = load_seen(*record);
      if (seen != 0 && seen < oldest) oldest = seen;
    }
    return oldest;
  }

  // The record with the smallest target up to LIMIT that has callbacks to run.
  Record* next_due(uint64_t limit) {
    Record* next = nullptr;
    // (9) pairs with (10).
    for (Record* record = records_.load(A::acquire(9)); record != nullptr;
         record = record->next) {
      uint64_t target = record->batch.due();
      if (target != 0 && target <= limit) {
        next = record;
        limit = target;
      }
    }
    return next;
  }

  typename A::template Atomic<uint64_t> epoch_{1};
  typename A::template Atomic<uint64_t> through_{1};
  typename A::template Atomic<uint32_t> idle_{0};  // wait_for_work() sleeps.
  // How many sleep, or may sleep, in wait_for_callbacks().
  typename A::template Atomic<uint32_t> waiting_{0};
  typename A::template Atomic<Record*> records_{nullptr};
  typename A::template Atomic<Record*> runner_{nullptr};
  Sleepers sleepers_;
};

}  // namespace ovsthread::rcu

#endif  // OVSTHREAD_LIB_RCU_CORE_H_
