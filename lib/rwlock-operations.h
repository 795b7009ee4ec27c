// SPDX-License-Identifier: Apache-2.0
//
// The reader-writer lock as C and C++ callers get it: RwLockCore, elision, the
// held-list and diagnostics.
#ifndef OVSTHREAD_LIB_RWLOCK_OPERATIONS_H_
#define OVSTHREAD_LIB_RWLOCK_OPERATIONS_H_

#include "lock-operations.h"
#include "lock-platform.h"
#include "rwlock-core.h"
#include "rwlock-lines.h"

namespace ovsthread {

using RealRwLock = RwLockCore<RealAtomics, LockPlatform>;

// What LockResult RESULT, no success, means for the caller of the operations
// below: they wait, or report.
void rwlock_read_slowly(RealRwLock& lock, const char* where, LockResult result);
void rwlock_write_slowly(RealRwLock& lock, const char* where,
                         LockResult result);
[[noreturn]] void rwlock_report(RealRwLock& lock, const char* where,
                                LockResult result);
[[noreturn]] void rwlock_report_relock(const RealRwLock& lock,
                                       const char* where);

// The caller has counted itself in LOCK: makes it biased now and then, if that
// is allowed, which takes a line.
void rwlock_consider_bias(RealRwLock& lock);

// What the two ways to take it share.
struct EitherRwLock {
  using Lock = RealRwLock;
  using Engine = elision::LibraryEngine;

  [[noreturn]] static void report_relock(RealRwLock& lock, const char* where) {
    rwlock_report_relock(lock, where);
  }

  // Misuse if the caller does not hold it.
  static void unlock(RealRwLock& lock, const char* where);

  // Misuse if it is held, or not initialised.
  static void destroy(RealRwLock& lock, const char* where);
};

struct ReadLockRwLock : EitherRwLock {
  static constexpr elision::LockKind kKind = {
      Hold::kElidedShared,
      kLockLive | kRwWriter | kRwWritersWait,
      kRwWriter | kOwnerMask,
      kRwWriter,
      0,
      0,
      OVS_LOCK_USE_READ};

  static void take(RealRwLock& lock, const char* where) {
    if (take_biased(lock, where)) return;
    LockResult result = lock.try_read_lock();
    if (__builtin_expect(result != LockResult::kDone, 0)) {
      rwlock_read_slowly(lock, where, result);
    }
    note(lock, where);
  }
  static void take_slowly(RealRwLock& lock, const char* where) {
    take(lock, where);
  }
  static void await(RealRwLock& lock) { lock.await(); }
  static bool try_take(RealRwLock& lock, const char* where) {
    if (take_biased(lock, where)) return true;
    LockResult result = lock.try_read_lock();
    if (result == LockResult::kBusy) return false;
    if (__builtin_expect(result != LockResult::kDone, 0)) {
      rwlock_report(lock, where, result);
    }
    note(lock, where);
    return true;
  }

 private:
  static bool take_biased(RealRwLock& lock, const char* where) {
    ReaderLine* line = tls_reader_line;
    if (line == nullptr || !lock.read_biased(*line)) return false;
    elision::tls_elision.held.push_real(&lock.word, Hold::kBiased, where);
    return true;
  }

  // The caller is counted.
  static void note(RealRwLock& lock, const char* where) {
    lock.where.store(where, kRelaxed);
    elision::tls_elision.held.push_real(&lock.word, Hold::kCounted, where);
    ReaderLine* line = tls_reader_line;
    if (line == nullptr || ++line->counted % kCountedPerLook == 0) {
      rwlock_consider_bias(lock);
    }
  }

  // A power of 2.  A look at the clock costs as much as an atomic operation.
  static constexpr unsigned kCountedPerLook = 16;
};

struct WriteLockRwLock : EitherRwLock {
  // A biased lock may have readers that no transaction sees.
  static constexpr elision::LockKind kKind = {Hold::kElidedExclusive,
                                              ~kLockElide,
                                              kRwWriter | kOwnerMask,
                                              kRwWriter,
                                              0,
                                              kRwBias,
                                              OVS_LOCK_USE_WRITE,
                                              false};

  static void take(RealRwLock& lock, const char* where) {
    LockResult result = lock.try_write_lock(elision::tls_elision.held.self());
    if (__builtin_expect(result != LockResult::kDone, 0)) {
      rwlock_write_slowly(lock, where, result);
    }
    lock.where.store(where, kRelaxed);
  }
  static void take_slowly(RealRwLock& lock, const char* where) {
    take(lock, where);
  }
  static void await(RealRwLock&) {}  // never asked for
  static bool try_take(RealRwLock& lock, const char* where) {
    LockResult result = lock.try_write_lock(elision::tls_elision.held.self());
    if (result == LockResult::kBusy) return false;
    if (__builtin_expect(result != LockResult::kDone, 0)) {
      rwlock_report(lock, where, result);
    }
    lock.where.store(where, kRelaxed);
    return true;
  }
};

// Whether the caller holds it for writing; at all.  Elided or for real.
bool rwlock_is_write_held(const RealRwLock& lock);
bool rwlock_is_held(const RealRwLock& lock);

// Report unless the caller does.
void rwlock_assert_write_held(const RealRwLock& lock, const char* where);
void rwlock_assert_held(const RealRwLock& lock, const char* where);

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_RWLOCK_OPERATIONS_H_
