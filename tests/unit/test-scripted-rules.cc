// SPDX-License-Identifier: Apache-2.0
//
// Rules of elision that the other scripted tests do not reach.
#include <ovsthread/mutex.h>
#include <ovsthread/rwlock.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <string>
#include <thread>

#include "elision-engine.h"
#include "lock-word.h"
#include "mutex-core.h"
#include "rwlock-core.h"
#include "scripted-testing.h"

namespace ovsthread {
namespace {

constexpr char kTaken[] = "taken.c:1";
constexpr char kOffence[] = "offence.c:2";
constexpr char kElided[] = "start access commit";

using Rules = Scripted;

// Takes a lock for real: the first transaction fails without a cause.
template <class Take>
void take_for_real(Script& script, Take take) {
  script.abort_at_begin(0);
  take();
  EXPECT_EQ(script.trace(), "fail(0)");
}

void pass_safe_point() { elision::safe_point(OVS_SAFE_POINT_BARRIER); }

// The lock is taken for real between the last look and the transaction.
TEST_F(Rules, LockTakenWhileStarting) {
  static constexpr elision::LockKind kKind = {
      Hold::kElidedExclusive, ~0u, kOwnerMask, 0, 0, 0};
  static RealAtomics::Atomic<uint32_t>* word;
  struct Process : elision::LibraryProcess {
    static ovs_elision_mode mode() {
      word->store(kLockLive | lock_number(12345), kRelaxed);
      return OVS_ELISION_ALWAYS;
    }
  };
  using Engine = elision::Engine<RealAtomics, ScriptedLayer, Process>;
  Engine::Word lock_word{kLockLive};
  word = &lock_word;
  Script script;
  elision::Attempts attempts;
  EXPECT_EQ(Engine::acquire(kKind, lock_word, kTaken, false, attempts),
            elision::Acquired::kQueue);
  EXPECT_EQ(script.trace(), "start access abort(b1)");
}

// Transactions subscribe to the switch, too.
TEST_F(Rules, SwitchedOffWhileStarting) {
  static int n_asked;
  n_asked = 0;
  struct Process : elision::LibraryProcess {
    static bool active() { return n_asked++ == 0; }
  };
  using Engine = elision::Engine<RealAtomics, ScriptedLayer, Process>;
  static constexpr elision::LockKind kKind = {
      Hold::kElidedExclusive, ~0u, kOwnerMask, 0, 0, 0};
  Engine::Word word{kLockLive};
  Script script;
  elision::Attempts attempts;
  EXPECT_EQ(Engine::acquire(kKind, word, kTaken, false, attempts),
            elision::Acquired::kFallback);
  EXPECT_EQ(script.trace(), "start access abort(b4)");
}

// A lock that was taken for real is released inside the section of another one:
// it is free when that section commits, and held again if it aborts.
TEST_F(Rules, SwitchingOffInsideASectionIsASafePoint) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  ovs_mutex_lock(&mutex);
  EXPECT_EQ(ovs_elision_set_mode(OVS_ELISION_OFF), 0);
  EXPECT_FALSE(elided());
  EXPECT_NE(mutex.word, kLockLive);
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(mutex.word, kLockLive);
  EXPECT_EQ(script.trace(),
            "start access " + abort_at(OVS_SAFE_POINT_MODE_CHANGE));
  ovs_mutex_lock(&mutex);
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(script.trace(), "");
}

TEST_F(Rules, TrylockNeverFailsBecauseTransactionsDo) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  for (int i = 0; i < 1000; i++) {
    script.abort_at_begin(i % 2 ? 0 : kStatusConflict);
  }
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(ovs_mutex_trylock(&mutex), 0);
    ovs_mutex_unlock(&mutex);
  }
  EXPECT_EQ(counts().acquisitions, 50u);
}

TEST_F(Rules, TrylockOfAHeldLockStartsNothing) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  take_for_real(script, [&] { ovs_mutex_lock(&mutex); });
  static int result;
  static std::string trace;
  elsewhere([&] {
    Script other;
    result = ovs_mutex_trylock(&mutex);
    trace = other.trace();
  });
  EXPECT_EQ(result, EBUSY);
  EXPECT_EQ(trace, "");
  ovs_mutex_unlock(&mutex);
}

TEST_F(Rules, TrylockOfWhatTheCallerHoldsElided) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  Script script;
  ovs_mutex_lock(&mutex);
  EXPECT_EQ(ovs_mutex_trylock(&mutex), EBUSY);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
  ovs_rwlock_wrlock(&lock);
  EXPECT_EQ(ovs_rwlock_tryrdlock(&lock), EBUSY);
  EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
  EXPECT_TRUE(elided());
  ovs_rwlock_unlock(&lock);
  ovs_rwlock_rdlock(&lock);
  EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
  EXPECT_EQ(ovs_rwlock_tryrdlock(&lock), 0);
  EXPECT_TRUE(elided());
  ovs_rwlock_unlock(&lock);
  ovs_rwlock_unlock(&lock);
  EXPECT_FALSE(elided());
}

// Another thread's elided hold does not exist for the one that unlocks.
TEST_F(Rules, UnlockOfAnotherThreadsElidedHold) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  EXPECT_MISUSE(
      {
        Script script;
        ovs_mutex_lock(&mutex);
        elsewhere([&] { ovs_mutex_unlock_at(&mutex, kOffence); });
      },
      "unlock of a mutex that the caller does not hold", "mutex",
      "; never taken");
}

TEST_F(Rules, RelockOfARealLockInsideASectionIsADeadlock) {
  ovs_mutex real = OVS_MUTEX_INITIALIZER;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  EXPECT_MISUSE(
      {
        Script script;
        script.abort_at_begin(0);
        ovs_mutex_lock_at(&real, kTaken);
        ovs_mutex_lock(&mutex);
        ovs_mutex_lock_at(&real, kOffence);
      },
      "deadlock: lock of a mutex that the caller holds", "mutex",
      "; held since taken\\.c:1");
}

TEST_F(Rules, ReleaseOfARealReadLockWithAWriterWaiting) {
  static ovs_rwlock real;
  real = OVS_RWLOCK_INITIALIZER;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  script.restore(real);
  take_for_real(script, [&] { ovs_rwlock_rdlock(&real); });
  std::optional<Sleeper> writer(std::in_place, [] {
    ovs_rwlock_wrlock(&real);
    ovs_rwlock_unlock(&real);
  });
  writer->wait_until_asleep([] {
    return (__atomic_load_n(&real.word, __ATOMIC_RELAXED) & kRwWritersWait) !=
           0;
  });
  ovs_mutex_lock(&mutex);
  ovs_rwlock_unlock(&real);
  EXPECT_FALSE(elided());
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(script.trace(), "start access " + abort_at(OVS_SAFE_POINT_WAKE));
  writer.reset();
  EXPECT_EQ(real.word, kLockLive);
}

TEST_F(Rules, BusyLockInsideASection) {
  static int runs;
  runs = 0;
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  ovs_mutex busy = OVS_MUTEX_INITIALIZER;
  static std::atomic<bool> held;
  static std::atomic<bool> done;
  held = false;
  done = false;
  std::thread holder([&] {
    Script script;
    take_for_real(script, [&] { ovs_mutex_lock(&busy); });
    held = true;
    wait_until([] { return done.load(); });
    ovs_mutex_unlock(&busy);
  });
  wait_until([] { return held.load(); });
  {
    Script script;
    ovs_mutex_lock(&outer);
    EXPECT_EQ(ovs_mutex_trylock(&busy), EBUSY);
    EXPECT_TRUE(elided());
    ovs_mutex_unlock(&outer);
    EXPECT_EQ(script.trace(), "start access access commit");
    // Gives up after a bounded number of attempts, then waits for real.
    ovs_mutex_lock(&outer);
    runs++;
    if (!elided()) done = true;
    ovs_mutex_lock(&busy);
    ovs_mutex_unlock(&busy);
    ovs_mutex_unlock(&outer);
    EXPECT_GT(runs, 2);
    EXPECT_LT(runs, 20);
    EXPECT_EQ(counts().aborts[OVS_ABORT_BUSY], unsigned(runs - 1));
  }
  holder.join();
}

TEST_F(Rules, ConditionWaitRunsForRealAndItsGateIsBusy) {
  static ovs_mutex mutex;
  mutex = OVS_MUTEX_INITIALIZER;
  static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  static std::atomic<bool> ready;
  ready = false;
  static std::string trace;
  std::thread waiter([] {
    Script script;
    ovs_mutex_lock(&mutex);
    while (!ready) ovs_mutex_cond_wait(&cond, &mutex);
    ovs_mutex_unlock(&mutex);
    trace = script.trace();
  });
  wait_until([] {
    return (__atomic_load_n(&mutex.word, __ATOMIC_RELAXED) & kMutexGate) != 0;
  });
  {
    Script script;
    // The first one behind the gate takes the mutex for real, whatever the
    // script says; it leaves no gate behind.
    ovs_mutex_lock(&mutex);
    EXPECT_FALSE(elided());
    EXPECT_EQ(script.trace(), "");
    EXPECT_EQ(mutex.word & kMutexGate, 0u);
    ovs_mutex_unlock(&mutex);
    // The next one elides, and the plain signal is not lost.
    ovs_mutex_lock(&mutex);
    EXPECT_TRUE(elided());
    ready = true;
    ovs_mutex_unlock(&mutex);
    pthread_cond_signal(&cond);
  }
  waiter.join();
  EXPECT_EQ(
      trace.find("start access " + abort_at(OVS_SAFE_POINT_CONDITION_WAIT)), 0u)
      << trace;
  EXPECT_EQ(mutex.word, kLockLive);
}

TEST_F(Rules, AssertHeldKnowsElidedHolds) {
  Mutex mutex;
  RwLock lock;
  Script script;
  {
    MutexLock guard(mutex);
    EXPECT_TRUE(elided());
    mutex.AssertHeld();
  }
  {
    WriterLock guard(lock);
    lock.AssertHeld();
    lock.AssertReaderHeld();
  }
  {
    ReaderLock guard(lock);
    EXPECT_TRUE(elided());
    lock.AssertReaderHeld();
  }
  EXPECT_EQ(script.trace(),
            std::string(kElided) + " " + kElided + " " + kElided);
  EXPECT_DEATH(
      {
        ReaderLock guard(lock);
        lock.AssertHeld();
      },
      "rwlock not held for writing by the caller");
}

// Elision state is the thread's own and ends with it.
TEST_F(Rules, CountsOutliveTheirThreads) {
  for (int i = 0; i < 10; i++) {
    elsewhere([] {
      ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
      Script script;
      ovs_mutex_lock(&mutex);
      ovs_mutex_unlock(&mutex);
    });
  }
  EXPECT_EQ(counts().elided, 10u);
  ovs_elision_counts_reset();
  EXPECT_EQ(counts().elided, 0u);
}

TEST_F(Rules, SafePointCostsOneAbortHoweverManyLocks) {
  ovs_mutex locks[4];
  for (ovs_mutex& lock : locks) ovs_mutex_init(&lock);
  Script script;
  for (ovs_mutex& lock : locks) ovs_mutex_lock(&lock);
  pass_safe_point();
  EXPECT_FALSE(elided());
  for (ovs_mutex& lock : locks) EXPECT_NE(lock.word, kLockLive);
  // Still so while the outermost is held.
  for (int i = 3; i > 0; i--) ovs_mutex_unlock(&locks[i]);
  ovs_mutex_lock(&locks[1]);
  EXPECT_FALSE(elided());
  ovs_mutex_unlock(&locks[1]);
  EXPECT_EQ(script.trace(), "start access access access access " +
                                abort_at(OVS_SAFE_POINT_BARRIER));
  ovs_mutex_unlock(&locks[0]);
  ovs_mutex_lock(&locks[1]);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&locks[1]);
  EXPECT_EQ(counts().aborts[OVS_ABORT_SAFE_POINT], 1u);
}

TEST_F(Rules, SafePointUnderARwlock) {
  for (auto take : {ovs_rwlock_rdlock_at, ovs_rwlock_wrlock_at}) {
    ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
    Script script;
    take(&lock, kTaken);
    pass_safe_point();
    EXPECT_FALSE(elided());
    EXPECT_STREQ(lock.where, kTaken);
    ovs_rwlock_unlock(&lock);
    EXPECT_EQ(script.trace(),
              "start access " + abort_at(OVS_SAFE_POINT_BARRIER));
    take(&lock, kTaken);
    EXPECT_TRUE(elided());
    ovs_rwlock_unlock(&lock);
  }
}

// A try to read once more that ends so leaves the first hold as it was.
TEST_F(Rules, ATryThatFailsAfterASafePointLeavesElisionSuspended) {
  static ovs_rwlock lock;
  lock = OVS_RWLOCK_INITIALIZER;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  take_for_real(script, [] { ovs_rwlock_rdlock(&lock); });
  // A writer comes, and the counts start anew while the try is one of them.
  script.run([] {
    ovs_elision_counts_reset();
    lock.word |= kRwWritersWait;
  });
  static bool tried_for_real;
  tried_for_real = false;
  if (ovs_rwlock_tryrdlock(&lock) == 0) {
    pass_safe_point();
  } else {
    tried_for_real = true;
  }
  EXPECT_TRUE(tried_for_real);
  lock.word &= ~kRwWritersWait;
  EXPECT_EQ(counts().acquisitions, 0u);
  script.trace();
  ovs_mutex_lock(&mutex);
  EXPECT_FALSE(elided());
  ovs_mutex_unlock(&mutex);
  ovs_rwlock_unlock(&lock);
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
}

TEST_F(Rules, ReadingStatisticsIsASafePoint) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  ovs_mutex_lock(&mutex);
  EXPECT_EQ(counts().aborts[OVS_ABORT_SAFE_POINT], 1u);
  EXPECT_FALSE(elided());
  ovs_mutex_unlock(&mutex);
}

}  // namespace
}  // namespace ovsthread
