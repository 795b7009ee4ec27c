// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "elision-policy.h"

namespace ovsthread::elision {
namespace {

constexpr uint32_t explicit_abort(uint8_t code) {
  return kStatusExplicit | uint32_t{code} << 24;
}

TEST(ElisionPolicy, ClassifiesEachStatus) {
  EXPECT_EQ(classify(explicit_abort(kCodeBusy)), OVS_ABORT_BUSY);
  for (uint8_t kind = 0; kind < OVS_N_SAFE_POINTS; kind++) {
    EXPECT_EQ(classify(explicit_abort(kCodeSafePoint + kind)),
              OVS_ABORT_SAFE_POINT);
    EXPECT_EQ(safe_point_kind(kCodeSafePoint + kind), kind);
  }
  EXPECT_EQ(classify(explicit_abort(kCodeSafePoint + OVS_N_SAFE_POINTS)),
            OVS_ABORT_OTHER);
  EXPECT_EQ(classify(explicit_abort(0)), OVS_ABORT_OTHER);
  EXPECT_EQ(classify(explicit_abort(kCodeListFull)), OVS_ABORT_OTHER);
  EXPECT_EQ(classify(explicit_abort(kCodeSwitchedOff)), OVS_ABORT_OTHER);
  EXPECT_EQ(classify(explicit_abort(0xff)), OVS_ABORT_OTHER);
  EXPECT_EQ(classify(kStatusConflict | kStatusRetry), OVS_ABORT_CONFLICT);
  EXPECT_EQ(classify(kStatusConflict), OVS_ABORT_CONFLICT);
  EXPECT_EQ(classify(kStatusCapacity), OVS_ABORT_CAPACITY);
  EXPECT_EQ(classify(kStatusCapacity | kStatusConflict), OVS_ABORT_CAPACITY);
  EXPECT_EQ(classify(0), OVS_ABORT_COLD);
  EXPECT_EQ(classify(kStatusNested), OVS_ABORT_NESTED);
  EXPECT_EQ(classify(kStatusDebug), OVS_ABORT_OTHER);
  EXPECT_EQ(classify(kStatusRetry), OVS_ABORT_OTHER);
}

// The program's own nested transaction may abort with any code.
TEST(ElisionPolicy, ExplicitAbortOfANestedTransactionIsNotOurs) {
  EXPECT_EQ(classify(explicit_abort(kCodeBusy) | kStatusNested),
            OVS_ABORT_NESTED);
  EXPECT_EQ(classify(explicit_abort(kCodeSafePoint) | kStatusNested),
            OVS_ABORT_NESTED);
}

TEST(ElisionPolicy, GoesForRealAtOnceWhereARetryIsNoUse) {
  for (ovs_elision_abort cause :
       {OVS_ABORT_CAPACITY, OVS_ABORT_COLD, OVS_ABORT_NESTED,
        OVS_ABORT_SAFE_POINT, OVS_ABORT_OTHER}) {
    Attempts attempts;
    EXPECT_FALSE(after_abort(attempts, cause, 7).retry) << cause;
  }
}

TEST(ElisionPolicy, ConflictsAreRetriedABoundedTime) {
  Attempts attempts;
  unsigned retries = 0;
  unsigned looks = 0;
  for (;;) {
    Next next = after_abort(attempts, OVS_ABORT_CONFLICT, ~0u);
    if (!next.retry) break;
    EXPECT_LT(next.looks, kMaxBackoffLooks);
    retries++;
    looks += next.looks;
  }
  EXPECT_EQ(retries, kMaxConflicts);
  EXPECT_LE(looks, kMaxConflicts * kMaxBackoffLooks);
}

// In PAUSEs of at most 140 cycles each.
TEST(ElisionPolicy, NoWaitIsLongerThanSomeTenMicroseconds) {
  constexpr unsigned kTenMicroseconds = 256;
  EXPECT_LE(kMaxBusyLooks, kTenMicroseconds);
  EXPECT_LE(kMaxConflicts * kMaxBackoffLooks, kTenMicroseconds);
  // Whatever the budget.
  for (unsigned conflicts = 0; conflicts < 30; conflicts++) {
    Attempts attempts;
    attempts.conflicts = conflicts;
    Next next = after_abort(attempts, OVS_ABORT_CONFLICT, ~0u);
    EXPECT_LT(next.looks, kMaxBackoffLooks);
  }
}

TEST(ElisionPolicy, BusyIsRetriedWithinOneBoundAndNotChargedToConflicts) {
  Attempts attempts;
  unsigned looks = 0;
  unsigned retries = 0;
  for (;;) {
    Next next = after_abort(attempts, OVS_ABORT_BUSY, 0);
    if (!next.retry) break;
    EXPECT_GE(next.looks, kFirstBusyLooks);
    retries++;
    looks += next.looks;
  }
  EXPECT_GE(retries, 3u);
  EXPECT_LE(looks, kMaxBusyLooks);
  EXPECT_TRUE(after_abort(attempts, OVS_ABORT_CONFLICT, 0).retry);
}

TEST(ElisionPolicy, TimeSpentWaitingForTheLockCountsAgainstTheBusyBound) {
  Attempts attempts;
  attempts.busy_looks = kMaxBusyLooks;
  EXPECT_FALSE(after_abort(attempts, OVS_ABORT_BUSY, 0).retry);
}

TEST(ElisionPolicy, AutoElidesWhereTheWordSaysSoUnlessVetoed) {
  for (uint32_t word : {kLockLive, kLockLive | kLockElide}) {
    for (bool vetoed : {false, true}) {
      EXPECT_FALSE(should_elide(OVS_ELISION_OFF, word, vetoed));
      EXPECT_EQ(should_elide(OVS_ELISION_AUTO, word, vetoed),
                word != kLockLive && !vetoed);
      EXPECT_TRUE(should_elide(OVS_ELISION_ALWAYS, word, vetoed));
    }
  }
}

TEST(ElisionPolicy, AStormIsALongRunWithoutACommit) {
  StormWatch watch;
  uint64_t started = 100;
  EXPECT_FALSE(watch.aborted(started, 50));
  for (uint64_t i = 1; i < StormWatch::kStorm; i++) {
    EXPECT_FALSE(watch.aborted(started + i, 50));
  }
  EXPECT_TRUE(watch.aborted(started + StormWatch::kStorm, 50));
  // Once in so many.
  EXPECT_FALSE(watch.aborted(started + StormWatch::kStorm + 1, 50));
  EXPECT_TRUE(watch.aborted(started + 2 * StormWatch::kStorm, 50));
  // One commit begins it anew.
  EXPECT_FALSE(watch.aborted(started + 3 * StormWatch::kStorm, 51));
  EXPECT_FALSE(watch.aborted(started + 4 * StormWatch::kStorm - 1, 51));
  EXPECT_TRUE(watch.aborted(started + 4 * StormWatch::kStorm, 51));
}

TEST(ElisionPolicy, AbortNames) {
  EXPECT_STREQ(ovs_elision_abort_name(OVS_ABORT_BUSY), "busy");
  EXPECT_STREQ(ovs_elision_abort_name(OVS_ABORT_CONFLICT), "conflict");
  EXPECT_STREQ(ovs_elision_abort_name(OVS_ABORT_CAPACITY), "capacity");
  EXPECT_STREQ(ovs_elision_abort_name(OVS_ABORT_COLD), "cold");
  EXPECT_STREQ(ovs_elision_abort_name(OVS_ABORT_NESTED), "nested");
  EXPECT_STREQ(ovs_elision_abort_name(OVS_ABORT_SAFE_POINT), "safe_point");
  EXPECT_STREQ(ovs_elision_abort_name(OVS_ABORT_OTHER), "other");
  EXPECT_STREQ(ovs_elision_abort_name(OVS_N_ABORTS), "unknown");
}

TEST(ElisionPolicy, SafePointNames) {
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_CONDITION_WAIT),
               "condition_wait");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_RCU_REGISTER),
               "rcu_register");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_QUIESCE), "quiesce");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_SYNCHRONIZE), "synchronize");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_BARRIER), "barrier");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_FORK), "fork");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_THREAD_START),
               "thread_start");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_MESSAGE), "message");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_WAKE), "wake");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_MIGRATION), "migration");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_ALLOCATION), "allocation");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_STATISTICS), "statistics");
  EXPECT_STREQ(ovs_safe_point_name(OVS_SAFE_POINT_MODE_CHANGE), "mode_change");
  EXPECT_STREQ(ovs_safe_point_name(OVS_N_SAFE_POINTS), "unknown");
}

}  // namespace
}  // namespace ovsthread::elision
