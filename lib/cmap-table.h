// SPDX-License-Identifier: Apache-2.0
//
// Tables: the bins of a cmap at one size, and where in them a hash lives.
//
// A caller's hash is mixed, under the map's random key, by a bijection
// (cmap-mix.h).  Its upper bits, which depend on every input bit, are the
// place: bin i of 2^k bins holds the hashes whose top k bits are i, an
// interval.  So a table twice as big splits a bin into two neighbours, one half
// as big merges two, and iteration can think in intervals of hashes, whatever
// the tables do.
//
// The tag is a window of 16 bits that starts, counted from the top, at the
// number of index bits rounded down to a multiple of 8.  Hence the bit that
// decides between the two halves of a split bin is in the tag, and only the
// migration that moves the window, one in eight, needs to touch the nodes; and
// at least 9 bits of the tag tell the nodes of a bin apart.
//
// A map's tables are a chain, the root and at most one successor, `next`, into
// which the root's bins migrate.  A table's next is set once and stays.
#ifndef OVSTHREAD_LIB_CMAP_TABLE_H_
#define OVSTHREAD_LIB_CMAP_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "cmap-bin.h"
#include "cmap-count.h"
#include "cmap-mix.h"

namespace ovsthread::cmap_core {

template <class P>
struct Table {
  using A = typename P::Atomics;
  template <class T>
  using Var = typename A::template Var<T>;

  // What a lookup needs, constant but for `next`.
  Var<Bin<P>*> bins;
  Var<uint64_t> n;  // Bins, a power of two, at least 2.
  // Of mix().  The factors are the same in all tables, and here because an
  // operand in memory costs an instruction less.
  Var<uint64_t> key;
  Var<uint64_t> first_factor;
  Var<uint64_t> second_factor;
  Var<uint64_t> tag_factor;  // Shifts the tag's window to the top.
  typename A::template Atomic<Table*> next;
  Var<Counts<P>*> counts;
  Var<unsigned> bits;      // log2 of n.
  Var<size_t> unreleased;  // Bins whose memory is not released yet.

  // What migration into `next` writes: chunks claimed, bins moved.
  alignas(P::kLineSize) typename A::template Atomic<size_t> claimed;
  typename A::template Atomic<size_t> moved;

  uint64_t mix(uint64_t hash) const {
    return cmap_core::mix(hash, key, first_factor, second_factor);
  }

  // The rest takes mixed hashes.  Products with powers of two, for they cost
  // fewer instructions than shifts by a variable.
  size_t index(uint64_t hash) const {
    return static_cast<size_t>(static_cast<unsigned __int128>(hash) * n >> 64);
  }
  Bin<P>& bin(uint64_t hash) const { return bins[index(hash)]; }
  // Bits 63:48 are the tag, the others of no account.
  uint64_t tag(uint64_t hash) const { return hash * tag_factor; }

  unsigned shift() const { return 64 - bits; }  // From a hash to its bin.
  unsigned window() const { return bits / 8 * 8; }
  // The last hash that shares a bin with HASH.
  uint64_t last_in_bin(uint64_t hash) const {
    return hash | ((uint64_t{1} << shift()) - 1);
  }

  // The next table for someone who has seen a moved bin in this one.
  Table* successor() const {
    // Relaxed: who marked the bin moved had acquired it, and we that mark.
    return next.load(kRelaxed);
  }

  // Returns null without memory.
  static Table* create(unsigned bits, uint64_t key, Counts<P>* counts) {
    Table* table = P::template create<Table>(1);
    if (!table) return nullptr;
    size_t n = size_t{1} << bits;
    Bin<P>* bins = P::template create<Bin<P>>(n);
    if (!bins) {
      P::destroy(table, 1);
      return nullptr;
    }
    table->bins = bins;
    table->n = n;
    table->key = key;
    table->first_factor = kFirstFactor;
    table->second_factor = kSecondFactor;
    table->bits = bits;
    table->tag_factor = uint64_t{1} << table->window();
    table->counts = counts;
    table->unreleased = n;
    return table;
  }

  // Frees a table that no reader can hold any more, and the overflow lines that
  // did not move; never looks at a node.  A callback of RCU: it does a bounded
  // piece, from the end, and comes again for the rest.
  static void release(void* table_) {
    Table* table = static_cast<Table*>(table_);
    size_t end = table->unreleased;
    size_t begin = end > P::kReleaseBins ? end - P::kReleaseBins : 0;
    for (size_t i = begin; i < end; i++) {
      // Relaxed: the grace period orders it.
      uint64_t header = table->bins[i].header.load(kRelaxed);
      if (header & kMoved) continue;
      while (Bin<P>* line = overflow_of<P>(header)) {
        header = line->header.load(kRelaxed);
        P::destroy_line(line);
      }
    }
    P::destroy(&table->bins[begin], end - begin);
    table->unreleased = begin;
    if (begin) {
      P::retire(release, table);
    } else {
      P::destroy(table, 1);
    }
  }
};

// Where find() goes on, from the start.
template <class P>
Node<P>* find_everywhere(const Table<P>* table, uint64_t hash) {
  for (;;) {
    const Bin<P>* line = &table->bin(hash);
    uint64_t header = load_header(*line);
    if (header & kMoved) {
      table = table->successor();
      continue;
    }
    uint64_t tag = table->tag(hash);
    const Word<P>* slot;
    for (;;) {
      Node<P>* node = search_line(*line, tag, hash, &slot);
      if (node) return node;
      line = overflow_of<P>(header);
      if (!line) return nullptr;
      header = load_header(*line);
    }
  }
}

// Most lookups end with the first match in a bin of TABLE itself, or without
// any.  Returns whether this one does; then *NODE is the chain, or null.
template <class P>
inline bool find_at_once(const Table<P>* table, uint64_t hash, Node<P>** node) {
  const Bin<P>& line = table->bin(hash);
  uint64_t header = load_header(line);
  if (__builtin_expect((header & kMoved) != 0, 0)) return false;
  unsigned mask = match_tag(line, table->tag(hash));
  if (__builtin_expect(!mask, 0)) {
    *node = nullptr;
    return !overflow_of<P>(header);
  }
  // (2) the node behind the pointer; pairs with (1).
  *node = node_of<P>(first_match(line, mask).load(P::Atomics::acquire(2)));
  return __builtin_expect(*node && (*node)->hash == hash, 1);
}

// Finds the chain of the mixed hash HASH, starting at TABLE.
template <class P>
inline Node<P>* find(const Table<P>* table, uint64_t hash) {
  Node<P>* node;
  if (__builtin_expect(find_at_once(table, hash, &node), 1)) return node;
  return find_everywhere(table, hash);
}

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_TABLE_H_
