// SPDX-License-Identifier: Apache-2.0
//
// Helpers of the tests of locks.
#ifndef OVSTHREAD_TESTS_UNIT_LOCK_TESTING_H_
#define OVSTHREAD_TESTS_UNIT_LOCK_TESTING_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "elision.h"
#include "thread-state.h"

// These tests take and release locks in ways that the analysis rightly rejects.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wthread-safety-analysis"
#endif

namespace ovsthread {

// STATEMENT ends the process with a message that says WHAT, names the KIND of
// lock, the thread and the place "offence.c:2" of the call, and ends in
// RELATION, the other place.
#define EXPECT_MISUSE(statement, what, kind, relation)                 \
  EXPECT_EXIT(statement, ::testing::KilledBySignal(SIGABRT),           \
              std::string("ovsthread: fatal: ") + what + ": " + kind + \
                  " 0x[0-9a-f]+, by thread [^ ]+ \\(id [0-9]+\\) at "  \
                  "offence\\.c:2" +                                    \
                  relation + "\n")

// Runs F in another thread.
template <class F>
void elsewhere(F f) {
  std::thread(f).join();
}

// Makes the lock that was just taken a real one.
inline void for_real() { elision::safe_point(OVS_SAFE_POINT_MESSAGE); }

// Runs F(i) for each i below N, in N threads at once.
template <class F>
void in_threads(int n, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; i++) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& thread : threads) thread.join();
}

// A thread that runs F, with a way to know that it sleeps.
class Sleeper {
 public:
  template <class F>
  explicit Sleeper(F f)
      : thread_([this, f] {
          id_ = gettid();
          f();
        }) {}
  ~Sleeper() { thread_.join(); }

  // Waits until ANNOUNCED(), what the thread does before it goes to sleep for
  // good, and until it is asleep then.
  template <class F>
  void wait_until_asleep(F announced) const {
    wait_until([&] { return announced() && is_asleep(id_); });
  }

 private:
  std::atomic<pid_t> id_{0};
  std::thread thread_;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_UNIT_LOCK_TESTING_H_
