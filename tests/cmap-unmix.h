// SPDX-License-Identifier: Apache-2.0
//
// The inverse of the mixing of cmap, for tests that choose where a hash lives.
#ifndef OVSTHREAD_TESTS_CMAP_UNMIX_H_
#define OVSTHREAD_TESTS_CMAP_UNMIX_H_

#include <cstdint>

#include "cmap-mix.h"

namespace ovsthread::cmap_core {

// The hash that maps with the key 0 mix to MIXED.
inline uint64_t unmix(uint64_t mixed) {
  auto inverse = [](uint64_t odd) {
    uint64_t x = odd;
    for (int i = 0; i < 6; i++) x *= 2 - odd * x;
    return x;
  };
  uint64_t x = mixed * inverse(kSecondFactor);
  x ^= x >> 32;
  return x * inverse(kFirstFactor);
}

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_TESTS_CMAP_UNMIX_H_
