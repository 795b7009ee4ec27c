// SPDX-License-Identifier: Apache-2.0
//
// Iteration: each node that stays in the map is visited exactly once, whatever
// is inserted, removed, grown or shrunk meanwhile.
//
// A cursor pins the table that is the root when it starts (by RCU alone: it is
// a plain value, nobody is told when it goes) and covers its bins one by one. A
// bin is an interval of mixed hashes, and the interval is what is covered:
//
//   1. Descend from the pinned table: while the bin of the interval's first
//   hash
//      is moved, go to the next table and cut the interval's end to that of the
//      bin there.  It is cut at every hop, not only at the last: what lies
//      behind the cut belongs to a sibling that may stand elsewhere in its own
//      life.
//   2. The first bin found not moved holds every hash of the cut interval.
//      Visit its slots and lines as the header had them, leaving out hashes
//      outside the interval (the bin of a smaller table has a wider one).
//   3. Go on at 1 with what was cut off.
//
// Whether a bin has moved is judged once, on entering.  If it moves while the
// cursor is inside, its slots stay as they were, and the cursor finishes there;
// it never looks for the same hashes in the copy.  So each hash is looked for
// in one bin, and there each node has one slot.  The cursor holds the node to
// be visited next: so the body of a loop may remove, and if nobody else can
// hold it free, the one it got.
//
// The bins of the pinned table come in bit-reversed order: if the body removes
// what it visits, the table thins out evenly, and shrinking finds no crowds.
// The order is bad for the hardware's prefetcher, so bins are prefetched some
// steps and their nodes one step ahead.
//
// Progress: wait-free, but for as many hops as tables were made meanwhile.
#ifndef OVSTHREAD_LIB_CMAP_CURSOR_H_
#define OVSTHREAD_LIB_CMAP_CURSOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cmap-bin.h"
#include "cmap-core.h"
#include "cmap-table.h"

namespace ovsthread::cmap_core {

inline uint64_t reverse_bits(uint64_t x) {
  x = __builtin_bswap64(x);
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
  x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
  return (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
}

// The bin in force for the first hash of an interval.
template <class P>
struct Interval {
  const Bin<P>* bin;
  uint64_t header;
  uint64_t last;  // Hashes from the first up to this one are in BIN.
};

// Step 1: descends from TABLE for the interval [FIRST, LAST].
template <class P>
Interval<P> descend(const Table<P>* table, uint64_t first, uint64_t last) {
  for (;;) {
    last = std::min(last, table->last_in_bin(first));
    const Bin<P>& bin = table->bin(first);
    uint64_t header = load_header(bin);
    if (!(header & kMoved)) return {&bin, header, last};
    table = table->successor();
  }
}

// Zeroed, it stands at the end.
template <class P>
struct Cursor {
  Node<P>* node;  // To be visited next; null at the end.
  const Map<P>* map;
  const Table<P>* table;  // Pinned.
  uint64_t step;          // Bins of it that were entered.
  // What is left of the bin entered last, if anything.
  uint64_t first, last;
  // Where step 2 stands, and the hashes to be visited there.
  const Bin<P>* line;
  uint64_t link;  // To the line behind it.
  uint64_t lower, upper;
  uint32_t slot;
  bool rest;         // Whether FIRST to LAST is still to be covered.
  uint64_t section;  // The read section that it was last used in.
};

template <class P>
class Iteration {
 public:
  static Cursor<P> start(const Map<P>& map) {
    Cursor<P> at{};
    at.map = &map;
    at.table = map.root();
    at.section = P::read_section();
    if (at.table) advance(at);
    return at;
  }

  // Moves AT to the next node.  Nothing at the end.
  static void advance(Cursor<P>& at) {
    if (!at.table) return;
    check_section(at);
    if (at.node && (at.node = next_node(at.node))) return;
    do {
      while (at.line) {
        while (at.slot < P::kSlots) {
          // (2) the node behind the pointer; pairs with (1).
          uint64_t word =
              at.line->slots[at.slot++].load(P::Atomics::acquire(2));
          Node<P>* node = node_of<P>(word);
          if (node && at.lower <= node->hash && node->hash <= at.upper) {
            at.node = node;
            return;
          }
        }
        at.line = overflow_of<P>(at.link);
        at.slot = 0;
        if (at.line) at.link = load_header(*at.line);
      }
    } while (enter(at));
    at = Cursor<P>{};
  }

 private:
  // How many bins ahead lines are prefetched.
  static constexpr uint64_t kAhead = 8;

  static size_t bin_at(const Table<P>& table, uint64_t step) {
    return reverse_bits(step) >> table.shift();
  }

  // Enters the next bin.  False if there is none.
  static bool enter(Cursor<P>& at) {
    const Table<P>& table = *at.table;
    if (!at.rest) {
      if (at.step >= table.n) return false;
      at.first = static_cast<uint64_t>(bin_at(table, at.step)) << table.shift();
      at.last = table.last_in_bin(at.first);
      at.step++;
      prefetch(table, at.step);
    }
    Interval<P> in = descend(&table, at.first, at.last);
    at.line = in.bin;
    at.link = in.header;
    at.slot = 0;
    at.lower = at.first;
    at.upper = in.last;
    at.rest = in.last != at.last;
    at.first = in.last + 1;
    return true;
  }

  static void prefetch(const Table<P>& table, uint64_t step) {
    P::prefetch(&table.bins[bin_at(table, step + kAhead)]);
    for (const Word<P>& slot : table.bins[bin_at(table, step)].slots) {
      // Relaxed: only the address is used, and only to prefetch.
      P::prefetch(node_of<P>(slot.load(kRelaxed)));
    }
  }

  // After a quiescent state the pinned table is there only if nobody has
  // replaced it.
  static void check_section(Cursor<P>& at) {
    uint64_t section = P::read_section();
    if (section == at.section) return;
    if (at.map->root() != at.table) P::refuse_quiescing(at.map);
    at.section = section;
  }
};

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_CURSOR_H_
