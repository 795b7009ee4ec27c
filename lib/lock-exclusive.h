// SPDX-License-Identifier: Apache-2.0
//
// A lock with one holder as C and C++ callers get it: its core (MutexCore,
// SpinLockCore), elision and diagnostics.
//
// It is most of an Operation of lock-operations.h: a lock derives from
// ExclusiveLock<Core>, adds its kKind, and has the members that are not inline
// instantiated in its source file.
#ifndef OVSTHREAD_LIB_LOCK_EXCLUSIVE_H_
#define OVSTHREAD_LIB_LOCK_EXCLUSIVE_H_

#include "lock-misuse.h"
#include "lock-operations.h"
#include "lock-stats-registry.h"

namespace ovsthread {

template <class Core>
class ExclusiveLock {
 public:
  using Lock = Core;
  using Engine = elision::LibraryEngine;

  static void take(Core& lock, const char* where) {
    if (__builtin_expect(!lock.lock_fast(held_locks().self_if_known()), 0)) {
      return lock_slowly(lock, where);
    }
    lock.where.store(where, kRelaxed);
  }

  // The fast way's guess of the word is no good here.
  static void take_slowly(Core& lock, const char* where) {
    lock_slowly(lock, where);
  }

  static void await(Core& lock) { lock.await(); }

  static bool try_take(Core& lock, const char* where) {
    if (__builtin_expect(!lock.lock_fast(held_locks().self_if_known()), 0)) {
      return try_slowly(lock, where);
    }
    lock.where.store(where, kRelaxed);
    return true;
  }

  [[noreturn]] static void report_relock(const Core& lock, const char* where) {
    report(lock, where, "deadlock: lock of a %s that the caller holds",
           "held since");
  }

  // Misuse if the caller does not hold it.
  static void unlock(Core& lock, const char* where) {
    HeldLocks& held = held_locks();
    if (__builtin_expect(
            held.any_elided() || !lock.unlock_fast(held.self_if_known()), 0)) {
      return unlock_slowly(lock, where);
    }
    Engine::released_for_real(lock.word);
  }

  // Misuse if it is held, or not initialised.
  static void destroy(Core& lock, const char* where);

  // Whether the caller holds it, elided or for real.
  static bool is_held(const Core& lock) {
    return lock.held_by(held_locks().self()) ||
           held_locks().find(&lock.word) != nullptr;
  }

  // Reports unless the caller holds it.
  static void assert_held(const Core& lock, const char* where) {
    if (is_held(lock)) return;
    report(lock, where, "%s not held by the caller", "last taken at");
  }

 protected:
  static HeldLocks& held_locks() { return elision::tls_elision.held; }

  [[noreturn]] static void report(const Core& lock, const char* where,
                                  const char* what, const char* relation) {
    report_misuse(
        {what, Core::kName, &lock, where, relation, lock.where.load(kRelaxed)});
  }

  // NEVER: what to say of a lock that was never initialised.
  [[noreturn]] static void report_dead(const Core& lock, const char* where,
                                       const char* never,
                                       const char* destroyed) {
    if (lock.word.load(kRelaxed) == Core::kDestroyed) {
      report(lock, where, destroyed, "destroyed at");
    }
    report_misuse({never, Core::kName, &lock, where, nullptr, nullptr});
  }

 private:
  // The rest of take(), try_take() and unlock() when the word is not simply
  // free, or not simply the caller's.
  static void lock_slowly(Core& lock, const char* where);
  static bool try_slowly(Core& lock, const char* where);
  static void unlock_slowly(Core& lock, const char* where);

  [[noreturn]] static void report_lock(const Core& lock, const char* where,
                                       LockResult result) {
    if (result == LockResult::kHeld) report_relock(lock, where);
    if (result == LockResult::kTooMany) {
      report(lock, where, "too many recursive locks of a %s", "last taken at");
    }
    report_dead(lock, where, "lock of an uninitialised %s",
                "lock of a destroyed %s");
  }
};

template <class Core>
bool ExclusiveLock<Core>::try_slowly(Core& lock, const char* where) {
  LockResult result = lock.try_lock(held_locks().self());
  if (result == LockResult::kBusy) return false;
  if (result != LockResult::kDone) report_lock(lock, where, result);
  lock.where.store(where, kRelaxed);
  return true;
}

template <class Core>
void ExclusiveLock<Core>::lock_slowly(Core& lock, const char* where) {
  // A word in elide mode always gets here, which makes sense while it elides.
  // Relaxed: a hint.
  constexpr uint32_t kLiveAndElide = kLockLive | kLockElide;
  if (!Engine::active() &&
      (lock.word.load(kRelaxed) & kLiveAndElide) == kLiveAndElide) {
    lock.word.fetch_and(~kLockElide, kRelaxed);
  }
  LockResult result = lock.try_lock(held_locks().self());
  if (result == LockResult::kBusy) {
    Wait<Engine> wait(&lock.word, where, Core::kUse);
    result = lock.lock(held_locks().self());
  }
  if (result != LockResult::kDone) report_lock(lock, where, result);
  lock.where.store(where, kRelaxed);
}

template <class Core>
void ExclusiveLock<Core>::unlock_slowly(Core& lock, const char* where) {
  if (HeldLock* held = held_locks().find(&lock.word)) {
    return Engine::release(held);
  }
  uint32_t self = held_locks().self();
  // Asked beforehand: after the release the lock may be gone.
  bool wholly = lock.held_once_by(self);
  LockResult result = lock.unlock(self);
  if (result == LockResult::kDone) {
    if (wholly) Engine::released_for_real(lock.word);
    return;
  }
  if (result == LockResult::kNotHeld) {
    bool is_held = Core::owner(lock.word.load(kRelaxed)) != 0;
    report(lock, where, "unlock of a %s that the caller does not hold",
           is_held ? "held by another thread since" : "last taken at");
  }
  report_dead(lock, where, "unlock of an uninitialised %s",
              "unlock of a destroyed %s");
}

template <class Core>
void ExclusiveLock<Core>::destroy(Core& lock, const char* where) {
  LockResult result = held_locks().find(&lock.word) != nullptr
                          ? LockResult::kHeld
                          : lock.destroy();
  if (result == LockResult::kHeld) {
    report(lock, where, "destroy of a %s that is held", "held since");
  }
  if (result == LockResult::kDead) {
    report_dead(lock, where, "destroy of an uninitialised %s",
                "destroy of a destroyed %s");
  }
  stats::destroyed(&lock.word);
  lock.where.store(where, kRelaxed);
}

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_LOCK_EXCLUSIVE_H_
