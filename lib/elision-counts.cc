// SPDX-License-Identifier: Apache-2.0
#include "elision-counts.h"

#include <pthread.h>

#include <algorithm>
#include <new>

#include "elision-engine.h"
#include "elision.h"
#include "log.h"

namespace ovsthread::elision {
namespace {

// Trivially destructible: threads may still end while the process exits.
pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
Counts* registry;
ovs_elision_counts baseline;

pthread_once_t key_once = PTHREAD_ONCE_INIT;
pthread_key_t key;

void give_back(void* block) {
  pthread_mutex_lock(&registry_lock);
  static_cast<Counts*>(block)->in_use = false;
  pthread_mutex_unlock(&registry_lock);
  // Destructors that run later may lock, and then register again.
  tls_elision.counts = nullptr;
}

ovs_elision_counts sum() {
  ovs_elision_counts total{};
  for (const Counts* block = registry; block != nullptr; block = block->next) {
    total.acquisitions += block->acquisitions.read();
    total.elided += block->elided.read();
    total.started += block->started.read();
    for (int i = 0; i < OVS_N_ABORTS; i++) {
      total.aborts[i] += block->aborts[i].read();
    }
    for (int i = 0; i < OVS_N_SAFE_POINTS; i++) {
      total.safe_points[i] += block->safe_points[i].read();
    }
  }
  return total;
}

}  // namespace

Counts* register_counts() {
  pthread_once(&key_once, [] {
    if (pthread_key_create(&key, give_back) != 0) {
      fatal("no thread-specific data key left for lock statistics");
    }
    // No other thread of the parent goes on in a child.
    pthread_atfork([] { pthread_mutex_lock(&registry_lock); },
                   [] { pthread_mutex_unlock(&registry_lock); },
                   [] {
                     pthread_mutex_unlock(&registry_lock);
                     histories.release_all();
                   });
  });
  pthread_mutex_lock(&registry_lock);
  Counts* block = registry;
  while (block != nullptr && block->in_use) block = block->next;
  if (block != nullptr) {
    block->in_use = true;
    block->recorder.begin();
    block->vetoes = {};
    block->sampler = Sampler(block->acquisitions.read());
    block->storm = StormWatch(block->started.read(), block->elided.read());
  } else if ((block = new (std::nothrow) Counts) != nullptr) {
    block->next = registry;
    registry = block;
  }
  pthread_mutex_unlock(&registry_lock);
  if (block == nullptr || pthread_setspecific(key, block) != 0) {
    fatal("out of memory for lock statistics");
  }
  return block;
}

void forget_recorded() {
  for (Counts* block = registry; block != nullptr; block = block->next) {
    block->recorder.forget();
  }
}

}  // namespace ovsthread::elision

void ovs_elision_counts_read(ovs_elision_counts* counts) {
  using namespace ovsthread::elision;
  safe_point(OVS_SAFE_POINT_STATISTICS);
  pthread_mutex_lock(&registry_lock);
  *counts = sum();
  // The reset may have counted tries that failed then.
  counts->acquisitions -= std::min(counts->acquisitions, baseline.acquisitions);
  counts->elided -= baseline.elided;
  counts->started -= baseline.started;
  for (int i = 0; i < OVS_N_ABORTS; i++) {
    counts->aborts[i] -= baseline.aborts[i];
  }
  for (int i = 0; i < OVS_N_SAFE_POINTS; i++) {
    counts->safe_points[i] -= baseline.safe_points[i];
  }
  pthread_mutex_unlock(&registry_lock);
}

void ovs_elision_counts_reset() {
  using namespace ovsthread::elision;
  safe_point(OVS_SAFE_POINT_STATISTICS);
  pthread_mutex_lock(&registry_lock);
  baseline = sum();
  pthread_mutex_unlock(&registry_lock);
}

const char* ovs_elision_abort_name(ovs_elision_abort cause) {
  static constexpr const char* kNames[] = {
      "busy", "conflict", "capacity", "cold", "nested", "safe_point", "other"};
  static_assert(sizeof kNames / sizeof kNames[0] == OVS_N_ABORTS);
  return cause < OVS_N_ABORTS ? kNames[cause] : "unknown";
}

const char* ovs_safe_point_name(ovs_safe_point what) {
  static constexpr const char* kNames[] = {
      "condition_wait", "rcu_register", "quiesce",      "synchronize",
      "barrier",        "fork",         "thread_start", "message",
      "wake",           "migration",    "allocation",   "statistics",
      "mode_change"};
  static_assert(sizeof kNames / sizeof kNames[0] == OVS_N_SAFE_POINTS);
  return what < OVS_N_SAFE_POINTS ? kNames[what] : "unknown";
}
