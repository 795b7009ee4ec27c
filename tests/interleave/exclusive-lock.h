// SPDX-License-Identifier: Apache-2.0
//
// Scenarios of locks with one holder (lib/lock-exclusive.h), real and elided.
#ifndef OVSTHREAD_TESTS_INTERLEAVE_EXCLUSIVE_LOCK_H_
#define OVSTHREAD_TESTS_INTERLEAVE_EXCLUSIVE_LOCK_H_

#include <cstdlib>

#include "interleave/driver.h"
#include "interleave/elided.h"
#include "interleave/model-atomics.h"
#include "interleave/model-platform.h"
#include "interleave/model-transactions.h"
#include "lock-operations.h"

namespace ovsthread {

// A thread's way to use a lock.
enum class Way { kReal, kTry, kElide, kTryElide, kChangeMode };

// Core as the library uses it; Operation is the library's (LockMutex), for its
// kKind.
template <class Core, class Operation>
class ExclusiveModel {
 public:
  ExclusiveModel() { core.word.store(kLockLive, kRelaxed); }

  // False: a try that failed.
  bool lock(Way way) {
    Model::kKind = subscribed_by(Operation::kKind);
    switch (way) {
      case Way::kChangeMode:
        change_mode(core.word);
        [[fallthrough]];
      case Way::kReal:
        Model::take(core, nullptr);
        return true;
      case Way::kTry:
        return Model::try_take(core, nullptr);
      case Way::kElide:
        lock_by<Model>(core, nullptr);
        return true;
      case Way::kTryElide:
        break;
    }
    return try_lock_by<Model>(core, nullptr);
  }

  // As ExclusiveLock::unlock().
  void unlock() {
    HeldLocks& held = ModelElision::thread().held;
    if (HeldLock* mine = held.find(&core.word)) {
      return ModelEngine::release(mine);
    }
    if (held.any_elided() || !core.unlock_fast(ModelElision::self())) {
      RL_ASSERT(core.unlock(ModelElision::self()) == LockResult::kDone);
    }
    ModelEngine::released_for_real(core.word);
  }

  // Whether it is free and whole, in whatever mode.
  bool at_rest() const {
    return (core.word.load(kRelaxed) & ~kLockElide) == kLockLive;
  }

  Core core;

 private:
  struct Model {
    using Lock = Core;
    using Engine = ModelEngine;
    static inline elision::LockKind kKind;

    static void take(Core& core, const char*) {
      if (!core.lock_fast(ModelElision::self())) {
        RL_ASSERT(core.lock(ModelElision::self()) == LockResult::kDone);
      }
    }
    static void take_slowly(Core& core, const char*) {
      RL_ASSERT(core.lock(ModelElision::self()) == LockResult::kDone);
    }
    static void await(Core& core) { core.await(); }
    static bool try_take(Core& core, const char*) {
      LockResult result = core.try_lock(ModelElision::self());
      RL_ASSERT(result == LockResult::kDone || result == LockResult::kBusy);
      return result == LockResult::kDone;
    }
    [[noreturn]] static void report_relock(Core&, const char*) {
      RL_ASSERT(!"relock");
      std::abort();
    }
  };
};

// Each thread adds 1; who fails to get the lock adds nothing.
// QUEUED: see ModelElision.
template <class Lock, unsigned queued, Way... ways>
struct CountFrom
    : rl::test_suite<CountFrom<Lock, queued, ways...>, sizeof...(ways)> {
  ModelPlatform platform;
  ModelElision elision{queued};
  Lock lock;
  ModelAtomics::Var<int> sum{0};
  int expected = 0;

  void thread(unsigned index) {
    constexpr Way kWays[] = {ways...};
    ModelElision::Scope scope(1);
    if (!lock.lock(kWays[index])) return;
    sum += 1;
    lock.unlock();
    expected++;
  }

  void after() {
    RL_ASSERT(sum == expected);
    RL_ASSERT(lock.at_rest());
  }
};

template <class Lock, Way... ways>
using Count = CountFrom<Lock, elision::kMaxQueued, ways...>;

// Who wants to elide waits in the queue once, if need be.
template <class Lock, Way... ways>
using CountQueued = CountFrom<Lock, elision::kMaxQueued - 1, ways...>;

// One lock, held for real, is released inside a section that another one
// guards: it is free with the commit of that section, not before.
template <class Lock>
struct ReleaseInside : rl::test_suite<ReleaseInside<Lock>, 2> {
  ModelPlatform platform;
  ModelElision elision;
  Lock outer;
  Lock inner;
  ModelAtomics::Var<int> of_outer{0};
  ModelAtomics::Var<int> of_inner{0};

  void thread(unsigned index) {
    ModelElision::Scope scope(1);
    outer.lock(Way::kReal);
    if (index == 0) {
      inner.lock(Way::kElide);
      of_outer = 1;
      outer.unlock();
      of_inner = 1;
      inner.unlock();
    } else {
      int seen = of_outer;
      outer.unlock();
      inner.lock(Way::kReal);
      RL_ASSERT(of_inner >= seen);
      inner.unlock();
    }
  }
};

// One thread has both locks in one transaction, which ends with the second
// unlock; the other one takes them one after the other, or tries inside.
template <class Lock, Way way>
struct Nested : rl::test_suite<Nested<Lock, way>, 2> {
  ModelPlatform platform;
  ModelElision elision;
  Lock outer;
  Lock inner;
  ModelAtomics::Var<int> of_outer{0};
  ModelAtomics::Var<int> of_inner{0};
  int expected = 0;

  void thread(unsigned index) {
    ModelElision::Scope scope(1);
    if (index == 0) {
      outer.lock(Way::kElide);
      of_outer += 1;
      if (inner.lock(way)) {
        of_inner += 1;
        outer.unlock();
        of_inner += 1;
        inner.unlock();
        expected += 2;
      } else {
        outer.unlock();
      }
    } else {
      inner.lock(Way::kReal);
      of_inner += 1;
      inner.unlock();
      outer.lock(Way::kReal);
      of_outer += 1;
      outer.unlock();
    }
  }

  void after() {
    RL_ASSERT(of_outer == 2 && of_inner == 1 + expected);
    RL_ASSERT(outer.at_rest());
    RL_ASSERT(inner.at_rest());
  }
};

// The last user destroys the lock at once, while the one before may still be
// in its unlock.
template <class Lock, Way way>
struct Destroy : rl::test_suite<Destroy<Lock, way>, 2> {
  struct Object {
    Lock lock;
    ModelAtomics::Var<int> users{2};
  };
  ModelPlatform platform;
  ModelElision elision;
  Object* object;

  void before() { object = new Object; }

  void thread(unsigned index) {
    ModelElision::Scope scope(1);
    object->lock.lock(index == 0 ? way : Way::kReal);
    object->users -= 1;
    bool last = object->users == 0;
    object->lock.unlock();
    if (last) {
      RL_ASSERT(object->lock.core.destroy() == LockResult::kDone);
      delete object;
    }
  }
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_INTERLEAVE_EXCLUSIVE_LOCK_H_
