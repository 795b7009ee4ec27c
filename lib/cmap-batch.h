// SPDX-License-Identifier: Apache-2.0
//
// Many lookups at once, and lookups by slot number.
//
// A batch runs in three passes, so that its cache misses overlap: the first
// mixes the hashes and prefetches the bins, the second filters the tags and
// prefetches the nodes that match, the third verifies the nodes.  The second
// settles the usual bin, neither moved nor overflowing, with at most one
// matching tag; anything else is looked up one by one in the third.
//
// An index numbers the main slots of the root table, so that indices are dense
// and an old one is harmless.  A node in an overflow line or in the table that
// the root migrates into has none.
//
// Progress: wait-free.
#ifndef OVSTHREAD_LIB_CMAP_BATCH_H_
#define OVSTHREAD_LIB_CMAP_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "cmap-bin.h"
#include "cmap-table.h"

namespace ovsthread::cmap_core {

inline constexpr unsigned kMaxBatch = 64;
inline constexpr uint32_t kNoIndex = UINT32_MAX;

// For each bit i of WANTED looks hashes[i] up.  Found: stores the node in
// nodes[i] and sets bit i of the result; else leaves nodes[i] alone.
template <class P, class Hash, class NodePointer>
uint64_t find_batch(const Table<P>* root, uint64_t wanted, const Hash hashes[],
                    NodePointer nodes[]) {
  if (!root) return 0;
  uint64_t mixed[kMaxBatch];
  Node<P>* likely[kMaxBatch];
  const uint64_t key = root->key;
  for (uint64_t left = wanted; left; left &= left - 1) {
    int i = __builtin_ctzll(left);
    mixed[i] = mix(hashes[i], key);
    P::prefetch(&root->bin(mixed[i]));
  }
  uint64_t maybe = 0;  // Those with a node that is likely, or to be looked up.
  for (uint64_t left = wanted; left; left &= left - 1) {
    int i = __builtin_ctzll(left);
    const Bin<P>& bin = root->bin(mixed[i]);
    uint64_t header = load_header(bin);
    uint64_t tag = root->tag(mixed[i]);
    unsigned mask = match_tag(bin, tag);
    if (!mask && !(header & ~kLocked)) continue;
    maybe |= left & -left;
    likely[i] = nullptr;
    if (mask && !(header & kMoved)) {
      // (2) the node behind the pointer; pairs with (1).
      likely[i] = node_of<P>(
          bin.slots[__builtin_ctz(mask)].load(P::Atomics::acquire(2)));
      P::prefetch(likely[i]);
    }
  }
  uint64_t found = 0;
  for (uint64_t left = maybe; left; left &= left - 1) {
    int i = __builtin_ctzll(left);
    Node<P>* node = likely[i];
    if (!node || node->hash != mixed[i]) node = find(root, mixed[i]);
    if (!node) continue;
    nodes[i] = reinterpret_cast<NodePointer>(node);
    found |= left & -left;
  }
  return found;
}

// The number of the slot where HASH is, or kNoIndex.
template <class P>
uint32_t find_index(const Table<P>* root, uint64_t hash) {
  if (!root) return kNoIndex;
  hash = mix(hash, root->key);
  const Bin<P>& bin = root->bin(hash);
  if (load_header(bin) & kMoved) return kNoIndex;
  unsigned slot;
  if (!search_line(bin, root->tag(hash), hash, &slot)) return kNoIndex;
  size_t index = root->index(hash) * P::kSlots + slot;
  return index < kNoIndex ? static_cast<uint32_t>(index) : kNoIndex;
}

// The first node of slot INDEX; null if that is empty, out of range or moved.
template <class P>
Node<P>* find_by_index(const Table<P>* root, uint32_t index) {
  size_t i = index / P::kSlots;
  if (!root || i >= root->n_bins()) return nullptr;
  const Bin<P>& bin = root->bins[i];
  if (load_header(bin) & kMoved) return nullptr;
  // (2) the node behind the pointer; pairs with (1).
  return node_of<P>(bin.slots[index % P::kSlots].load(P::Atomics::acquire(2)));
}

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_BATCH_H_
