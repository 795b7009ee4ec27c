// SPDX-License-Identifier: Apache-2.0
//
// The last words about a lock that was misused.
#ifndef OVSTHREAD_LIB_LOCK_MISUSE_H_
#define OVSTHREAD_LIB_LOCK_MISUSE_H_

namespace ovsthread {

// What a lock's `where` says before it is first taken.
inline constexpr char kNeverTaken[] = "<unlocked>";

struct LockMisuse {
  const char* what;  // "unlock of a %s that the caller does not hold"
  const char* kind;  // "mutex", "rwlock"; %s in WHAT
  const void* lock;
  const char* where;     // the offending call (lock-site.h)
  const char* relation;  // how OTHER relates: "held since", "last taken at"
  const char* other;     // the other place; null: there is none
};

// Names the misuse, the lock, the thread and both places, and aborts the
// process.  Inside a transaction it aborts that first; the section then runs
// for real and gets here again.
[[noreturn]] void report_misuse(const LockMisuse& misuse);

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_LOCK_MISUSE_H_
