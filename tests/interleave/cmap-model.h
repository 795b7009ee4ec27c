// SPDX-License-Identifier: Apache-2.0
//
// The platform of cmap under the model: two bins of two slots, chunks of one
// bin, resizing only where a scenario asks for it.
//
// What is retired is kept to the end of the run, which is as long a grace
// period as there can be; after() then frees it and sees that nothing is left.
#ifndef OVSTHREAD_TESTS_INTERLEAVE_CMAP_MODEL_H_
#define OVSTHREAD_TESTS_INTERLEAVE_CMAP_MODEL_H_

#include <cstdint>
#include <cstdlib>
#include <new>

#include "cmap-core.h"
#include "cmap-cursor.h"
#include "cmap-position.h"
#include "cmap-unmix.h"
#include "interleave/driver.h"
#include "interleave/model-atomics.h"

namespace ovsthread::cmap_core {

struct ModelPlatform {
  using Atomics = ModelAtomics;

  static constexpr size_t kLineSize = 16;
  static constexpr unsigned kSlots = 2;
  static constexpr unsigned kMinBits = 1;
  static constexpr unsigned kMaxBits = 1;
  static constexpr size_t kMaxLoad = 1000;
  static constexpr size_t kMinLoad = 0;
  static constexpr size_t kShrunkLoad = 0;
  static constexpr unsigned kMaxShrinkBits = 1;
  static constexpr size_t kSamples = 2;
  static constexpr size_t kChecks = 1;
  static constexpr uint64_t kMinCheckTicks = uint64_t{1} << 40;
  static constexpr size_t kChunkBins = 1;
  // Never: scenarios call migrate().
  static constexpr uint64_t kGrowTicks = uint64_t{1} << 40;
  static constexpr uint64_t kShrinkTicks = uint64_t{1} << 40;
  static constexpr size_t kReleaseBins = 64;

  struct Retired {
    void (*function)(void*);
    void* arg;
  };
  // An array: relacy replaces operator new during a run.
  static inline Retired retired[32];
  static inline int n_retired = 0;
  static inline int live_objects = 0;
  static inline int without_memory = -1;  // The thread that gets none.

  template <class T>
  static T* create(size_t n) {
    if (without_memory == static_cast<int>(rl::thread_index())) return nullptr;
    T* objects = static_cast<T*>(std::malloc(n * sizeof(T)));
    for (size_t i = 0; i < n; i++) new (&objects[i]) T();
    live_objects++;
    return objects;
  }
  template <class T>
  static void destroy(T* objects, size_t n) {
    for (size_t i = 0; i < n; i++) objects[i].~T();
    std::free(objects);
    live_objects--;
  }
  template <class Bin>
  static Bin* create_line() {
    return create<Bin>(1);
  }
  static void destroy_line(void* line) {
    destroy(static_cast<Bin<ModelPlatform>*>(line), 1);
  }

  static void retire(void (*function)(void*), void* arg) {
    retired[n_retired++] = {function, arg};
  }
  static void run_retired() {
    while (n_retired) {
      Retired last = retired[--n_retired];
      last.function(last.arg);
    }
  }

  static void check_node(const void*, const void*) {}
  static bool in_transaction() { return false; }
  static void safe_point_migration() {}
  static void safe_point_allocation() {}
  static void abort_busy() {}
  static void pause(unsigned) { ModelAtomics::relax(); }
  static void prefetch(const void*) {}
  static void prefetch_for_write(const void*) {}
  static uint64_t random_key() { return 0; }
  static uint64_t random() { return 0; }
  static uint64_t read_section() { return 0; }
  static void refuse_quiescing(const void*) {}
  static uint32_t thread_id() { return rl::thread_index(); }
  static unsigned stripe_count() { return 2; }
  static void note_moved(size_t) {}
};

using MP = ModelPlatform;
using ModelNode = Node<MP>;

// A hash that lives in eighth I of the table, I < 8.
inline uint64_t hash_in(uint64_t i, uint64_t low = 0) {
  return unmix(i << 61 | low);
}

struct Element {
  ModelNode node;
  ModelAtomics::Var<int> value;
};

inline int value_of(ModelNode* node) {
  return reinterpret_cast<Element*>(node)->value;
}

struct ModelMap : Map<MP> {
  // A run that failed may have left something.
  ModelMap() : Map<MP>() {
    MP::live_objects = MP::n_retired = 0;
    MP::without_memory = -1;
  }

  void add(Element& element, uint64_t hash, int value) {
    element.value = value;
    RL_ASSERT(insert(&element.node, hash) == Result::kDone);
  }
  void remove(Element& element, uint64_t hash) {
    RL_ASSERT(replace(&element.node, nullptr, hash) == Result::kDone);
  }
  bool has(const Element& element, uint64_t hash) const {
    for (ModelNode* n = find(hash); n; n = next_node(n)) {
      (void)value_of(n);
      if (n == &element.node) return true;
    }
    return false;
  }
  // Begins to migrate to 2^BITS bins and moves the first one.
  void begin_migration(unsigned bits) {
    Table<MP>* table = root();
    start_migration(root_, *table, bits);
  }
  // Moves the next bin, if a migration runs.
  void migrate_one() {
    Table<MP>* table = root();
    // (19) as a writer does.
    Table<MP>* next = table->next.load(ModelAtomics::acquire(19));
    if (next) cmap_core::migrate(root_, *table, *next);
  }
  // To be called at the end of a run.
  void finish() {
    destroy();
    MP::run_retired();
    RL_ASSERT(MP::live_objects == 0);
  }
};

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_TESTS_INTERLEAVE_CMAP_MODEL_H_
