// SPDX-License-Identifier: Apache-2.0
//
// Many lookups at once, and lookups by slot number.
//
// A batch runs in passes, so that its cache misses overlap: mix the hashes and
// prefetch the bins; filter the tags and prefetch the nodes that match, or the
// overflow lines if none does, and the same again for those lines; verify the
// nodes.  What is left then, false matches for the most part, and nodes in
// moved bins and in second overflow lines, is looked up one by one.
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

// find_batch() of any number.
template <class P, class Hash, class NodePointer>
[[gnu::noinline]] uint64_t find_in_passes(const Table<P>* root, uint64_t wanted,
                                          const Hash hashes[],
                                          NodePointer nodes[]) {
  uint64_t mixed[kMaxBatch];
  const Bin<P>* lines[kMaxBatch];
  Node<P>* likely[kMaxBatch];
  for (uint64_t left = wanted; left; left &= left - 1) {
    int i = __builtin_ctzll(left);
    mixed[i] = root->mix(hashes[i]);
    lines[i] = &root->bin(mixed[i]);
    P::prefetch(lines[i]);
  }
  uint64_t maybe = 0;       // Those with a likely node, or to be looked up.
  uint64_t probe = wanted;  // Those whose line is to be looked at.
  for (int pass = 0; pass < 2; pass++) {
    uint64_t overflowing = 0;
    for (uint64_t left = probe; left; left &= left - 1) {
      int i = __builtin_ctzll(left);
      const Bin<P>& line = *lines[i];
      uint64_t header = load_header(line);
      unsigned mask = match_tag(line, root->tag(mixed[i]));
      if (!mask && !(header & ~kLocked)) continue;
      likely[i] = nullptr;
      if (header & kMoved) {
        maybe |= left & -left;
      } else if (mask) {
        maybe |= left & -left;
        // (2) the node behind the pointer; pairs with (1).
        likely[i] =
            node_of<P>(first_match(line, mask).load(P::Atomics::acquire(2)));
        P::prefetch(likely[i]);
      } else {
        overflowing |= left & -left;
        lines[i] = overflow_of<P>(header);
        P::prefetch(lines[i]);
      }
    }
    probe = overflowing;
  }
  maybe |= probe;
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

// For each bit i of WANTED looks hashes[i] up.  Found: stores the node in
// nodes[i] and sets bit i of the result; else leaves nodes[i] alone.
template <class P, class Hash, class NodePointer>
uint64_t find_batch(const Table<P>* root, uint64_t wanted, const Hash hashes[],
                    NodePointer nodes[]) {
  if (!root || !wanted) return 0;
  if (!(wanted & (wanted - 1))) {
    // Of one there is nothing to overlap.
    int i = __builtin_ctzll(wanted);
    Node<P>* node;
    if (find_at_once(root, root->mix(hashes[i]), &node)) {
      if (!node) return 0;
      nodes[i] = reinterpret_cast<NodePointer>(node);
      return wanted;
    }
  }
  return find_in_passes(root, wanted, hashes, nodes);
}

// The number of the slot where HASH is, or kNoIndex.
template <class P>
uint32_t find_index(const Table<P>* root, uint64_t hash) {
  if (!root) return kNoIndex;
  hash = root->mix(hash);
  const Bin<P>& bin = root->bin(hash);
  if (load_header(bin) & kMoved) return kNoIndex;
  const Word<P>* slot;
  if (!search_line(bin, root->tag(hash), hash, &slot)) return kNoIndex;
  size_t index =
      root->index(hash) * P::kSlots + static_cast<size_t>(slot - bin.slots);
  return index < kNoIndex ? static_cast<uint32_t>(index) : kNoIndex;
}

// The first node of slot INDEX; null if that is empty, out of range or moved.
template <class P>
Node<P>* find_by_index(const Table<P>* root, uint32_t index) {
  size_t i = index / P::kSlots;
  if (!root || i >= root->n) return nullptr;
  const Bin<P>& bin = root->bins[i];
  if (load_header(bin) & kMoved) return nullptr;
  // (2) the node behind the pointer; pairs with (1).
  return node_of<P>(bin.slots[index % P::kSlots].load(P::Atomics::acquire(2)));
}

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_BATCH_H_
