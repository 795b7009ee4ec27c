// SPDX-License-Identifier: Apache-2.0
//
// Positions: iteration that survives quiescent states, by a value without
// pointers.
//
// Nodes are visited in the order of their mixed hashes, which no resize
// changes. A position says: go on at hashes >= bound, and of the bound itself
// visit the last `left` nodes of the chain only (0: all of them).  Counting
// from the tail keeps the place when nodes are inserted, which is at the head,
// or when visited ones are removed.  So a node that stays is never skipped.  It
// is visited again only if one of the same hash that was still to be visited is
// removed.
//
// The start is all zeros, and so is the position after the end.  Behind the
// last node of the greatest hash there is no bound: `left` then says kAtEnd.
//
// Progress: wait-free; a step looks at the bins up to the next node.
#ifndef OVSTHREAD_LIB_CMAP_POSITION_H_
#define OVSTHREAD_LIB_CMAP_POSITION_H_

#include <cstdint>

#include "cmap-bin.h"
#include "cmap-core.h"
#include "cmap-cursor.h"

namespace ovsthread::cmap_core {

struct Position {
  static constexpr uint32_t kAtEnd = UINT32_MAX;
  uint64_t bound;
  uint32_t left;
};

// The chain in [FIRST, in.last] with the least hash, or null.
template <class P>
Node<P>* least_chain(const Interval<P>& in, uint64_t first) {
  Node<P>* least = nullptr;
  uint64_t header = in.header;
  for (const Bin<P>* line = in.bin; line;) {
    for (const Word<P>& slot : line->slots) {
      // (2) the node behind the pointer; pairs with (1).
      Node<P>* node = node_of<P>(slot.load(P::Atomics::acquire(2)));
      if (node && first <= node->hash && node->hash <= in.last &&
          (!least || node->hash < least->hash)) {
        least = node;
      }
    }
    line = overflow_of<P>(header);
    if (line) header = load_header(*line);
  }
  return least;
}

// Nodes from NODE, which may be null, to the end of its chain.  Those in front
// of which none is inserted get fewer only: so a node that was among the last N
// always has at most N.
template <class P>
uint32_t chain_length(const Node<P>* node) {
  uint32_t length = 0;
  for (; node; node = next_node(node)) length++;
  return length;
}

// Returns the node of the chain from HEAD that is the *LEFT-th last, or HEAD if
// there are fewer or *LEFT is 0, and makes *LEFT the number of nodes behind it.
//
// A jump ahead may leap too far if a node on the way is removed meanwhile. Then
// it goes on node by node: what has more than *LEFT to the end was visited.
template <class P>
Node<P>* pick_from_tail(Node<P>* head, uint32_t* left) {
  Node<P>* picked = head;
  uint32_t length = chain_length(head);
  while (*left && length > *left) {
    Node<P>* ahead = picked;
    for (uint32_t i = *left; ahead && i < length; i++) ahead = next_node(ahead);
    uint32_t rest = chain_length(ahead);
    if (rest < *left) {
      ahead = next_node(picked);
      rest = chain_length(ahead);
    }
    if (!ahead) {  // All that were left are gone: PICKED comes again.
      length = 1;
      break;
    }
    picked = ahead;
    length = rest;
  }
  *left = length - 1;
  return picked;
}

// Returns the node at POSITION and moves it on.  At the end returns null and
// zeros it.
template <class P>
Node<P>* next_position(const Map<P>& map, Position* position) {
  const Table<P>* root = map.root();
  uint64_t first = position->bound;
  while (root && position->left != Position::kAtEnd) {
    Interval<P> in = descend(root, first, UINT64_MAX);
    if (Node<P>* head = least_chain(in, first)) {
      uint64_t hash = head->hash;
      uint32_t left = hash == position->bound ? position->left : 0;
      Node<P>* node = pick_from_tail(head, &left);
      if (left) {
        *position = {hash, left};
      } else if (hash != UINT64_MAX) {
        *position = {hash + 1, 0};
      } else {
        *position = {hash, Position::kAtEnd};
      }
      return node;
    }
    if (in.last == UINT64_MAX) break;
    first = in.last + 1;
  }
  *position = {0, 0};
  return nullptr;
}

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_POSITION_H_
