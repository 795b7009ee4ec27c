// SPDX-License-Identifier: Apache-2.0
//
// Hash functions for the keys of cmap and hmap.
//
// An hmap takes the low bits of a hash for its buckets as they are, so integer
// keys that come in strides want mixing first; a cmap mixes by itself, and an
// integer key may be its own hash.  None of these functions withstands somebody
// who knows the seed and chooses keys that collide.
//
// All are pure and wait-free.  Their values are the same on all machines of one
// byte order and do not change between releases.
#ifndef OVSTHREAD_HASH_H_
#define OVSTHREAD_HASH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ovsthread {

// A bijection in which each bit of X changes each bit of the result with a
// probability near one half.  (Constants: found by search for the collection
// of Chris Wellons's hash-prospector.)
constexpr uint32_t hash_u32(uint32_t x) {
  x = (x ^ x >> 16) * 0x21f0aaad;
  x = (x ^ x >> 15) * 0xd35a2d97;
  return x ^ x >> 15;
}

// The same for 64 bits.  (Constants: David Stafford's "Mix13".)
constexpr uint64_t hash_u64(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Hashes X under BASIS: for each basis another bijection.  Chained,
// hash_int(b, hash_int(a, 0)) hashes several numbers.
constexpr uint32_t hash_int(uint32_t x, uint32_t basis) {
  return hash_u32(x ^ hash_u32(basis + 0x9e3779b9));
}

// Hashes SIZE bytes at DATA under SEED.  Inputs of one size that differ within
// one aligned group of eight bytes only never collide.
inline uint64_t hash_bytes(const void* data, size_t size, uint64_t seed) {
  const char* bytes = static_cast<const char*>(data);
  uint64_t state = hash_u64(seed + size * 0x9e3779b97f4a7c15);
  for (; size >= sizeof state; size -= sizeof state, bytes += sizeof state) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    state = hash_u64(state ^ word);
  }
  if (size > 0) {
    uint64_t word = 0;
    memcpy(&word, bytes, size);
    state = hash_u64(state ^ word);
  }
  return state;
}

}  // namespace ovsthread

#endif  // OVSTHREAD_HASH_H_
