// SPDX-License-Identifier: Apache-2.0
//
// Threads that would elide a lock, behind one that has it for real.
#include <atomic>
#include <optional>
#include <thread>

#include "lock-word.h"
#include "rwlock-core.h"
#include "scripted-testing.h"

namespace ovsthread {
namespace {

using Lemmings = Scripted;

// Of a lock that eight threads want, while one has it for real, all elide as
// soon as that one has left, and none of them wakes without need.
template <class Lock, class Take, class Release>
void expect_no_lemmings(Lock& lock, Take take, Release release) {
  constexpr int kThreads = 8;
  std::atomic<bool> held{false};
  std::atomic<bool> leave{false};
  std::atomic<int> n_elided{0};
  std::thread owner([&] {
    take();
    for_real();
    held = true;
    wait_until([&] { return leave.load(); });
    release();
  });
  wait_until([&] { return held.load(); });
  {
    std::optional<Sleeper> sleepers[kThreads];
    for (std::optional<Sleeper>& sleeper : sleepers) {
      sleeper.emplace([&] {
        Script script;
        take();
        n_elided += elision::in_transaction();
        release();
        EXPECT_EQ(script.trace(), "start access commit");
      });
    }
    for (std::optional<Sleeper>& sleeper : sleepers) {
      sleeper->wait_until_asleep([] { return true; });
    }
    leave = true;
  }
  owner.join();
  EXPECT_EQ(n_elided, kThreads);
  EXPECT_EQ(lock.word & ~kRwReadersWait, kLockLive);
}

TEST_F(Lemmings, OneRealOwnerMutex) {
  Script exists;  // So that threads without one always abort.
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  expect_no_lemmings(
      mutex, [&] { ovs_mutex_lock(&mutex); },
      [&] { ovs_mutex_unlock(&mutex); });
}

TEST_F(Lemmings, OneRealOwnerReaders) {
  Script exists;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  std::atomic<bool> first{true};
  expect_no_lemmings(
      lock,
      [&] {
        first.exchange(false) ? ovs_rwlock_wrlock(&lock)
                              : ovs_rwlock_rdlock(&lock);
      },
      [&] { ovs_rwlock_unlock(&lock); });
}

// Who reads the lock and wants to write, or the like, is told instead of
// waiting for itself.
TEST_F(Lemmings, NoneWaitsForItself) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  EXPECT_MISUSE(
      {
        Script script;
        script.abort_at_begin(0);
        ovs_rwlock_rdlock_at(&lock, "taken.c:1");
        ovs_rwlock_wrlock_at(&lock, "offence.c:2");
      },
      "deadlock: write lock of an rwlock that the caller reads", "rwlock",
      "; held since taken\\.c:1");
}

}  // namespace
}  // namespace ovsthread
