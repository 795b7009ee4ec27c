// SPDX-License-Identifier: Apache-2.0
//
// Where lock statistics are kept: one table per process, of a fixed size, in
// memory that another process may read while it is written.
//
// A *place* is a lock and a call site that takes it, with their texts; it is
// written once, before its number is published, and only its lock's name may
// change later.  A *tally* is what one thread has counted at one place: only
// that thread writes it, and readers add up the tallies of a place.  Tallies of
// ended threads stay.  A reset writes no tally but the place's *baseline*, the
// sums at that moment; the longest wait, which can't be subtracted, counts only
// if it is of the present epoch.
//
// What finds no room is counted in one of a few tallies that threads share.
//
// The table has no pointer that means anything to a reader, and a reader trusts
// no number in it: see sum_table().
#ifndef OVSTHREAD_LIB_LOCK_STATS_TABLE_H_
#define OVSTHREAD_LIB_LOCK_STATS_TABLE_H_

#include <ovsthread/cache-line.h>
#include <ovsthread/lock-stats.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "atomics.h"

namespace ovsthread::stats {

// Relaxed throughout: readers want no order between counts.
using Count = RealAtomics::Atomic<uint64_t>;

struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Tally {
  RealAtomics::Atomic<uint32_t> place;
  RealAtomics::Atomic<uint32_t> epoch;  // of longest_ns
  RealAtomics::Atomic<uint32_t> way;    // ovs_lock_way
  Count elided;
  Count real;
  Count contended;
  Count waited_ns;
  Count longest_ns;
  Count aborts[OVS_N_ABORTS];
  Count safe_points[OVS_N_SAFE_POINTS];
};

struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Place {
  const void* lock;
  const char* where;
  uint32_t id;
  uint16_t use;
  RealAtomics::Atomic<bool> closed;  // the lock was destroyed
  char lock_text[sizeof(ovs_lock_stats_entry::lock)];
  char site_text[sizeof(ovs_lock_stats_entry::site)];
};

inline constexpr uint32_t kMaxPlaces = 1024;
inline constexpr uint32_t kMaxTallies = 4096;
inline constexpr uint32_t kSharedTallies = 16;
// Of all the shared ones.
inline constexpr uint32_t kOthers = 0;

struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Header {
  uint64_t magic;
  uint32_t version;
  uint32_t size;  // of the table
  int32_t pid;
  RealAtomics::Atomic<bool> published;
  RealAtomics::Atomic<uint32_t> epoch;  // how often it was reset
  RealAtomics::Atomic<uint32_t> n_places;
  RealAtomics::Atomic<uint32_t> n_tallies;
};

struct Table {
  static constexpr uint64_t kMagic = 0x7374636b6c73766f;  // "ovslkcts"
  static constexpr uint32_t kVersion = 1;

  Header header;
  Tally shared[kSharedTallies];  // of place kOthers
  Place places[kMaxPlaces];      // kOthers has no text
  Tally baselines[kMaxPlaces];
  Tally tallies[kMaxTallies];
};

// What of FROM finds room in TO; FROM may be an array of that size without end.
template <size_t size>
void copy_text(char (&to)[size], const char* from) {
  size_t length = strnlen(from, size - 1);
  memcpy(to, from, length);
  to[length] = '\0';
}

// The counts of TABLE, of process PID, as the API has them; null if memory is
// short.  The table may be anybody's copy: whatever it holds is made sense of,
// or left out.
ovs_lock_stats* sum_table(const Table& table, pid_t pid);

// Makes the present sums the baselines of TABLE; false if memory is short.
bool reset_table(Table& table);

}  // namespace ovsthread::stats

#endif  // OVSTHREAD_LIB_LOCK_STATS_TABLE_H_
