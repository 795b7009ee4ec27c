// SPDX-License-Identifier: Apache-2.0
#include "ovstest-trial.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_format.h"
#include "cmap.h"
#include "openvswitch/hmap.h"
#include "ovs-rcu.h"
#include "ovstest-locks.h"
#include "ovsthread-rwlock.h"
#include "ovsthread/hash.h"
#include "ovsthread/log.h"
#include "team.h"

namespace ovstest {
namespace {

using ovsthread::hash_u32;

// Operations between two quiescent states of a thread: about one burst of
// packets of a datapath.  Searches quiesce only where they retire elements, as
// the original never does.
constexpr uint64_t kQuiesceInterval = 1024;

// What one thread did.
struct alignas(64) Tally {
  uint64_t found = 0;
  uint64_t removed = 0;
};

template <class Node>
struct Element {
  Node node;
  uint32_t value;
};

// A cmap whose writers exclude each other by a mutex.
template <class Lock>
class CmapTrial {
 public:
  using Element = ovstest::Element<struct cmap_node>;

  explicit CmapTrial(const Workload& workload) : workload_(workload) {
    Lock::name(mutex_, "cmap mutex");
    cmap_init(&map_);
  }

  void insert(Element* element) {
    cmap_insert(&map_, &element->node, hash_u32(element->value));
  }

  template <class Visit>
  void for_each(Visit visit) {
    Element* element;
    CMAP_FOR_EACH(element, node, &map_) { visit(element); }
  }

  bool lookup(uint32_t value) { return find(value) != nullptr; }

  // Returns whether this call removed it.
  bool remove(uint32_t value) {
    mutex_.lock();
    Element* element = find(value);
    if (element) {
      cmap_remove(&map_, &element->node, hash_u32(value));
      if (workload_.shape().retire) ovsrcu_postpone(free, element);
    }
    mutex_.unlock();
    return element != nullptr;
  }

  // Looks up FIRST + i for each bit i of WANTED, returns how many were found.
  unsigned lookup_batch(uint32_t first, unsigned long wanted) {
    uint32_t hashes[64];
    const struct cmap_node* nodes[64];
    for (unsigned long left = wanted; left; left &= left - 1) {
      unsigned i = std::countr_zero(left);
      hashes[i] = hash_u32(first + i);
    }
    unsigned found = 0;
    unsigned long hits = cmap_find_batch(&map_, wanted, hashes, nodes);
    for (; hits; hits &= hits - 1) {
      unsigned i = std::countr_zero(hits);
      const Element* element;
      CMAP_NODE_FOR_EACH(element, node, nodes[i]) {
        if (element->value == first + i) {
          found++;
          break;
        }
      }
    }
    return found;
  }

  void remove_protected(Element* element) {
    cmap_remove(&map_, &element->node, hash_u32(element->value));
  }

  void destroy() { cmap_destroy(&map_); }

 private:
  Element* find(uint32_t value) {
    Element* element;
    CMAP_FOR_EACH_WITH_HASH(element, node, hash_u32(value), &map_) {
      if (element->value == value) return element;
    }
    return nullptr;
  }

  const Workload& workload_;
  // Readers of the map must not suffer from writers' use of the lock.
  alignas(64) typename Lock::Mutex mutex_;
  alignas(64) struct cmap map_;
};

// An hmap under a readers-writer lock.
template <class Lock>
class HmapTrial {
 public:
  using Element = ovstest::Element<struct hmap_node>;

  explicit HmapTrial(const Workload& workload) : workload_(workload) {
    Lock::name(rwlock_, "hmap rwlock");
    hmap_init(&map_);
  }

  void insert(Element* element) {
    hmap_insert(&map_, &element->node, hash_u32(element->value));
  }

  template <class Visit>
  void for_each(Visit visit) {
    Element* element;
    HMAP_FOR_EACH_SAFE(element, node, &map_) { visit(element); }
  }

  bool lookup(uint32_t value) {
    rwlock_.lock_shared();
    bool found = find(value) != nullptr;
    rwlock_.unlock_shared();
    return found;
  }

  bool remove(uint32_t value) {
    rwlock_.lock();
    Element* element = find(value);
    if (element) {
      hmap_remove(&map_, &element->node);
      if (workload_.shape().retire) ovsrcu_postpone(free, element);
    }
    rwlock_.unlock();
    return element != nullptr;
  }

  void remove_protected(Element* element) {
    hmap_remove(&map_, &element->node);
  }

  void destroy() { hmap_destroy(&map_); }

 private:
  Element* find(uint32_t value) {
    Element* element;
    HMAP_FOR_EACH_WITH_HASH(element, node, hash_u32(value), &map_) {
      if (element->value == value) return element;
    }
    return nullptr;
  }

  const Workload& workload_;
  alignas(64) typename Lock::RwLock rwlock_;
  alignas(64) struct hmap map_;
};

// The elements of a trial: consecutive, or allocated one by one where a removed
// one is to be freed.
template <class Element>
class Elements {
 public:
  explicit Elements(const Workload& workload) : n_(workload.shape().n) {
    consecutive_ = static_cast<Element*>(workload.elements());
    if (!consecutive_) {
      single_.reserve(n_);
      for (uint64_t i = 0; i < n_; i++) {
        single_.push_back(static_cast<Element*>(std::malloc(sizeof(Element))));
        if (!single_.back()) std::abort();
      }
    }
    for (uint64_t i = 0; i < n_; i++) (*this)[i]->value = i;
  }

  Element* operator[](uint64_t i) {
    return consecutive_ ? &consecutive_[i] : single_[i];
  }

  // To be called for each element that was not removed by a search.
  void release(Element* element) {
    if (!consecutive_) free(element);
  }

 private:
  uint64_t n_;
  Element* consecutive_;
  std::vector<Element*> single_;
};

template <class Map>
void search(const Workload& workload, Map& map, unsigned thread, Tally* tally) {
  const Workload::Shape& shape = workload.shape();
  Tally mine;
  for (uint64_t i = 0; i < shape.n; i++) {
    if (workload.draws().removes(thread, i)) {
      mine.removed += map.remove(i);
    } else {
      mine.found += map.lookup(i);
    }
    if (shape.retire && i % kQuiesceInterval == 0) ovsrcu_quiesce();
  }
  *tally = mine;
}

template <class Map>
void search_batched(const Workload& workload, Map& map, unsigned thread,
                    Tally* tally) {
  const Workload::Shape& shape = workload.shape();
  Tally mine;
  uint64_t quiesce_at = kQuiesceInterval;
  for (uint64_t i = 0; i < shape.n; i += shape.batch) {
    uint64_t count = std::min<uint64_t>(shape.batch, shape.n - i);
    uint64_t all = ~uint64_t{0} >> (64 - count);
    uint64_t removals = workload.draws().removes_64(thread, i) & all;
    if (all != removals) {
      mine.found += map.lookup_batch(i, all & ~removals);
    }
    for (; removals; removals &= removals - 1) {
      mine.removed += map.remove(i + std::countr_zero(removals));
    }
    if (shape.retire && i >= quiesce_at) {
      ovsrcu_quiesce();
      quiesce_at = i + kQuiesceInterval;
    }
  }
  *tally = mine;
}

// Compares the outcome of a search with what the draws say.
template <class Map>
absl::Status verify(const Workload& workload, Map& map,
                    const std::vector<Tally>& tallies) {
  const bench::Draws& draws = workload.draws();
  uint64_t n = workload.shape().n;
  uint64_t removed = 0;
  for (const Tally& tally : tallies) {
    removed += tally.removed;
    if (tally.found < draws.survivors()) {
      return absl::InternalError(absl::StrFormat(
          "a thread found %d elements, although %d were there all the time",
          tally.found, draws.survivors()));
    }
  }
  if (removed != n - draws.survivors()) {
    return absl::InternalError(
        absl::StrFormat("%d elements were removed instead of %d", removed,
                        n - draws.survivors()));
  }

  std::vector<bool> seen(n);
  uint64_t left = 0, wrong = 0;
  map.for_each([&](const auto* element) {
    uint64_t value = element->value;
    left++;
    if (value >= n || seen[value] || !draws.survives(value)) {
      wrong++;
    } else {
      seen[value] = true;
    }
  });
  if (wrong || left != draws.survivors()) {
    return absl::InternalError(absl::StrFormat(
        "after the search the map holds %d elements, %d of them wrongly; it "
        "should hold %d",
        left, wrong, draws.survivors()));
  }
  return absl::OkStatus();
}

template <class Map, class Search>
absl::StatusOr<Trial> run(const Workload& workload, Search search) {
  const Workload::Shape& shape = workload.shape();
  Trial trial;
  auto& [insert_ms, iterate_ms, search_ms, destroy_ms] = trial.ms;
  Elements<typename Map::Element> elements(workload);
  Map map(workload);

  insert_ms = bench::timed([&] {
    for (uint64_t i = 0; i < shape.n; i++) {
      map.insert(elements[i]);
      // Else all tables that the map outgrows would stay.
      if (i % kQuiesceInterval == 0) ovsrcu_quiesce();
    }
  });

  uint64_t visited = 0;
  iterate_ms =
      bench::timed([&] { map.for_each([&](const auto*) { visited++; }); });
  if (visited != shape.n) {
    return absl::InternalError(absl::StrFormat(
        "an iteration visited %d of %d elements", visited, shape.n));
  }

  std::vector<Tally> tallies(shape.threads);
  ovs_elision_counts_reset();
  search_ms = bench::timed_team(shape.threads, shape.pin, [&](unsigned thread) {
    search(workload, map, thread, &tallies[thread]);
  });
  ovs_elision_counts_read(&trial.counts);

  absl::Status status = verify(workload, map, tallies);
  if (!status.ok()) return status;

  destroy_ms = bench::timed([&] {
    map.for_each([&](auto* element) {
      map.remove_protected(element);
      elements.release(element);
    });
    map.destroy();
  });
  ovsrcu_barrier();  // What this trial retired is none of the next one's load.
  return trial;
}

template <class Lock>
absl::StatusOr<Trial> run(const Workload& workload, Container container) {
  switch (container) {
    case Container::kCmapBatch:
      return run<CmapTrial<Lock>>(workload, search_batched<CmapTrial<Lock>>);
    case Container::kCmap:
      return run<CmapTrial<Lock>>(workload, search<CmapTrial<Lock>>);
    case Container::kHmap:
      break;
  }
  return run<HmapTrial<Lock>>(workload, search<HmapTrial<Lock>>);
}

constexpr size_t kElementSize = std::max(sizeof(Element<struct cmap_node>),
                                         sizeof(Element<struct hmap_node>));

}  // namespace

void ignore_warnings() {
  ovsthread_set_log_handler(
      [](ovsthread_log_level level, const char* message, void*) {
        if (level == OVSTHREAD_LOG_FATAL) std::fprintf(stderr, "%s\n", message);
      },
      nullptr);
}

Workload::Workload(const Shape& shape)
    : shape_(shape),
      draws_(shape.n, shape.threads, shape.mutation, shape.seed) {
  if (!shape.retire) {
    // Zero-filled, hence touched.
    elements_ = std::make_unique<std::byte[]>(shape.n * kElementSize);
  }
}

double Workload::memory_needed(const Shape& shape) {
  // A map that grows holds two tables; twice what that takes at the worst time.
  constexpr double kMap = 64;
  constexpr double kBase = 32 << 20;
  constexpr double kStack = 1 << 20;
  // With --retire, what malloc() makes of an element, and a pointer to it.
  double element = shape.retire ? 32 + sizeof(void*) : kElementSize;
  double bits = (shape.threads + 2) / 8.0;  // Draws and checks.
  return kBase + kStack * shape.threads +
         static_cast<double>(shape.n) * (element + kMap + bits);
}

absl::StatusOr<Trial> run_trial(const Workload& workload, Container container,
                                bool pthread_locks) {
  // What is compared are elided and plain locks.
  ovs_rwlock_set_bias(false);
  return pthread_locks ? run<PthreadLocks>(workload, container)
                       : run<OvsLocks>(workload, container);
}

}  // namespace ovstest
