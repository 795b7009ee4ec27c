// SPDX-License-Identifier: Apache-2.0
#include "mutex-operations.h"

#include "lock-misuse.h"

namespace ovsthread {
namespace {

HeldLocks& held_locks() { return elision::tls_elision.held; }

[[noreturn]] void report(const RealMutex& mutex, const char* where,
                         const char* what, const char* relation) {
  report_misuse(
      {what, "mutex", &mutex, where, relation, mutex.where.load(kRelaxed)});
}

[[noreturn]] void report_dead(const RealMutex& mutex, const char* where,
                              const char* never, const char* destroyed) {
  if (mutex.word.load(kRelaxed) == kMutexDestroyed) {
    report(mutex, where, destroyed, "destroyed at");
  }
  report_misuse({never, "mutex", &mutex, where, nullptr, nullptr});
}

[[noreturn]] void report_lock(const RealMutex& mutex, const char* where,
                              LockResult result) {
  if (result == LockResult::kHeld) mutex_report_relock(mutex, where);
  if (result == LockResult::kTooMany) {
    report(mutex, where, "too many recursive locks", "last taken at");
  }
  report_dead(mutex, where, "lock of an uninitialised mutex",
              "lock of a destroyed mutex");
}

}  // namespace

void mutex_report_relock(const RealMutex& mutex, const char* where) {
  report(mutex, where, "deadlock: lock of a mutex that the caller holds",
         "held since");
}

void mutex_lock_slowly(RealMutex& mutex, const char* where) {
  LockResult result = mutex.lock(held_locks().self());
  if (result != LockResult::kDone) report_lock(mutex, where, result);
  mutex.where.store(where, kRelaxed);
}

bool mutex_try_lock(RealMutex& mutex, const char* where) {
  LockResult result = mutex.try_lock(held_locks().self());
  if (result == LockResult::kBusy) return false;
  if (result != LockResult::kDone) report_lock(mutex, where, result);
  mutex.where.store(where, kRelaxed);
  return true;
}

void mutex_unlock_slowly(RealMutex& mutex, const char* where) {
  if (HeldLock* held = held_locks().find(&mutex.word)) {
    return elision::LibraryEngine::release(held);
  }
  uint32_t self = held_locks().self();
  // Asked beforehand: after the release the mutex may be gone.
  bool wholly = mutex.held_by(self) && mutex.depth == 0;
  LockResult result = mutex.unlock(self);
  if (result == LockResult::kDone) {
    if (wholly) elision::LibraryEngine::released_for_real(mutex.word);
    return;
  }
  if (result == LockResult::kNotHeld) {
    bool is_held = RealMutex::owner(mutex.word.load(kRelaxed)) != 0;
    report(mutex, where, "unlock of a mutex that the caller does not hold",
           is_held ? "held by another thread since" : "last taken at");
  }
  report_dead(mutex, where, "unlock of an uninitialised mutex",
              "unlock of a destroyed mutex");
}

void mutex_destroy(RealMutex& mutex, const char* where) {
  LockResult result = held_locks().find(&mutex.word) != nullptr
                          ? LockResult::kHeld
                          : mutex.destroy();
  if (result == LockResult::kHeld) {
    report(mutex, where, "destroy of a mutex that is held", "held since");
  }
  if (result == LockResult::kDead) {
    report_dead(mutex, where, "destroy of an uninitialised mutex",
                "destroy of a destroyed mutex");
  }
  mutex.where.store(where, kRelaxed);
}

void mutex_wait(RealMutex& mutex, pthread_cond_t& condition,
                const char* where) {
  elision::safe_point(OVS_SAFE_POINT_CONDITION_WAIT);
  LockResult result = mutex.wait(condition, held_locks().self());
  if (result == LockResult::kDone) {
    mutex.where.store(where, kRelaxed);
    return;
  }
  if (result == LockResult::kNotHeld) {
    report(mutex, where, "wait with a mutex that the caller does not hold",
           "last taken at");
  }
  report_dead(mutex, where, "wait with an uninitialised mutex",
              "wait with a destroyed mutex");
}

bool mutex_is_held(const RealMutex& mutex) {
  return mutex.held_by(held_locks().self()) ||
         held_locks().find(&mutex.word) != nullptr;
}

void mutex_assert_held(const RealMutex& mutex, const char* where) {
  if (mutex_is_held(mutex)) return;
  report(mutex, where, "mutex not held by the caller", "last taken at");
}

}  // namespace ovsthread
