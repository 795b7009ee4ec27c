// SPDX-License-Identifier: Apache-2.0
//
// The frame of every lock operation: elide, else the real lock; and count it,
// if the program wants to know.
//
// An Operation names a way to take a lock: its Lock (a core), the Engine that
// elides it, its kKind (how the lock's word reads to a transaction), and the
// parts that differ:
//
//   take(lock, where)          takes the real lock, or reports
//   take_slowly(lock, where)   the same, out of line: the word is likely odd;
//                              both tell the statistics of a wait (Wait)
//   try_take(lock, where)      tries to; or reports
//   await(lock)                waits in its queue until it is, or was, released
//   report_relock(lock, where) the caller holds the lock elided already
//
// lock_by() and try_lock_by() are the two frames, LOCK_FUNCTION and
// TRY_LOCK_FUNCTION make C entry points of them.  UNLOCK_FUNCTION makes one of
// the lock type's own unlock(), which knows from the word or the held-list how
// the lock is held, and DESTROY_FUNCTION of its destroy(); with the plain
// functions for callers that take their address.
#ifndef OVSTHREAD_LIB_LOCK_OPERATIONS_H_
#define OVSTHREAD_LIB_LOCK_OPERATIONS_H_

#include <cerrno>

#include "elision-engine.h"
#include "lock-site.h"

namespace ovsthread {

// A wait for LOCK, which is held: the time until it ends, for the statistics.
template <class Engine>
class Wait {
 public:
  Wait(const void *lock, const char *where, ovs_lock_use use)
      : recorder_(Engine::recorder()), lock_(lock), where_(where), use_(use) {
    if (recorder_ != nullptr) recorder_->wait();
  }
  ~Wait() {
    if (recorder_ != nullptr) recorder_->end_wait(lock_, where_, use_);
  }
  Wait(const Wait &) = delete;
  Wait &operator=(const Wait &) = delete;

 private:
  stats::Recorder *recorder_;
  const void *lock_;
  const char *where_;
  ovs_lock_use use_;
};

// Takes the real lock, and counts it if statistics are on.
template <class Operation>
__attribute__((always_inline)) inline void take_counted(
    typename Operation::Lock &lock, const char *where,
    stats::Recorder *recorder) {
  Operation::take_slowly(lock, where);
  if (recorder == nullptr) return;
  Operation::Engine::count_real(*recorder, Operation::kKind, lock.word, where);
}

template <class Operation>
inline bool try_take_counted(typename Operation::Lock &lock,
                             const char *where) {
  using Engine = typename Operation::Engine;
  if (!Operation::try_take(lock, where)) return false;
  if (stats::Recorder *recorder = Engine::recorder()) {
    Engine::count_real(*recorder, Operation::kKind, lock.word, where);
  }
  return true;
}

// lock_by() while acquisitions are only counted.
template <class Operation>
__attribute__((noinline)) void lock_and_count(typename Operation::Lock &lock,
                                              const char *where) {
  stats::Recorder *recorder = Operation::Engine::recorder();
  if (recorder != nullptr) recorder->arrive(false);
  take_counted<Operation>(lock, where, recorder);
}

// lock_by() unless the lock is plainly to be taken for real.
template <class Operation>
__attribute__((noinline)) void lock_or_elide(typename Operation::Lock &lock,
                                             const char *where) {
  using Engine = typename Operation::Engine;
  using elision::Acquired;
  elision::Attempts attempts = Engine::attempts();
  for (;;) {
    switch (
        Engine::acquire(Operation::kKind, lock.word, where, false, attempts)) {
      case Acquired::kElided:
        return;
      case Acquired::kQueue:
        Operation::await(lock);
        break;
      case Acquired::kRelock:
        Operation::report_relock(lock, where);
      case Acquired::kFallback:
        take_counted<Operation>(lock, where, Engine::recorder());
        return Engine::took_for_real(lock.word, true);
      case Acquired::kReal:
      case Acquired::kBusy:
        return take_counted<Operation>(lock, where, Engine::recorder());
    }
  }
}

template <class Operation>
inline void lock_by(typename Operation::Lock &lock, const char *where) {
  if (!Operation::Engine::plainly_real(lock.word)) {
    return Operation::Engine::active() ? lock_or_elide<Operation>(lock, where)
                                       : lock_and_count<Operation>(lock, where);
  }
  Operation::take(lock, where);
}

// try_lock_by() while elision is active or acquisitions are counted.
template <class Operation>
__attribute__((noinline)) bool try_lock_or_elide(typename Operation::Lock &lock,
                                                 const char *where) {
  using Engine = typename Operation::Engine;
  using elision::Acquired;
  elision::Attempts attempts = Engine::attempts();
  switch (Engine::acquire(Operation::kKind, lock.word, where, true, attempts)) {
    case Acquired::kElided:
      return true;
    case Acquired::kRelock:
    case Acquired::kBusy:
    case Acquired::kQueue:
      return false;
    case Acquired::kFallback: {
      bool taken = try_take_counted<Operation>(lock, where);
      Engine::took_for_real(lock.word, taken);
      return taken;
    }
    case Acquired::kReal:
      break;
  }
  return try_take_counted<Operation>(lock, where);
}

template <class Operation>
inline bool try_lock_by(typename Operation::Lock &lock, const char *where) {
  if (Operation::Engine::attention()) {
    return try_lock_or_elide<Operation>(lock, where);
  }
  return Operation::try_take(lock, where);
}

}  // namespace ovsthread

#define LOCK_FUNCTION(TYPE, NAME, OPERATION)                                \
  void ovs_##TYPE##_##NAME##_at(const struct ovs_##TYPE *lock,              \
                                const char *where)                          \
      OVS_NO_THREAD_SAFETY_ANALYSIS {                                       \
    ovsthread::lock_by<ovsthread::OPERATION>(ovsthread::core(lock), where); \
  }

#define TRY_LOCK_FUNCTION(TYPE, NAME, OPERATION)               \
  int ovs_##TYPE##_##NAME##_at(const struct ovs_##TYPE *lock,  \
                               const char *where)              \
      OVS_NO_THREAD_SAFETY_ANALYSIS {                          \
    bool taken = ovsthread::try_lock_by<ovsthread::OPERATION>( \
        ovsthread::core(lock), where);                         \
    return taken ? 0 : EBUSY;                                  \
  }

#define UNLOCK_FUNCTION(TYPE, OPERATION)                        \
  void ovs_##TYPE##_unlock_at(const struct ovs_##TYPE *lock,    \
                              const char *where)                \
      OVS_NO_THREAD_SAFETY_ANALYSIS {                           \
    ovsthread::OPERATION::unlock(ovsthread::core(lock), where); \
  }                                                             \
  void(ovs_##TYPE##_unlock)(const struct ovs_##TYPE *lock)      \
      OVS_NO_THREAD_SAFETY_ANALYSIS {                           \
    ovsthread::OPERATION::unlock(                               \
        ovsthread::core(lock),                                  \
        ovsthread::site_in_code(__builtin_return_address(0)));  \
  }

#define DESTROY_FUNCTION(TYPE, OPERATION)                                    \
  void ovs_##TYPE##_destroy_at(struct ovs_##TYPE *lock, const char *where) { \
    ovsthread::OPERATION::destroy(ovsthread::core(lock), where);             \
  }                                                                          \
  void(ovs_##TYPE##_destroy)(struct ovs_##TYPE * lock) {                     \
    ovsthread::OPERATION::destroy(                                           \
        ovsthread::core(lock),                                               \
        ovsthread::site_in_code(__builtin_return_address(0)));               \
  }

#endif  // OVSTHREAD_LIB_LOCK_OPERATIONS_H_
