// SPDX-License-Identifier: Apache-2.0
//
// The C entry points of threads, barriers, thread-specific data and fork.
#include <unistd.h>

#include <climits>
#include <cstddef>

#include "elision.h"
#include "futex.h"
#include "log.h"
#include "ovs-thread.h"
#include "rcu.h"
#include "thread-barrier.h"
#include "thread-id.h"
#include "thread-keys.h"
#include "thread.h"

using namespace ovsthread;
using A = RealAtomics;

// Threads and identity.

pthread_t ovs_thread_create(const char* name, void* (*start)(void*),
                            void* arg) {
  return create_thread(name, start, arg);
}

bool single_threaded() { return ovsthread::single_threaded(); }

void assert_single_threaded_at(const char* where) {
  if (!ovsthread::single_threaded()) {
    fatal_exit("%s: multiple threads exist", where);
  }
}

unsigned int ovsthread_id_init() {
  if (ovsthread_id_var != OVSTHREAD_ID_UNSET) {
    fatal("ovsthread_id_init called twice by thread %s", thread_name().text);
  }
  return ovsthread_id_var = thread_id();
}

bool thread_is_pmd() { return strncmp(thread_name().text, "pmd", 3) == 0; }

int count_cpu_cores() { return count_usable_cpus(); }

int count_total_cores() {
  long count = sysconf(_SC_NPROCESSORS_CONF);
  return count > 0 ? static_cast<int>(count) : 0;
}

// Fork.

pid_t xfork_at(const char* where) { return fork_or_exit(where); }

void forbid_forking(const char* reason) { forbid_fork(reason); }

bool may_fork() { return fork_is_allowed(); }

// Barriers.

namespace {

struct Sleep {
  static void wait(const A::Atomic<uint32_t>& word, uint32_t value) {
    futex_wait(word, value, FutexQueue::kShared);
  }
  static void wake_all(const A::Atomic<uint32_t>& word) {
    futex_wake(word, INT_MAX, FutexQueue::kShared);
  }
};

using RealBarrier = BarrierCore<A, Sleep>;

RealBarrier& core(ovs_barrier* barrier) {
  static_assert(sizeof(RealBarrier) == sizeof(ovs_barrier));
  static_assert(offsetof(RealBarrier, arrivals) ==
                offsetof(ovs_barrier, arrivals));
  static_assert(offsetof(RealBarrier, size) == offsetof(ovs_barrier, size));
  static_assert(offsetof(RealBarrier, rounds) == offsetof(ovs_barrier, rounds));
  static_assert(offsetof(RealBarrier, inside) == offsetof(ovs_barrier, inside));
  return *reinterpret_cast<RealBarrier*>(barrier);
}

}  // namespace

void ovs_barrier_init(ovs_barrier* barrier, uint32_t size) {
  core(barrier).init(size);
}

void ovs_barrier_block(ovs_barrier* barrier) {
  elision::safe_point(OVS_SAFE_POINT_BARRIER);
  if (barrier->size == 0) {
    fatal("barrier %p of no threads: ovs_barrier_block called by thread %s",
          static_cast<void*>(barrier), thread_name().text);
  }
  bool was_active = !rcu::is_quiescent();
  core(barrier).block([was_active] {
    if (was_active) rcu::quiesce_start();
  });
  if (was_active) rcu::quiesce_end();
}

void ovs_barrier_destroy(ovs_barrier* barrier) {
  elision::safe_point(OVS_SAFE_POINT_BARRIER);
  core(barrier).destroy();
}

// Thread-specific data.

namespace {

const ThreadKey* core(ovsthread_key_t key) {
  return reinterpret_cast<const ThreadKey*>(key);
}

}  // namespace

void ovsthread_key_create(ovsthread_key_t* key, void (*destructor)(void*)) {
  *key = reinterpret_cast<ovsthread_key_t>(thread_key_create(destructor));
}

void ovsthread_key_delete(ovsthread_key_t key) {
  thread_key_delete(reinterpret_cast<ThreadKey*>(key));
}

void ovsthread_setspecific(ovsthread_key_t key, const void* value) {
  thread_key_set(core(key), value);
}

void* ovsthread_getspecific(ovsthread_key_t key) {
  return thread_key_get(core(key));
}

// Statistics.

namespace {

A::Atomic<void*>& bucket(const ovsthread_stats* stats, size_t i) {
  void* const volatile* address = &stats->buckets[i];
  return *reinterpret_cast<A::Atomic<void*>*>(const_cast<void**>(address));
}

}  // namespace

void ovsthread_stats_init(ovsthread_stats* stats) {
  ovs_mutex_init(&stats->mutex);
  for (size_t i = 0; i < OVSTHREAD_N_STATS_BUCKETS__; i++) {
    bucket(stats, i).store(nullptr, kRelaxed);  // Relaxed: not shared yet.
  }
}

void ovsthread_stats_destroy(ovsthread_stats* stats) {
  ovs_mutex_destroy(&stats->mutex);
}

void* ovsthread_stats_bucket_get(ovsthread_stats* stats,
                                 void* (*new_bucket)(void)) {
  A::Atomic<void*>& mine =
      bucket(stats, ovsthread_id_self() % OVSTHREAD_N_STATS_BUCKETS__);
  // (11) what is in the bucket; pairs with (12).
  void* found = mine.load(A::acquire(11));
  if (found != nullptr) return found;
  ovs_mutex_lock(&stats->mutex);
  found = mine.load(kRelaxed);  // Relaxed: the mutex orders it.
  if (found == nullptr) {
    found = new_bucket();
    // (12) what is in the bucket; pairs with (11) and (3) of ovs.
    mine.store(found, A::release(12));
  }
  ovs_mutex_unlock(&stats->mutex);
  return found;
}

size_t ovs_thread_stats_next_bucket(const ovsthread_stats* stats, size_t i) {
  // (11) what is in the bucket; pairs with (12).
  while (i < OVSTHREAD_N_STATS_BUCKETS__ &&
         bucket(stats, i).load(A::acquire(11)) == nullptr) {
    i++;
  }
  return i < OVSTHREAD_N_STATS_BUCKETS__ ? i : OVSTHREAD_N_STATS_BUCKETS__;
}
