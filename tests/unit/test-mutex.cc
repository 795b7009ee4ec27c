// SPDX-License-Identifier: Apache-2.0
//
// ovs_mutex through its C face.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <memory>

#include "futex.h"
#include "lock-testing.h"
#include "openvswitch/thread.h"

namespace ovsthread {
namespace {

constexpr char kTaken[] = "taken.c:1";
constexpr char kOffence[] = "offence.c:2";

// The kinds differ in how they are made, and in whether they nest.
struct Kind {
  const char* name;
  void (*init)(ovs_mutex*);
  bool nests;
};

class MutexKinds : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { GetParam().init(&mutex_); }

  ovs_mutex mutex_;
};

INSTANTIATE_TEST_SUITE_P(
    All, MutexKinds,
    testing::Values(Kind{"plain", ovs_mutex_init, false},
                    Kind{"recursive", ovs_mutex_init_recursive, true},
                    Kind{"adaptive", ovs_mutex_init_adaptive, false}),
    [](const auto& each) { return each.param.name; });

TEST_P(MutexKinds, ExcludesOthers) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  long count = 0;
  in_threads(kThreads, [&](int) {
    for (int round = 0; round < kRounds; round++) {
      ovs_mutex_lock(&mutex_);
      count++;
      ovs_mutex_unlock(&mutex_);
    }
  });
  EXPECT_EQ(count, long{kThreads} * kRounds);
  ovs_mutex_destroy(&mutex_);
}

TEST_P(MutexKinds, TrylockTakesAFreeMutexOnly) {
  EXPECT_EQ(ovs_mutex_trylock(&mutex_), 0);
  for_real();
  elsewhere([&] { EXPECT_EQ(ovs_mutex_trylock(&mutex_), EBUSY); });
  ovs_mutex_unlock(&mutex_);
  elsewhere([&] {
    EXPECT_EQ(ovs_mutex_trylock(&mutex_), 0);
    ovs_mutex_unlock(&mutex_);
  });
}

TEST_P(MutexKinds, TrylockByTheHolder) {
  ovs_mutex_lock(&mutex_);
  int result = ovs_mutex_trylock(&mutex_);
  if (result == 0) ovs_mutex_unlock(&mutex_);
  ovs_mutex_unlock(&mutex_);
  EXPECT_EQ(result, GetParam().nests ? 0 : EBUSY);
}

TEST_P(MutexKinds, NestsOrReportsTheDeadlock) {
  if (GetParam().nests) {
    for (int i = 0; i < 3; i++) ovs_mutex_lock(&mutex_);
    for_real();
    for (int i = 0; i < 3; i++) {
      elsewhere([&] { EXPECT_EQ(ovs_mutex_trylock(&mutex_), EBUSY); });
      ovs_mutex_unlock(&mutex_);
    }
    elsewhere([&] {
      EXPECT_EQ(ovs_mutex_trylock(&mutex_), 0);
      ovs_mutex_unlock(&mutex_);
    });
    return;
  }
  EXPECT_MISUSE(
      {
        ovs_mutex_lock_at(&mutex_, kTaken);
        ovs_mutex_lock_at(&mutex_, kOffence);
      },
      "deadlock: lock of a mutex that the caller holds", "mutex",
      "; held since taken\\.c:1");
}

TEST_P(MutexKinds, UnlockOfWhatIsNotHeld) {
  EXPECT_MISUSE(ovs_mutex_unlock_at(&mutex_, kOffence),
                "unlock of a mutex that the caller does not hold", "mutex",
                "; never taken");
  EXPECT_MISUSE(
      {
        ovs_mutex_lock_at(&mutex_, kTaken);
        for_real();
        ovs_mutex_unlock(&mutex_);
        ovs_mutex_unlock_at(&mutex_, kOffence);
      },
      "unlock of a mutex that the caller does not hold", "mutex",
      "; last taken at taken\\.c:1");
}

TEST_P(MutexKinds, UnlockByAnotherThread) {
  EXPECT_MISUSE(
      {
        ovs_mutex_lock_at(&mutex_, kTaken);
        for_real();
        elsewhere([&] { ovs_mutex_unlock_at(&mutex_, kOffence); });
      },
      "unlock of a mutex that the caller does not hold", "mutex",
      "; held by another thread since taken\\.c:1");
}

TEST_P(MutexKinds, DestroyOfWhatIsHeld) {
  EXPECT_MISUSE(
      {
        ovs_mutex_lock_at(&mutex_, kTaken);
        ovs_mutex_destroy_at(&mutex_, kOffence);
      },
      "destroy of a mutex that is held", "mutex", "; held since taken\\.c:1");
  EXPECT_MISUSE(
      {
        ovs_mutex_lock_at(&mutex_, kTaken);
        for_real();
        elsewhere([&] { ovs_mutex_destroy_at(&mutex_, kOffence); });
      },
      "destroy of a mutex that is held", "mutex", "; held since taken\\.c:1");
}

TEST_P(MutexKinds, UseOfADestroyedMutex) {
  ovs_mutex_destroy_at(&mutex_, kTaken);
  EXPECT_MISUSE(ovs_mutex_lock_at(&mutex_, kOffence),
                "lock of a destroyed mutex", "mutex",
                "; destroyed at taken\\.c:1");
  EXPECT_MISUSE(ovs_mutex_trylock_at(&mutex_, kOffence),
                "lock of a destroyed mutex", "mutex",
                "; destroyed at taken\\.c:1");
  EXPECT_MISUSE(ovs_mutex_unlock_at(&mutex_, kOffence),
                "unlock of a destroyed mutex", "mutex",
                "; destroyed at taken\\.c:1");
  EXPECT_MISUSE(ovs_mutex_destroy_at(&mutex_, kOffence),
                "destroy of a destroyed mutex", "mutex",
                "; destroyed at taken\\.c:1");
}

TEST(Mutex, UseOfAnUninitialisedMutex) {
  ovs_mutex mutex = {};
  EXPECT_MISUSE(ovs_mutex_lock_at(&mutex, kOffence),
                "lock of an uninitialised mutex", "mutex", "");
  EXPECT_MISUSE(ovs_mutex_trylock_at(&mutex, kOffence),
                "lock of an uninitialised mutex", "mutex", "");
  EXPECT_MISUSE(ovs_mutex_unlock_at(&mutex, kOffence),
                "unlock of an uninitialised mutex", "mutex", "");
  EXPECT_MISUSE(ovs_mutex_destroy_at(&mutex, kOffence),
                "destroy of an uninitialised mutex", "mutex", "");
}

TEST(Mutex, UnlockNamesTheCallerOfThePlainFunction) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  void (*unlock)(const ovs_mutex*) = ovs_mutex_unlock;
  EXPECT_DEATH(unlock(&mutex), "does not hold: mutex .* at .*\\+0x[0-9a-f]+;");
}

TEST(Mutex, StaticInitialisersMakeWhatInitMakes) {
  static constexpr ovs_mutex plain = OVS_MUTEX_INITIALIZER;
  static constexpr ovs_mutex adaptive = OVS_ADAPTIVE_MUTEX_INITIALIZER;
  ovs_mutex made;
  ovs_mutex_init(&made);
  EXPECT_EQ(made.word, plain.word);
  EXPECT_EQ(made.spins, plain.spins);
  ovs_mutex_init_adaptive(&made);
  EXPECT_EQ(made.word, adaptive.word);
  EXPECT_EQ(made.spins, adaptive.spins);
  EXPECT_STREQ(made.where, "<unlocked>");
}

TEST(Mutex, WhereNamesTheLastRealAcquisition) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  EXPECT_STREQ(mutex.where, "<unlocked>");
  ovs_mutex_lock_at(&mutex, kTaken);
  for_real();
  EXPECT_STREQ(mutex.where, kTaken);
  ovs_mutex_unlock(&mutex);
  EXPECT_STREQ(mutex.where, kTaken);
  int line = __LINE__ + 1;
  ovs_mutex_lock(&mutex);
  for_real();
  EXPECT_EQ(mutex.where, __FILE__ ":" + std::to_string(line));
  ovs_mutex_unlock(&mutex);
}

// The next owner destroys the mutex and takes its memory away while the last
// one may still be in its unlock.
TEST(Mutex, MayBeDestroyedRightAfterTheLastUnlock) {
  constexpr int kRounds = 20000;
  struct Shared {
    ovs_mutex mutex;
    bool last;
  };
  constexpr size_t kSize = 4096;
  std::atomic<Shared*> offered{nullptr};
  auto leave = [&](Shared* shared) {
    ovs_mutex_lock(&shared->mutex);
    bool last = shared->last;
    shared->last = true;
    ovs_mutex_unlock(&shared->mutex);
    if (last) {
      ovs_mutex_destroy(&shared->mutex);
      munmap(shared, kSize);
    }
  };
  std::thread other([&] {
    for (int i = 0; i < kRounds; i++) {
      Shared* shared;
      while (!(shared = offered.exchange(nullptr))) sched_yield();
      leave(shared);
    }
  });
  for (int i = 0; i < kRounds; i++) {
    void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    Shared* shared = new (memory) Shared{OVS_MUTEX_INITIALIZER, false};
    offered = shared;
    leave(shared);
    while (offered.load() != nullptr) sched_yield();
  }
  other.join();
}

// A queue of one place: each side waits for the other, and wakes it with plain
// pthread calls, while it holds the mutex or right after.
TEST(Mutex, ConditionLosesNoWakeUp) {
  constexpr int kItems = 20000;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  pthread_cond_t full = PTHREAD_COND_INITIALIZER;
  pthread_cond_t empty = PTHREAD_COND_INITIALIZER;
  int item = 0;
  std::thread consumer([&] {
    for (int i = 1; i <= kItems; i++) {
      ovs_mutex_lock(&mutex);
      while (item == 0) ovs_mutex_cond_wait(&full, &mutex);
      EXPECT_EQ(item, i);
      item = 0;
      if (i % 2) pthread_cond_signal(&empty);
      ovs_mutex_unlock(&mutex);
      if (!(i % 2)) pthread_cond_signal(&empty);
    }
  });
  for (int i = 1; i <= kItems; i++) {
    ovs_mutex_lock(&mutex);
    while (item != 0) ovs_mutex_cond_wait(&empty, &mutex);
    item = i;
    if (i % 3) pthread_cond_signal(&full);
    ovs_mutex_unlock(&mutex);
    if (!(i % 3)) pthread_cond_signal(&full);
  }
  consumer.join();
  ovs_mutex_destroy(&mutex);
}

TEST(Mutex, ConditionWaitReleasesAllLevelsAndTakesThemAgain) {
  ovs_mutex mutex;
  ovs_mutex_init_recursive(&mutex);
  pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  bool ready = false;
  ovs_mutex_lock(&mutex);
  ovs_mutex_lock(&mutex);
  std::thread other([&] {
    ovs_mutex_lock(&mutex);
    ready = true;
    pthread_cond_broadcast(&cond);
    ovs_mutex_unlock(&mutex);
  });
  while (!ready) ovs_mutex_cond_wait(&cond, &mutex);
  ovs_mutex_unlock(&mutex);
  elsewhere([&] { EXPECT_EQ(ovs_mutex_trylock(&mutex), EBUSY); });
  ovs_mutex_unlock(&mutex);
  other.join();
  ovs_mutex_destroy(&mutex);
}

TEST(Mutex, ConditionWaitWithoutTheMutex) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  EXPECT_MISUSE(ovs_mutex_cond_wait_at(&cond, &mutex, kOffence),
                "wait with a mutex that the caller does not hold", "mutex",
                "; never taken");
}

// Cleanup handlers of a cancelled waiter find the mutex held, as they do after
// pthread_cond_wait().
TEST(Mutex, CancelledWaitHoldsTheMutexAgain) {
  static ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  static bool waiting = false;
  pthread_t thread;
  auto run = [](void*) -> void* {
    ovs_mutex_lock(&mutex);
    pthread_cleanup_push([](void*) { ovs_mutex_unlock(&mutex); }, nullptr);
    waiting = true;
    for (;;) ovs_mutex_cond_wait(&cond, &mutex);
    pthread_cleanup_pop(0);
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, run, nullptr), 0);
  for (bool seen = false; !seen;) {
    ovs_mutex_lock(&mutex);
    seen = waiting;
    ovs_mutex_unlock(&mutex);
  }
  ASSERT_EQ(pthread_cancel(thread), 0);
  void* result;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_EQ(ovs_mutex_trylock(&mutex), 0);
  ovs_mutex_unlock(&mutex);
}

// The words of held mutexes mean the same in a child.
TEST(Mutex, HeldAcrossForkIsHeldInTheChild) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_mutex_lock_at(&mutex, kTaken);
  EXPECT_EXIT(
      {
        if (ovs_mutex_trylock(&mutex) != EBUSY) _exit(1);
        ovs_mutex_unlock(&mutex);
        ovs_mutex_lock(&mutex);
        ovs_mutex_unlock(&mutex);
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
  ovs_mutex_unlock(&mutex);
}

// As the pthread ones do, even where the system call fails.
TEST(Mutex, SleepingLeavesErrnoAlone) {
  RealAtomics::Atomic<uint32_t> word{1};
  errno = 12345;
  futex_wait(word, 2, FutexQueue::kExclusive);
  EXPECT_EQ(errno, 12345);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  futex_wait(word, 1, FutexQueue::kExclusive, &now);
  EXPECT_EQ(errno, 12345);
}

TEST(Once, RunsOnceAndOthersSeeTheResult) {
  constexpr int kRounds = 200;
  constexpr int kThreads = 4;
  for (int round = 0; round < kRounds; round++) {
    ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;
    int runs = 0;
    in_threads(kThreads, [&](int) {
      if (ovsthread_once_start(&once)) {
        runs++;
        ovsthread_once_done(&once);
      }
      EXPECT_EQ(runs, 1);
    });
    EXPECT_FALSE(ovsthread_once_start(&once));
    ovsthread_once_destroy(&once);
  }
}

TEST(Once, Misuse) {
  static ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;
  EXPECT_DEATH(ovsthread_once_done(&once), "mutex not held by the caller");
  EXPECT_DEATH(
      {
        ovsthread_once_start(&once);
        ovsthread_once_start(&once);
      },
      "deadlock: lock of a mutex that the caller holds: mutex .* held since ");
}

}  // namespace
}  // namespace ovsthread
