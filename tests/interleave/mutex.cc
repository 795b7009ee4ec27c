// SPDX-License-Identifier: Apache-2.0
//
// The mutex (lib/mutex-core.h) with real and with elided holders, and its gate
// for conditions.
#include <cstdlib>

#include "interleave/driver.h"
#include "interleave/elided.h"
#include "interleave/model-atomics.h"
#include "interleave/model-platform.h"
#include "interleave/model-transactions.h"
#include "mutex-core.h"
#include "mutex-operations.h"

namespace {

using ovsthread::kLockLive;
using ovsthread::kRelaxed;
using ovsthread::LockResult;
using ovsthread::ModelAtomics;
using ovsthread::ModelElision;
using ovsthread::ModelEngine;
using ovsthread::ModelPlatform;
using Core = ovsthread::MutexCore<ModelAtomics, ModelPlatform>;

// As LockMutex.
struct LockModel {
  using Lock = Core;
  using Engine = ModelEngine;
  static inline ovsthread::elision::LockKind kKind;

  static void take(Core& core, const char*) {
    if (!core.lock_fast(ModelElision::self())) {
      RL_ASSERT(core.lock(ModelElision::self()) == LockResult::kDone);
    }
  }
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

// A thread's way to use the mutex.
enum class Way { kReal, kTry, kElide, kTryElide };

class Mutex {
 public:
  Mutex() {
    core.word.store(kLockLive, kRelaxed);
    core.spins = 0;
    core.depth = 0;
  }

  // False: a try that failed.
  bool lock(Way way) {
    LockModel::kKind = ovsthread::subscribed_by(ovsthread::LockMutex::kKind);
    switch (way) {
      case Way::kReal:
        LockModel::take(core, nullptr);
        return true;
      case Way::kTry:
        return LockModel::try_take(core, nullptr);
      case Way::kElide:
        ovsthread::lock_by<LockModel>(core, nullptr);
        return true;
      case Way::kTryElide:
        break;
    }
    return ovsthread::try_lock_by<LockModel>(core, nullptr);
  }

  // As mutex_unlock().
  void unlock() {
    ovsthread::HeldLocks& held = ModelElision::thread().held;
    if (ovsthread::HeldLock* mine = held.find(&core.word)) {
      return ModelEngine::release(mine);
    }
    if (held.any_elided() || !core.unlock_fast(ModelElision::self())) {
      RL_ASSERT(core.unlock(ModelElision::self()) == LockResult::kDone);
    }
    ModelEngine::released_for_real(core.word);
  }

  void wait(ModelPlatform::Condition& condition) {
    ModelEngine::safe_point(OVS_SAFE_POINT_CONDITION_WAIT);
    RL_ASSERT(core.wait(condition, ModelElision::self()) == LockResult::kDone);
  }

  Core core;
};

// Each thread adds 1; who fails to get the lock adds nothing.
template <Way... ways>
struct Count : rl::test_suite<Count<ways...>, sizeof...(ways)> {
  ModelPlatform platform;
  ModelElision elision;
  Mutex mutex;
  ModelAtomics::Var<int> sum{0};
  int expected = 0;

  void thread(unsigned index) {
    constexpr Way kWays[] = {ways...};
    ModelElision::Scope scope(1);
    if (!mutex.lock(kWays[index])) return;
    sum += 1;
    mutex.unlock();
    expected++;
  }

  void after() {
    RL_ASSERT(sum == expected);
    RL_ASSERT(mutex.core.word.load(kRelaxed) == kLockLive);
  }
};

// One mutex, held for real, is released inside a section that another one
// guards: it is free with the commit of that section, not before.
struct ReleaseInside : rl::test_suite<ReleaseInside, 2> {
  ModelPlatform platform;
  ModelElision elision;
  Mutex outer;
  Mutex inner;
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

// One thread has both mutexes in one transaction, which ends with the second
// unlock; the other one takes them one after the other, or tries inside.
template <Way way>
struct Nested : rl::test_suite<Nested<way>, 2> {
  ModelPlatform platform;
  ModelElision elision;
  Mutex outer;
  Mutex inner;
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
    RL_ASSERT(outer.core.word.load(kRelaxed) == kLockLive);
    RL_ASSERT(inner.core.word.load(kRelaxed) == kLockLive);
  }
};

// The last user destroys the mutex at once, while the one before may still be
// in its unlock.
template <Way way>
struct Destroy : rl::test_suite<Destroy<way>, 2> {
  struct Object {
    Mutex mutex;
    ModelAtomics::Var<int> users{2};
  };
  ModelPlatform platform;
  ModelElision elision;
  Object* object;

  void before() { object = new Object; }

  void thread(unsigned index) {
    ModelElision::Scope scope(1);
    object->mutex.lock(index == 0 ? way : Way::kReal);
    object->users -= 1;
    bool last = object->users == 0;
    object->mutex.unlock();
    if (last) {
      RL_ASSERT(object->mutex.core.destroy() == LockResult::kDone);
      delete object;
    }
  }
};

// A waiter is not missed by who changes the predicate and signals, inside or
// behind the section, with a plain signal.
template <Way way, bool kInside>
struct Wait : rl::test_suite<Wait<way, kInside>, 2> {
  ModelPlatform platform;
  ModelElision elision;
  Mutex mutex;
  ModelPlatform::Condition condition;
  ModelAtomics::Var<int> ready{0};

  void thread(unsigned index) {
    ModelElision::Scope scope(1);
    if (index == 0) {
      mutex.lock(Way::kReal);
      while (!ready) mutex.wait(condition);
      mutex.unlock();
    } else {
      mutex.lock(way);
      ready = 1;
      if (kInside) condition.signal();
      mutex.unlock();
      if (!kInside) condition.signal();
    }
  }
};

// Two waiters and the gate left by both; a third thread that only counts.
struct TwoWait : rl::test_suite<TwoWait, 4> {
  ModelPlatform platform;
  ModelElision elision;
  Mutex mutex;
  ModelPlatform::Condition condition[2];
  ModelAtomics::Var<int> ready{0};
  ModelAtomics::Var<int> sum{0};

  void thread(unsigned index) {
    ModelElision::Scope scope(1);
    if (index < 2) {
      mutex.lock(index == 0 ? Way::kReal : Way::kElide);
      while (!ready) mutex.wait(condition[index]);
      mutex.unlock();
    } else if (index == 2) {
      mutex.lock(Way::kElide);
      ready = 1;
      mutex.unlock();
      condition[0].signal();
      condition[1].signal();
    } else {
      mutex.lock(Way::kElide);
      sum += 1;
      mutex.unlock();
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  constexpr int kSubscribe = ovsthread::kUnsubscribed;
  constexpr Way kReal = Way::kReal;
  constexpr Way kTry = Way::kTry;
  constexpr Way kElide = Way::kElide;
  return run(
      argc, argv,
      {full<Count<kReal, kReal>>("two real sections", {1, 2}),
       full<Count<kReal, kTry>>("a real section and a try", {1, 2}),
       full<Count<kReal, kElide>>("a real and an elided section",
                                  {1, 2, kSubscribe}),
       full<Count<kElide, kElide>>("two elided sections", {1, 2}),
       random<Count<kReal, kReal, kReal>>("three real sections", {1, 2}),
       random<Count<kReal, kElide, kReal, kElide>>(
           "two real and two elided sections", {1, 2, kSubscribe}),
       random<Count<kReal, kElide, kReal, kTry>>("all ways at once",
                                                 {1, 2, kSubscribe}),
       full<ReleaseInside>("a real mutex released in an elided section",
                           {1, 2}),
       bounded<Nested<kElide>>("two mutexes in one transaction", 4,
                               {1, 2, kSubscribe}),
       bounded<Nested<Way::kTryElide>>("a try inside a transaction", 4,
                                       {1, 2, kSubscribe}),
       full<Destroy<kReal>>("destroy after a real unlock", {1, 2}),
       full<Destroy<kElide>>("destroy after an elided unlock", {kSubscribe}),
       random<Wait<kReal, true>>("a real signal inside the section", {1, 2}),
       full<Wait<kReal, false>>("a real signal behind the section", {1, 2}),
       random<Wait<kElide, true>>("an elided signal inside the section",
                                  {1, 2}),
       full<Wait<kElide, false>>("an elided signal behind the section", {1, 2}),
       random<TwoWait>("two waiters, a signaller and a bystander", {1, 2})});
}
