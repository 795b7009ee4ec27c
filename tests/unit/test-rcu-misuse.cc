// SPDX-License-Identifier: Apache-2.0
//
// RCU across fork, misused and held up by a thread that does not quiesce.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "atomics.h"
#include "in-process.h"
#include "log.h"
#include "rcu-testing.h"
#include "rcu.h"
#include "thread-id.h"

namespace ovsthread {
namespace {

using namespace std::chrono_literals;

// The status of a child of fork that runs BODY.
int status_of_child(const std::function<void()>& body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(kPatienceSeconds / 2);  // Before the parent's.
    body();
    _exit(testing::Test::HasFailure());
  }
  int status;
  waitpid(child, &status, 0);
  return status;
}

// A child of a process with threads drops the other threads' records and adopts
// what they posted.
TEST_P(Rcu, ForkAdoptsTheCallbacksOfOtherThreads) {
  process([] {
    called = 0;
    Actor handed_over, posted, reader;
    reader.run([] { rcu::guard_lock(); });
    handed_over.run([] {
      rcu::postpone(count_call, nullptr);
      rcu::quiesce();
    });
    posted.run([] {
      for (int i = 0; i < 100; i++) rcu::postpone(count_call, nullptr);
    });
    rcu::postpone(count_call, nullptr);
    EXPECT_EQ(status_of_child([] {
                rcu::quiesce();
                EXPECT_EQ(called, 102);
#if !OVSTHREAD_THREAD_SANITIZER  // It allows no new thread there.
                rcu::start_helper();
#endif
                rcu::postpone(count_call, nullptr);
                rcu::barrier();
                EXPECT_EQ(called, 103);
                rcu::exit();
              }),
              0);
    EXPECT_EQ(called, 0);
    reader.run([] { rcu::guard_unlock(); });
    posted.run([] { rcu::quiesce_start(); });
    handed_over.run([] { rcu::quiesce_start(); });
    rcu::barrier();
    EXPECT_EQ(called, 102);
  });
}

// Forking at any moment of other threads' RCU calls leaves a usable child.
TEST_P(Rcu, ForkAtAnyMoment) {
  if (!kForkBesideThreads) {
    GTEST_SKIP() << "the sanitizer's own locks don't survive fork beside busy "
                    "threads";
  }
  process([] {
    constexpr int kMaxBacklog = 5000;
    static std::atomic<int> posted;
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) {
      threads.emplace_back([&stop, i] {
        for (int j = 0; !stop; j++) {
          rcu::postpone(count_call, nullptr);
          posted++;
          if (j % (1 << (4 * i)) == 0) rcu::quiesce();
          while (posted - called > kMaxBacklog && !stop) {
            rcu::quiesce();
            std::this_thread::yield();
          }
        }
      });
    }
    for (int i = 0; i < 100; i++) {
      EXPECT_EQ(status_of_child([] {
                  rcu::barrier();
                  int calls = called;
                  rcu::postpone(count_call, nullptr);
                  rcu::barrier();
                  EXPECT_EQ(called, calls + 1);
                }),
                0);
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
  });
}

// Misuse.

TEST_P(Rcu, BarrierInsideACallbackIsDiagnosed) {
  EXPECT_DEATH(
      {
        alarm(kPatienceSeconds);
        if (GetParam()) rcu::start_helper();
        rcu::postpone([](void*) { rcu::barrier(); }, nullptr);
        rcu::barrier();
      },
      "barrier called from an RCU callback by thread");
}

TEST_P(Rcu, ExitInsideACallbackIsDiagnosed) {
  EXPECT_DEATH(
      {
        alarm(kPatienceSeconds);
        if (GetParam()) rcu::start_helper();
        rcu::postpone([](void*) { rcu::exit(); }, nullptr);
        rcu::barrier();
      },
      "ovsrcu_exit called from an RCU callback by thread");
}

TEST(RcuMisuse, ThreadExitInsideACallbackIsDiagnosed) {
  EXPECT_DEATH(
      {
        pthread_t thread;
        pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              rcu::postpone([](void*) { pthread_exit(nullptr); }, nullptr);
              rcu::quiesce();
              return nullptr;
            },
            nullptr);
        pthread_join(thread, nullptr);
      },
      "thread .* ended inside an RCU callback");
}

TEST(RcuMisuse, QuiescingInsideAGuardIsDiagnosed) {
  rcu::guard_lock();
  EXPECT_DEATH(rcu::quiesce(),
               "ovsrcu_quiesce called inside a read-side guard by thread main");
  EXPECT_DEATH(rcu::quiesce_start(),
               "ovsrcu_quiesce_start called inside a read-side guard");
  EXPECT_DEATH(rcu::barrier(), "barrier called inside a read-side guard");
  EXPECT_DEATH(rcu::synchronize_keeping_state(),
               "synchronize called inside a read-side guard");
  EXPECT_DEATH(rcu::exit(), "ovsrcu_exit called inside a read-side guard");
  rcu::guard_unlock();
}

TEST(RcuMisuse, UnlockingAGuardNotHeldIsDiagnosed) {
  EXPECT_DEATH(rcu::guard_unlock(),
               "read-side guard unlocked by thread main, which does not hold");
}

TEST(RcuMisuse, TryQuiesceAloneIsDiagnosed) {
  EXPECT_DEATH(rcu::try_quiesce(),
               "ovsrcu_try_quiesce called in a single-threaded process");
}

TEST(RcuStall, NamesTheThreadThatDoesNotQuiesce) {
  in_process([] {
    static std::string messages;
    static std::atomic<int> count;
    ovsthread_set_log_handler(
        [](ovsthread_log_level, const char* message, void*) {
          messages += message;
          messages += '\n';
          ++count;
        },
        nullptr);
    Actor stalled, waiter;
    stalled.run([] {
      thread_name_set("sleepy7");
      rcu::quiesce();
    });
    waiter.start([] { rcu::synchronize(); });
    while (count < 2) std::this_thread::sleep_for(20ms);
    stalled.run([] { rcu::quiesce(); });
    waiter.wait();
    int first = 0, second = 0;
    EXPECT_EQ(sscanf(messages.c_str(),
                     "blocked %d ms waiting for sleepy7 to quiesce\n"
                     "blocked %d ms waiting for sleepy7 to quiesce\n",
                     &first, &second),
              2)
        << messages;
    EXPECT_GE(first, 1000);
    EXPECT_GE(second, 2000);
    waiter.run([] { rcu::quiesce_start(); });
    stalled.run([] { rcu::quiesce_start(); });
  });
}

}  // namespace
}  // namespace ovsthread
