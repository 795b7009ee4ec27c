// SPDX-License-Identifier: Apache-2.0
//
// ovs_spin through its C face, and how its waiters wait.
#include <gtest/gtest.h>

#include <cerrno>

#include "lock-testing.h"
#include "openvswitch/thread.h"
#include "spinlock-core.h"

namespace ovsthread {
namespace {

constexpr char kTaken[] = "taken.c:1";
constexpr char kOffence[] = "offence.c:2";

class Spin : public testing::Test {
 protected:
  void SetUp() override { ovs_spin_init(&spin_); }

  ovs_spin spin_;
};

TEST_F(Spin, ExcludesOthers) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  long count = 0;
  in_threads(kThreads, [&](int) {
    for (int round = 0; round < kRounds; round++) {
      if (round % 4 != 0) {
        ovs_spin_lock(&spin_);
      } else {
        while (ovs_spin_trylock(&spin_) != 0) sched_yield();
      }
      count++;
      ovs_spin_unlock(&spin_);
    }
  });
  EXPECT_EQ(count, long{kThreads} * kRounds);
  ovs_spin_destroy(&spin_);
}

TEST_F(Spin, TrylockTakesAFreeLockOnly) {
  EXPECT_EQ(ovs_spin_trylock(&spin_), 0);
  EXPECT_EQ(ovs_spin_trylock(&spin_), EBUSY);
  for_real();
  EXPECT_EQ(ovs_spin_trylock(&spin_), EBUSY);
  elsewhere([&] { EXPECT_EQ(ovs_spin_trylock(&spin_), EBUSY); });
  ovs_spin_unlock(&spin_);
  elsewhere([&] {
    EXPECT_EQ(ovs_spin_trylock(&spin_), 0);
    ovs_spin_unlock(&spin_);
  });
}

TEST_F(Spin, LockByTheHolder) {
  EXPECT_MISUSE(
      {
        ovs_spin_lock_at(&spin_, kTaken);
        ovs_spin_lock_at(&spin_, kOffence);
      },
      "deadlock: lock of a spin lock that the caller holds", "spin lock",
      "; held since taken\\.c:1");
}

TEST_F(Spin, UnlockOfWhatIsNotHeld) {
  EXPECT_MISUSE(ovs_spin_unlock_at(&spin_, kOffence),
                "unlock of a spin lock that the caller does not hold",
                "spin lock", "; never taken");
  EXPECT_MISUSE(
      {
        ovs_spin_lock_at(&spin_, kTaken);
        for_real();
        ovs_spin_unlock(&spin_);
        ovs_spin_unlock_at(&spin_, kOffence);
      },
      "unlock of a spin lock that the caller does not hold", "spin lock",
      "; last taken at taken\\.c:1");
  EXPECT_MISUSE(
      {
        ovs_spin_lock_at(&spin_, kTaken);
        for_real();
        elsewhere([&] { ovs_spin_unlock_at(&spin_, kOffence); });
      },
      "unlock of a spin lock that the caller does not hold", "spin lock",
      "; held by another thread since taken\\.c:1");
}

TEST_F(Spin, DestroyOfWhatIsHeld) {
  EXPECT_MISUSE(
      {
        ovs_spin_lock_at(&spin_, kTaken);
        ovs_spin_destroy_at(&spin_, kOffence);
      },
      "destroy of a spin lock that is held", "spin lock",
      "; held since taken\\.c:1");
  EXPECT_MISUSE(
      {
        ovs_spin_lock_at(&spin_, kTaken);
        for_real();
        elsewhere([&] { ovs_spin_destroy_at(&spin_, kOffence); });
      },
      "destroy of a spin lock that is held", "spin lock",
      "; held since taken\\.c:1");
}

TEST_F(Spin, UseOfADestroyedLock) {
  ovs_spin_destroy_at(&spin_, kTaken);
  EXPECT_MISUSE(ovs_spin_lock_at(&spin_, kOffence),
                "lock of a destroyed spin lock", "spin lock",
                "; destroyed at taken\\.c:1");
  EXPECT_MISUSE(ovs_spin_trylock_at(&spin_, kOffence),
                "lock of a destroyed spin lock", "spin lock",
                "; destroyed at taken\\.c:1");
  EXPECT_MISUSE(ovs_spin_unlock_at(&spin_, kOffence),
                "unlock of a destroyed spin lock", "spin lock",
                "; destroyed at taken\\.c:1");
  EXPECT_MISUSE(ovs_spin_destroy_at(&spin_, kOffence),
                "destroy of a destroyed spin lock", "spin lock",
                "; destroyed at taken\\.c:1");
  ovs_spin_init(&spin_);
  EXPECT_EQ(ovs_spin_trylock(&spin_), 0);
  ovs_spin_unlock(&spin_);
}

TEST_F(Spin, UseOfAnUninitialisedLock) {
  spin_ = {};
  EXPECT_MISUSE(ovs_spin_lock_at(&spin_, kOffence),
                "lock of an uninitialised spin lock", "spin lock", "");
  EXPECT_MISUSE(ovs_spin_trylock_at(&spin_, kOffence),
                "lock of an uninitialised spin lock", "spin lock", "");
  EXPECT_MISUSE(ovs_spin_unlock_at(&spin_, kOffence),
                "unlock of an uninitialised spin lock", "spin lock", "");
  EXPECT_MISUSE(ovs_spin_destroy_at(&spin_, kOffence),
                "destroy of an uninitialised spin lock", "spin lock", "");
}

TEST_F(Spin, UnlockNamesTheCallerOfThePlainFunction) {
  void (*unlock)(const ovs_spin*) = ovs_spin_unlock;
  EXPECT_DEATH(unlock(&spin_),
               "does not hold: spin lock .* at .*\\+0x[0-9a-f]+;");
}

TEST_F(Spin, WhereNamesTheLastRealAcquisition) {
  EXPECT_STREQ(spin_.where, "<unlocked>");
  ovs_spin_lock_at(&spin_, kTaken);
  for_real();
  EXPECT_STREQ(spin_.where, kTaken);
  ovs_spin_unlock(&spin_);
  EXPECT_STREQ(spin_.where, kTaken);
  int line = __LINE__ + 1;
  EXPECT_EQ(ovs_spin_trylock(&spin_), 0);
  for_real();
  EXPECT_EQ(spin_.where, __FILE__ ":" + std::to_string(line));
  ovs_spin_unlock(&spin_);
}

// A lock that is held until the waiter has yielded three times.
constexpr uint32_t kSelf = lock_number(1);
constexpr uint32_t kOther = lock_number(2);

struct CountingAtomics : RealAtomics {
  static inline unsigned pauses;
  static void relax() { pauses++; }
};

struct YieldingPlatform {
  static constexpr unsigned kMaxPauses = 8;
  static constexpr unsigned kPausesToYield = 100;
  static inline CountingAtomics::Atomic<uint32_t>* word;
  static inline unsigned yields;
  static void yield() {
    if (++yields == 3) word->store(kLockLive | kLockElide, kRelaxed);
  }
};

TEST(SpinWait, PausesThenYields) {
  SpinLockCore<CountingAtomics, YieldingPlatform> core;
  core.word.store(kLockLive | kLockElide | kOther, kRelaxed);
  CountingAtomics::pauses = 0;
  YieldingPlatform::yields = 0;
  YieldingPlatform::word = &core.word;
  EXPECT_EQ(core.lock(kSelf), LockResult::kDone);
  EXPECT_EQ(YieldingPlatform::yields, 3u);
  // 1 + 2 + 4, then 8 each time, until 100 are reached.
  EXPECT_EQ(CountingAtomics::pauses, 7u + 12 * 8);
  // The bit for all threads stays.
  EXPECT_EQ(core.word.load(kRelaxed), kLockLive | kLockElide | kSelf);
  EXPECT_EQ(core.unlock(kSelf), LockResult::kDone);
  EXPECT_EQ(core.word.load(kRelaxed), kLockLive | kLockElide);
  EXPECT_EQ(core.destroy(), LockResult::kDone);
  EXPECT_EQ(core.lock(kSelf), LockResult::kDead);
}

}  // namespace
}  // namespace ovsthread
