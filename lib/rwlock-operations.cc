// SPDX-License-Identifier: Apache-2.0
#include "rwlock-operations.h"

#include "lock-misuse.h"
#include "lock-stats-registry.h"

namespace ovsthread {
namespace {

HeldLocks& held_locks() { return elision::tls_elision.held; }

[[noreturn]] void report(const RealRwLock& lock, const char* where,
                         const char* what, const char* relation) {
  report_misuse(
      {what, "rwlock", &lock, where, relation, lock.where.load(kRelaxed)});
}

[[noreturn]] void report_dead(const RealRwLock& lock, const char* where,
                              const char* never, const char* destroyed) {
  if (lock.word.load(kRelaxed) == kRwDestroyed) {
    report(lock, where, destroyed, "destroyed at");
  }
  report_misuse({never, "rwlock", &lock, where, nullptr, nullptr});
}

[[noreturn]] void report_not_held(const RealRwLock& lock, const char* where,
                                  const char* what) {
  // Readers who are announced leave no place in the lock.
  report(lock, where, what,
         lock.is_held_in_word() ? "held by another thread since"
         : lock.seems_held()    ? "read by another thread; last noted at"
                                : "last taken at");
}

}  // namespace

void rwlock_report_relock(const RealRwLock& lock, const char* where) {
  report(lock, where, "deadlock: lock of an rwlock that the caller holds",
         "held since");
}

void rwlock_report(RealRwLock& lock, const char* where, LockResult result) {
  if (result == LockResult::kHeld) rwlock_report_relock(lock, where);
  if (result == LockResult::kTooMany) {
    report(lock, where, "too many readers of an rwlock", "last taken at");
  }
  report_dead(lock, where, "lock of an uninitialised rwlock",
              "lock of a destroyed rwlock");
}

void rwlock_read_slowly(RealRwLock& lock, const char* where,
                        LockResult result) {
  if (result == LockResult::kBusy) {
    // A writer that waits for this very thread would be waited for.
    if (const HeldLock* mine = held_locks().find(&lock.word)) {
      report_misuse(
          {"deadlock: second read lock of an rwlock while a writer waits",
           "rwlock", &lock, where, "held since", mine->where()});
    }
    Wait<elision::LibraryEngine> wait(&lock.word, where, OVS_LOCK_USE_READ);
    result = lock.read_lock(held_locks().self());
  }
  if (result != LockResult::kDone) rwlock_report(lock, where, result);
}

void rwlock_write_slowly(RealRwLock& lock, const char* where,
                         LockResult result) {
  if (result == LockResult::kBusy) {
    if (const HeldLock* mine = held_locks().find(&lock.word)) {
      report_misuse({"deadlock: write lock of an rwlock that the caller reads",
                     "rwlock", &lock, where, "held since", mine->where()});
    }
    Wait<elision::LibraryEngine> wait(&lock.word, where, OVS_LOCK_USE_WRITE);
    result = lock.write_lock(held_locks().self());
  }
  if (result != LockResult::kDone) rwlock_report(lock, where, result);
}

void rwlock_consider_bias(RealRwLock& lock) {
  // Relaxed: as where it is set.
  if (!bias_allowed.load(kRelaxed)) return;
  if (tls_reader_line != nullptr || acquire_reader_line() != nullptr) {
    lock.set_bias();
  }
}

void EitherRwLock::unlock(RealRwLock& lock, const char* where) {
  HeldLock* held = held_locks().find(&lock.word);
  if (held != nullptr) {
    if (held->elided()) return elision::LibraryEngine::release(held);
    bool biased = held->hold() == Hold::kBiased;
    held_locks().remove(held);
    if (biased) {
      lock.read_unlock_biased(*tls_reader_line);
    } else {
      lock.read_unlock();
    }
    // Not wholly released, if it was read twice.
    if (held_locks().find(&lock.word) != nullptr) return;
  } else if (lock.write_held_by(held_locks().self())) {
    lock.write_unlock();
  } else if (lock.word.load(kRelaxed) & kLockLive) {
    report_not_held(lock, where,
                    "unlock of an rwlock that the caller does not hold");
  } else {
    report_dead(lock, where, "unlock of an uninitialised rwlock",
                "unlock of a destroyed rwlock");
  }
  elision::LibraryEngine::released_for_real(lock.word);
}

void EitherRwLock::destroy(RealRwLock& lock, const char* where) {
  LockResult result = held_locks().find(&lock.word) != nullptr
                          ? LockResult::kHeld
                          : lock.destroy();
  if (result == LockResult::kHeld) {
    report(lock, where, "destroy of an rwlock that is held", "held since");
  }
  if (result == LockResult::kDead) {
    report_dead(lock, where, "destroy of an uninitialised rwlock",
                "destroy of a destroyed rwlock");
  }
  stats::destroyed(&lock.word);
  lock.where.store(where, kRelaxed);
}

bool rwlock_is_write_held(const RealRwLock& lock) {
  if (lock.write_held_by(held_locks().self())) return true;
  const HeldLock* held = held_locks().find(&lock.word);
  return held != nullptr && held->hold() == Hold::kElidedExclusive;
}

bool rwlock_is_held(const RealRwLock& lock) {
  return lock.write_held_by(held_locks().self()) ||
         held_locks().find(&lock.word) != nullptr;
}

void rwlock_assert_write_held(const RealRwLock& lock, const char* where) {
  if (rwlock_is_write_held(lock)) return;
  report_not_held(lock, where, "rwlock not held for writing by the caller");
}

void rwlock_assert_held(const RealRwLock& lock, const char* where) {
  if (rwlock_is_held(lock)) return;
  report_not_held(lock, where, "rwlock not held by the caller");
}

}  // namespace ovsthread
