// SPDX-License-Identifier: Apache-2.0
//
// Question: what does it cost to take a lock and release it, alone and from
// several threads, real and elided, beside the locks of others?
//
// A benchmark is named LOCK/MODE/SECTION/manual_time/threads:N.  The locks of
// this library run in each mode of elision that the machine can do; what it
// can't is not there, and the context says why ("not_measured").  The mode of
// others is real, or elided where they try that.  What a section does is in
// sections.h; all threads take one lock.
//
// The threads share out a fixed number of sections, a few at a time, and start
// together and so also end together, however unequal they are: no part of the
// time is that of a thread alone.  It goes from the first start to the last
// end, per section of any thread.  items_per_second counts the sections of all
// threads, thread_0, thread_1, ... those of each, per second.
//
// Where GLIBC_TUNABLES switches on glibc's own elision, only the locks that
// rest on pthread's mutex are measured.
#include <benchmark/benchmark.h>
#include <config.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "locks.h"
#include "ovsthread/elision.h"
#include "ovsthread/mutex.h"
#include "ovsthread/rwlock.h"
#include "ovsthread/spinlock.h"
#include "peers/absl-locks.h"
#include "run-benchmarks.h"
#include "sections.h"
#include "team.h"
#if HAVE_TBB
#include "peers/tbb-locks.h"
#endif

namespace bench {
namespace {

// Sections that a thread runs before it looks whether there are more to do.
constexpr int64_t kShare = 64;

struct alignas(128) Span {
  Clock::time_point start, end;
};

// From the first start to the last end of SPANS, in seconds.
double seconds(const Span* spans, unsigned n) {
  Span all = spans[0];
  for (unsigned i = 1; i < n; i++) {
    all.start = std::min(all.start, spans[i].start);
    all.end = std::max(all.end, spans[i].end);
  }
  return milliseconds(all.end - all.start) / 1000;
}

template <class Guard, class Section>
void run_sections(benchmark::State& state, const char* group,
                  ovs_elision_mode mode) {
  struct alignas(128) Shared {
    typename Guard::Lock lock;
    alignas(128) std::atomic<int64_t> left;
    alignas(128) std::optional<std::barrier<>> gate;
    SectionData data;
    Span spans[SectionData::kThreads];
  };
  static Shared shared;

  // The others wait for this thread at the head of the loop.
  unsigned thread = state.thread_index();
  if (thread == 0) {
    ovs_elision_set_mode(mode);
    shared.left = state.max_iterations * state.threads();
    shared.gate.emplace(state.threads());
    shared.data.touch();
    state.SetLabel(group);
  }
  int64_t done = 0;
  while (state.KeepRunningBatch(state.max_iterations)) {
    shared.gate->arrive_and_wait();
    Clock::time_point start = Clock::now();
    for (;;) {
      // Relaxed: a number only.
      int64_t left = shared.left.fetch_sub(kShare, std::memory_order_relaxed);
      if (left <= 0) break;
      int64_t end = done + std::min(left, kShare);
      for (; done < end; done++) {
        Guard guard(shared.lock);
        Section::template run<Guard::kExclusive>(shared.data, thread, done);
      }
    }
    shared.spans[thread] = {start, Clock::now()};
    shared.gate->arrive_and_wait();
    state.SetIterationTime(seconds(shared.spans, state.threads()));
  }
  state.SetItemsProcessed(done);
  state.counters[absl::StrCat("thread_", thread)] = benchmark::Counter(
      static_cast<double>(done), benchmark::Counter::kIsRate);
}

template <class Guard, class Section>
void add(const char* lock, const char* mode_name, const char* group,
         ovs_elision_mode mode) {
  benchmark::RegisterBenchmark(
      absl::StrCat(lock, "/", mode_name, "/", Section::kName).c_str(),
      [=](benchmark::State& state) {
        run_sections<Guard, Section>(state, group, mode);
      })
      ->ThreadRange(1, 4)
      ->UseManualTime();
}

// GROUP is what the lock is to be compared with: mutex, spin, read or write.
// MODE means nothing to the locks of others.
template <class Guard>
void add_all(const char* lock, const char* mode_name, const char* group,
             ovs_elision_mode mode = OVS_ELISION_OFF) {
  add<Guard, EmptySection>(lock, mode_name, group, mode);
  add<Guard, CounterSection>(lock, mode_name, group, mode);
  add<Guard, DisjointSection>(lock, mode_name, group, mode);
  add<Guard, WalkSection>(lock, mode_name, group, mode);
}

bool transactions_run() {
  ovs_elision_status status;
  ovs_elision_get_status(&status);
  return status.available;
}

template <class Guard>
void add_own(const char* lock, const char* group) {
  add_all<Guard>(lock, "off", group, OVS_ELISION_OFF);
  add_all<Guard>(lock, "auto", group, OVS_ELISION_AUTO);
  if (transactions_run()) {
    add_all<Guard>(lock, "always", group, OVS_ELISION_ALWAYS);
  }
}

void add_own_locks() {
  add_own<Writing<OvsMutex>>("ovs_mutex", "mutex");
  add_own<Writing<OvsAdaptiveMutex>>("ovs_mutex_adaptive", "mutex");
  add_own<Writing<OvsRecursiveMutex>>("ovs_mutex_recursive", "mutex");
  add_own<Writing<ovsthread::Mutex>>("Mutex", "mutex");
  add_own<Writing<OvsSpin>>("ovs_spin", "spin");
  add_own<Writing<ovsthread::SpinLock>>("SpinLock", "spin");
  add_own<Reading<OvsRwlock>>("ovs_rwlock.read", "read");
  add_own<Reading<ovsthread::RwLock>>("RwLock.read", "read");
  add_own<Writing<OvsRwlock>>("ovs_rwlock.write", "write");
  add_own<Writing<ovsthread::RwLock>>("RwLock.write", "write");
}

void add_pthread_mutexes(const char* mode_name) {
  add_all<Writing<std::mutex>>("std::mutex", mode_name, "mutex");
  add_all<Writing<PthreadMutex>>("pthread_mutex", mode_name, "mutex");
  add_all<Writing<PthreadErrorcheckMutex>>("pthread_mutex_errorcheck",
                                           mode_name, "mutex");
}

void add_other_locks() {
  add_all<Writing<AbslMutex>>("absl::Mutex", "real", "mutex");
  add_all<Writing<PthreadSpinlock>>("pthread_spinlock", "real", "spin");
  add_all<Reading<AbslMutex>>("absl::Mutex.read", "real", "read");
  add_all<Reading<std::shared_mutex>>("std::shared_mutex.read", "real", "read");
  add_all<Reading<PthreadRwlock>>("pthread_rwlock.read", "real", "read");
  add_all<Writing<std::shared_mutex>>("std::shared_mutex.write", "real",
                                      "write");
  add_all<Writing<PthreadRwlock>>("pthread_rwlock.write", "real", "write");
#if HAVE_TBB
  add_all<Writing<tbb::spin_mutex>>("tbb::spin_mutex", "real", "spin");
  add_all<TbbSpeculating>("tbb::speculative_spin_mutex", "elided", "spin");
  add_all<TbbSpeculatingRw<false>>("tbb::speculative_spin_rw_mutex.read",
                                   "elided", "read");
  add_all<TbbSpeculatingRw<true>>("tbb::speculative_spin_rw_mutex.write",
                                  "elided", "write");
#endif
}

bool glibc_elides() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment.
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  return tunables != nullptr &&
         absl::StrContains(tunables, "glibc.elision.enable=1");
}

// What is not registered, and why.
std::string not_measured() {
  std::vector<std::string> parts;
  if (!transactions_run()) {
    ovs_elision_status status;
    ovs_elision_get_status(&status);
    parts.push_back(absl::StrCat("mode always: ", status.reason));
  }
  if (!HAVE_TBB) {
    parts.emplace_back("tbb: configure has not found oneTBB (libtbb-dev)");
  }
  return parts.empty() ? "nothing" : absl::StrJoin(parts, "; ");
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  ovs_elision_set_mode(OVS_ELISION_AUTO);
  AbslMutex::without_deadlock_detection();
  SecondThread second_thread;
  if (glibc_elides()) {
    add_pthread_mutexes("elided");
  } else {
    add_own_locks();
    add_pthread_mutexes("real");
    add_other_locks();
    benchmark::AddCustomContext("not_measured", not_measured());
  }
  return run_benchmarks(argc, argv);
}
