// SPDX-License-Identifier: Apache-2.0
//
// What the tests of RCU share.
#ifndef OVSTHREAD_TESTS_UNIT_RCU_TESTING_H_
#define OVSTHREAD_TESTS_UNIT_RCU_TESTING_H_

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "in-process.h"
#include "rcu.h"

namespace ovsthread {

// A thread that does one thing after the other on demand.
class Actor {
 public:
  Actor() : thread_([this] { loop(); }) {}
  ~Actor() { end(); }
  // Runs ACTION in the thread and waits for it.
  void run(std::function<void()> action) {
    start(std::move(action));
    wait();
  }
  void start(std::function<void()> action) {
    std::unique_lock lock(mutex_);
    action_ = std::move(action);
    busy_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
  }
  bool is_busy() {
    std::unique_lock lock(mutex_);
    return busy_;
  }
  void end() {
    if (!thread_.joinable()) return;
    start(nullptr);
    thread_.join();
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return busy_; });
      if (!action_) return;
      lock.unlock();
      action_();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> action_;
  bool busy_ = false;
  std::thread thread_;
};

inline void count(void* aux) { ++*static_cast<std::atomic<int>*>(aux); }

inline std::atomic<int> called;
inline void count_call(void*) { ++called; }

// Both without and with a helper thread.
class Rcu : public testing::TestWithParam<bool> {
 protected:
  static void process(const std::function<void()>& body) {
    in_process([&body] {
      if (GetParam()) rcu::start_helper();
      body();
    });
  }
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_UNIT_RCU_TESTING_H_
