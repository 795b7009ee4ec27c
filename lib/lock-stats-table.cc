// SPDX-License-Identifier: Apache-2.0
#include "lock-stats-table.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace ovsthread::stats {
namespace {

struct Sums {
  uint64_t elided;
  uint64_t real;
  uint64_t contended;
  uint64_t waited_ns;
  uint64_t longest_ns;
  uint64_t aborts[OVS_N_ABORTS];
  uint64_t safe_points[OVS_N_SAFE_POINTS];
  uint32_t way;
  uint64_t of_way;  // acquisitions of the tally that WAY is from
};

// A reset writes to the baseline what a reader subtracts.
void add(Sums& sums, const Tally& tally, uint32_t epoch) {
  uint64_t elided = tally.elided.load(kRelaxed);
  uint64_t real = tally.real.load(kRelaxed);
  sums.elided += elided;
  sums.real += real;
  sums.contended += tally.contended.load(kRelaxed);
  sums.waited_ns += tally.waited_ns.load(kRelaxed);
  if (tally.epoch.load(kRelaxed) == epoch) {
    sums.longest_ns =
        std::max(sums.longest_ns, tally.longest_ns.load(kRelaxed));
  }
  for (int i = 0; i < OVS_N_ABORTS; i++) {
    sums.aborts[i] += tally.aborts[i].load(kRelaxed);
  }
  for (int i = 0; i < OVS_N_SAFE_POINTS; i++) {
    sums.safe_points[i] += tally.safe_points[i].load(kRelaxed);
  }
  uint32_t way = tally.way.load(kRelaxed);
  if (way != OVS_LOCK_WAY_UNKNOWN && way < OVS_N_LOCK_WAYS &&
      elided + real >= sums.of_way) {
    sums.way = way;
    sums.of_way = elided + real;
  }
}

std::unique_ptr<Sums[]> sum_by_place(const Table& table, uint32_t n_places) {
  std::unique_ptr<Sums[]> sums(new (std::nothrow) Sums[n_places]());
  if (sums == nullptr) return sums;
  uint32_t epoch = table.header.epoch.load(kRelaxed);
  // Relaxed: a tally that is new by now has counted next to nothing.
  uint32_t n_tallies =
      std::min(table.header.n_tallies.load(kRelaxed), kMaxTallies);
  for (const Tally& tally : table.shared) add(sums[kOthers], tally, epoch);
  for (uint32_t i = 0; i < n_tallies; i++) {
    uint32_t place = table.tallies[i].place.load(kRelaxed);
    if (place < n_places) add(sums[place], table.tallies[i], epoch);
  }
  return sums;
}

uint32_t count_places(const Table& table) {
  // (1) their texts; pairs with (2).
  uint32_t n = table.header.n_places.load(RealAtomics::acquire(1));
  return std::clamp(n, 1u, kMaxPlaces);
}

bool look_alike(const Place& a, const Place& b) {
  return a.use == b.use &&
         strncmp(a.site_text, b.site_text, sizeof a.site_text) == 0 &&
         strncmp(a.lock_text, b.lock_text, sizeof a.lock_text) == 0;
}

// Where the counts of a destroyed lock are shown: at the next place that looks
// the same, so that short-lived locks of one name don't flood the list; kOthers
// if there is none.
uint32_t successor(const Table& table, uint32_t number, uint32_t n_places) {
  const Place& place = table.places[number];
  if (!place.closed.load(kRelaxed)) return kOthers;
  for (uint32_t i = number + 1; i < n_places; i++) {
    if (look_alike(place, table.places[i])) return i;
  }
  return kOthers;
}

void hand_on(const Sums& from, const Tally& base, Sums& to) {
  to.elided += from.elided - base.elided.load(kRelaxed);
  to.real += from.real - base.real.load(kRelaxed);
  to.contended += from.contended - base.contended.load(kRelaxed);
  to.waited_ns += from.waited_ns - base.waited_ns.load(kRelaxed);
  to.longest_ns = std::max(to.longest_ns, from.longest_ns);
  for (int i = 0; i < OVS_N_ABORTS; i++) {
    to.aborts[i] += from.aborts[i] - base.aborts[i].load(kRelaxed);
  }
  for (int i = 0; i < OVS_N_SAFE_POINTS; i++) {
    to.safe_points[i] +=
        from.safe_points[i] - base.safe_points[i].load(kRelaxed);
  }
}

// False: nothing has happened there.
bool fill(ovs_lock_stats_entry& entry, const Sums& sums, const Tally& base) {
  entry.elided = sums.elided - base.elided.load(kRelaxed);
  entry.real = sums.real - base.real.load(kRelaxed);
  entry.acquisitions = entry.elided + entry.real;
  entry.contended = sums.contended - base.contended.load(kRelaxed);
  entry.waited_ns = sums.waited_ns - base.waited_ns.load(kRelaxed);
  entry.longest_ns = sums.longest_ns;
  uint64_t any = entry.acquisitions | entry.contended;
  for (int i = 0; i < OVS_N_ABORTS; i++) {
    entry.aborts[i] = sums.aborts[i] - base.aborts[i].load(kRelaxed);
    any |= entry.aborts[i];
  }
  for (int i = 0; i < OVS_N_SAFE_POINTS; i++) {
    entry.safe_points[i] =
        sums.safe_points[i] - base.safe_points[i].load(kRelaxed);
  }
  entry.way = static_cast<ovs_lock_way>(sums.way);
  return any != 0;
}

}  // namespace

ovs_lock_stats* sum_table(const Table& table, pid_t pid) {
  uint32_t n_places = count_places(table);
  std::unique_ptr<Sums[]> sums = sum_by_place(table, n_places);
  size_t size =
      sizeof(ovs_lock_stats) + n_places * sizeof(ovs_lock_stats_entry);
  void* memory = sums == nullptr ? nullptr : calloc(1, size);
  if (memory == nullptr) return nullptr;
  ovs_lock_stats* stats = static_cast<ovs_lock_stats*>(memory);
  stats->entries = reinterpret_cast<ovs_lock_stats_entry*>(stats + 1);
  for (uint32_t i = 1; i <= n_places; i++) {
    uint32_t index = i < n_places ? i : kOthers;
    const Place& place = table.places[index];
    ovs_lock_stats_entry& entry = stats->entries[stats->n];
    uint32_t next = successor(table, index, n_places);
    if (next != kOthers) {
      hand_on(sums[index], table.baselines[index], sums[next]);
      continue;
    }
    if (!fill(entry, sums[index], table.baselines[index])) continue;
    stats->n++;
    entry.pid = pid;
    if (index == kOthers) {
      strcpy(entry.lock, "others");
      strcpy(entry.site, "others");
      entry.way = OVS_LOCK_WAY_UNKNOWN;
      break;
    }
    copy_text(entry.lock, place.lock_text);
    copy_text(entry.site, place.site_text);
    entry.id = place.id;
    entry.address = reinterpret_cast<uintptr_t>(place.lock);
    entry.use = place.use < OVS_N_LOCK_USES
                    ? static_cast<ovs_lock_use>(place.use)
                    : OVS_LOCK_USE_MUTEX;
  }
  return stats;
}

bool reset_table(Table& table) {
  uint32_t n_places = count_places(table);
  std::unique_ptr<Sums[]> sums = sum_by_place(table, n_places);
  if (sums == nullptr) return false;
  table.header.epoch.fetch_add(1, kRelaxed);
  for (uint32_t place = 0; place < n_places; place++) {
    Tally& base = table.baselines[place];
    base.elided.store(sums[place].elided, kRelaxed);
    base.real.store(sums[place].real, kRelaxed);
    base.contended.store(sums[place].contended, kRelaxed);
    base.waited_ns.store(sums[place].waited_ns, kRelaxed);
    for (int i = 0; i < OVS_N_ABORTS; i++) {
      base.aborts[i].store(sums[place].aborts[i], kRelaxed);
    }
    for (int i = 0; i < OVS_N_SAFE_POINTS; i++) {
      base.safe_points[i].store(sums[place].safe_points[i], kRelaxed);
    }
  }
  return true;
}

}  // namespace ovsthread::stats
