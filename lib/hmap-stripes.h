// SPDX-License-Identifier: Apache-2.0
//
// How a large hmap counts its nodes.
//
// A stripe for each hardware thread holds two counts that only rise: nodes
// inserted and nodes removed through it.  Whoever changes the map excludes the
// others (by a lock, or by a transaction, in which two users of one stripe
// conflict), so a change is a plain load and store.
//
// Only "is it empty?" may be asked without that exclusion.  The sum takes all
// removals first and all insertions second.  A removal that it sees comes with
// the insertion of the same node, which happened before it; so what is added up
// is never below the number of nodes that stay in the map during the sum.
//
// Stripes come in blocks that outlive their map: a block returns to the pool
// with a sum of zero, its counts run on under the next map, and its memory is
// never freed.  A late reader thus finds counts, if of another map, and notices
// by its map having another block: to be led to a sum of zero it must have seen
// a removal made after the block left its map, and with it the leaving.
#ifndef OVSTHREAD_LIB_HMAP_STRIPES_H_
#define OVSTHREAD_LIB_HMAP_STRIPES_H_

#include <ovsthread/cache-line.h>

#include <cstddef>

#include "atomics.h"

namespace ovsthread {

template <class A>
class alignas(OVSTHREAD_CACHE_LINE_SIZE) HmapStripe {
 public:
  // Return the number of nodes inserted through this stripe so far.
  size_t add(size_t nodes) {
    // Relaxed: only this thread changes the stripe now, and a reader learns of
    // an insertion in time by (1).
    size_t sum = inserted_.load(kRelaxed) + nodes;
    inserted_.store(sum, kRelaxed);
    return sum;
  }

  void subtract(size_t nodes) {
    // Relaxed load: only this thread changes the stripe now.
    // (1) hands on the insertions that happened before, and where the map's
    // block was a moment ago; pairs with (2).
    removed_.store(removed_.load(kRelaxed) + nodes, A::release(1));
  }

  // The sum over N stripes.  Wait-free.
  static size_t sum(const HmapStripe* stripes, size_t n) {
    size_t removed = 0;
    for (size_t i = 0; i < n; i++) {
      // (2) shows the insertion of each node whose removal it shows; pairs with
      // (1).
      removed += stripes[i].removed_.load(A::acquire(2));
    }
    size_t inserted = 0;
    for (size_t i = 0; i < n; i++) {
      // Relaxed: (2) shows all that must be seen; to see more is no harm.
      inserted += stripes[i].inserted_.load(kRelaxed);
    }
    return inserted - removed;
  }

 private:
  typename A::template Atomic<size_t> inserted_{0};
  typename A::template Atomic<size_t> removed_{0};
};

// The tally of a map is even, twice the number of its nodes, or odd: the
// address of its block of stripes plus one.  Block has a member function sum().

template <class A>
void hmap_publish(typename A::template Atomic<size_t>& tally, size_t value) {
  // (5) shows the block to readers without the lock; pairs with (6).
  tally.store(value, A::release(5));
}

// Whether the map is empty, asked without the lock.  Lock-free: it starts again
// only if the map changed its block meanwhile.
template <class A, class Block>
bool hmap_looks_empty(const typename A::template Atomic<size_t>& tally) {
  for (;;) {
    // (6) shows the block that the tally names; pairs with (5).
    size_t value = tally.load(A::acquire(6));
    if ((value & 1) == 0) return value == 0;
    bool empty = reinterpret_cast<Block*>(value - 1)->sum() == 0;
    // Relaxed: (2), in the sum, shows a change that matters.
    if (tally.load(kRelaxed) == value) return empty;
  }
}

// A stack of free blocks.  Block has a member A::Var<Block*> next.  Taking one
// takes all and puts the rest back, so that no thread ever follows a link of a
// block that another one may have taken.  Lock-free.
template <class A, class Block>
class HmapBlockPool {
 public:
  void put(Block* block) {
    // Relaxed: (3) orders what follows from a success.
    Block* top = top_.load(kRelaxed);
    do {
      block->next = top;
      // (3) publishes the link and the block; pairs with (4).
    } while (!top_.compare_exchange(top, block, A::release(3), kRelaxed));
  }

  // Null if there is none, or if another thread is between its two steps.
  Block* take() {
    // (4) shows the links of all blocks taken; pairs with (3).
    Block* taken = top_.exchange(nullptr, A::acquire(4));
    if (taken == nullptr) return nullptr;
    for (Block* rest = taken->next; rest != nullptr;) {
      Block* next = rest->next;
      put(rest);
      rest = next;
    }
    return taken;
  }

 private:
  typename A::template Atomic<Block*> top_{nullptr};
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_HMAP_STRIPES_H_
