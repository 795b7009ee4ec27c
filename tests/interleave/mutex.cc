// SPDX-License-Identifier: Apache-2.0
//
// The mutex (lib/mutex-core.h) with real and with elided holders, and its gate
// for conditions.
#include "interleave/driver.h"
#include "interleave/elided.h"
#include "interleave/exclusive-lock.h"
#include "interleave/model-atomics.h"
#include "interleave/model-platform.h"
#include "mutex-core.h"
#include "mutex-operations.h"

namespace {

using ovsthread::LockResult;
using ovsthread::ModelAtomics;
using ovsthread::ModelElision;
using ovsthread::ModelEngine;
using ovsthread::ModelPlatform;
using ovsthread::Way;
using Core = ovsthread::MutexCore<ModelAtomics, ModelPlatform>;

class Mutex : public ovsthread::ExclusiveModel<Core, ovsthread::LockMutex> {
 public:
  Mutex() {
    core.spins = 0;
    core.depth = 0;
  }

  void wait(ModelPlatform::Condition& condition) {
    ModelEngine::safe_point(OVS_SAFE_POINT_CONDITION_WAIT);
    RL_ASSERT(core.wait(condition, ModelElision::self()) == LockResult::kDone);
  }
};

template <Way... ways>
using Count = ovsthread::Count<Mutex, ways...>;
template <Way... ways>
using CountQueued = ovsthread::CountQueued<Mutex, ways...>;
using ReleaseInside = ovsthread::ReleaseInside<Mutex>;
template <Way way>
using Nested = ovsthread::Nested<Mutex, way>;
template <Way way>
using Destroy = ovsthread::Destroy<Mutex, way>;

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

// The mode changes while a waiter uses the gate.
struct WaitInChange : rl::test_suite<WaitInChange, 3> {
  ModelPlatform platform;
  ModelElision elision;
  Mutex mutex;
  ModelPlatform::Condition condition;
  ModelAtomics::Var<int> ready{0};

  void thread(unsigned index) {
    ModelElision::Scope scope(1);
    if (index == 0) {
      mutex.lock(Way::kChangeMode);
      while (!ready) mutex.wait(condition);
      mutex.unlock();
    } else {
      mutex.lock(index == 1 ? Way::kElide : Way::kChangeMode);
      ready = 1;
      mutex.unlock();
      condition.signal();
    }
  }

  void after() { RL_ASSERT(mutex.at_rest()); }
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
  constexpr Way kChange = Way::kChangeMode;
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
       full<Count<kChange, kReal>>("a change of mode beside a real section",
                                   {1, 2}),
       full<Count<kChange, kElide>>("a change of mode beside an elided one",
                                    {1, 2, kSubscribe}),
       random<Count<kChange, kReal, kChange, kElide>>("modes change to and fro",
                                                      {1, 2, kSubscribe}),
       full<CountQueued<kReal, kElide>>("an eliding thread that queues",
                                        {1, 2, kSubscribe}),
       bounded<CountQueued<kReal, kElide, kElide>>(
           "two of them, and the wake-up goes on", 2, {1, 2, kSubscribe}),
       random<CountQueued<kReal, kElide, kReal, kElide>>(
           "eliding and real threads in one queue", {1, 2, kSubscribe}),
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
       random<WaitInChange>("the mode changes around a waiter", {1, 2}),
       random<TwoWait>("two waiters, a signaller and a bystander", {1, 2})});
}
