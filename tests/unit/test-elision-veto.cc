// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "elision-veto.h"

namespace ovsthread::elision {
namespace {

constexpr char kHere[] = "here.c:1";
constexpr char kThere[] = "there.c:1";
constexpr int kLock = 0;

// Enters until a try is allowed; how many were not.
unsigned closed_for(Vetoes& vetoes) {
  unsigned n = 0;
  while (vetoes.forbid(&kLock, kHere)) n++;
  return n;
}

TEST(Vetoes, NothingIsForbiddenAtFirst) {
  Vetoes vetoes;
  for (int i = 0; i < 100; i++) EXPECT_FALSE(vetoes.forbid(&kLock, kHere));
}

TEST(Vetoes, CapacityClosesThePlaceAtOnceAndLongerEachTime) {
  Vetoes vetoes;
  unsigned window = Vetoes::kFirstWindow;
  for (int i = 0; i < 20; i++) {
    EXPECT_FALSE(vetoes.forbid(&kLock, kThere));
    vetoes.aborted(&kLock, kHere, OVS_ABORT_CAPACITY);
    EXPECT_EQ(closed_for(vetoes), window);
    if (window < Vetoes::kMaxWindow) window *= 2;
  }
}

TEST(Vetoes, ASuccessBehindTheWindowEndsTheVeto) {
  Vetoes vetoes;
  vetoes.aborted(&kLock, kHere, OVS_ABORT_CAPACITY);
  EXPECT_EQ(closed_for(vetoes), Vetoes::kFirstWindow);
  EXPECT_EQ(closed_for(vetoes), 0u);
  vetoes.aborted(&kLock, kHere, OVS_ABORT_CAPACITY);
  EXPECT_EQ(closed_for(vetoes), Vetoes::kFirstWindow);
}

TEST(Vetoes, SafePointsAndColdAbortsCloseItOnlyIfRepeated) {
  struct Case {
    ovs_elision_abort cause;
    unsigned strikes;
  };
  for (const Case& each :
       {Case{OVS_ABORT_SAFE_POINT, Vetoes::kSafePointStrikes},
        Case{OVS_ABORT_COLD, Vetoes::kColdStrikes}}) {
    Vetoes vetoes;
    unsigned needed = Vetoes::kClosing / each.strikes;
    for (unsigned i = 1; i < needed; i++) {
      vetoes.aborted(&kLock, kHere, each.cause);
      EXPECT_EQ(closed_for(vetoes), 0u) << i;
    }
    vetoes.aborted(&kLock, kHere, each.cause);
    EXPECT_EQ(closed_for(vetoes), Vetoes::kFirstWindow);
    vetoes.aborted(&kLock, kHere, each.cause);
    EXPECT_EQ(closed_for(vetoes), 2 * Vetoes::kFirstWindow);
  }
}

TEST(Vetoes, ASuccessBetweenForgivesStrikes) {
  Vetoes vetoes;
  for (int i = 0; i < 1000; i++) {
    vetoes.aborted(&kLock, kHere, OVS_ABORT_SAFE_POINT);
    EXPECT_FALSE(vetoes.forbid(&kLock, kHere)) << i;
    EXPECT_FALSE(vetoes.forbid(&kLock, kHere)) << i;
  }
}

TEST(Vetoes, OtherAbortsAreNotHeldAgainstThePlace) {
  Vetoes vetoes;
  for (int i = 0; i < 1000; i++) {
    for (ovs_elision_abort cause : {OVS_ABORT_BUSY, OVS_ABORT_CONFLICT,
                                    OVS_ABORT_NESTED, OVS_ABORT_OTHER}) {
      vetoes.aborted(&kLock, kHere, cause);
      EXPECT_FALSE(vetoes.forbid(&kLock, kHere));
    }
  }
}

TEST(Vetoes, OtherAbortsDoNotEndAVeto) {
  Vetoes vetoes;
  vetoes.aborted(&kLock, kHere, OVS_ABORT_CAPACITY);
  EXPECT_EQ(closed_for(vetoes), Vetoes::kFirstWindow);
  for (int i = 0; i < 10; i++) {
    vetoes.aborted(&kLock, kHere, OVS_ABORT_CONFLICT);
    EXPECT_EQ(closed_for(vetoes), 0u);
  }
  vetoes.aborted(&kLock, kHere, OVS_ABORT_CAPACITY);
  EXPECT_EQ(closed_for(vetoes), 2 * Vetoes::kFirstWindow);
}

// A section that always exceeds the capacity hardly ever tries.
TEST(Vetoes, HopelessPlaceTriesLessThanOnePercent) {
  constexpr unsigned kEntries = 100000;
  Vetoes vetoes;
  unsigned tries = 0;
  for (unsigned i = 0; i < kEntries; i++) {
    if (vetoes.forbid(&kLock, kHere)) continue;
    tries++;
    vetoes.aborted(&kLock, kHere, OVS_ABORT_CAPACITY);
  }
  EXPECT_LT(tries, kEntries / 100);
  EXPECT_GT(tries, 5u);
}

// More places than the table holds: some are forgotten, none is confused.
TEST(Vetoes, ManyPlaces) {
  constexpr int kPlaces = 1000;
  static char locks[kPlaces];
  Vetoes vetoes;
  for (char& lock : locks) vetoes.aborted(&lock, kHere, OVS_ABORT_CAPACITY);
  int forbidden = 0;
  for (char& lock : locks) {
    EXPECT_FALSE(vetoes.forbid(&lock, kThere));
    forbidden += vetoes.forbid(&lock, kHere);
  }
  EXPECT_GT(forbidden, 30);
  EXPECT_LE(forbidden, 64);
}

}  // namespace
}  // namespace ovsthread::elision
