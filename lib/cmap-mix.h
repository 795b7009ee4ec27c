// SPDX-License-Identifier: Apache-2.0
//
// How a cmap mixes the hashes of its callers.
//
// A bijection, so that equal mixed hashes are equal hashes.  The first product
// carries every bit of the hash into the upper half, the shift brings that
// down, the second carries it up again.  The key is no factor: some factors
// crowd hashes that differ by a stride.
#ifndef OVSTHREAD_LIB_CMAP_MIX_H_
#define OVSTHREAD_LIB_CMAP_MIX_H_

#include <cstdint>

namespace ovsthread::cmap_core {

inline constexpr uint64_t kFirstFactor = 0xd6e8feb86659fd93;
inline constexpr uint64_t kSecondFactor = 0xbea225f9eb34556d;

// The factors are parameters for the sake of who keeps them in memory.
inline uint64_t mix(uint64_t hash, uint64_t key,
                    uint64_t first_factor = kFirstFactor,
                    uint64_t second_factor = kSecondFactor) {
  uint64_t x = (hash ^ key) * first_factor;
  x ^= x >> 32;
  return x * second_factor;
}

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_MIX_H_
