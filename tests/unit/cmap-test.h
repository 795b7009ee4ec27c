// SPDX-License-Identifier: Apache-2.0
//
// What the tests of cmap share.
#ifndef OVSTHREAD_TESTS_UNIT_CMAP_TEST_H_
#define OVSTHREAD_TESTS_UNIT_CMAP_TEST_H_

#include <ovsthread/cmap.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "cmap-core.h"
#include "cmap-platform.h"
#include "rcu.h"

namespace ovsthread {

using CmapTable = cmap_core::Table<cmap_core::Platform>;

// The root table of a map that has one.
inline const CmapTable* root_of(const cmap& map) {
  return static_cast<const CmapTable*>(map.root);
}

// Maps that get their first table while it lives mix with this key.
class FixedKey {
 public:
  explicit FixedKey(uint64_t key) : key_(key) {
    cmap_core::set_fixed_key(&key_);
  }
  ~FixedKey() { cmap_core::set_fixed_key(nullptr); }

 private:
  uint64_t key_;
};

// The hash that is mixed to MIXED with key 0.
inline uint64_t unmix(uint64_t mixed) {
  auto inverse = [](uint64_t odd) {
    uint64_t x = odd;
    for (int i = 0; i < 6; i++) x *= 2 - odd * x;
    return x;
  };
  uint64_t x = mixed * inverse(0xbea225f9eb34556d);
  x ^= x >> 32;
  return x * inverse(0xd6e8feb86659fd93);
}

// Drawn, or the environment's OVSTHREAD_TEST_SEED; printed.
inline uint64_t test_seed() {
  const char* given = std::getenv("OVSTHREAD_TEST_SEED");
  uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("# seed %" PRIu64 "\n", seed);
  return seed;
}

inline void wait_for_grace_period() { rcu::barrier(); }

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_UNIT_CMAP_TEST_H_
