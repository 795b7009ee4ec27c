// SPDX-License-Identifier: Apache-2.0
//
// Statistics of elided sections: each lock of a section is counted once, after
// the commit, and each abort at the place where the section began.
#include <ovsthread/lock-stats.h>
#include <ovsthread/mutex.h>

#include <string>

#include "lock-word.h"
#include "scripted-testing.h"

namespace ovsthread {
namespace {

class Statistics : public Scripted {
 protected:
  void SetUp() override {
    Scripted::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_ON), 0);
    ovs_lock_stats_reset();
  }
  void TearDown() override { ovs_lock_stats_set(OVS_LOCK_STATS_OFF); }

  static ovs_lock_stats_entry at(const std::string& site) {
    ovs_lock_stats_entry found = {};
    for (const ovs_lock_stats_entry& entry : lock_stats()) {
      if (entry.site == site) found = entry;
    }
    return found;
  }
  static void expect(const std::string& site, uint64_t n_elided,
                     uint64_t n_real, uint64_t n_aborts) {
    ovs_lock_stats_entry entry = at(site);
    EXPECT_EQ(entry.acquisitions, n_elided + n_real) << site;
    EXPECT_EQ(entry.elided, n_elided) << site;
    EXPECT_EQ(entry.real, n_real) << site;
    uint64_t sum = 0;
    for (uint64_t n : entry.aborts) sum += n;
    EXPECT_EQ(sum, n_aborts) << site;
  }
};

TEST_F(Statistics, ElidedAndRealAndAborts) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  script.abort_at_begin(kStatusCapacity);
  script.abort_at_access(1, kStatusConflict);
  script.run();
  script.abort_at_begin(0);
  for (int i = 0; i < 5; i++) {
    ovs_mutex_lock_at(&mutex, "counts.c:1");
    ovs_mutex_unlock(&mutex);
  }
  expect("counts.c:1", 3, 2, 3);
  ovs_lock_stats_entry entry = at("counts.c:1");
  EXPECT_EQ(entry.aborts[OVS_ABORT_CAPACITY], 1u);
  EXPECT_EQ(entry.aborts[OVS_ABORT_CONFLICT], 1u);
  EXPECT_EQ(entry.aborts[OVS_ABORT_COLD], 1u);
  EXPECT_EQ(entry.way, OVS_LOCK_WAY_ELIDES);
  EXPECT_EQ(entry.contended, 0u);
}

TEST_F(Statistics, InnerLocksCountWhenTheSectionCommits) {
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  ovs_rwlock inner = OVS_RWLOCK_INITIALIZER;
  Script script;
  // The first run is undone wholly, the inner locks in it, too.
  script.abort_at_commit(kStatusConflict);
  ovs_mutex_lock_at(&outer, "outer.c:1");
  for (int i = 0; i < 3; i++) {
    ovs_rwlock_rdlock_at(&inner, "inner.c:1");
    ovs_rwlock_unlock(&inner);
  }
  ovs_rwlock_wrlock_at(&inner, "inner.c:2");
  ovs_rwlock_unlock(&inner);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&outer);
  expect("outer.c:1", 1, 0, 1);
  expect("inner.c:1", 3, 0, 0);
  expect("inner.c:2", 1, 0, 0);
}

TEST_F(Statistics, MoreInnerPlacesThanAreNotedAreOthers) {
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  ovs_mutex inner[20];
  Script script;
  ovs_mutex_lock_at(&outer, "outer.c:2");
  for (ovs_mutex& mutex : inner) {
    ovs_mutex_init(&mutex);
    ovs_mutex_lock_at(&mutex, "inner.c:3");
    ovs_mutex_unlock(&mutex);
  }
  ovs_mutex_unlock(&outer);
  uint64_t sum = 0;
  LockStats all = lock_stats();
  for (const ovs_lock_stats_entry& entry : all) {
    EXPECT_EQ(entry.real, 0u);
    sum += entry.elided;
  }
  EXPECT_EQ(sum, 21u);
  EXPECT_STREQ(all.back().lock, "others");
  EXPECT_EQ(all.back().elided, 13u);
}

TEST_F(Statistics, ARealLockTakenAgainInsideCounts) {
  ovs_mutex recursive;
  ovs_mutex_init_recursive(&recursive);
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  script.abort_at_begin(0);
  ovs_mutex_lock_at(&recursive, "recursive.c:1");
  ovs_mutex_lock_at(&mutex, "elided.c:1");
  ovs_mutex_lock_at(&recursive, "recursive.c:2");
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&recursive);
  ovs_mutex_unlock(&mutex);
  ovs_mutex_unlock(&recursive);
  expect("recursive.c:1", 0, 1, 1);
  expect("elided.c:1", 1, 0, 0);
  expect("recursive.c:2", 0, 1, 0);
}

TEST_F(Statistics, SafePointsAreCountedWhereTheSectionBegan) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  for (int i = 0; i < OVS_N_SAFE_POINTS; i++) {
    for (int n = 0; n <= i; n++) {
      ovs_mutex_lock_at(&mutex, "safe-points.c:1");
      elision::safe_point(static_cast<ovs_safe_point>(i));
      ovs_mutex_unlock(&mutex);
    }
  }
  ovs_lock_stats_entry entry = at("safe-points.c:1");
  for (int i = 0; i < OVS_N_SAFE_POINTS; i++) {
    EXPECT_EQ(entry.safe_points[i], i + 1u)
        << ovs_safe_point_name(static_cast<ovs_safe_point>(i));
  }
  EXPECT_EQ(entry.aborts[OVS_ABORT_SAFE_POINT], entry.acquisitions);
}

// The wait is that of the acquisition, before its transaction.
TEST_F(Statistics, WaitingForABusyLockAndThenEliding) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Script script;
  script.abort_at_begin(explicit_abort(elision::kCodeBusy));
  ovs_mutex_lock_at(&mutex, "busy.c:1");
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
  ovs_lock_stats_entry entry = at("busy.c:1");
  EXPECT_EQ(entry.elided, 1u);
  EXPECT_EQ(entry.contended, 1u);
  EXPECT_GT(entry.waited_ns, 0u);
  EXPECT_EQ(entry.longest_ns, entry.waited_ns);
  ovs_mutex_lock_at(&mutex, "busy.c:1");
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(at("busy.c:1").contended, 1u);
  EXPECT_EQ(at("busy.c:1").elided, 2u);
}

TEST_F(Statistics, TheWayAndWhy) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  auto lock = [&] {
    ovs_mutex_lock_at(&mutex, "way.c:1");
    ovs_mutex_unlock(&mutex);
  };
  Script script;
  lock();
  EXPECT_EQ(at("way.c:1").way, OVS_LOCK_WAY_ELIDES);
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_OFF), 0);
  lock();
  EXPECT_EQ(at("way.c:1").way, OVS_LOCK_WAY_OFF);
  expect("way.c:1", 1, 1, 0);
}

TEST_F(Statistics, AVetoedPlaceSaysSo) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_elide_mode(mutex);
  Script script;
  script.abort_at_begin(kStatusCapacity);
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  for (int i = 0; i < 2; i++) {
    ovs_mutex_lock_at(&mutex, "too-big.c:1");
    ovs_mutex_unlock(&mutex);
  }
  EXPECT_EQ(at("too-big.c:1").way, OVS_LOCK_WAY_VETOED);
  EXPECT_EQ(at("too-big.c:1").aborts[OVS_ABORT_CAPACITY], 1u);
  EXPECT_EQ(at("too-big.c:1").real, 2u);
}

// Everything that reads, names, resets or switches is a safe point.
TEST_F(Statistics, CallsInsideASectionAreSafePoints) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  const struct {
    ovs_safe_point what;
    void (*call)();
  } kCalls[] = {
      {OVS_SAFE_POINT_STATISTICS,
       [] { ovs_lock_stats_free(ovs_lock_stats_snapshot()); }},
      {OVS_SAFE_POINT_STATISTICS, [] { ovs_lock_stats_reset(); }},
      {OVS_SAFE_POINT_STATISTICS, [] { ovs_lock_stats_get(); }},
      {OVS_SAFE_POINT_STATISTICS, [] { ovs_lock_stats_processes(nullptr, 0); }},
      {OVS_SAFE_POINT_STATISTICS,
       [] {
         ovs_lock_stats* stats;
         ovs_lock_stats_snapshot_of(0, &stats);
       }},
      {OVS_SAFE_POINT_STATISTICS,
       [] {
         Mutex named;
         set_lock_name(named, "inside");
       }},
      {OVS_SAFE_POINT_MODE_CHANGE,
       [] { ovs_lock_stats_set(OVS_LOCK_STATS_ON); }},
  };
  for (const auto& [what, call] : kCalls) {
    Script script;
    ovs_mutex_lock(&mutex);
    call();
    EXPECT_FALSE(elided());
    ovs_mutex_unlock(&mutex);
    EXPECT_EQ(script.trace(), "start access " + abort_at(what));
  }
}

// A lock that statistics know is destroyed inside the section of another one.
TEST_F(Statistics, DestroyingAKnownLockInsideIsASafePoint) {
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  ovs_mutex known = OVS_MUTEX_INITIALIZER;
  Script script;
  ovs_mutex_lock(&known);
  ovs_mutex_unlock(&known);
  script.trace();
  ovs_mutex_lock(&outer);
  ovs_mutex_destroy(&known);
  EXPECT_FALSE(elided());
  ovs_mutex_unlock(&outer);
  EXPECT_EQ(script.trace(),
            "start access " + abort_at(OVS_SAFE_POINT_STATISTICS));
}

// Though statistics know other locks.
TEST_F(Statistics, DestroyingAnUnknownLockInsideIsNone) {
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  // Not where a lock of another test was that is not destroyed.
  static ovs_mutex unknown = OVS_MUTEX_INITIALIZER;
  Script script;
  ovs_mutex_lock(&outer);
  ovs_mutex_destroy(&unknown);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&outer);
  EXPECT_EQ(script.trace(), "start access commit");
}

}  // namespace
}  // namespace ovsthread
