// SPDX-License-Identifier: Apache-2.0
#include "rcu-sleepers.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include "elision.h"
#include "log.h"
#include "thread-id.h"

namespace ovsthread::rcu {
namespace {

int64_t now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000} + now.tv_nsec / 1000000;
}

}  // namespace

void Sleepers::wake() {
  elision::safe_point(elision::SafePoint::kWake);
  // Relaxed: the core's fences order what is waited for.
  count_.fetch_add(1, kRelaxed);
  syscall(SYS_futex, count_.address(), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
          nullptr, 0);
}

Sleepers::Wait::Wait(Sleepers& sleepers)
    : sleepers_(sleepers), start_ms_(now_ms()) {}

void Sleepers::Wait::prepare() {
  // Relaxed: as in wake().
  count_ = sleepers_.count_.load(kRelaxed);
}

void Sleepers::Wait::sleep() {
  syscall(SYS_futex, sleepers_.count_.address(), FUTEX_WAIT_PRIVATE, count_,
          nullptr, nullptr, 0);
}

void Sleepers::Wait::sleep_for(uint32_t thread) {
  int64_t elapsed_ms = now_ms() - start_ms_;
  if (elapsed_ms >= patience_ms_) {
    log_message(OVSTHREAD_LOG_WARN, "blocked %lld ms waiting for %s to quiesce",
                static_cast<long long>(elapsed_ms), thread_name(thread).text);
    while (patience_ms_ <= elapsed_ms) patience_ms_ *= 2;
  }
  int64_t left_ms = patience_ms_ - elapsed_ms;
  timespec timeout = {static_cast<time_t>(left_ms / 1000),
                      static_cast<long>(left_ms % 1000 * 1000000)};
  syscall(SYS_futex, sleepers_.count_.address(), FUTEX_WAIT_PRIVATE, count_,
          &timeout, nullptr, 0);
}

}  // namespace ovsthread::rcu
