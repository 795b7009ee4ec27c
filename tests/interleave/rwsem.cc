// SPDX-License-Identifier: Apache-2.0
//
// The reader-writer semaphore (lib/rwsem-core.h): exclusion, hand-over and
// wake-ups, waiters that give up, downgrades, destruction after the last
// release.
#include "interleave/driver.h"
#include "interleave/last-user.h"
#include "interleave/model-atomics.h"
#include "interleave/model-platform.h"
#include "interleave/relacy.h"
#include "rwsem-core.h"

namespace {

using ovsthread::FutexQueue;
using ovsthread::kLockLive;
using ovsthread::kRelaxed;
using ovsthread::lock_number;
using ovsthread::LockResult;
using ovsthread::ModelAtomics;
using ovsthread::ModelPlatform;
using Core = ovsthread::RwSemCore<ModelAtomics, ModelPlatform>;

enum class Way {
  kRead,
  kTryRead,
  kHastyRead,
  kWrite,
  kTryWrite,
  kHastyWrite,
  kDowngrade
};

constexpr bool writes(Way way) {
  return way == Way::kWrite || way == Way::kTryWrite ||
         way == Way::kHastyWrite || way == Way::kDowngrade;
}

class RwSem {
 public:
  RwSem() {
    core.word.store(kLockLive, kRelaxed);
    core.depth = 0;
    core.first = nullptr;
    core.last = nullptr;
  }

  // False: a try that failed, or a hasty one that gave up.
  bool lock(Way way) {
    bool hasty = way == Way::kHastyRead || way == Way::kHastyWrite;
    LockResult result =
        writes(way) ? core.try_write(self()) : core.try_read(self());
    if (result == LockResult::kBusy && way != Way::kTryRead &&
        way != Way::kTryWrite) {
      result = core.queue_up(
          writes(way) ? self() : 0, false, [hasty](Core::Word& granted) {
            if (hasty) {
              ModelAtomics::relax();
              return false;
            }
            ModelPlatform::wait(granted, 0, FutexQueue::kExclusive);
            return true;
          });
    }
    RL_ASSERT(result == LockResult::kDone || result == LockResult::kBusy);
    return result == LockResult::kDone;
  }

  void unlock() {
    if (core.write_held_by(self())) {
      core.write_unlock();
    } else {
      core.read_unlock();
    }
  }

  Core core;

 private:
  static uint32_t self() { return lock_number(rl::thread_index()); }
};

// Writers add 1 to two counters, readers find them equal.
template <Way... ways>
struct Count : rl::test_suite<Count<ways...>, sizeof...(ways)> {
  ModelPlatform platform;
  RwSem sem;
  ModelAtomics::Var<int> first{0};
  ModelAtomics::Var<int> second{0};
  int expected = 0;

  void thread(unsigned index) {
    constexpr Way kWays[] = {ways...};
    if (!sem.lock(kWays[index])) return;
    if (writes(kWays[index])) {
      first += 1;
      second += 1;
      expected++;
    }
    if (kWays[index] == Way::kDowngrade) {
      RL_ASSERT(sem.core.downgrade() == LockResult::kDone);
    }
    int seen = first;
    RL_ASSERT(second == seen);
    sem.unlock();
  }

  void after() {
    RL_ASSERT(first == expected && second == expected);
    RL_ASSERT(sem.core.word.load(kRelaxed) == kLockLive);
    RL_ASSERT(sem.core.first == nullptr && sem.core.last == nullptr);
    RL_ASSERT(sem.core.handed.load(kRelaxed) < sizeof...(ways));
  }
};

template <Way way>
struct Destroy : rl::test_suite<Destroy<way>, 2> {
  ModelPlatform platform;
  ovsthread::LastUserDestroys<RwSem>* shared;

  void before() { shared = new ovsthread::LastUserDestroys<RwSem>; }

  void thread(unsigned index) {
    shared->use(index == 0 ? way : Way::kWrite, Way::kWrite);
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  constexpr Way kRead = Way::kRead;
  constexpr Way kTryRead = Way::kTryRead;
  constexpr Way kHastyRead = Way::kHastyRead;
  constexpr Way kWrite = Way::kWrite;
  constexpr Way kTryWrite = Way::kTryWrite;
  constexpr Way kHastyWrite = Way::kHastyWrite;
  constexpr Way kDowngrade = Way::kDowngrade;
  return run(
      argc, argv,
      {full<Count<kTryRead, kTryWrite>>("tries alone", {1, 2, 3, 4}),
       bounded<Count<kRead, kWrite>>("a reader and a writer", 3,
                                     {1, 2, 3, 4, 5, 6, 7, 8}),
       bounded<Count<kWrite, kWrite>>("two writers", 3, {2, 4, 5, 6, 7, 8}),
       random<Count<kWrite, kWrite, kRead, kRead>>("two writers, two readers",
                                                   {5, 6, 7, 8}),
       random<Count<kDowngrade, kWrite, kRead, kDowngrade>>("downgrades",
                                                            {5, 6, 7, 8}),
       random<Count<kWrite, kHastyWrite, kRead, kHastyRead>>(
           "waiters that give up", {5, 6, 7, 8}),
       random<Count<kWrite, kTryWrite, kRead, kTryRead>>("tries among them",
                                                         {5, 6, 7, 8}),
       bounded<Destroy<kWrite>>("destroy after a writer's unlock", 3, {}),
       bounded<Destroy<kRead>>("destroy after a reader's unlock", 3, {})});
}
