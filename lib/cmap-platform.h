// SPDX-License-Identifier: Apache-2.0
//
// What a cmap needs of the world, and its sizes: the parameter P of the cmap
// templates.  Interleaving tests give another one, with small bins.
#ifndef OVSTHREAD_LIB_CMAP_PLATFORM_H_
#define OVSTHREAD_LIB_CMAP_PLATFORM_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "atomics.h"
#include "elision.h"
#include "rcu.h"
#include "thread-id.h"
#include "thread-random.h"
#include "topology.h"

namespace ovsthread::cmap_core {

// What the calling thread has done for the resizing of maps since it started,
// modulo 2^32.  Tests read it to show that no single call does much and that
// all memory comes back.
struct Work {
  uint32_t moved_bins;
  uint32_t zeroed_bytes;    // By hand; the system's zeroed pages don't count.
  uint32_t taken_bytes;     // Tables and lines that it made,
  uint32_t released_bytes;  // and gave back.
};
extern constinit thread_local Work tls_work;

// For tests.  While set, the next allocations succeed as often as it says and
// then all fail; negative: unlimited.
void set_allocation_budget(int64_t allocations);
// The key of maps that install their first table from now on; null: random.
void set_fixed_key(const uint64_t* key);

struct Platform {
  using Atomics = RealAtomics;

  static constexpr size_t kLineSize = 64;
  static constexpr unsigned kSlots = 7;

  static constexpr unsigned kMinBits = 1;
  static constexpr unsigned kMaxBits = 44;
  static constexpr size_t kMaxLoad = 4;     // Slots per bin, above it grows.
  static constexpr size_t kMinLoad = 1;     // Below it shrinks,
  static constexpr size_t kShrunkLoad = 2;  // to at most this,
  static constexpr unsigned kMaxShrinkBits = 5;  // by so much at most.
  static constexpr size_t kSamples = 256;
  static constexpr size_t kChecks = 64;  // A check each n_bins / kChecks ticks,
  static constexpr uint64_t kMinCheckTicks = 128;  // or so many.

  static constexpr size_t kChunkBins = 64;
  static constexpr uint64_t kGrowTicks = 16;
  static constexpr uint64_t kShrinkTicks = 4;
  static constexpr size_t kReleaseBins = size_t{1} << 18;

  // Zeroed memory for N objects, each aligned to a line, or null.  Big arrays
  // come from the system untouched, so that they are zeroed page by page when
  // they are first used.
  template <class T>
  static T* create(size_t n) {
    static_assert(std::is_trivially_default_constructible_v<T>);
    static_assert(std::is_trivially_destructible_v<T>);
    static_assert(alignof(T) == kLineSize);
    return static_cast<T*>(allocate(n * sizeof(T)));
  }
  // Frees what create() gave; also a part of a big array, from its end.
  template <class T>
  static void destroy(T* objects, size_t n) {
    release(objects, n * sizeof(T));
  }

  // An overflow line: a zeroed bin or null.  A thread keeps some to spare for
  // insertions inside transactions, which can't allocate; there, finding none
  // is a safe point.
  template <class Bin>
  static Bin* create_line() {
    static_assert(sizeof(Bin) == kLineSize);
    return static_cast<Bin*>(allocate_line());
  }
  static void destroy_line(void* line);

  static void retire(void (*function)(void*), void* arg) {
    rcu::retire(function, arg);
  }

  // A node must fit into 48 bits.
  static void check_node(const void* map, const void* node) {
    if (__builtin_expect(reinterpret_cast<uintptr_t>(node) >> 48 != 0, 0)) {
      refuse_node(map, node);
    }
  }

  static bool in_transaction() { return elision::in_transaction(); }
  static void safe_point_migration() {
    elision::safe_point(OVS_SAFE_POINT_MIGRATION);
  }
  static void safe_point_allocation() {
    elision::safe_point(OVS_SAFE_POINT_ALLOCATION);
  }
  // A writer inside a transaction met a bin that is locked for real.
  static void abort_busy() { safe_point_migration(); }

  // Waits a little for another writer, the SPINS-th time in a row.
  static void pause(unsigned spins);

  static void prefetch(const void* line) { __builtin_prefetch(line); }
  static void prefetch_for_write(const void* line) {
    __builtin_prefetch(line, 1);
  }

  // Changes when the thread quiesces, where that can matter; debug builds only.
  static uint64_t read_section() {
#ifdef NDEBUG
    return 0;
#else
    return rcu::read_section();
#endif
  }
  [[noreturn]] static void refuse_quiescing(const void* map);

  static uint64_t random_key();
  static uint64_t random() { return thread_random(); }

  static uint32_t thread_id() { return ovsthread::thread_id(); }
  static unsigned stripe_count() { return ovsthread::stripe_count(); }

  static void note_moved(size_t bins) {
    tls_work.moved_bins += static_cast<uint32_t>(bins);
  }

 private:
  static void* allocate(size_t bytes);
  static void release(void* memory, size_t bytes);
  static void* allocate_line();
  [[noreturn]] static void refuse_node(const void* map, const void* node);
};

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_PLATFORM_H_
