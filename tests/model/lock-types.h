// SPDX-License-Identifier: Apache-2.0
//
// The lock types that sequences are played on.  A further type is one more
// entry of kLockTypes.
#ifndef OVSTHREAD_TESTS_MODEL_LOCK_TYPES_H_
#define OVSTHREAD_TESTS_MODEL_LOCK_TYPES_H_

#include <cstdint>
#include <span>

#include "openvswitch/thread.h"
#include "ovsthread-rwlock.h"

namespace ovsthread::model {

// Memory for a lock of any type; all zero: none was initialised.
union Lock {
  ovs_mutex mutex;
  ovs_spin spin;
  ovs_rwlock rwlock;
};

// What the word of a lock says of those who hold it for real.
struct RealHolds {
  bool live;
  uint32_t owner;      // number of who holds it exclusively, 0: nobody
  unsigned exclusive;  // levels of it
  unsigned shared;     // how many readers
  bool waited_for;     // someone may sleep
  bool at_rest;        // nothing is left that must not be in a free lock
};

struct LockType {
  const char* name;
  const char* kind;  // as messages name it
  bool nests;
  bool sleeps;  // waiters show in the word, which nobody writes then
  void (*init)(Lock&);
  void (*destroy)(Lock&, const char* where);
  void (*lock)(Lock&, const char* where);
  int (*try_lock)(Lock&, const char* where);
  void (*read)(Lock&, const char* where);  // null: there is no shared hold
  int (*try_read)(Lock&, const char* where);
  void (*unlock)(Lock&, const char* where);
  void (*wait)(pthread_cond_t&, Lock&, const char* where);  // null: can't
  RealHolds (*look)(const Lock&);
};

extern const std::span<const LockType> kLockTypes;

// Whether a thread sleeps on LOCK, of a type that SLEEPS.  The word does not
// tell: who has slept leaves the mark of a sleeper, and who sets it is awake
// for a moment, and would see what a transaction writes and takes back.
bool is_slept_on(const Lock& lock);

// Changes the bit that says, for all threads, whether a live lock is to be
// elided in mode auto.
void change_mode(Lock& lock);

}  // namespace ovsthread::model

#endif  // OVSTHREAD_TESTS_MODEL_LOCK_TYPES_H_
