// SPDX-License-Identifier: Apache-2.0
//
// A thread that does what another one tells it, one action at a time.
#ifndef OVSTHREAD_TESTS_MODEL_SECOND_THREAD_H_
#define OVSTHREAD_TESTS_MODEL_SECOND_THREAD_H_

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace ovsthread::model {

class SecondThread {
 public:
  using Action = std::function<void()>;

  SecondThread() : thread_([this] { run_all(); }) {}
  ~SecondThread() {
    start(nullptr);
    thread_.join();
  }

  // Returns when ACTION has ended.
  void run(const Action& action) {
    start(action);
    finish();
  }

  // Returns at once.
  void start(Action action) {
    finish();
    action_ = std::move(action);
    busy_.store(true, std::memory_order_release);
    busy_.notify_one();
  }

  // Returns when the action that was started has ended.
  void finish() { busy_.wait(true, std::memory_order_acquire); }

  bool busy() const { return busy_.load(std::memory_order_acquire); }

 private:
  void run_all() {
    for (;;) {
      busy_.wait(false, std::memory_order_acquire);
      bool end = !action_;
      if (!end) action_();
      busy_.store(false, std::memory_order_release);
      busy_.notify_one();
      if (end) return;
    }
  }

  Action action_;
  std::atomic<bool> busy_{false};
  std::thread thread_;
};

}  // namespace ovsthread::model

#endif  // OVSTHREAD_TESTS_MODEL_SECOND_THREAD_H_
