// SPDX-License-Identifier: Apache-2.0
//
// What code outside the locks needs to know of elision.
#ifndef OVSTHREAD_LIB_ELISION_H_
#define OVSTHREAD_LIB_ELISION_H_

#include <ovsthread/elision.h>

namespace ovsthread::elision {

// What no transaction can do, as the name appears in diagnostics.
enum class SafePoint : unsigned char {
  kConditionWait,
  kRcuRegister,
  kQuiesce,
  kSynchronize,
  kBarrier,
  kFork,
  kThreadStart,
  kMessage,
  kWake,
  kMigration,
  kAllocation,
  kStatistics,
  kModeChange,
};

// Whether the calling thread runs an elided section now.  Wait-free.
bool in_transaction();

// To be passed before anything that SafePoint names.  Outside a transaction it
// does nothing.  Inside, it aborts: the section starts again with its locks
// taken for real, and this call does not return.
void safe_point(SafePoint what);

}  // namespace ovsthread::elision

#endif  // OVSTHREAD_LIB_ELISION_H_
