// SPDX-License-Identifier: Apache-2.0
//
// The table of the process: who owns which place and tally of it.
//
// Places are found by lock and call site through a hash index beside the table.
// It only grows, so that who looks needs no lock; one mutex serialises those
// who add places, name locks, close the places of a destroyed lock, or switch.
#ifndef OVSTHREAD_LIB_LOCK_STATS_REGISTRY_H_
#define OVSTHREAD_LIB_LOCK_STATS_REGISTRY_H_

#include <ovsthread/lock-stats.h>

#include "atomics.h"
#include "lock-stats-table.h"

namespace ovsthread::stats {

// Null until statistics were on for the first time.  It stays where it is.
extern constinit RealAtomics::Atomic<Table*> table;

// For who records: the table is there.
inline Table& recorded_table() {
  // Relaxed: who has seen that statistics are on finds the table by (4).
  return *table.load(kRelaxed);
}

inline uint32_t current_epoch() {
  return recorded_table().header.epoch.load(kRelaxed);
}

// A tally for the calling thread at the place where WHERE takes LOCK; a shared
// one if there is no room.  Blocking.
Tally& claim_tally(const void* lock, const char* where, ovs_lock_use use);
Tally& shared_tally();

inline const Place& place_of(const Tally& tally) {
  // Relaxed: the caller has claimed the tally.
  return recorded_table().places[tally.place.load(kRelaxed)];
}

// Whether a lock that is destroyed may have to be told to destroyed().
extern constinit RealAtomics::Atomic<bool> knows_locks;

void forget_lock(const void* lock);

// LOCK, of any type, is gone.
inline void destroyed(const void* lock) {
  // Relaxed: what the program ordered before the destruction is seen.
  if (__builtin_expect(knows_locks.load(kRelaxed), 0)) forget_lock(lock);
}

}  // namespace ovsthread::stats

#endif  // OVSTHREAD_LIB_LOCK_STATS_REGISTRY_H_
