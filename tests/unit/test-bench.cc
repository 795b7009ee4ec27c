// SPDX-License-Identifier: Apache-2.0
//
// What benchmarks rest on: the draws of a workload, the summaries of what was
// measured, and the reading of files of it.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "draws.h"
#include "json-reader.h"
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

// Of n distinct values, n odd, the median of a draw is at most the k-th exactly
// if more than half of the n drawn are among the k smallest: the interval's
// ends can be computed.
TEST(Paired, IntervalIsTheBootstrapOfTheMedian) {
  // {n, k of the lower end}, from the binomial distribution (n, k / n).
  constexpr size_t kLowest[][2] = {{5, 1}, {11, 3}, {21, 7}, {31, 11}};
  for (auto [n, k] : kLowest) {
    std::vector<double> values;
    for (size_t i = n; i > 0; i--) values.push_back(static_cast<double>(i));
    Summary summary = summarize(values);
    EXPECT_EQ(summary.median, (n + 1) / 2) << n;
    EXPECT_EQ(summary.low, k) << n;
    EXPECT_EQ(summary.high, n + 1 - k) << n;
  }
}

TEST(Paired, OneValueIsItsOwnInterval) {
  Summary summary = summarize({7});
  EXPECT_EQ(summary.median, 7);
  EXPECT_EQ(summary.low, 7);
  EXPECT_EQ(summary.high, 7);
  EXPECT_TRUE(std::isnan(summarize({}).low));
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

TEST(Paired, QuantilesLieBetweenTheirNeighbours) {
  EXPECT_EQ(quantile({5, 1, 3, 2, 4}, 0.25), 2);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_TRUE(std::isnan(quantile({}, 0.25)));
}

TEST(Paired, RoundsAlternate) {
  EXPECT_FALSE(reversed(0));
  EXPECT_TRUE(reversed(1));
  EXPECT_FALSE(reversed(2));
}

TEST(JsonReader, ReadsEveryKindOfValue) {
  std::optional<Json> json = JsonReader::read(
      R"( {"name": "a \"b\" \\ \n\t\u00e9", "list": [1, -2.5e3, [], {}],
           "yes": true, "no": false, "nothing": null} )");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->members.size(), 5u);
  EXPECT_EQ(json->find("name")->text, "a \"b\" \\ \n\t?");
  const std::vector<Json>& list = json->find("list")->elements;
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0].number, 1);
  EXPECT_EQ(list[1].number, -2500);
  EXPECT_TRUE(list[2].elements.empty());
  EXPECT_TRUE(list[3].members.empty());
  EXPECT_EQ(json->find("yes")->text, "true");
  EXPECT_TRUE(std::isnan(json->find("nothing")->number));
  EXPECT_EQ(json->find("absent"), nullptr);
}

TEST(JsonReader, TellsWhatIsNoJson) {
  for (const char* text :
       {"", "{", "[1", "[1,]", "[1}", "{\"a\"}", "{\"a\": }", "{a: 1}", "\"a",
        "\"a\\", "\"\\u12\"", "1 2", "nil", "{\"a\": 1,}"}) {
    EXPECT_FALSE(JsonReader::read(text)) << text;
  }
}

}  // namespace
}  // namespace bench
