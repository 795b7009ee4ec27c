// SPDX-License-Identifier: Apache-2.0
//
// What benchmarks rest on: the draws of a workload, and the summaries of what
// was measured.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "draws.h"
#include "paired.h"

namespace bench {
namespace {

TEST(Draws, AreTheSameForOneSeedAndNotForAnother) {
  constexpr uint64_t kN = 1000;
  Draws first(kN, 2, 50, 7), again(kN, 2, 50, 7), other(kN, 2, 50, 8);
  unsigned different = 0;
  for (unsigned thread = 0; thread < 2; thread++) {
    for (uint64_t i = 0; i < kN; i++) {
      EXPECT_EQ(first.removes(thread, i), again.removes(thread, i));
      different += first.removes(thread, i) != other.removes(thread, i);
    }
  }
  EXPECT_GT(different, kN / 4);
}

TEST(Draws, HaveTheirProbability) {
  constexpr uint64_t kN = 1000000;
  for (double percent : {0.0, 0.1, 10.0, 60.0, 100.0}) {
    Draws draws(kN, 1, percent, 1);
    double mean = kN * percent / 100;
    double deviation = std::sqrt(mean * (1 - percent / 100));
    EXPECT_NEAR(kN - draws.survivors(), mean, 5 * deviation) << percent;
  }
}

TEST(Draws, AnElementSurvivesIfNoThreadRemovesIt) {
  constexpr uint64_t kN = 1001;
  constexpr unsigned kThreads = 3;
  Draws draws(kN, kThreads, 20, 1);
  uint64_t survivors = 0;
  for (uint64_t i = 0; i < kN; i++) {
    bool removed = false;
    for (unsigned thread = 0; thread < kThreads; thread++) {
      removed |= draws.removes(thread, i);
    }
    EXPECT_EQ(draws.survives(i), !removed);
    survivors += !removed;
  }
  EXPECT_EQ(draws.survivors(), survivors);
}

TEST(Draws, CanBeReadInBatches) {
  constexpr uint64_t kN = 300;
  Draws draws(kN, 1, 50, 3);
  for (uint64_t start = 0; start < kN; start++) {
    uint64_t bits = draws.removes_64(0, start);
    for (uint64_t i = 0; i < 64 && start + i < kN; i++) {
      EXPECT_EQ(bits >> i & 1, draws.removes(0, start + i));
    }
  }
}

TEST(Paired, DropsWhatTheOrderStatisticsAllow) {
  // From tables of the binomial distribution.
  EXPECT_EQ(outside_interval(1), 0u);
  EXPECT_EQ(outside_interval(5), 0u);
  EXPECT_EQ(outside_interval(8), 0u);
  EXPECT_EQ(outside_interval(9), 1u);
  EXPECT_EQ(outside_interval(11), 1u);
  EXPECT_EQ(outside_interval(12), 2u);
  EXPECT_EQ(outside_interval(20), 5u);
  EXPECT_EQ(outside_interval(100), 39u);
}

TEST(Paired, SummarizesRatiosWithinRounds) {
  Summary summary = paired_ratio({2, 30, 400}, {1, 10, 100});
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.low, 2);
  EXPECT_EQ(summary.high, 4);
}

TEST(Paired, MedianOfAnEvenNumberLiesBetween) {
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Paired, RoundsAlternate) {
  EXPECT_FALSE(reversed(0));
  EXPECT_TRUE(reversed(1));
  EXPECT_FALSE(reversed(2));
}

}  // namespace
}  // namespace bench
