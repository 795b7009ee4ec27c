// SPDX-License-Identifier: Apache-2.0
//
// How statistics start: by the environment, and in a process that has no memory
// left, or none of their own.
#include <ovsthread/lock-stats.h>
#include <ovsthread/mutex.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "no-memory.h"
#include "start-testing.h"

namespace ovsthread {
namespace {

using StatisticsStart = Start;

[[noreturn]] void report() {
  const char* const kModes[] = {"off", "on", "publish"};
  std::fprintf(stderr, "statistics %s\n", kModes[ovs_lock_stats_get()]);
  std::exit(0);
}

TEST_F(StatisticsStart, WithoutAWordTheyAreOff) {
  unset("OVSTHREAD_STATS");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0), "statistics off\n");
}

TEST_F(StatisticsStart, Off) {
  set("OVSTHREAD_STATS", "off");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0), "statistics off\n");
}

TEST_F(StatisticsStart, On) {
  set("OVSTHREAD_STATS", "on");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0), "statistics on\n");
}

TEST_F(StatisticsStart, PublishedOrWithAWarning) {
  set("OVSTHREAD_STATS", "publish");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0),
              "statistics publish\n|"
              "OVSTHREAD_STATS=publish: lock statistics stay off: .*\n"
              "statistics off\n");
}

TEST_F(StatisticsStart, AnyOtherWordIsWarnedOf) {
  set("OVSTHREAD_STATS", "sometimes");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0),
              "OVSTHREAD_STATS=sometimes: not off, on or publish; statistics "
              "stay off\nstatistics off\n");
}

class StatisticsWithoutMemory : public Start {
 protected:
  void SetUp() override {
    if (!can_exhaust_memory()) GTEST_SKIP() << "others need memory, too";
    unset("OVSTHREAD_STATS");
  }

  // Prints whether it is so for each of RESULTS and exits.
  template <class... Results>
  [[noreturn]] static void report(Results... results) {
    limit_memory(RLIM_INFINITY);
    for (bool result : {results...}) std::fprintf(stderr, "%d", result);
    std::exit(0);
  }
};

TEST_F(StatisticsWithoutMemory, TheyStayOff) {
  static int lock;
  auto use = [] {
    ovs_lock_stats_set(OVS_LOCK_STATS_OFF);
    exhaust_memory();
    int set = ovs_lock_stats_set(OVS_LOCK_STATS_ON);
    int name = ovs_lock_set_name(&lock, "a lock");
    ovs_lock_stats* stats = ovs_lock_stats_snapshot();
    report(set == ENOMEM, name == ENOMEM, stats == nullptr,
           ovs_lock_stats_get() == OVS_LOCK_STATS_OFF);
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "1111$");
}

void count_one() {
  static Mutex mutex;
  ovs_lock_stats_set(OVS_LOCK_STATS_ON);
  MutexLock guard(mutex);
}

TEST_F(StatisticsWithoutMemory, TheyCannotBeRead) {
  auto use = [] {
    count_one();
    ovs_lock_stats* before = ovs_lock_stats_snapshot();
    exhaust_memory();
    ovs_lock_stats* stats = ovs_lock_stats_snapshot();
    char* text = ovs_lock_stats_format(before, OVS_LOCK_STATS_JSON);
    ovs_lock_stats* other;
    int of = ovs_lock_stats_snapshot_of(getpid(), &other);
    size_t processes = ovs_lock_stats_processes(nullptr, 0);
    report(before != nullptr, stats == nullptr, text == nullptr, of == ENOMEM,
           processes == 0);
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "11111$");
}

TEST_F(StatisticsWithoutMemory, TheyCannotBeReset) {
  auto use = [] {
    count_one();
    exhaust_memory();
    ovs_lock_stats_reset();
  };
  EXPECT_EXIT(use(), testing::KilledBySignal(SIGABRT),
              "out of memory for lock statistics");
}

TEST_F(StatisticsStart, NeverOnTheyAreEmpty) {
  unset("OVSTHREAD_STATS");
  auto use = [] {
    std::optional<Mutex> mutex(std::in_place);
    set_lock_name(*mutex, "named too early");
    mutex.reset();
    ovs_lock_stats_reset();
    ovs_lock_stats* stats = ovs_lock_stats_snapshot();
    std::fprintf(stderr, "%zu entries\n", stats->n);
    ovs_lock_stats_free(stats);
    std::exit(0);
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "0 entries\n");
}

}  // namespace
}  // namespace ovsthread
