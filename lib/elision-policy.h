// SPDX-License-Identifier: Apache-2.0
//
// What to do after an abort, and whether to elide at all: pure functions, apart
// from the mechanism, so that tests reach every line without hardware.
//
//   class       next                           because
//   busy        wait, try again                others elide again after the
//                                              owner; all looks of one
//                                              acquisition share one bound,
//                                              then it queues, a few times
//   conflict    back off, try again            up to a small budget
//   capacity    for real                       it would not fit next time
//   cold        for real                       the rollback undid the warm-up
//                                              (a fault, a first call)
//   nested      for real                       the program's own transaction
//   safe_point  for real, with what it locks   no transaction can do it
//   other       for real
//
// Waits and back-offs are counted in looks, one PAUSE each (40 to 140 cycles):
// the bounds come to some ten microseconds.
#ifndef OVSTHREAD_LIB_ELISION_POLICY_H_
#define OVSTHREAD_LIB_ELISION_POLICY_H_

#include <ovsthread/elision.h>

#include <algorithm>
#include <cstdint>

#include "elision-rtm.h"
#include "lock-word.h"

namespace ovsthread::elision {

// Codes of the library's own aborts; far from 0 and 0xff, which others use.
inline constexpr uint8_t kCodeBusy = 0xb1;
inline constexpr uint8_t kCodeListFull = 0xb3;
inline constexpr uint8_t kCodeSwitchedOff = 0xb4;
// The first of as many as there are kinds of safe points.
inline constexpr uint8_t kCodeSafePoint = 0xc0;
static_assert(kCodeSafePoint + OVS_N_SAFE_POINTS <= 0xd0);

// The kind of a safe point by its CODE; OVS_N_SAFE_POINTS or more for others.
constexpr unsigned safe_point_kind(uint8_t code) {
  return code < kCodeSafePoint ? OVS_N_SAFE_POINTS : code - kCodeSafePoint;
}

constexpr ovs_elision_abort classify(uint32_t status) {
  // An explicit abort inside a nested transaction is the program's own.
  if ((status & kStatusExplicit) && !(status & kStatusNested)) {
    uint8_t code = status_code(status);
    if (code == kCodeBusy) return OVS_ABORT_BUSY;
    return safe_point_kind(code) < OVS_N_SAFE_POINTS ? OVS_ABORT_SAFE_POINT
                                                     : OVS_ABORT_OTHER;
  }
  if (status & kStatusCapacity) return OVS_ABORT_CAPACITY;
  if (status & kStatusConflict) return OVS_ABORT_CONFLICT;
  if (status & kStatusNested) return OVS_ABORT_NESTED;
  return status == 0 ? OVS_ABORT_COLD : OVS_ABORT_OTHER;
}

inline constexpr unsigned kMaxBusyLooks = 256;
inline constexpr unsigned kFirstBusyLooks = 8;
// Waits of one acquisition in the queue of a lock that is not elided meanwhile.
inline constexpr unsigned kMaxQueued = 3;
inline constexpr unsigned kMaxConflicts = 6;
inline constexpr unsigned kMaxBackoffLooks = 32;

// What one acquisition has gone through.
struct Attempts {
  unsigned busy_looks = 0;
  unsigned conflicts = 0;
  unsigned queued = 0;
};

struct Next {
  bool retry;      // else: for real
  unsigned looks;  // to spend before the retry
};

// RANDOM spreads the back-off of threads that met in a conflict.
constexpr Next after_abort(Attempts& attempts, ovs_elision_abort cause,
                           unsigned random) {
  switch (cause) {
    case OVS_ABORT_BUSY: {
      // Which lock was busy is unknown (an inner one, or this one has been
      // released since): wait as long again as so far.
      unsigned looks = attempts.busy_looks + kFirstBusyLooks;
      attempts.busy_looks += looks;
      return {attempts.busy_looks <= kMaxBusyLooks, looks};
    }
    case OVS_ABORT_CONFLICT: {
      unsigned bound = std::min(
          1u << std::min(attempts.conflicts, kMaxConflicts), kMaxBackoffLooks);
      attempts.conflicts++;
      return {attempts.conflicts <= kMaxConflicts, random % bound};
    }
    default:
      return {false, 0};
  }
}

// Whether an acquisition that finds WORD should try a transaction; VETOED: the
// thread has learned that it is no use there (elision-veto.h).
constexpr bool should_elide(ovs_elision_mode mode, uint32_t word, bool vetoed) {
  return mode == OVS_ELISION_ALWAYS ||
         (mode == OVS_ELISION_AUTO && (word & kLockElide) && !vetoed);
}

// A storm: transactions begin and none commits, since the machine has lost them
// (a program may be moved to another one while it runs), or since a thread has
// only tried what can't commit.  One thread watches its own.
class StormWatch {
 public:
  StormWatch() = default;
  // Of a thread that takes over such counts.
  StormWatch(uint64_t started, uint64_t committed)
      : started_(started), committed_(committed) {}

  // Transactions in a row without a commit that make a storm: some
  // milliseconds.
  static constexpr uint64_t kStorm = 1 << 14;

  // After an abort, with the thread's counts: whether there is a storm.  Says
  // so once in kStorm transactions.
  bool aborted(uint64_t started, uint64_t committed) {
    if (committed != committed_) {
      committed_ = committed;
      started_ = started;
    }
    if (started - started_ < kStorm) return false;
    started_ = started;
    return true;
  }

 private:
  uint64_t started_ = 0;
  uint64_t committed_ = 0;
};

}  // namespace ovsthread::elision

#endif  // OVSTHREAD_LIB_ELISION_POLICY_H_
