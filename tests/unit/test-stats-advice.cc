// SPDX-License-Identifier: Apache-2.0
//
// Each sentence that ovstest stats says under its table, and when.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "ovstest-stats-advice.h"

namespace ovstest {
namespace {

ovs_lock_stats_entry entry(const char* lock, const char* site, uint64_t elided,
                           uint64_t real) {
  ovs_lock_stats_entry result = {};
  std::snprintf(result.lock, sizeof result.lock, "%s", lock);
  std::snprintf(result.site, sizeof result.site, "%s", site);
  result.id = 1;
  result.way = OVS_LOCK_WAY_ELIDES;
  result.elided = elided;
  result.real = real;
  result.acquisitions = elided + real;
  return result;
}

// One sentence about an entry that aborts, mostly for CAUSE.
std::string about(ovs_elision_abort cause) {
  ovs_lock_stats_entry flow = entry("flow_lock", "datapath.cc:88", 1000, 1000);
  flow.aborts[cause] = 920;
  flow.aborts[cause == OVS_ABORT_OTHER ? OVS_ABORT_BUSY : OVS_ABORT_OTHER] = 80;
  flow.safe_points[OVS_SAFE_POINT_CONDITION_WAIT] = 900;
  flow.safe_points[OVS_SAFE_POINT_FORK] = 20;
  std::vector<std::string> sentences = advise({&flow, 1}, 500);
  EXPECT_EQ(sentences.size(), 1u);
  return sentences[0];
}

TEST(StatsAdvice, NamesTheCauseOfMostAborts) {
  const std::string start =
      "92 % of the aborts of `flow_lock` at datapath.cc:88 are ";
  EXPECT_EQ(about(OVS_ABORT_CAPACITY),
            start +
                "capacity: the section writes more than 500 lines, or reads "
                "more than the cache can track; shorten it.");
  EXPECT_EQ(about(OVS_ABORT_CONFLICT),
            start +
                "conflict: sections of several threads write the same "
                "lines; keep apart what different threads write.");
  EXPECT_EQ(about(OVS_ABORT_BUSY),
            start +
                "busy: others hold the lock for real; look at what makes "
                "them do so.");
  EXPECT_EQ(about(OVS_ABORT_COLD),
            start +
                "cold: the section meets page faults, interrupts or system "
                "calls; touch memory before it, and make no calls into the "
                "kernel in it.");
  EXPECT_EQ(about(OVS_ABORT_NESTED),
            start +
                "nested: a transaction of the program's own in the section "
                "aborts.");
  EXPECT_EQ(about(OVS_ABORT_SAFE_POINT),
            start +
                "safe_point: the section does what no transaction can do, "
                "mostly condition_wait; do that outside of it.");
  EXPECT_EQ(about(OVS_ABORT_OTHER),
            start +
                "other: the section holds more locks than can be elided at "
                "once, or elision was switched.");
}

TEST(StatsAdvice, FewAbortsAreNothing) {
  ovs_lock_stats_entry flow = entry("flow_lock", "datapath.cc:88", 1000000, 0);
  const std::vector<std::string> nothing = {
      "Nothing stands out: hardly any waits or aborts."};
  flow.aborts[OVS_ABORT_CONFLICT] = 9999;  // Less than 1 %.
  EXPECT_EQ(advise({&flow, 1}, 512), nothing);
  flow.aborts[OVS_ABORT_CONFLICT] = 10000;
  EXPECT_NE(advise({&flow, 1}, 512), nothing);
  flow.acquisitions = flow.elided = 99;
  flow.aborts[OVS_ABORT_CONFLICT] = 99;  // Too few to conclude anything.
  EXPECT_EQ(advise({&flow, 1}, 512), nothing);
}

TEST(StatsAdvice, NamesTheLongestWait) {
  ovs_lock_stats_entry entries[] = {entry("a", "a.c:1", 0, 1000),
                                    entry("b", "b.c:1", 0, 1000)};
  entries[0].contended = 500;
  entries[0].waited_ns = kShortWaitNs;
  entries[0].longest_ns = 2500;
  entries[1].contended = 25;
  entries[1].waited_ns = kShortWaitNs - 1;
  EXPECT_EQ(advise(entries, 512),
            std::vector<std::string>{
                "Threads have waited 1.0 ms for `a` at a.c:1, in 50.0 % of its "
                "acquisitions and up to 2 us: shorten the sections under this "
                "lock, or split it."});
  entries[1].waited_ns = 3200000000;
  entries[1].longest_ns = 12000000;
  EXPECT_EQ(advise(entries, 512),
            std::vector<std::string>{
                "Threads have waited 3.2 s for `b` at b.c:1, in 2.5 % of its "
                "acquisitions and up to 12.0 ms: shorten the sections under "
                "this lock, or split it."});
}

// What runs for long enough has waited some time under each lock.
TEST(StatsAdvice, SaysNothingOfRareWaits) {
  ovs_lock_stats_entry rare = entry("a", "a.c:1", 0, 100000);
  rare.contended = 999;
  rare.waited_ns = 3200000000;
  EXPECT_EQ(advise({&rare, 1}, 512)[0],
            "Nothing stands out: hardly any waits or aborts.");
  rare.contended = 1000;
  EXPECT_NE(advise({&rare, 1}, 512)[0],
            "Nothing stands out: hardly any waits or aborts.");
}

TEST(StatsAdvice, SaysThatElisionIsOffIfThatMayMatter) {
  ovs_lock_stats_entry flow = entry("flow_lock", "datapath.cc:88", 0, 1000);
  flow.way = OVS_LOCK_WAY_OFF;
  EXPECT_EQ(advise({&flow, 1}, 512).size(), 1u);
  flow.contended = 10;
  flow.waited_ns = kShortWaitNs;
  std::vector<std::string> sentences = advise({&flow, 1}, 512);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[1],
            "Elision is off in this process; `ovstest elision` says what this "
            "machine can do.");
}

TEST(StatsAdvice, SaysHowManyFoundNoRoom) {
  ovs_lock_stats_entry entries[] = {entry("a", "a.c:1", 950, 0),
                                    entry("others", "others", 0, 49)};
  entries[1].id = 0;
  EXPECT_EQ(advise(entries, 512)[0],
            "Nothing stands out: hardly any waits or aborts.");
  entries[1].acquisitions = entries[1].real = 50;
  EXPECT_EQ(advise(entries, 512),
            std::vector<std::string>{
                "5 % of all acquisitions are of locks and places that found no "
                "room and are counted as others."});
}

TEST(StatsAdvice, IsAtMostTwoSentences) {
  ovs_lock_stats_entry flow = entry("flow_lock", "datapath.cc:88", 0, 1000);
  flow.id = 0;
  flow.way = OVS_LOCK_WAY_OFF;
  flow.contended = 10;
  flow.waited_ns = kShortWaitNs;
  flow.aborts[OVS_ABORT_CAPACITY] = 1000;
  EXPECT_EQ(advise({&flow, 1}, 512).size(), 2u);
}

TEST(StatsAdvice, OfNothing) {
  EXPECT_EQ(advise({}, 512),
            std::vector<std::string>{"No lock has been taken yet."});
}

// A name is only text.
TEST(StatsAdvice, EscapesNames) {
  ovs_lock_stats_entry flow = entry("\x1b[2J", "a\nb", 1000, 1000);
  flow.aborts[OVS_ABORT_CONFLICT] = 1000;
  EXPECT_EQ(advise({&flow, 1}, 512)[0].find("100 % of the aborts of `\\x1b[2J` "
                                            "at a\\nb are conflict: "),
            0u);
}

}  // namespace
}  // namespace ovstest
