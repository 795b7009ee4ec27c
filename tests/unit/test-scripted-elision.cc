// SPDX-License-Identifier: Apache-2.0
//
// One lock, and every way in which its transaction can go.
#include <sys/mman.h>

#include <atomic>
#include <thread>

#include "elision-engine.h"
#include "lock-word.h"
#include "mutex-operations.h"
#include "scripted-testing.h"

namespace ovsthread {
namespace {

using Elision = Scripted;

TEST_F(Elision, SubscribesFirstAndCommits) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(elided());
  EXPECT_FALSE(is_held(mutex));
  ovs_mutex_unlock(&mutex);
  EXPECT_FALSE(elided());
  EXPECT_EQ(script.trace(), "start access commit");
  EXPECT_EQ(counts().acquisitions, 1u);
  EXPECT_EQ(counts().elided, 1u);
}

// Not even by a compare-and-swap that fails, since a lock that can't be written
// to is elided, too; what a message says of it is from real acquisitions only.
TEST_F(Elision, WritesNothingToTheLock) {
  constexpr size_t kPage = 4096;
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  ovs_mutex& mutex = *static_cast<ovs_mutex*>(page);
  ovs_rwlock& lock = *reinterpret_cast<ovs_rwlock*>(&mutex + 1);
  ovs_mutex_init(&mutex);
  ovs_rwlock_init(&lock);
  Script script;
  script.abort_at_begin(0);
  ovs_mutex_lock_at(&mutex, "a.c:1");
  ovs_mutex_unlock_at(&mutex, "a.c:2");
  ASSERT_EQ(mprotect(page, kPage, PROT_READ), 0);
  ovs_mutex_lock_at(&mutex, "a.c:3");
  EXPECT_TRUE(elided());
  EXPECT_EQ(ovs_mutex_trylock(&mutex), EBUSY);
  EXPECT_STREQ(mutex.where, "a.c:1");
  ovs_mutex_unlock_at(&mutex, "a.c:4");
  for (auto take : {ovs_rwlock_rdlock_at, ovs_rwlock_wrlock_at}) {
    take(&lock, "a.c:5");
    EXPECT_TRUE(elided());
    ovs_rwlock_unlock(&lock);
  }
  EXPECT_EQ(munmap(page, kPage), 0);
}

// What the aborted run wrote is gone, on the stack and where restored.
TEST_F(Elision, AnAbortUndoesTheSection) {
  static int attempts;
  static int data;
  attempts = data = 0;
  Script script;
  script.restore(data);
  script.abort_at_commit(kStatusConflict);
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  int local = 0;
  ovs_mutex_lock(&mutex);
  attempts++;
  local++;
  data++;
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(attempts, 2);
  EXPECT_EQ(local, 1);
  EXPECT_EQ(data, 1);
  EXPECT_EQ(script.trace(), "start access fail(4) start access commit");
}

struct Class {
  uint32_t status;
  ovs_elision_abort cause;
};

class OneRealRun : public Scripted,
                   public testing::WithParamInterface<Class> {};

TEST_P(OneRealRun, ThenElidesAgain) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  script.abort_at_begin(GetParam().status);
  script.abort_at_commit(GetParam().status);
  for (int i = 0; i < 2; i++) {
    ovs_mutex_lock(&mutex);
    ovs_mutex_unlock(&mutex);
  }
  // Read now: counts are of no one's transaction, and traces not of theirs.
  std::string trace = script.trace();
  EXPECT_EQ(trace.substr(0, 5), "fail(");
  EXPECT_EQ(trace.substr(trace.find(' ')).substr(0, 18), " start access fail");
  EXPECT_EQ(counts().elided, 0u);
  EXPECT_EQ(counts().acquisitions, 2u);
  EXPECT_EQ(aborts(GetParam().cause), 2u);
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
}

INSTANTIATE_TEST_SUITE_P(
    Classes, OneRealRun,
    testing::Values(
        Class{kStatusCapacity, OVS_ABORT_CAPACITY},
        Class{kStatusCapacity | kStatusConflict, OVS_ABORT_CAPACITY},
        Class{0, OVS_ABORT_COLD}, Class{kStatusNested, OVS_ABORT_NESTED},
        Class{kStatusNested | explicit_abort(elision::kCodeBusy),
              OVS_ABORT_NESTED},
        Class{kStatusDebug, OVS_ABORT_OTHER},
        Class{explicit_abort(0xff), OVS_ABORT_OTHER},
        Class{explicit_abort(elision::kCodeListFull), OVS_ABORT_OTHER}));

TEST_F(Elision, ConflictsAreRetriedWithinABudget) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  for (unsigned i = 0; i < elision::kMaxConflicts; i++) {
    script.abort_at_begin(kStatusConflict | kStatusRetry);
  }
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
  for (unsigned i = 0; i <= elision::kMaxConflicts; i++) {
    script.abort_at_begin(kStatusConflict);
  }
  ovs_mutex_lock(&mutex);
  EXPECT_FALSE(elided());
  EXPECT_TRUE(is_held(mutex));
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(aborts(OVS_ABORT_CONFLICT), 2 * elision::kMaxConflicts + 1);
  EXPECT_EQ(counts().elided, 1u);
}

// Another thread takes the lock between the last look at it and the
// subscription.
TEST_F(Elision, ABusyWordAborts) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  std::atomic<int> state{0};
  std::thread owner([&] {
    wait_until([&] { return state == 1; });
    ovs_mutex_lock(&mutex);
    for_real();
    state = 2;
    wait_until([&] { return state == 3; });
    ovs_mutex_unlock(&mutex);
    state = 4;
  });
  script.run(
      [&] {
        state = 3;
        wait_until([&] { return state == 4; });
      },
      [&] {
        state = 1;
        wait_until([&] { return state == 2; });
      });
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
  owner.join();
  EXPECT_EQ(script.trace(), "start access abort(b1) start access commit");
  EXPECT_EQ(aborts(OVS_ABORT_BUSY), 1u);
}

TEST_F(Elision, BusyAbortsAreNotChargedToTheBudget) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  for (unsigned i = 0; i < elision::kMaxConflicts; i++) {
    script.abort_at_begin(kStatusConflict);
  }
  script.abort_at_begin(explicit_abort(elision::kCodeBusy));
  script.abort_at_begin(explicit_abort(elision::kCodeBusy));
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(aborts(OVS_ABORT_BUSY), 2u);
}

TEST_F(Elision, BusyAbortsEndInARealLockAtTheirBound) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  for (int i = 0; i < 100; i++) {
    script.abort_at_begin(explicit_abort(elision::kCodeBusy));
  }
  ovs_mutex_lock(&mutex);
  EXPECT_FALSE(elided());
  ovs_mutex_unlock(&mutex);
  // 8, 24, 56, ...: each wait as long as those before and 8 more.
  EXPECT_EQ(script.trace(),
            "fail(b1000001) fail(b1000001) fail(b1000001) fail(b1000001) "
            "fail(b1000001) fail(b1000001)");
}

// The wait for a real owner is bounded, no transaction starts meanwhile, and
// the next acquisition elides again.
TEST_F(Elision, WaitsForARealOwnerAndElidesAfterIt) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  std::atomic<bool> held{false};
  std::thread owner([&] {
    ovs_mutex_lock(&mutex);
    for_real();
    held = true;
    // Until the main thread has given up looking and sleeps.
    wait_until([&] { return __atomic_load_n(&mutex.word, 0) & 2; });
    ovs_mutex_unlock(&mutex);
  });
  wait_until([&] { return held.load(); });
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
  owner.join();
  EXPECT_EQ(script.trace(), "start access commit");
  EXPECT_EQ(counts().acquisitions, 2u);
}

// How often the engine looks at a lock that is not free before it gives up:
// only if another thread has it and the caller would wait.
TEST_F(Elision, LooksAgainOnlyWhereThatCanHelp) {
  static unsigned looks;
  struct CountingAtomics : RealAtomics {
    static void relax() { looks++; }
  };
  using Engine =
      elision::Engine<CountingAtomics, ScriptedLayer, elision::LibraryProcess>;
  constexpr elision::LockKind kKind = LockMutex::kKind;
  uint32_t self = elision::tls_elision.held.self();
  struct Case {
    uint32_t word;
    bool try_only;
    elision::Acquired acquired;
    unsigned looks;
    unsigned queued = 0;
  };
  using elision::Acquired;
  for (const Case& c : {
           Case{kLockLive | (self + kOwnerOne), false, Acquired::kQueue,
                elision::kMaxBusyLooks},
           Case{kLockLive | (self + kOwnerOne), false, Acquired::kFallback,
                elision::kMaxBusyLooks, elision::kMaxQueued},
           Case{kLockLive | (self + kOwnerOne), true, Acquired::kReal, 0},
           Case{kLockLive | self, false, Acquired::kReal, 0},
           Case{kLockLive | self, true, Acquired::kReal, 0},
           Case{kLockLive | kMutexGate, false, Acquired::kFallback, 0},
           Case{kLockLive | kMutexGate, true, Acquired::kReal, 0},
           Case{0, false, Acquired::kReal, 0},
       }) {
    looks = 0;
    Engine::Word word{c.word};
    Script script;
    elision::Attempts attempts;
    attempts.queued = c.queued;
    EXPECT_EQ(Engine::acquire(kKind, word, "a.c:1", c.try_only, attempts),
              c.acquired);
    EXPECT_EQ(looks, c.looks);
    EXPECT_EQ(script.trace(), "");
  }
}

TEST_F(Elision, SwitchingOffAbortsWhatStartsMeanwhile) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  script.run(nullptr, [] { ovs_elision_set_mode(OVS_ELISION_OFF); });
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(is_held(mutex));
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(script.trace(), "start access abort(b4)");
  EXPECT_EQ(aborts(OVS_ABORT_OTHER), 1u);
}

TEST_F(Elision, TryLock) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  EXPECT_EQ(ovs_mutex_trylock(&mutex), 0);
  EXPECT_TRUE(elided());
  EXPECT_EQ(ovs_mutex_trylock(&mutex), EBUSY);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
  script.abort_at_begin(0);
  EXPECT_EQ(ovs_mutex_trylock(&mutex), 0);
  EXPECT_TRUE(is_held(mutex));
  EXPECT_EQ(ovs_mutex_trylock(&mutex), EBUSY);
  elsewhere([&] { EXPECT_EQ(ovs_mutex_trylock(&mutex), EBUSY); });
  ovs_mutex_unlock(&mutex);
}

// A thread that has left MUTEX through its gate to wait on a condition.
class GateWaiter {
 public:
  explicit GateWaiter(ovs_mutex& mutex)
      : thread_([this, &mutex] {
          ovs_mutex_lock(&mutex);
          for_real();
          waits_ = true;
          while (!ready_) ovs_mutex_cond_wait(&condition_, &mutex);
          ovs_mutex_unlock(&mutex);
        }) {
    wait_until([&] { return waits_ && !is_held(mutex); });
  }
  // By who holds the mutex.
  void signal() {
    ready_ = true;
    pthread_cond_signal(&condition_);
  }
  void join() { thread_.join(); }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
  std::atomic<bool> waits_{false};
  bool ready_ = false;
  std::thread thread_;  // Uses the others.
};

// A lock that a waiter on a condition left is taken for real: who takes it must
// pass the gate.
TEST_F(Elision, AGatedLockIsNotElided) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  GateWaiter waiter(mutex);
  ovs_mutex_lock(&mutex);
  EXPECT_FALSE(elided());
  EXPECT_EQ(mutex.word & 4, 0u);
  waiter.signal();
  ovs_mutex_unlock(&mutex);
  waiter.join();
  EXPECT_EQ(script.trace(), "");
}

// Nobody holds such a lock, so a try inside another section must not fail: the
// section runs for real.
TEST_F(Elision, ATryOfAGatedLockInsideASectionTakesIt) {
  Script script;
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  GateWaiter waiter(mutex);
  ovs_mutex_lock(&outer);
  EXPECT_EQ(ovs_mutex_trylock(&mutex), 0);
  EXPECT_FALSE(elided());
  EXPECT_TRUE(is_held(mutex));
  waiter.signal();
  ovs_mutex_unlock(&mutex);
  ovs_mutex_unlock(&outer);
  waiter.join();
  EXPECT_GT(aborts(OVS_ABORT_BUSY), 0u);
}

// Inside a transaction of the program itself locks are taken for real.
TEST_F(Elision, ForeignTransaction) {
  Script script;
  script.set_foreign(true);
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  ovs_mutex_lock(&mutex);
  ovs_rwlock_rdlock(&lock);
  EXPECT_TRUE(is_held(mutex));
  EXPECT_GE(lock.word, 32u);
  ovs_rwlock_unlock(&lock);
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(script.trace(), "");
  EXPECT_EQ(counts().acquisitions, 0u);
}

// In mode auto the lock's word decides, at any lock that a section begins with.
TEST_F(Elision, AutoTakesANewLockForReal) {
  Script script;
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  // More than lie between two samples.
  constexpr unsigned kRounds = 1000;
  for (unsigned i = 0; i < kRounds; i++) {
    ovs_mutex_lock(&mutex);
    EXPECT_TRUE(is_held(mutex));
    ovs_mutex_unlock(&mutex);
    ovs_rwlock_rdlock(&lock);
    EXPECT_FALSE(elided());
    ovs_rwlock_unlock(&lock);
    EXPECT_EQ(ovs_rwlock_trywrlock(&lock), 0);
    EXPECT_FALSE(elided());
    ovs_rwlock_unlock(&lock);
  }
  EXPECT_EQ(script.trace(), "");
  EXPECT_EQ(counts().acquisitions, 3u * kRounds);
  EXPECT_EQ(counts().elided, 0u);
}

TEST_F(Elision, AutoElidesALockInElideMode) {
  Script script;
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  ovs_mutex real = OVS_MUTEX_INITIALIZER;
  set_elide_mode(mutex);
  set_elide_mode(lock);
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(elided());
  // Whatever the word of a lock inside says of its mode.
  ovs_mutex_lock(&real);
  EXPECT_FALSE(is_held(real));
  ovs_mutex_unlock(&real);
  ovs_mutex_unlock(&mutex);
  ovs_rwlock_rdlock(&lock);
  EXPECT_TRUE(elided());
  ovs_rwlock_unlock(&lock);
  ovs_rwlock_wrlock(&lock);
  EXPECT_TRUE(elided());
  ovs_rwlock_unlock(&lock);
  EXPECT_EQ(counts().acquisitions, 3u);
  EXPECT_EQ(counts().elided, 3u);
  EXPECT_EQ(script.trace(),
            "start access access commit start access commit"
            " start access commit");
}

// Two threads in turn, at a cost per acquisition that depends on the mode: the
// lock's mode follows, and goes back when one thread is left.
TEST_F(Elision, AutoGivesALockTheModeThatIsCheaper) {
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  static ovs_mutex mutex;
  mutex = OVS_MUTEX_INITIALIZER;
  static std::atomic<unsigned> turn;
  turn = 0;
  constexpr unsigned kTurns = 10000;
  ScriptedLayer::time = 1;
  auto use = [](bool& elides) {
    ovs_mutex_lock(&mutex);
    elides = elided();
    ovs_mutex_unlock(&mutex);
    ScriptedLayer::time += elides ? 100 : 300;
  };
  static bool at_last[2];
  std::thread threads[2];
  for (unsigned i = 0; i < 2; i++) {
    threads[i] = std::thread([&use, i] {
      Script script;
      while (turn < kTurns) {
        wait_until([i] { return turn % 2 == i || turn >= kTurns; });
        use(at_last[i]);
        script.trace();
        turn++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(at_last[0]);
  EXPECT_TRUE(at_last[1]);
  EXPECT_EQ(mutex.word, kLockLive | kLockElide);
  elsewhere([&use] {
    Script script;
    bool elides = true;
    for (unsigned i = 0; i < 20000; i++) {
      use(elides);
      script.trace();
      // Alone it would be cheaper for real.
      if (!elides) ScriptedLayer::time -= 220;
    }
    EXPECT_FALSE(elides);
  });
  EXPECT_EQ(mutex.word, kLockLive);
  ScriptedLayer::time = 0;
}

// All that a lock does for real keeps the mode.
TEST_F(Elision, RealLocksKeepTheMode) {
  Script script;
  script.set_foreign(true);  // Nothing elides.
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_mutex recursive;
  ovs_mutex_init_recursive(&recursive);
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  set_elide_mode(mutex);
  set_elide_mode(recursive);
  set_elide_mode(lock);
  for (int i = 0; i < 2; i++) {
    ovs_mutex_lock(&mutex);
    EXPECT_TRUE(is_held(mutex));
    elsewhere([&] { EXPECT_EQ(ovs_mutex_trylock(&mutex), EBUSY); });
    ovs_mutex_unlock(&mutex);
    EXPECT_EQ(mutex.word, kLockLive | kLockElide);
    ovs_mutex_lock(&recursive);
    ovs_mutex_lock(&recursive);
    EXPECT_EQ(ovs_mutex_trylock(&recursive), 0);
    for (int j = 0; j < 3; j++) ovs_mutex_unlock(&recursive);
    EXPECT_EQ(recursive.word, kLockLive | kLockElide | kMutexRecursive);
    for (auto take : {ovs_rwlock_rdlock_at, ovs_rwlock_wrlock_at}) {
      take(&lock, "a.c:1");
      ovs_rwlock_unlock(&lock);
      EXPECT_EQ(lock.word, kLockLive | kLockElide);
    }
  }
  ovs_mutex_destroy(&mutex);
  ovs_mutex_destroy(&recursive);
  ovs_rwlock_destroy(&lock);
}

// While elision is off the bit only makes the word one that is not expected.
TEST_F(Elision, AMutexLeavesElideModeWhenElisionIsOff) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_elide_mode(mutex);
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_OFF), 0);
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(is_held(mutex));
  EXPECT_EQ(mutex.word & kLockElide, 0u);
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(mutex.word, kLockLive);
}

// What is cold is warm afterwards: that it happened is no reason not to elide.
TEST_F(Elision, AutoElidesAfterEachColdAbort) {
  Script script;
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_elide_mode(mutex);
  for (int i = 0; i < 200; i++) {
    if (i % 2 == 0) script.abort_at_commit(0);
    ovs_mutex_lock_at(&mutex, "first-touch.c:1");
    bool is_elided = elided();
    ovs_mutex_unlock(&mutex);
    ASSERT_EQ(is_elided, i % 2 != 0);
  }
  EXPECT_EQ(aborts(OVS_ABORT_COLD), 100u);
  EXPECT_EQ(counts().elided, 100u);
}

// A veto lasts so many tries, not acquisitions in real mode.
TEST_F(Elision, AutoKeepsAVetoWhileTheLockIsReal) {
  Script script;
  script.abort_at_begin(kStatusCapacity);
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  auto use = [&] {
    ASSERT_EQ(ovs_mutex_trylock_at(&mutex, "too-big.c:1"), 0);
    ovs_mutex_unlock(&mutex);
  };
  set_elide_mode(mutex);
  use();
  EXPECT_EQ(script.trace(), "fail(8)");
  mutex.word &= ~kLockElide;
  for (int i = 0; i < 50; i++) use();
  set_elide_mode(mutex);
  for (unsigned i = 0; i < elision::Vetoes::kFirstWindow; i++) use();
  EXPECT_EQ(script.trace(), "");
  use();
  EXPECT_EQ(script.trace(), "start access commit");
}

// What happened in another mode tells nothing of this one.
TEST_F(Elision, AutoStartsWithNoTrouble) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  for (int i = 0; i < 20; i++) {
    script.abort_at_begin(0);
    ovs_mutex_lock(&mutex);
    ovs_mutex_unlock(&mutex);
  }
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  unsigned n = 1;
  while (n < 20 && !elision::tls_elision.counts->sampler.trouble(&mutex)) n++;
  EXPECT_LE(n, 4u);
}

// Transactions fall below 1 % of the acquisitions of a section that never fits.
TEST_F(Elision, AutoLearnsWhatNeverFits) {
  Script script;
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  constexpr unsigned kRounds = 100000;
  for (unsigned i = 0; i < kRounds; i++) {
    script.abort_at_begin(kStatusCapacity);
  }
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_elide_mode(mutex);
  for (unsigned i = 0; i < kRounds; i++) {
    ovs_mutex_lock_at(&mutex, "never-fits.c:1");
    ovs_mutex_unlock(&mutex);
  }
  EXPECT_LT(counts().started, kRounds / 100);
  EXPECT_GT(counts().started, 2u);
}

}  // namespace
}  // namespace ovsthread
