// SPDX-License-Identifier: Apache-2.0
//
// What the tests of cmap share.
#ifndef OVSTHREAD_TESTS_UNIT_CMAP_TEST_H_
#define OVSTHREAD_TESTS_UNIT_CMAP_TEST_H_

#include <ovsthread/cmap.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "cmap-core.h"
#include "cmap-platform.h"
#include "cmap-unmix.h"
#include "rcu.h"

namespace ovsthread {

using CmapPlatform = cmap_core::Platform;
using CmapTable = cmap_core::Table<CmapPlatform>;
using CmapBin = cmap_core::Bin<CmapPlatform>;
using cmap_core::unmix;

// Maps that get their first table while it lives mix without a random key.
class FixedKey {
 public:
  FixedKey() { cmap_core::set_fixed_key(&kKey); }
  ~FixedKey() { cmap_core::set_fixed_key(nullptr); }

 private:
  static constexpr uint64_t kKey = 0;
};

// A map whose migrations the test steers.
class SteeredMap : public cmap_core::Map<CmapPlatform> {
 public:
  static SteeredMap& of(cmap& map) {
    return reinterpret_cast<SteeredMap&>(map);
  }
  bool is_migrating() const { return next() != nullptr; }
  CmapTable* next() const { return root()->next.load(kRelaxed); }
  // Begins to migrate to 2^BITS bins: the first chunk moves.
  void begin(unsigned bits) {
    cmap_core::start_migration(root_, *root(), bits);
  }
  void step() { cmap_core::migrate(root_, *root(), *next()); }
  void finish() {
    while (is_migrating()) step();
  }
  // Growing goes bit by bit, shrinking at once.
  void migrate(unsigned bits) {
    finish();
    while (root()->bits != bits) {
      begin(std::min(bits, root()->bits + 1));
      finish();
    }
  }
};

// The greatest number of slots in use in a bin that is in force, of MAP's root
// and the table it migrates to.
inline unsigned fullest_bin(cmap& map) {
  unsigned most = 0;
  for (const CmapTable* table = SteeredMap::of(map).root(); table;
       table = table->next.load(kRelaxed)) {
    for (size_t i = 0; i < table->n; i++) {
      const CmapBin& bin = table->bins[i];
      if (bin.header.load(kRelaxed) & cmap_core::kMoved) continue;
      most = std::max(most, cmap_core::used_in_bin(bin));
    }
  }
  return most;
}

// Memory of maps that the calling thread made and, after all callbacks, nobody
// has freed; if no other thread frees any.
inline uint32_t live_bytes() {
  rcu::barrier();
  return cmap_core::tls_work.taken_bytes - cmap_core::tls_work.released_bytes;
}

// Allocations of cmaps fail from now on after BUDGET more, for as long as it
// lives.
class AllocationBudget {
 public:
  explicit AllocationBudget(int64_t budget) {
    cmap_core::set_allocation_budget(budget);
  }
  ~AllocationBudget() { cmap_core::set_allocation_budget(-1); }
};

// Drawn, or the environment's OVSTHREAD_TEST_SEED; printed.
inline uint64_t test_seed() {
  const char* given = std::getenv("OVSTHREAD_TEST_SEED");
  uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("# seed %" PRIu64 "\n", seed);
  return seed;
}

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_UNIT_CMAP_TEST_H_
