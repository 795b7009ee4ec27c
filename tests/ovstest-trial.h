// SPDX-License-Identifier: Apache-2.0
//
// One trial of the benchmark: a fresh map, filled, iterated, searched by
// several threads that also remove elements, then emptied and destroyed.
//
// The workload is that of Open vSwitch's test-cmap.  Each of T threads visits
// the elements 0 ... n - 1 in order.  A visit that is drawn to remove its
// element takes the lock for writing, finds the element, removes it if it is
// still there, and releases the lock; any other visit looks the element up.
// Lookups in a cmap take no lock, those in an hmap take a read lock.
//
// After the search the map's content is compared with what the draws say, and
// no thread may have missed an element that nobody removes: a map that loses
// elements can't be fast.
#ifndef OVSTHREAD_TESTS_OVSTEST_TRIAL_H_
#define OVSTHREAD_TESTS_OVSTEST_TRIAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "draws.h"
#include "ovsthread/elision.h"

namespace ovstest {

enum class Container {
  kCmapBatch,  // cmap, looked up by cmap_find_batch().
  kCmap,       // cmap, looked up one by one.
  kHmap        // hmap under a readers-writer lock.
};
inline constexpr size_t kContainers = 3;

enum class Phase { kInsert, kIterate, kSearch, kDestroy };
inline constexpr size_t kPhases = 4;

// What a trial runs on.  In the order of the columns of a report.
enum class Locks {
  kBaseline,  // The library's locks, never elided.
  kTm,        // The library's locks, elided.
  kPthread    // An error-checking mutex and a writer-preferring rwlock.
};
inline constexpr size_t kLocks = 3;

// What is the same in all trials that are compared.
class Workload {
 public:
  struct Shape {
    uint64_t n;        // Elements.
    unsigned threads;  // That search.
    double mutation;   // Percentage of visits that remove.
    unsigned batch;    // Elements per cmap_find_batch().
    uint64_t seed;     // Of the draws.
    bool retire;       // Removed elements are freed by ovsrcu_postpone().
    bool pin;          // Each thread is bound to a hardware thread.
  };

  // Records the draws and touches the memory of the elements.
  explicit Workload(const Shape& shape);

  const Shape& shape() const { return shape_; }
  const bench::Draws& draws() const { return draws_; }

  // Room for N elements of any container; null if they are freed one by one.
  void* elements() const { return elements_.get(); }

  // Bytes that trials of SHAPE need at most.
  static double memory_needed(const Shape& shape);

 private:
  Shape shape_;
  bench::Draws draws_;
  std::unique_ptr<std::byte[]> elements_;
};

struct Trial {
  double ms[kPhases];
  struct ovs_elision_counts counts;  // Of the search.
};

// Silences the library's warnings.  RCU warns of threads that don't quiesce for
// a second, and in a trial a search or an iteration is one long read section.
// To be called before there are other threads.
void ignore_warnings();

// Runs one trial.  The mode of elision is the caller's to set.  Fails if the
// map's content is not what the draws say.
absl::StatusOr<Trial> run_trial(const Workload& workload, Container container,
                                bool pthread_locks);

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_TRIAL_H_
