// SPDX-License-Identifier: Apache-2.0
#include "rcu-sleepers.h"

#include <time.h>

#include <climits>

#include "elision.h"
#include "futex.h"
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
  elision::safe_point(OVS_SAFE_POINT_WAKE);
  // Relaxed: the core's fences order what is waited for.
  count_.fetch_add(1, kRelaxed);
  futex_wake(count_, INT_MAX, FutexQueue::kShared);
}

Sleepers::Wait::Wait(Sleepers& sleepers)
    : sleepers_(sleepers), start_ms_(now_ms()) {}

void Sleepers::Wait::prepare() {
  // Relaxed: as in wake().
  count_ = sleepers_.count_.load(kRelaxed);
}

void Sleepers::Wait::sleep() {
  futex_wait(sleepers_.count_, count_, FutexQueue::kShared);
}

void Sleepers::Wait::sleep_for(uint32_t thread) {
  int64_t elapsed_ms = now_ms() - start_ms_;
  if (elapsed_ms >= patience_ms_) {
    log_message(OVSTHREAD_LOG_WARN, "blocked %lld ms waiting for %s to quiesce",
                static_cast<long long>(elapsed_ms), thread_name(thread).text);
    while (patience_ms_ <= elapsed_ms) patience_ms_ *= 2;
  }
  int64_t deadline_ms = start_ms_ + patience_ms_;
  timespec deadline = {static_cast<time_t>(deadline_ms / 1000),
                       static_cast<long>(deadline_ms % 1000 * 1000000)};
  futex_wait(sleepers_.count_, count_, FutexQueue::kShared, &deadline);
}

}  // namespace ovsthread::rcu
