// SPDX-License-Identifier: Apache-2.0
#include "lock-stats-registry.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "elision-engine.h"
#include "elision.h"
#include "lock-site.h"
#include "lock-stats-memory.h"
#include "lock-stats-recorder.h"
#include "log.h"
#include "thread-id.h"

namespace ovsthread::stats {

constinit RealAtomics::Atomic<Table*> table{nullptr};
constinit RealAtomics::Atomic<bool> knows_locks{false};

namespace {

using A = RealAtomics;

// Trivially destructible: threads may go on while the process exits.
pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
ovs_lock_stats_mode current_mode = OVS_LOCK_STATS_OFF;
uint32_t last_id;
// A child of a process that publishes has not done so yet: most only want to
// execute another program.
bool publish_soon;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&registry_lock); }
  ~Locked() { pthread_mutex_unlock(&registry_lock); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

uint64_t hash_of(const void* lock) {
  return reinterpret_cast<uintptr_t>(lock) * 0x9e3779b97f4a7c15;
}

// Numbers of places by their lock, 0: free.  Twice as many as there are places,
// so that a search ends.
constexpr uint32_t kIndexSize = 2 * kMaxPlaces;
A::Atomic<uint16_t> place_index[kIndexSize];

// Calls VISIT(number, place) for the places of LOCK, closed ones included,
// until it returns true; then returns null, else where a new one belongs.
template <class Visit>
A::Atomic<uint16_t>* each_place(const void* lock, Visit visit) {
  Table& now = recorded_table();
  for (uint64_t i = hash_of(lock) >> 32;; i++) {
    A::Atomic<uint16_t>& cell = place_index[i % kIndexSize];
    // (3) the place; pairs with (2).
    uint16_t number = cell.load(A::acquire(3));
    if (number == 0) return &cell;
    if (now.places[number].lock == lock && visit(number, now.places[number])) {
      return nullptr;
    }
  }
}

// 0: there is none.
uint32_t find_place(const void* lock, const char* where, ovs_lock_use use) {
  uint32_t found = 0;
  each_place(lock, [&](uint32_t number, const Place& place) {
    // Relaxed: as in Recorder::find().
    if (place.where != where || place.use != use ||
        place.closed.load(kRelaxed)) {
      return false;
    }
    found = number;
    return true;
  });
  return found;
}

struct Name {
  Name* next;
  const void* lock;
  char text[sizeof(Place::lock_text)];
};

constexpr uint32_t kMaxNames = 4096;
constexpr size_t kNameBuckets = 512;
Name* names[kNameBuckets];
// How many each bucket has: who finds none needs no lock.
A::Atomic<uint32_t> names_in[kNameBuckets];
uint32_t n_names;

size_t bucket_of(const void* lock) { return hash_of(lock) >> (64 - 9); }

Name** find_name(const void* lock) {
  Name** name = &names[bucket_of(lock)];
  while (*name != nullptr && (*name)->lock != lock) name = &(*name)->next;
  return name;
}

// Whether LOCK, which is destroyed, has a name or an open place.
bool may_be_known(const void* lock) {
  // Relaxed: as in Recorder::find().
  if (names_in[bucket_of(lock)].load(kRelaxed) != 0) return true;
  return table.load(kRelaxed) != nullptr &&
         each_place(lock, [](uint32_t, const Place& place) {
           return !place.closed.load(kRelaxed);
         }) == nullptr;
}

const char* noun(ovs_lock_use use) {
  switch (use) {
    case OVS_LOCK_USE_READ:
    case OVS_LOCK_USE_WRITE:
      return "rwlock";
    case OVS_LOCK_USE_SPIN:
      return "spin lock";
    default:
      return "mutex";
  }
}

// A site without the folders of its file: the end of the path tells more than
// its start.
const char* short_site(const char* text) {
  const char* slash = strrchr(text, '/');
  return slash == nullptr ? text : slash + 1;
}

// SITE is the text of WHERE.  The caller has the registry's lock.  0: no room.
uint32_t add_place(const void* lock, const char* where, const char* site,
                   ovs_lock_use use) {
  Table& now = recorded_table();
  uint32_t number = now.header.n_places.load(kRelaxed);  // Relaxed: locked.
  if (number == kMaxPlaces) return 0;
  const Place* sibling = nullptr;
  uint32_t same = 0;
  A::Atomic<uint16_t>* cell = each_place(lock, [&](uint32_t i, const Place& p) {
    if (p.closed.load(kRelaxed)) return false;
    sibling = &p;
    if (p.use == use &&
        strncmp(p.site_text, site, sizeof p.site_text - 1) == 0) {
      same = i;
    }
    return false;
  });
  // Readers know a place by its text.
  if (same != 0) return same;
  Place& place = now.places[number];
  place.lock = lock;
  place.where = where;
  place.use = static_cast<uint16_t>(use);
  copy_text(place.site_text, site);
  if (sibling != nullptr) {
    place.id = sibling->id;
    copy_text(place.lock_text, sibling->lock_text);
  } else {
    place.id = ++last_id;
    const Name* name = *find_name(lock);
    if (name != nullptr) {
      copy_text(place.lock_text, name->text);
    } else {
      char label[kSiteTextSize];
      snprintf(label, sizeof label, "%s at %.200s", noun(use), place.site_text);
      copy_text(place.lock_text, label);
    }
  }
  // (2) publishes the place; pairs with (1) and (3).
  now.header.n_places.store(number + 1, A::release(2));
  cell->store(static_cast<uint16_t>(number), A::release(2));
  knows_locks.store(true, kRelaxed);  // Relaxed: as in destroyed().
  if (publish_soon) {
    publish_soon = false;
    // Nobody can be told here: a log handler may take locks.
    if (publish_memory(now) != 0) current_mode = OVS_LOCK_STATS_ON;
  }
  return number;
}

// The caller has the registry's lock.
void switch_to(ovs_lock_stats_mode mode) {
  current_mode = mode;
  // (4) publishes the table; pairs with (5).
  switched.recording.store(mode != OVS_LOCK_STATS_OFF, A::release(4));
  elision::attend_to_recording();
}

// The registry's lock is held over a fork.
void before_fork() {
  elision::safe_point(OVS_SAFE_POINT_FORK);
  pthread_mutex_lock(&registry_lock);
}

void after_fork() { pthread_mutex_unlock(&registry_lock); }

// The child has no part in what the parent publishes: at the table's address it
// gets an empty one.
void begin_again_in_child() {
  Table* now = table.load(kRelaxed);
  if (now != nullptr) {
    publish_soon = current_mode == OVS_LOCK_STATS_PUBLISH;
    if (replace_memory_in_child(now)) {
      initialise_table(*now);
    } else {
      // The parent's must not be written to.
      table.store(nullptr, kRelaxed);
      current_mode = OVS_LOCK_STATS_OFF;
      switched.recording.store(false, kRelaxed);
    }
    // Relaxed, here and above: nobody else is left.
    for (A::Atomic<uint16_t>& cell : place_index) cell.store(0, kRelaxed);
    last_id = 0;
    elision::forget_recorded();
  }
  elision::attend_in_child();
  pthread_mutex_unlock(&registry_lock);
}

}  // namespace

Tally& shared_tally() {
  return recorded_table().shared[thread_id() % kSharedTallies];
}

Tally& claim_tally(const void* lock, const char* where, ovs_lock_use use) {
  Table& now = recorded_table();
  // Relaxed: when the table is full, it stays so.
  if (now.header.n_tallies.load(kRelaxed) >= kMaxTallies) return shared_tally();
  uint32_t place = find_place(lock, where, use);
  // Relaxed: as above.
  if (place == 0 && now.header.n_places.load(kRelaxed) == kMaxPlaces) {
    return shared_tally();
  }
  char text[kSiteTextSize];
  const char* site = short_site(format_site(where, text));
  Locked locked;
  place = find_place(lock, where, use);
  if (place == 0) place = add_place(lock, where, site, use);
  // Relaxed, here and below: locked, and readers want no order.
  uint32_t number = now.header.n_tallies.load(kRelaxed);
  if (place == 0 || number == kMaxTallies) return shared_tally();
  Tally& tally = now.tallies[number];
  tally.place.store(place, kRelaxed);
  now.header.n_tallies.store(number + 1, kRelaxed);
  return tally;
}

void forget_lock(const void* lock) {
  if (!may_be_known(lock)) return;
  elision::safe_point(OVS_SAFE_POINT_STATISTICS);
  Locked locked;
  if (table.load(kRelaxed) != nullptr) {
    each_place(lock, [](uint32_t, Place& place) {
      place.closed.store(true, kRelaxed);  // Relaxed: as in Recorder::find().
      return false;
    });
  }
  Name** name = find_name(lock);
  if (*name == nullptr) return;
  Name* old = *name;
  *name = old->next;
  free(old);
  n_names--;
  names_in[bucket_of(lock)].fetch_sub(1, kRelaxed);
}

}  // namespace ovsthread::stats

using ovsthread::kRelaxed;
using namespace ovsthread::stats;

// Before main(), so that no lock and no fork is missed.
__attribute__((constructor)) static void initialise() {
  if (pthread_atfork(before_fork, after_fork, begin_again_in_child) != 0) {
    ovsthread::fatal("out of memory for lock statistics");
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet.
  const char* setting = getenv("OVSTHREAD_STATS");
  if (setting == nullptr || strcmp(setting, "off") == 0) return;
  bool publish = strcmp(setting, "publish") == 0;
  if (!publish && strcmp(setting, "on") != 0) {
    ovsthread::log_message(
        OVSTHREAD_LOG_WARN,
        "OVSTHREAD_STATS=%s: not off, on or publish; statistics stay off",
        setting);
    return;
  }
  int error =
      ovs_lock_stats_set(publish ? OVS_LOCK_STATS_PUBLISH : OVS_LOCK_STATS_ON);
  if (error != 0) {
    ovsthread::log_message(OVSTHREAD_LOG_WARN,
                           "OVSTHREAD_STATS=%s: lock statistics stay off: %s",
                           setting, strerrordesc_np(error));
  }
}

int ovs_lock_stats_set(ovs_lock_stats_mode mode) {
  ovsthread::elision::safe_point(OVS_SAFE_POINT_MODE_CHANGE);
  if (mode < OVS_LOCK_STATS_OFF || mode > OVS_LOCK_STATS_PUBLISH) return EINVAL;
  Locked locked;
  Table* now = table.load(kRelaxed);
  if (now == nullptr && mode != OVS_LOCK_STATS_OFF) {
    now = allocate_memory();
    if (now == nullptr) return ENOMEM;
    initialise_table(*now);
    table.store(now, kRelaxed);  // Relaxed: (4) publishes it.
  }
  if (mode == OVS_LOCK_STATS_PUBLISH) {
    if (int error = publish_memory(*now)) return error;
  } else if (now != nullptr) {
    hide_memory(*now);
  }
  publish_soon = false;
  switch_to(mode);
  return 0;
}

ovs_lock_stats_mode ovs_lock_stats_get() {
  ovsthread::elision::safe_point(OVS_SAFE_POINT_STATISTICS);
  Locked locked;
  return current_mode;
}

int ovs_lock_set_name(const void* lock, const char* text) {
  ovsthread::elision::safe_point(OVS_SAFE_POINT_STATISTICS);
  Locked locked;
  Name** name = find_name(lock);
  if (*name == nullptr) {
    if (n_names == kMaxNames) return ENOMEM;
    *name = static_cast<Name*>(calloc(1, sizeof **name));
    if (*name == nullptr) return ENOMEM;
    (*name)->lock = lock;
    n_names++;
    names_in[bucket_of(lock)].fetch_add(1, kRelaxed);
    knows_locks.store(true, kRelaxed);  // Relaxed: as in destroyed().
  }
  copy_text((*name)->text, text);
  if (table.load(kRelaxed) == nullptr) return 0;
  each_place(lock, [&](uint32_t, Place& place) {
    if (!place.closed.load(kRelaxed)) copy_text(place.lock_text, text);
    return false;
  });
  return 0;
}

ovs_lock_stats* ovs_lock_stats_snapshot() {
  ovsthread::elision::safe_point(OVS_SAFE_POINT_STATISTICS);
  Locked locked;
  const Table* now = table.load(kRelaxed);
  if (now != nullptr) return sum_table(*now, getpid());
  return static_cast<ovs_lock_stats*>(calloc(1, sizeof(ovs_lock_stats)));
}

void ovs_lock_stats_reset() {
  ovsthread::elision::safe_point(OVS_SAFE_POINT_STATISTICS);
  Locked locked;
  Table* now = table.load(kRelaxed);
  if (now != nullptr && !reset_table(*now)) {
    ovsthread::fatal("out of memory for lock statistics");
  }
}

void ovs_lock_stats_free(ovs_lock_stats* stats) { free(stats); }

const char* ovs_lock_use_name(ovs_lock_use use) {
  static constexpr const char* kNames[] = {"lock", "read", "write", "spin"};
  static_assert(sizeof kNames / sizeof kNames[0] == OVS_N_LOCK_USES);
  return use < OVS_N_LOCK_USES ? kNames[use] : "unknown";
}

const char* ovs_lock_way_name(ovs_lock_way way) {
  static constexpr const char* kNames[] = {"unknown", "elides", "off", "real",
                                           "vetoed"};
  static_assert(sizeof kNames / sizeof kNames[0] == OVS_N_LOCK_WAYS);
  return way < OVS_N_LOCK_WAYS ? kNames[way] : "unknown";
}
