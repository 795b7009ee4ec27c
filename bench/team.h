// SPDX-License-Identifier: Apache-2.0
//
// Timing: a stopwatch, a team of threads that start together, and a thread that
// does nothing.
#ifndef OVSTHREAD_BENCH_TEAM_H_
#define OVSTHREAD_BENCH_TEAM_H_

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "ovsthread/topology.h"

namespace bench {

using Clock = std::chrono::steady_clock;

inline double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// Returns the milliseconds that BODY takes.
template <class Body>
double timed(Body body) {
  Clock::time_point start = Clock::now();
  body();
  return milliseconds(Clock::now() - start);
}

// A measurement that was to be pinned and was not would mislead.
inline void pin_or_exit(unsigned cpu) {
  if (int error = ovsthread::pin_this_thread(cpu)) {
    std::fprintf(stderr, "can't bind a thread to hardware thread %u: %s\n", cpu,
                 std::generic_category().message(error).c_str());
    std::_Exit(1);
  }
}

// Runs BODY(0), ..., BODY(threads - 1), each in a thread that ovs_thread_create
// made (hence RCU-active), and returns the milliseconds from the first start to
// the last end.  The threads start their bodies together.  The caller is
// quiescent meanwhile and RCU-active afterwards.  With PIN, each is bound to a
// hardware thread, one per core first.
inline double timed_team(unsigned threads, bool pin,
                         const std::function<void(unsigned)>& body) {
  struct Member {
    const std::function<void(unsigned)>* body;
    std::barrier<>* gate;
    unsigned index;
    int cpu;  // Negative: not pinned.
    pthread_t thread;
    Clock::time_point start, end;
  };
  std::vector<unsigned> cpus;
  if (pin) cpus = ovsthread::pinning_order(ovsthread::topology());

  std::barrier<> gate(threads);
  std::vector<Member> team(threads);
  for (unsigned i = 0; i < threads; i++) {
    int cpu = cpus.empty() ? -1 : static_cast<int>(cpus[i % cpus.size()]);
    team[i] = {&body, &gate, i, cpu, {}, {}, {}};
    team[i].thread = ovs_thread_create(
        "bench",
        [](void* aux) -> void* {
          Member* member = static_cast<Member*>(aux);
          if (member->cpu >= 0) pin_or_exit(member->cpu);
          member->gate->arrive_and_wait();
          member->start = Clock::now();
          (*member->body)(member->index);
          member->end = Clock::now();
          return nullptr;
        },
        &team[i]);
  }

  ovsrcu_quiesce_start();
  for (Member& member : team) xpthread_join(member.thread, nullptr);
  ovsrcu_quiesce_end();

  Clock::time_point start = team[0].start, end = team[0].end;
  for (const Member& member : team) {
    start = std::min(start, member.start);
    end = std::max(end, member.end);
  }
  return milliseconds(end - start);
}

// As long as it exists, the process has more than one thread.  In one that has
// not, the C library's locks do without atomic operations, which is no
// yardstick for locks of programs with threads.
class SecondThread {
 public:
  ~SecondThread() {
    end_.count_down();
    thread_.join();
  }

 private:
  std::latch end_{1};
  std::thread thread_{[this] { end_.wait(); }};
};

}  // namespace bench

#endif  // OVSTHREAD_BENCH_TEAM_H_
