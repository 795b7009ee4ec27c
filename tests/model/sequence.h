// SPDX-License-Identifier: Apache-2.0
//
// A sequence: what two threads do to a few locks, and what becomes of the
// transactions meanwhile.
#ifndef OVSTHREAD_TESTS_MODEL_SEQUENCE_H_
#define OVSTHREAD_TESTS_MODEL_SEQUENCE_H_

#include <ovsthread/elision.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ovsthread::model {

inline constexpr unsigned kLocks = 10;

// One operation on a lock.  What makes no sense in the state it meets is left
// out, so that a sequence stays one whatever is taken out of it.
struct Step {
  enum What : uint8_t {
    // By the thread that is watched.
    kLock,
    kTryLock,
    kRead,
    kTryRead,
    kUnlock,
    kDestroy,
    kInit,
    kWait,    // on a condition that the other thread signals
    kSignal,  // a condition that the other thread waits on
    kSafePoint,
    kQuiesce,
    kPostpone,
    kSetMode,
    kFault,  // whatever aborts a transaction between its accesses
    // By the other thread.
    kOtherTryLock,
    kOtherTryRead,
    kOtherUnlock,
    kOtherDestroy,
    kOtherLock,  // waits for what the first one holds
    kOtherRead,
    kOtherWait,        // on a condition
    kOtherChangeMode,  // of the lock, as samples do
    kKinds
  };
  What what;
  uint8_t lock;
  uint8_t detail;  // what else there is to choose
};

// What happens to one more transaction.
struct Fate {
  enum When : uint8_t { kRuns, kAtBegin, kAtAccess, kAtCommit } when;
  uint8_t n;        // kAtAccess: which one
  uint32_t status;  // of the abort
  // Locks that the other thread takes between the last look at the lock and
  // the transaction, to release them after the abort; after the abort.  -1:
  // none.
  int8_t before;
  int8_t after;
};

struct Sequence {
  ovs_elision_mode mode;
  uint8_t types[kLocks];  // indices into kLockTypes
  bool elide[kLocks];     // those that mode auto elides at the start
  std::vector<Fate> fates;
  std::vector<Step> steps;
};

// Number INDEX of those that SEED gives.
Sequence draw_sequence(uint64_t seed, uint64_t index);

// A line for each step and each fate, every one behind PREFIX.
std::string to_string(const Sequence& sequence, const char* prefix);

}  // namespace ovsthread::model

#endif  // OVSTHREAD_TESTS_MODEL_SEQUENCE_H_
