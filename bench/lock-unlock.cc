// SPDX-License-Identifier: Apache-2.0
//
// Question: what does it cost to take a lock and release it, alone and from
// several threads, real and elided, beside the locks of pthread and Abseil?
//
// The section adds to a counter on a line of its own, so that several threads
// do conflict.  The argument of this library's locks is the mode of elision: 0
// off, 1 auto, 2 always (reported as an error where it is not possible).
#include <benchmark/benchmark.h>

#include <cstdint>
#include <mutex>
#include <shared_mutex>

#include "absl/synchronization/mutex.h"
#include "openvswitch/thread.h"
#include "ovs-thread.h"
#include "ovsthread/elision.h"

namespace {

struct alignas(64) Counter {
  uint64_t value = 0;
};
Counter counter;

// Returns false if the machine can't run the mode that STATE asks for.
bool set_mode(benchmark::State& state) {
  constexpr ovs_elision_mode kModes[] = {OVS_ELISION_OFF, OVS_ELISION_AUTO,
                                         OVS_ELISION_ALWAYS};
  if (ovs_elision_set_mode(kModes[state.range(0)]) == 0) return true;
  state.SkipWithError("no transactions on this machine");
  return false;
}

alignas(64) struct ovs_mutex ovs_lock = OVS_MUTEX_INITIALIZER;
void BM_OvsMutex(benchmark::State& state) OVS_NO_THREAD_SAFETY_ANALYSIS {
  if (!set_mode(state)) return;
  for (auto _ : state) {
    ovs_mutex_lock(&ovs_lock);
    counter.value++;
    ovs_mutex_unlock(&ovs_lock);
  }
}
BENCHMARK(BM_OvsMutex)->DenseRange(0, 2)->ThreadRange(1, 2)->UseRealTime();

alignas(64) struct ovs_rwlock ovs_rw = OVS_RWLOCK_INITIALIZER;
void BM_OvsRwlockWrite(benchmark::State& state) OVS_NO_THREAD_SAFETY_ANALYSIS {
  if (!set_mode(state)) return;
  for (auto _ : state) {
    ovs_rwlock_wrlock(&ovs_rw);
    counter.value++;
    ovs_rwlock_unlock(&ovs_rw);
  }
}
BENCHMARK(BM_OvsRwlockWrite)
    ->DenseRange(0, 2)
    ->ThreadRange(1, 2)
    ->UseRealTime();

void BM_OvsRwlockRead(benchmark::State& state) OVS_NO_THREAD_SAFETY_ANALYSIS {
  if (!set_mode(state)) return;
  for (auto _ : state) {
    ovs_rwlock_rdlock(&ovs_rw);
    benchmark::DoNotOptimize(counter.value);
    ovs_rwlock_unlock(&ovs_rw);
  }
}
BENCHMARK(BM_OvsRwlockRead)->DenseRange(0, 2)->ThreadRange(1, 2)->UseRealTime();

// The lock of type M, taken for writing.
template <class M>
void BM_Write(benchmark::State& state) {
  alignas(64) static M mutex;
  for (auto _ : state) {
    mutex.lock();
    counter.value++;
    mutex.unlock();
  }
}

template <class M>
void BM_Read(benchmark::State& state) {
  alignas(64) static M mutex;
  for (auto _ : state) {
    mutex.lock_shared();
    benchmark::DoNotOptimize(counter.value);
    mutex.unlock_shared();
  }
}

class AbslMutex {
 public:
  void lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }
  void lock_shared() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.ReaderLock(); }
  void unlock_shared() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.ReaderUnlock(); }

 private:
  absl::Mutex mutex_;
};

BENCHMARK_TEMPLATE(BM_Write, std::mutex)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Write, std::shared_mutex)
    ->ThreadRange(1, 2)
    ->UseRealTime();
BENCHMARK_TEMPLATE(BM_Write, AbslMutex)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Read, std::shared_mutex)
    ->ThreadRange(1, 2)
    ->UseRealTime();
BENCHMARK_TEMPLATE(BM_Read, AbslMutex)->ThreadRange(1, 2)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  // It is off in any program that cares for speed.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
