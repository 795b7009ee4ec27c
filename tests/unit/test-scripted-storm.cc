// SPDX-License-Identifier: Apache-2.0
//
// Transactions that stop committing while the program runs.
#include <cerrno>
#include <cstring>

#include "scripted-testing.h"

namespace ovsthread {
namespace {

using elision::StormWatch;

class Storm : public Scripted {
 protected:
  // So many transactions of a new thread abort, and then so many trial ones,
  // while it uses a lock.
  static void lock_through(unsigned aborts, unsigned trials) {
    elsewhere([=] {
      Script script;
      // Of each acquisition; one that is not tried again.
      for (unsigned i = 0; i < aborts + trials; i++) script.abort_at_begin(0);
      ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
      for (unsigned i = 0; i < aborts; i++) {
        ovs_mutex_lock(&mutex);
        ovs_mutex_unlock(&mutex);
        if (i % 1000 == 0) script.trace();
      }
      is_over = !is_active();
      ovs_mutex_lock(&mutex);
      elided_then = elided();
      ovs_mutex_unlock(&mutex);
    });
  }
  void TearDown() override {
    Script script;  // Its transactions run.
    EXPECT_EQ(ovs_elision_set_mode(OVS_ELISION_ALWAYS), 0);
  }

  static bool is_active() { return status().active; }
  static ovs_elision_status status() {
    ovs_elision_status now;
    ovs_elision_get_status(&now);
    return now;
  }

  static inline bool is_over;
  static inline bool elided_then;
};

constexpr unsigned kTrials = 16;

TEST_F(Storm, SwitchesElisionOffAndSaysWhy) {
  lock_through(StormWatch::kStorm + 1, kTrials);
  EXPECT_TRUE(is_over);
  EXPECT_FALSE(elided_then);
  EXPECT_FALSE(status().active);
  EXPECT_FALSE(status().available);
  EXPECT_NE(strstr(status().reason, "stopped committing"), nullptr)
      << status().reason;
  EXPECT_EQ(ovs_elision_get_mode(), OVS_ELISION_ALWAYS);
  // No more is tried.
  uint64_t started = counts().started;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_mutex_lock(&mutex);
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(counts().started, started);
}

TEST_F(Storm, SettingTheModeTriesAfresh) {
  lock_through(StormWatch::kStorm + 1, kTrials);
  uint64_t acquisitions = counts().acquisitions;
  EXPECT_GE(acquisitions, uint64_t{StormWatch::kStorm});
  {
    Script script;
    for (unsigned i = 0; i < 2 * kTrials; i++) script.abort_at_begin(0);
    EXPECT_EQ(ovs_elision_set_mode(OVS_ELISION_ALWAYS), ENOTSUP);
    EXPECT_FALSE(status().active);
    EXPECT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
    EXPECT_FALSE(status().active);
    EXPECT_NE(strstr(status().reason, "stopped committing"), nullptr);
    // They run again.
    EXPECT_EQ(ovs_elision_set_mode(OVS_ELISION_ALWAYS), 0);
    EXPECT_TRUE(status().active);
    EXPECT_TRUE(status().available);
    EXPECT_STREQ(status().reason, "trial transactions committed");
    ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
    ovs_mutex_lock(&mutex);
    EXPECT_TRUE(elided());
    ovs_mutex_unlock(&mutex);
  }
  // Counts are the program's, and go on.
  EXPECT_GE(counts().acquisitions, acquisitions);
}

// Trial transactions commit: it was that thread's section.
TEST_F(Storm, ASectionThatNeverCommitsIsNone) {
  lock_through(StormWatch::kStorm + 1, 0);
  EXPECT_FALSE(is_over);
  EXPECT_TRUE(elided_then);
  lock_through(StormWatch::kStorm + 1, kTrials - 2);
  EXPECT_FALSE(is_over);
}

TEST_F(Storm, FewerAbortsAreNone) {
  lock_through(StormWatch::kStorm - 1, 0);
  EXPECT_FALSE(is_over);
  EXPECT_TRUE(elided_then);
}

// Whoever is inside a transaction aborts: switching off is a write to what it
// has subscribed to, here as seen when it starts.
TEST_F(Storm, OthersThatAreInsideGoForReal) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  script.run(nullptr, [] { lock_through(StormWatch::kStorm + 1, kTrials); });
  ovs_mutex_lock(&mutex);
  EXPECT_FALSE(elided());
  EXPECT_TRUE(is_held(mutex));
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(script.trace(), "start access abort(b4)");
}

// In mode auto, too, which tries less and less; every way to abort counts.
TEST_F(Storm, InModeAuto) {
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  elsewhere([] {
    Script script;
    for (unsigned i = 0; i < StormWatch::kStorm + 8 * kTrials; i++) {
      script.abort_at_begin(kStatusConflict);
    }
    ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
    for (unsigned i = 0; i < StormWatch::kStorm && is_active(); i++) {
      set_elide_mode(mutex);
      ovs_mutex_lock(&mutex);
      ovs_mutex_unlock(&mutex);
      script.trace();
    }
  });
  EXPECT_FALSE(status().active);
  EXPECT_EQ(ovs_elision_get_mode(), OVS_ELISION_AUTO);
}

}  // namespace
}  // namespace ovsthread
