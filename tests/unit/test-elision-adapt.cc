// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "elision-counts.h"
#include "elision-sampling.h"

namespace ovsthread::elision {
namespace {

TEST(Cost, IsTheMeanOfWindows) {
  Cost cost;
  EXPECT_EQ(cost.windows(), 0u);
  cost.add(100);
  EXPECT_EQ(cost.mean(), 100u);
  cost.add(200);
  EXPECT_EQ(cost.mean(), 150u);
  for (int i = 0; i < 100; i++) cost.add(300);
  EXPECT_NEAR(static_cast<double>(cost.mean()), 300, 10);
  EXPECT_EQ(cost.windows(), Cost::kWindows);
  cost.clear();
  EXPECT_EQ(cost.windows(), 0u);
  EXPECT_EQ(cost.mean(), 0u);
}

TEST(Cost, OneOddWindowDoesNotCount) {
  for (int odd = 0; odd < 12; odd++) {
    Cost cost;
    for (int i = 0; i < 12; i++) cost.add(i == odd ? 1000000 : 100);
    EXPECT_EQ(cost.mean(), 100u) << odd;
  }
}

// Threads that use one lock in turn, at a cost that depends on its mode.
class Users {
 public:
  uint64_t real_cost = 1000;
  uint64_t elided_cost = 300;
  uint32_t n = 2;             // threads
  uint32_t real_trouble = 0;  // of each sample
  uint32_t elided_trouble = 0;

  Adaptation history;
  uint64_t acquisitions = 0;

  void sample() {
    uint32_t made = history.period();
    bool elides = history.elides();
    uint32_t thread = turn_++ % n;
    now_ += made * (elides ? elided_cost : real_cost) / n;
    acquisitions += made;
    history.add({thread + 1, made, elides ? elided_trouble : real_trouble,
                 last_[thread], now_});
    last_[thread] = now_;
  }

  // Acquisitions until the mode is ELIDES and not on trial; at most LIMIT.
  uint64_t until(bool elides, uint64_t limit = 10000) {
    uint64_t begin = acquisitions;
    while ((history.elides() != elides || history.on_trial()) &&
           acquisitions - begin < limit) {
      sample();
    }
    return acquisitions - begin;
  }
  void run(uint64_t n_acquisitions) {
    uint64_t end = acquisitions + n_acquisitions;
    while (acquisitions < end) sample();
  }

 private:
  uint64_t now_ = 1;
  uint32_t turn_ = 0;
  uint64_t last_[8] = {};
};

TEST(Adaptation, ALockOfOneThreadStaysReal) {
  Users users;
  users.n = 1;
  users.run(1000000);
  EXPECT_EQ(users.history.changes(), 0u);
}

TEST(Adaptation, ALockOfTwoThreadsThatElidesCheaperElides) {
  Users users;
  EXPECT_LT(users.until(true), 10000u);
  users.run(1000000);
  EXPECT_TRUE(users.history.elides());
  EXPECT_EQ(users.history.changes(), 1u);
}

// Trials fail early, and less and less often.
TEST(Adaptation, ALockThatElidesDearerStaysRealButForShortTrials) {
  for (uint64_t elided_cost : {1050, 1500, 3000, 100000}) {
    Users users;
    users.elided_cost = elided_cost;
    users.elided_trouble = 4;
    uint64_t elided = 0;
    while (users.acquisitions < 1000000) {
      uint64_t before = users.acquisitions;
      bool elides = users.history.elides();
      EXPECT_EQ(elides, users.history.on_trial());
      users.sample();
      if (elides) elided += users.acquisitions - before;
    }
    EXPECT_LT(elided, 120000u);
    EXPECT_GT(users.history.changes(), 200u);
    EXPECT_LT(users.history.changes(), 400u);
  }
}

TEST(Adaptation, WaitsOfOneThreadAreAHint) {
  Users users;
  users.n = 1;
  users.real_trouble = 8;
  EXPECT_LT(users.until(true), 10000u);
}

// Even if eliding costs a little less: its owner alone is better served.
TEST(Adaptation, ALockThatOneThreadIsLeftWithTurnsReal) {
  for (uint64_t real_cost : {200, 320}) {
    Users users;
    users.until(true);
    users.n = 1;
    users.real_cost = real_cost;
    users.elided_cost = 300;
    EXPECT_LT(users.until(false), 10000u);
    users.run(1000000);
    EXPECT_FALSE(users.history.elides());
  }
}

TEST(Adaptation, ALoneThreadKeepsElidingWhatIsMuchDearerForReal) {
  Users users;
  users.until(true);
  users.n = 1;
  users.real_cost = 10000;
  users.run(1000000);
  EXPECT_TRUE(users.history.elides());
  EXPECT_LT(users.history.changes(), 100u);
}

// Both ways, again and again; and not more often than needed.
TEST(Adaptation, FollowsPhases) {
  Users users;
  for (int i = 0; i < 10; i++) {
    users.elided_cost = 300;
    users.elided_trouble = 0;
    EXPECT_LT(users.until(true), 10000u);
    users.run(10000);
    EXPECT_TRUE(users.history.elides());
    users.elided_cost = 2000;
    users.elided_trouble = 64;
    EXPECT_LT(users.until(false), 10000u);
    users.run(20000);
  }
}

// Aborts alone are no reason, if they cost less than they save; then the real
// lock is tried seldom, until there are more of them.
TEST(Adaptation, AbortsThatPayAreLeftAlone) {
  Users users;
  users.real_cost = 20000;
  users.elided_trouble = 20;
  users.until(true);
  uint32_t changes = users.history.changes();
  users.run(300000);
  EXPECT_TRUE(users.history.elides());
  EXPECT_LE(users.history.changes(), changes + 4);
  users.elided_cost = 30000;
  users.elided_trouble = 100;
  EXPECT_LT(users.until(false), 10000u);
}

// Eliding costs more than it did, with no abort: something has changed.
TEST(Adaptation, WhatBecomesDearerIsComparedAgain) {
  Users users;
  users.until(true);
  users.elided_cost = 1500;
  EXPECT_LT(users.until(false), 10000u);
}

// A mode that something else has given the lock is where it goes on from.
TEST(Adaptation, AdoptsTheModeThatItFinds) {
  Users users;
  users.until(true);
  users.history.adopt(true);
  EXPECT_EQ(users.history.changes(), 1u);
  users.history.adopt(false);
  EXPECT_FALSE(users.history.elides());
  EXPECT_FALSE(users.history.on_trial());
  EXPECT_EQ(users.history.changes(), 2u);
  EXPECT_LT(users.until(true), 10000u);
}

// A sample for which the clock stood still, or jumped back, is no part of a
// window.
TEST(Adaptation, AClockThatJumpsDoesNoHarm) {
  for (uint64_t back : {0, 100}) {
    Adaptation history;
    for (uint64_t i = 0; i < 1000; i++) {
      uint64_t now = 1000000 - i * back;
      history.add({static_cast<uint32_t>(i % 2 + 1), 64, 0, now + back, now});
    }
    EXPECT_EQ(history.changes(), 0u);
    EXPECT_EQ(history.period(), 64u);
  }
}

TEST(Adaptation, Periods) {
  Users users;
  EXPECT_EQ(users.history.period(), 64u);
  EXPECT_GT(users.history.patience(), 0u);
  while (!users.history.on_trial()) users.sample();
  EXPECT_EQ(users.history.period(), 32u);
  EXPECT_EQ(users.history.patience(), 4u);
  users.run(10000);
  EXPECT_EQ(users.history.period(), 256u);
  EXPECT_EQ(users.history.patience(), 16u);
}

TEST(Sampler, TroubleIsReportedInTime) {
  char lock = 0;
  char other;
  Adaptation history;
  Sampler sampler;
  // Of a lock that it knows nothing of: soon.
  unsigned n = 1;
  while (!sampler.trouble(&lock)) n++;
  EXPECT_EQ(n, 4u);
  sampler.sample(&lock, history, 32, 1, 64);
  for (n = 1; !sampler.trouble(&lock); n++) {
  }
  EXPECT_EQ(n, history.patience());
  EXPECT_FALSE(sampler.trouble(&lock));
  // With another lock it starts anew.
  for (n = 1; !sampler.trouble(&other); n++) {
  }
  EXPECT_EQ(n, 4u);
}

// A try that was counted when the lock was sampled, and then failed.
TEST(Sampler, AcquisitionsAreNeverFewerThanNone) {
  char lock;
  Adaptation history;
  Sampler sampler;
  for (uint64_t i = 0; i < 100; i++) {
    sampler.sample(&lock, history, 32, i + 1, 1000 - i);
  }
  // Not enough for a window.
  EXPECT_EQ(history.period(), 64u);
}

TEST(Countdown, SaysWhenASampleIsDue) {
  Countdown countdown;
  EXPECT_FALSE(countdown.pass());
  EXPECT_EQ(countdown.read(), 0u);
  countdown.restart(3);
  for (uint64_t n = 1; n <= 3; n++) {
    EXPECT_TRUE(countdown.pass());
    EXPECT_EQ(countdown.read(), n);
  }
  EXPECT_FALSE(countdown.pass());
  EXPECT_EQ(countdown.read(), 3u);
  // What failed comes again.
  countdown.take_back();
  EXPECT_EQ(countdown.read(), 2u);
  EXPECT_TRUE(countdown.pass());
  EXPECT_FALSE(countdown.pass());
  // Shorter, never longer.
  countdown.restart(10);
  countdown.shorten(20);
  countdown.shorten(2);
  EXPECT_EQ(countdown.read(), 3u);
  EXPECT_TRUE(countdown.pass());
  EXPECT_TRUE(countdown.pass());
  EXPECT_FALSE(countdown.pass());
  EXPECT_EQ(countdown.read(), 5u);
}

// Its owner restarts it while others read.
TEST(Countdown, ReadersSeeItGrow) {
  static Countdown countdown;
  static std::atomic<bool> done;
  done = false;
  std::thread owner([] {
    for (int i = 0; i < 300000; i++) {
      countdown.restart(1000);
      countdown.shorten(1);
      countdown.pass();
    }
    done = true;
  });
  uint64_t last = 0;
  bool grows = true;
  while (!done) {
    uint64_t now = countdown.read();
    grows = grows && now >= last;
    last = now;
  }
  owner.join();
  EXPECT_TRUE(grows);
  EXPECT_EQ(countdown.read(), 300000u);
}

TEST(Sampler, PeriodsVary) {
  char lock = 0;
  Adaptation history;
  Sampler sampler;
  uint32_t low = ~0u;
  uint32_t high = 0;
  for (uint64_t i = 1; i < 1000; i++) {
    uint32_t period = sampler.sample(&lock, history, 32, i, i * 64);
    low = std::min(low, period - history.period());
    high = std::max(high, period - history.period());
  }
  EXPECT_EQ(low, 0u);
  EXPECT_EQ(high, 15u);
}

TEST(Histories, OneOfEachLock) {
  static Histories histories;
  char locks[2];
  for (int i = 0; i < 3; i++) {
    EXPECT_TRUE(histories.visit(&locks[0], true, [](Adaptation& history) {
      EXPECT_TRUE(history.elides());
    }));
    EXPECT_TRUE(histories.visit(&locks[1], false, [](Adaptation& history) {
      EXPECT_FALSE(history.elides());
    }));
  }
}

TEST(Histories, ASecondVisitorIsSentAway) {
  static Histories histories;
  char lock = 0;
  EXPECT_TRUE(histories.visit(&lock, false, [&](Adaptation&) {
    EXPECT_FALSE(histories.visit(&lock, false, [](Adaptation&) { FAIL(); }));
  }));
  EXPECT_TRUE(histories.visit(&lock, false, [](Adaptation&) {}));
}

// After a fork nobody is inside any more.
TEST(Histories, ReleaseAll) {
  static Histories histories;
  char lock = 0;
  bool visited = false;
  histories.visit(&lock, false, [&](Adaptation&) {
    histories.release_all();
    visited = histories.visit(&lock, false, [](Adaptation&) {});
  });
  EXPECT_TRUE(visited);
}

// More locks than entries: each is there sometimes, and a history is never
// another lock's.
TEST(Histories, LocksThatShareAnEntryTakeTurns) {
  static Histories histories;
  constexpr unsigned kLocks = 1000;
  static char locks[kLocks];
  unsigned there = 0;
  for (int round = 0; round < 20; round++) {
    for (char& lock : locks) {
      bool elides = (&lock - locks) % 2 != 0;
      there += histories.visit(&lock, elides, [&](Adaptation& history) {
        EXPECT_EQ(history.elides(), elides);
        EXPECT_LE(history.changes(), 1u);
      });
    }
  }
  EXPECT_GT(there, 20u * 256 / 10);
  EXPECT_LT(there, 20u * kLocks);
}

TEST(SetElideBit, OnlyOfALiveLock) {
  RealAtomics::Atomic<uint32_t> word{kLockLive | 5 * kOwnerOne};
  set_elide_bit(word, true);
  EXPECT_EQ(word.load(kRelaxed), kLockLive | kLockElide | 5 * kOwnerOne);
  set_elide_bit(word, true);
  set_elide_bit(word, false);
  EXPECT_EQ(word.load(kRelaxed), kLockLive | 5 * kOwnerOne);
  word.store(2, kRelaxed);
  set_elide_bit(word, true);
  EXPECT_EQ(word.load(kRelaxed), 2u);
}

}  // namespace
}  // namespace ovsthread::elision
