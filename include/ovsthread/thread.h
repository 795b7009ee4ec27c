// SPDX-License-Identifier: Apache-2.0
//
// Threads of the library for C++: as std::jthread without a stop token, but
// named, RCU-active from the start (ovsthread/rcu.h), and with at least 512 kB
// of stack.  A thread from elsewhere may use the library just as well.
#ifndef OVSTHREAD_THREAD_H_
#define OVSTHREAD_THREAD_H_

#include <ovsthread/annotations.h>
#include <pthread.h>

#include <functional>
#include <memory>
#include <tuple>
#include <utility>

namespace ovsthread {

class OVSTHREAD_EXPORT Thread {
 public:
  Thread() noexcept = default;

  // Starts a thread that calls FUNCTION(ARGS...), all copied or moved into it.
  // NAME is cut to 15 bytes; the thread's number is put behind.  An exception
  // that leaves FUNCTION ends the process.  Blocking.
  template <class Function, class... Args>
  explicit Thread(const char* name, Function&& function, Args&&... args) {
    using Call = std::tuple<std::decay_t<Function>, std::decay_t<Args>...>;
    auto call = std::make_unique<Call>(std::forward<Function>(function),
                                       std::forward<Args>(args)...);
    start(
        name,
        [](void* p) noexcept -> void* {
          std::unique_ptr<Call> owned(static_cast<Call*>(p));
          std::apply([](auto&&... parts) { std::invoke(std::move(parts)...); },
                     std::move(*owned));
          return nullptr;
        },
        call.get());
    call.release();
  }

  Thread(Thread&& other) noexcept { *this = std::move(other); }
  Thread& operator=(Thread&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(joinable_, other.joinable_);
    if (&other != this && other.joinable_) other.join();
    return *this;
  }
  // Joins.  Blocking.
  ~Thread() {
    if (joinable_) join();
  }

  bool joinable() const noexcept { return joinable_; }

  // Blocks until the thread has ended; what it did is visible then.  Misuse,
  // diagnosed: the thread is not joinable(), or is the caller.
  void join();

  pthread_t native_handle() const noexcept { return handle_; }

 private:
  void start(const char* name, void* (*function)(void*), void* arg);

  pthread_t handle_{};
  bool joinable_ = false;
};

// The number of the calling thread: 0, 1, 2, ..., none given twice.  Progress:
// lock-free.
OVSTHREAD_API unsigned this_thread_number();

}  // namespace ovsthread

#endif  // OVSTHREAD_THREAD_H_
