// SPDX-License-Identifier: Apache-2.0
//
// What keeps elision from being switched on: trial transactions that don't
// commit, and a process that is out of what it needs.
#include <pthread.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "no-memory.h"
#include "scripted-testing.h"
#include "start-testing.h"

namespace ovsthread {
namespace {

[[noreturn]] void switch_on_with_aborting_trials() {
  Script script;
  for (int i = 0; i < 1000; i++) script.abort_at_begin(0);
  int always = ovs_elision_set_mode(OVS_ELISION_ALWAYS);
  int automatic = ovs_elision_set_mode(OVS_ELISION_AUTO);
  ovs_elision_status status;
  ovs_elision_get_status(&status);
  std::fprintf(stderr, "%d %d, %s: %s\n", always == ENOTSUP, automatic,
               status.active || status.available ? "on" : "off", status.reason);
  std::exit(0);
}

TEST_F(Start, StaysOffIfNoTrialCommits) {
  set("OVSTHREAD_ELISION", "off");
  EXPECT_EXIT(switch_on_with_aborting_trials(), testing::ExitedWithCode(0),
              "^1 0, off: the CPU claims RTM, but no trial transaction "
              "committed\n");
}

void switch_on_without_keys() {
  pthread_key_t key;
  while (pthread_key_create(&key, nullptr) == 0) continue;
  ovs_elision_set_mode(OVS_ELISION_ALWAYS);
}

TEST_F(Start, NeedsAKeyForWhatItCounts) {
  set("OVSTHREAD_ELISION", "off");
  EXPECT_EXIT(switch_on_without_keys(), testing::KilledBySignal(SIGABRT),
              "no thread-specific data key left for lock statistics");
}

void switch_on_without_memory() {
  exhaust_memory();
  ovs_elision_set_mode(OVS_ELISION_ALWAYS);
}

TEST_F(Start, NeedsMemoryForWhatItCounts) {
  if (!can_exhaust_memory()) GTEST_SKIP() << "others need memory, too";
  set("OVSTHREAD_ELISION", "off");
  EXPECT_EXIT(switch_on_without_memory(), testing::KilledBySignal(SIGABRT),
              "out of memory for lock statistics");
}

}  // namespace
}  // namespace ovsthread
