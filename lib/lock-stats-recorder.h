// SPDX-License-Identifier: Apache-2.0
//
// How a thread counts what happens to its locks, while statistics are on.
//
// Nothing is written where another thread might read it before a transaction
// has ended.  What a section takes is noted here first, in memory that is only
// the thread's, and added to the thread's tallies (lock-stats-table.h) after
// the commit; an abort forgets the note.  Locks are known by their address and
// not touched: after the release they may be gone.
//
//   arrive    an acquisition begins, outside of transactions
//   wait      it finds the lock held, and will wait
//   refuse    it will try no (further) transaction
//   start     it starts one
//   abort     the transaction has aborted
//   nest      inside it, another lock is taken
//   commit    it has committed
//   take      the lock was taken for real
//   leave     it ends without a further transaction
//
// A thread finds the tally of a lock and a place in a table of its own, which
// grows with the number of them.
//
// To look up and count each acquisition would cost what ten or twenty per cent
// of a short section do.  So a thread counts its first acquisitions one by one,
// and then one in some sixty, which stands for those since the last one; the
// gaps are drawn, since programs take their locks in turns.  What is rare and
// dear by itself, aborts and waits, is always counted.
#ifndef OVSTHREAD_LIB_LOCK_STATS_RECORDER_H_
#define OVSTHREAD_LIB_LOCK_STATS_RECORDER_H_

#include <ovsthread/cache-line.h>
#include <ovsthread/lock-stats.h>

#include <cstdint>

#include "atomics.h"
#include "lock-stats-table.h"

namespace ovsthread::stats {

// Whether the process counts: on a line that is hardly ever written.
struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Switch {
  RealAtomics::Atomic<bool> recording;
};
extern constinit Switch switched;

inline bool is_recording() {
  // (5) the table; pairs with (4).
  return switched.recording.load(RealAtomics::acquire(5));
}

class Recorder {
 public:
  Recorder() = default;
  ~Recorder() { forget(); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Whether an acquisition is one of those that another one stands for, and
  // need not arrive unless it has to wait.
  bool pass() {
    if (to_pass_ == 0) return false;
    to_pass_--;
    return true;
  }

  // ELISION: whether it is on.
  void arrive(bool elision) {
    waiting_since_ = 0;
    way_ = elision ? OVS_LOCK_WAY_UNKNOWN : OVS_LOCK_WAY_OFF;
    weight_ = pass() ? 0 : end_gap();
  }
  void wait() {
    if (waiting_since_ == 0) waiting_since_ = now();
  }
  // The wait is over: the lock was taken for real.
  void end_wait(const void* lock, const char* where, ovs_lock_use use);
  // The acquisition has ended, whether anybody still counts it or not: the next
  // one may come without having arrived.
  void leave() {
    waiting_since_ = 0;
    weight_ = 0;
  }
  void refuse(bool vetoed) {
    way_ = vetoed ? OVS_LOCK_WAY_VETOED : OVS_LOCK_WAY_REAL;
  }
  // Finds the tally now: once the section has been left, the lock may be gone.
  void start(const void* lock, const char* where, ovs_lock_use use) {
    if (__builtin_expect(!is_counted(), 1)) return;
    waited_ = waited();
    way_ = OVS_LOCK_WAY_ELIDES;
    Tally* tally = find(lock, where, use);
    first_ = tally != nullptr ? tally : &tally_of(lock, where, use);
    notes_[0] = {lock, where, use, 1, 0};
    n_notes_ = 1;
    not_noted_elided_ = 0;
    not_noted_real_ = 0;
  }
  void abort(const void* lock, const char* where, ovs_lock_use use,
             ovs_elision_abort cause, unsigned safe_point);
  void nest(const void* lock, const char* where, ovs_lock_use use,
            bool elided) {
    if (__builtin_expect(n_notes_ != 0, 0)) note(lock, where, use, elided);
  }
  void commit() {
    if (__builtin_expect(n_notes_ != 0, 0)) add_notes();
  }
  void take(const void* lock, const char* where, ovs_lock_use use) {
    if (__builtin_expect(!is_counted(), 1)) return;
    Tally* tally = find(lock, where, use);
    if (__builtin_expect(tally == nullptr || waiting_since_ != 0 ||
                             !(way_ == OVS_LOCK_WAY_UNKNOWN ||
                               tally->way.load(kRelaxed) == way_),
                         0)) {
      return take_slowly(lock, where, use);
    }
    tally->real.store(tally->real.load(kRelaxed) + weight_, kRelaxed);
    weight_ = 0;
  }

  // Another thread counts here from now on: its first ones one by one.
  void begin() {
    to_pass_ = 0;
    gap_ = 1;
    n_single_ = 0;
  }

  // In a child of fork: its table is a new one.
  void forget();

 private:
  // Places of one section beyond these are counted as others.
  static constexpr unsigned kNotes = 8;
  static constexpr uint32_t kFirstSlots = 32;
  static constexpr uint32_t kMaxSlots = 4096;

  struct Note {
    const void* lock;
    const char* where;
    ovs_lock_use use;
    uint32_t elided;
    uint32_t real;
  };
  struct Slot {
    const void* lock;  // null: free
    const char* where;
    ovs_lock_use use;
    Tally* tally;
    const Place* place;  // null: the tally is a shared one
  };
  // Of a thread that has no slots.
  static constinit Slot no_slot_;

  // How many acquisitions of a thread are counted one by one.
  static constexpr uint32_t kSingly = 1024;
  // A power of 2, twice the mean gap behind them.
  static constexpr uint32_t kMaxGap = 128;

  static uint64_t now();
  // Whether the acquisition is to be counted, or has waited.
  bool is_counted() const { return (weight_ | waiting_since_) != 0; }
  // Draws the next gap, and returns the length of the one that has ended.
  uint32_t end_gap();
  // Of the acquisition so far, in ns; 0 if it did not wait.
  uint64_t waited() const {
    return waiting_since_ == 0 ? 0 : now() - waiting_since_;
  }
  void note(const void* lock, const char* where, ovs_lock_use use, bool elided);
  void add_notes();
  void take_slowly(const void* lock, const char* where, ovs_lock_use use);
  Tally& tally_of(const void* lock, const char* where, ovs_lock_use use);
  Slot& slot_of(const void* lock, const char* where, ovs_lock_use use);
  void fill(Slot& slot, const void* lock, const char* where, ovs_lock_use use);

  static uint32_t hash_of(const void* lock, const char* where,
                          ovs_lock_use use) {
    uint64_t hash = ((reinterpret_cast<uintptr_t>(lock) ^
                      reinterpret_cast<uintptr_t>(where) * 0x9e3779b97f4a7c15) +
                     use) *
                    0xd6e8feb86659fd93;
    return static_cast<uint32_t>(hash >> 40);
  }
  // The caller's own tally, if it takes but one look to find it.
  Tally* find(const void* lock, const char* where, ovs_lock_use use) const {
    const Slot& slot = slots_[hash_of(lock, where, use) & mask_];
    // Relaxed: the program orders the destruction of a lock before the use of
    // another one at its address.
    return slot.lock == lock && slot.where == where && slot.use == use &&
                   slot.place != nullptr && !slot.place->closed.load(kRelaxed)
               ? slot.tally
               : nullptr;
  }
  bool grow();

  Slot* slots_ = &no_slot_;
  uint32_t mask_ = 0;  // the number of slots, a power of 2, less 1
  uint32_t n_used_ = 0;
  uint32_t to_pass_ = 0;   // before the next one is counted
  uint32_t gap_ = 1;       // from the last one that was counted to the next
  uint32_t n_single_ = 0;  // that were counted one by one
  uint32_t random_ = 1;
  uint32_t weight_ = 0;         // of this one; 0: it is not counted
  uint64_t waiting_since_ = 0;  // 0: it does not wait
  uint64_t waited_ = 0;
  uint32_t way_ = OVS_LOCK_WAY_UNKNOWN;
  uint32_t n_notes_ = 0;
  Tally* first_ = nullptr;  // of notes_[0]
  uint32_t not_noted_elided_ = 0;
  uint32_t not_noted_real_ = 0;
  Note notes_[kNotes] = {};
};

}  // namespace ovsthread::stats

#endif  // OVSTHREAD_LIB_LOCK_STATS_RECORDER_H_
