// SPDX-License-Identifier: Apache-2.0
//
// Spin locks elide like mutexes, alone and among other locks.
#include <atomic>
#include <cerrno>

#include "lock-word.h"
#include "scripted-testing.h"

namespace ovsthread {
namespace {

constexpr char kTaken[] = "taken.c:1";
constexpr char kOffence[] = "offence.c:2";

class SpinElision : public Scripted {
 protected:
  void SetUp() override {
    Scripted::SetUp();
    ovs_spin_init(&spin_);
  }

  ovs_spin spin_;
};

TEST_F(SpinElision, SubscribesAndCommits) {
  Script script;
  for (auto take :
       {+[](ovs_spin* spin) { ovs_spin_lock(spin); },
        +[](ovs_spin* spin) { EXPECT_EQ(ovs_spin_trylock(spin), 0); }}) {
    take(&spin_);
    EXPECT_TRUE(elided());
    EXPECT_EQ(spin_.word, kLockLive);
    EXPECT_EQ(ovs_spin_trylock(&spin_), EBUSY);
    ovs_spin_unlock(&spin_);
    EXPECT_FALSE(elided());
    EXPECT_EQ(script.trace(), "start access commit");
  }
  EXPECT_STREQ(spin_.where, "<unlocked>");
  ovs_spin_destroy(&spin_);
}

TEST_F(SpinElision, NestsWithOtherLocksInOneTransaction) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_spin_lock(&spin_);
  ovs_mutex_lock(&mutex);
  ovs_spin_unlock(&spin_);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(script.trace(), "start access access commit");
}

// A lock that was taken for real is released inside the section of another one.
TEST_F(SpinElision, ReleasedForRealInsideASection) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  script.abort_at_begin(0);
  ovs_spin_lock(&spin_);
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(elided());
  EXPECT_NE(spin_.word, kLockLive);
  ovs_spin_unlock(&spin_);
  EXPECT_EQ(spin_.word, kLockLive);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(script.trace(), "fail(0) start access commit");
}

TEST_F(SpinElision, SafePointRunsTheSectionForReal) {
  Script script;
  ovs_spin_lock_at(&spin_, kTaken);
  for_real();
  EXPECT_FALSE(elided());
  EXPECT_NE(spin_.word, kLockLive);
  EXPECT_STREQ(spin_.where, kTaken);
  ovs_spin_unlock(&spin_);
  ovs_spin_lock(&spin_);
  EXPECT_TRUE(elided());
  ovs_spin_unlock(&spin_);
  EXPECT_EQ(aborts(OVS_ABORT_SAFE_POINT), 1u);
}

// Looked at while it is held, and elided once it is free.
TEST_F(SpinElision, WaitsForARealOwnerAndElidesAfterIt) {
  std::atomic<int> state{0};
  std::thread owner([&] {
    ovs_spin_lock(&spin_);
    for_real();
    state = 1;
    wait_until([&] { return state == 2; });
    ovs_spin_unlock(&spin_);
    state = 3;
  });
  wait_until([&] { return state == 1; });
  {
    Script script;
    EXPECT_EQ(ovs_spin_trylock(&spin_), EBUSY);
    EXPECT_EQ(script.trace(), "");
    ovs_mutex outer = OVS_MUTEX_INITIALIZER;
    ovs_mutex_lock(&outer);
    EXPECT_EQ(ovs_spin_trylock(&spin_), EBUSY);
    EXPECT_TRUE(elided());
    ovs_mutex_unlock(&outer);
    EXPECT_EQ(script.trace(), "start access access commit");
    script.run([&] {
      state = 2;
      wait_until([&] { return state == 3; });
    });
    ovs_mutex_lock(&outer);
    ovs_spin_lock(&spin_);
    EXPECT_TRUE(elided());
    ovs_spin_unlock(&spin_);
    ovs_mutex_unlock(&outer);
    EXPECT_EQ(script.trace(),
              "start access access abort(b1) start access access commit");
  }
  owner.join();
}

TEST_F(SpinElision, MisuseIsReportedOutsideOfTheTransaction) {
  EXPECT_MISUSE(
      {
        Script script;
        ovs_spin_lock_at(&spin_, kTaken);
        ovs_spin_lock_at(&spin_, kOffence);
      },
      "deadlock: lock of a spin lock that the caller holds", "spin lock",
      "; held since taken\\.c:1");
  EXPECT_MISUSE(
      {
        Script script;
        ovs_spin_lock_at(&spin_, kTaken);
        ovs_spin_destroy_at(&spin_, kOffence);
      },
      "destroy of a spin lock that is held", "spin lock",
      "; held since taken\\.c:1");
}

}  // namespace
}  // namespace ovsthread
