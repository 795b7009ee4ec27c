// SPDX-License-Identifier: Apache-2.0
//
// The reader-writer lock (lib/rwlock-core.h) with real and with elided holders.
#include <cstdlib>

#include "interleave/driver.h"
#include "interleave/elided.h"
#include "interleave/model-atomics.h"
#include "interleave/model-platform.h"
#include "interleave/model-transactions.h"
#include "rwlock-core.h"
#include "rwlock-operations.h"

namespace {

using ovsthread::kLockElide;
using ovsthread::kLockLive;
using ovsthread::kRelaxed;
using ovsthread::LockResult;
using ovsthread::ModelAtomics;
using ovsthread::ModelElision;
using ovsthread::ModelEngine;
using ovsthread::ModelPlatform;
using Core = ovsthread::RwLockCore<ModelAtomics, ModelPlatform>;

// As ReadLockRwLock and WriteLockRwLock.

struct Operation {
  using Lock = Core;
  using Engine = ModelEngine;
  [[noreturn]] static void report_relock(Core&, const char*) {
    RL_ASSERT(!"relock");
    std::abort();
  }

 protected:
  static bool done(LockResult result) {
    RL_ASSERT(result == LockResult::kDone || result == LockResult::kBusy);
    return result == LockResult::kDone;
  }
};

struct ReadLockModel : Operation {
  static inline ovsthread::elision::LockKind kKind;

  static void take(Core& core, const char* where) {
    RL_ASSERT(done(core.read_lock(ModelElision::self())));
    note(core, where);
  }
  static void take_slowly(Core& core, const char* where) { take(core, where); }
  static void await(Core& core) { core.await(); }
  static bool try_take(Core& core, const char* where) {
    if (!done(core.try_read_lock())) return false;
    note(core, where);
    return true;
  }

 private:
  static void note(Core& core, const char* where) {
    ModelElision::thread().held.push_counted(&core.word, where);
  }
};

struct WriteLockModel : Operation {
  static inline ovsthread::elision::LockKind kKind;

  static void take(Core& core, const char*) {
    RL_ASSERT(done(core.write_lock(ModelElision::self())));
  }
  static void take_slowly(Core& core, const char* where) { take(core, where); }
  static void await(Core&) { RL_ASSERT(!"a writer in the queue"); }
  static bool try_take(Core& core, const char*) {
    return done(core.try_write_lock(ModelElision::self()));
  }
};

// A thread's way to use the lock.
enum class Way {
  kRead,
  kTryRead,
  kElideRead,
  kWrite,
  kTryWrite,
  kElideWrite,
  kChangeMode  // and then write
};

class RwLock {
 public:
  RwLock() { core.word.store(kLockLive, kRelaxed); }

  // False: a try that failed.
  bool lock(Way way) {
    ReadLockModel::kKind =
        ovsthread::subscribed_by(ovsthread::ReadLockRwLock::kKind);
    WriteLockModel::kKind =
        ovsthread::subscribed_by(ovsthread::WriteLockRwLock::kKind);
    switch (way) {
      case Way::kElideRead:
        ovsthread::lock_by<ReadLockModel>(core, nullptr);
        return true;
      case Way::kRead:
        ReadLockModel::take(core, nullptr);
        return true;
      case Way::kTryRead:
        return ReadLockModel::try_take(core, nullptr);
      case Way::kElideWrite:
        ovsthread::lock_by<WriteLockModel>(core, nullptr);
        return true;
      case Way::kChangeMode:
        ovsthread::change_mode(core.word);
        [[fallthrough]];
      case Way::kWrite:
        WriteLockModel::take(core, nullptr);
        return true;
      case Way::kTryWrite:
        break;
    }
    return WriteLockModel::try_take(core, nullptr);
  }

  // As rwlock_unlock().
  void unlock() {
    ovsthread::HeldLocks& held = ModelElision::thread().held;
    if (ovsthread::HeldLock* mine = held.find(&core.word)) {
      if (mine->elided()) return ModelEngine::release(mine);
      held.remove(mine);
      core.read_unlock();
    } else {
      RL_ASSERT(core.write_held_by(ModelElision::self()));
      core.write_unlock();
    }
    ModelEngine::released_for_real(core.word);
  }

  Core core;
};

constexpr bool writes(Way way) {
  return way == Way::kWrite || way == Way::kTryWrite ||
         way == Way::kElideWrite || way == Way::kChangeMode;
}

// Writers add 1 to two counters, readers find them equal.
// QUEUED: see ModelElision.
template <unsigned queued, Way... ways>
struct CountFrom : rl::test_suite<CountFrom<queued, ways...>, sizeof...(ways)> {
  ModelPlatform platform;
  ModelElision elision{queued};
  RwLock lock;
  ModelAtomics::Var<int> first{0};
  ModelAtomics::Var<int> second{0};
  int expected = 0;

  void thread(unsigned index) {
    constexpr Way kWays[] = {ways...};
    ModelElision::Scope scope(1);
    if (!lock.lock(kWays[index])) return;
    if (writes(kWays[index])) {
      first += 1;
      second += 1;
    } else {
      int seen = first;
      RL_ASSERT(second == seen);
    }
    lock.unlock();
    expected += writes(kWays[index]);
  }

  void after() {
    RL_ASSERT(first == expected && second == expected);
    constexpr uint32_t kAny = ovsthread::kRwReadersWait | kLockElide;
    RL_ASSERT((lock.core.word.load(kRelaxed) & ~kAny) == kLockLive);
    RL_ASSERT(lock.core.waiting_writers.load(kRelaxed) == 0);
  }
};

template <Way... ways>
using Count = CountFrom<ovsthread::elision::kMaxQueued, ways...>;

// Who wants to elide waits in the queue once, if need be.
template <Way... ways>
using CountQueued = CountFrom<ovsthread::elision::kMaxQueued - 1, ways...>;

// The last user destroys the lock at once, while the one before may still be
// in its unlock.
template <Way way>
struct Destroy : rl::test_suite<Destroy<way>, 2> {
  struct Object {
    RwLock lock;
    ModelAtomics::Atomic<int> users{2};
  };
  ModelPlatform platform;
  ModelElision elision;
  Object* object;

  void before() { object = new Object; }

  void thread(unsigned index) {
    ModelElision::Scope scope(1);
    object->lock.lock(index == 0 ? way : Way::kWrite);
    bool last = object->users.fetch_sub(1, kRelaxed) == 1;
    object->lock.unlock();
    if (last) {
      // The other one has left the section.
      object->lock.lock(Way::kWrite);
      object->lock.unlock();
      RL_ASSERT(object->lock.core.destroy() == LockResult::kDone);
      delete object;
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  constexpr int kSubscribe = ovsthread::kUnsubscribed;
  constexpr int kBarrier = ModelPlatform::kNoKernelBarrier;
  constexpr Way kRead = Way::kRead;
  constexpr Way kTryRead = Way::kTryRead;
  constexpr Way kElideRead = Way::kElideRead;
  constexpr Way kWrite = Way::kWrite;
  constexpr Way kTryWrite = Way::kTryWrite;
  constexpr Way kElideWrite = Way::kElideWrite;
  constexpr Way kChange = Way::kChangeMode;
  return run(
      argc, argv,
      {full<Count<kRead, kTryWrite>>("a reader and a try to write", {2, 3}),
       full<Count<kTryRead, kTryWrite>>("tries alone", {2, 3}),
       full<Count<kRead, kWrite>>("a reader and a writer", {1, 2, 3, 4}),
       full<Count<kElideRead, kTryWrite>>("an elided reader and a writer",
                                          {kSubscribe}),
       full<Count<kRead, kElideWrite>>("a reader and an elided writer",
                                       {kSubscribe}),
       full<Count<kElideRead, kElideWrite>>("an elided reader and writer",
                                            {1, 2, 3, 4}),
       random<Count<kElideRead, kRead, kElideWrite>>(
           "an elided reader beside a real one", {kSubscribe}),
       random<Count<kWrite, kWrite, kWrite>>("three writers",
                                             {2, 4, 5, kBarrier}),
       random<Count<kWrite, kWrite, kRead, kRead>>("two writers, two readers",
                                                   {1, 2, 3, 4, 5, kBarrier}),
       random<Count<kElideWrite, kWrite, kElideRead, kRead>>(
           "the same, one of each elided", {1, 2, 3, 4, kSubscribe}),
       random<Count<kWrite, kTryWrite, kRead, kTryRead>>("tries among them",
                                                         {1, 2, 3, 4}),
       full<CountQueued<kElideRead, kTryWrite>>("an eliding reader that queues",
                                                {kSubscribe}),
       full<CountQueued<kRead, kElideWrite>>("an eliding writer that queues",
                                             {kSubscribe}),
       random<CountQueued<kElideRead, kWrite, kElideWrite>>(
           "eliding readers and writers in the queues", {kSubscribe}),
       random<CountQueued<kElideRead, kWrite, kElideRead, kElideWrite>>(
           "four threads, three of them eliding", {kSubscribe}),
       random<Count<kChange, kWrite, kRead, kElideRead>>(
           "the mode changes meanwhile", {1, 2, 3, 4, kSubscribe}),
       full<Destroy<kWrite>>("destroy after a writer's unlock", {}),
       full<Destroy<kRead>>("destroy after a reader's unlock", {}),
       full<Destroy<kElideRead>>("destroy after an elided reader's unlock",
                                 {})});
}
