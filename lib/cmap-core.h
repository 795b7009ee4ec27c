// SPDX-License-Identifier: Apache-2.0
//
// cmap: a concurrent hash multimap with wait-free readers and any number of
// writers, which grows and shrinks a few bins at a time.
//
//   cmap-bin.h      a cache line of slots, its header and overflow lines
//   cmap-mix.h      how hashes are mixed
//   cmap-table.h    the bins at one size; where a hash lives; lookup
//   cmap-core.h     the map: insertion, replacement, removal (here)
//   cmap-batch.h    many lookups at once; slot numbers
//   cmap-migrate.h  growing and shrinking
//   cmap-cursor.h   iteration; positions are in cmap-position.h
//   cmap-count.h    the number of nodes
//   cmap-platform.h what the map needs of the world
//
// The map itself is one pointer to its root table, null before the first
// insertion, which installs one by compare-and-swap.  Memory that readers may
// hold (tables, overflow lines) goes through RCU, as the caller's nodes must:
// so readers, and writers whom no common lock excludes, have to be RCU-active.
//
// A writer follows moved bins to the bin that is in force for its hash, takes
// that one's lock and changes one word that readers load: a slot or, inside a
// chain, the `next` of the node before.  So a reader sees the state before or
// after.  Two writers of different bins write no common line, but for the
// counters if more threads run than there are stripes, and for one claim per
// chunk of bins while a migration runs.
//
// Inside a transaction of an outer elided lock the bin lock is only checked,
// and what no transaction should do (resizing, allocating) is a safe point: the
// section starts again with its lock taken for real, and the work is then done
// within the call.
//
// Out of memory: an insertion that needs the first table or an overflow line
// fails and leaves the map as it was; all else (growing, shrinking, moving a
// bin, counting in stripes) is put off.
//
// Progress: lookups are wait-free: a lookup follows one bin of each table whose
// migration is running or ends while it runs.  Writers block each other per
// bin.
//
// Sources: the bin with tags and SIMD filter is that of many hash tables of the
// 2010s; splitting by the top bits of the hash is extendible hashing (Fagin et
// al. 1979).
#ifndef OVSTHREAD_LIB_CMAP_CORE_H_
#define OVSTHREAD_LIB_CMAP_CORE_H_

#include <cstddef>
#include <cstdint>

#include "cmap-bin.h"
#include "cmap-count.h"
#include "cmap-migrate.h"
#include "cmap-table.h"

namespace ovsthread::cmap_core {

template <class P>
class Map {
  using A = typename P::Atomics;

 public:
  // What an operation that can fail came to.
  enum class Result { kDone, kNoMemory, kAbsent };

  // The root table or null.  Wait-free.
  Table<P>* root() const {
    // (13) the table; pairs with (14), (18).
    return root_.load(A::acquire(13));
  }

  // The newest node of HASH, or null; the others follow through next_node().
  // Wait-free.
  Node<P>* find(uint64_t hash) const {
    const Table<P>* table = root();
    if (__builtin_expect(!table, 0)) return nullptr;
    return cmap_core::find(table, table->mix(hash));
  }

  // The number of nodes.  Wait-free.
  size_t count() const {
    const Table<P>* table = root();
    return table ? table->counts->nodes() : 0;
  }

  // Adds NODE, whose content before is of no account.  kDone or kNoMemory.
  Result insert(Node<P>* node, uint64_t hash) {
    P::check_node(this, node);
    Table<P>* root = this->root();
    if (!root && !(root = install_first())) return Result::kNoMemory;
    hash = root->mix(hash);
    node->hash = hash;
    P::prefetch_for_write(&root->bin(hash));
    bool in_transaction = P::in_transaction();
    uint64_t tick = root->counts->add_inserted();
    Place place = publish(root, node, hash, in_transaction);
    if (place == Place::kNone) {
      root->counts->add_removed();
      return Result::kNoMemory;
    }
    maintain_after_insert(root_, *root, tick, place == Place::kOverflow);
    return Result::kDone;
  }

  // Puts REPLACEMENT, whose content before is of no account, in the place of
  // NODE; null removes NODE.  kDone, or kAbsent if NODE is not there with that
  // HASH.
  Result replace(Node<P>* node, Node<P>* replacement, uint64_t hash) {
    if (replacement) P::check_node(this, replacement);
    Table<P>* root = this->root();
    if (!root) return Result::kAbsent;
    hash = root->mix(hash);
    if (replacement) replacement->hash = hash;
    if (!substitute(root, node, replacement, hash, P::in_transaction())) {
      return Result::kAbsent;
    }
    if (!replacement) {
      maintain_after_remove(root_, *root, root->counts->add_removed());
    }
    return Result::kDone;
  }

  // Drops the tables through RCU and leaves an empty map.  No writer may be
  // inside, readers may.  Never looks at a node.
  void destroy() {
    // Relaxed: the caller excludes writers.
    Table<P>* table = root_.load(kRelaxed);
    if (!table) return;
    root_.store(nullptr, kRelaxed);
    P::retire(Counts<P>::destroy, table->counts);
    while (table) {
      Table<P>* next = table->next.load(kRelaxed);
      P::retire(Table<P>::release, table);
      table = next;
    }
  }

 private:
  // A locked bin, with its header but for the lock bit and the table it is in.
  struct Locked {
    Table<P>* table;
    Bin<P>* bin;
    uint64_t header;
  };

  static Locked lock(Table<P>* table, uint64_t hash, bool in_transaction) {
    for (;;) {
      Bin<P>& bin = table->bin(hash);
      uint64_t header = lock_bin(bin, in_transaction);
      if (!(header & kMoved)) return {table, &bin, header};
      table = table->successor();
    }
  }

  enum class Place { kNone, kBin, kOverflow };

  // kNone: no memory for the overflow line that it takes.
  static Place publish(Table<P>* root, Node<P>* node, uint64_t hash,
                       bool in_transaction) {
    Locked in = lock(root, hash, in_transaction);
    uint64_t tag = in.table->tag(hash);
    uint64_t word = make_word(tag, node);
    Bin<P>* room = nullptr;
    const Word<P>* slot;
    unsigned free_slot = 0;
    for (Bin<P>* line = in.bin; line;) {
      if (Node<P>* head = search_line(*line, tag, hash, &slot)) {
        // Relaxed: published with the node.
        node->next.store(head, kRelaxed);
        // (1) the node; pairs with (2).
        line->slots[slot - line->slots].store(word, A::release(1));
        unlock_bin(*in.bin, in.header);
        root->counts->add_chained();
        return Place::kBin;
      }
      if (!room && (free_slot = empty_slot(*line)) < P::kSlots) room = line;
      line = overflow_of<P>(line == in.bin ? in.header
                                           : line->header.load(kRelaxed));
    }
    node->next.store(nullptr, kRelaxed);
    if (!room) {
      room = P::template create_line<Bin<P>>();
      if (!room) {
        unlock_bin(*in.bin, in.header);
        return Place::kNone;
      }
      // Relaxed: published by unlock_bin().
      room->header.store(in.header, kRelaxed);
      in.header = reinterpret_cast<uintptr_t>(room);
      free_slot = 0;
    }
    // (1) the node; pairs with (2).
    room->slots[free_slot].store(word, A::release(1));
    unlock_bin(*in.bin, in.header);
    return room == in.bin ? Place::kBin : Place::kOverflow;
  }

  static bool substitute(Table<P>* root, Node<P>* node, Node<P>* replacement,
                         uint64_t hash, bool in_transaction) {
    Locked in = lock(root, hash, in_transaction);
    uint64_t tag = in.table->tag(hash);
    Bin<P>* before = nullptr;  // The line in front of LINE.
    Bin<P>* line = in.bin;
    Node<P>* at = nullptr;
    const Word<P>* slot = nullptr;
    while (line && !(at = search_line(*line, tag, hash, &slot))) {
      before = line;
      line = overflow_of<P>(line == in.bin ? in.header
                                           : line->header.load(kRelaxed));
    }
    Node<P>* previous = nullptr;  // The node in front of NODE in its chain.
    while (at && at != node) {
      previous = at;
      // Relaxed, as all below: the lock orders it.
      at = at->next.load(kRelaxed);
    }
    if (!at) {
      unlock_bin(*in.bin, in.header);
      return false;
    }
    // NODE keeps its link, for readers who stand on it.
    Node<P>* successor = node->next.load(kRelaxed);
    if (replacement) replacement->next.store(successor, kRelaxed);
    Node<P>* now = replacement ? replacement : successor;
    if (previous) {
      // (3) the node that takes the place; pairs with (4).
      previous->next.store(now, A::release(3));
    } else {
      // (1) the node that takes the place; pairs with (2).
      line->slots[slot - line->slots].store(now ? make_word(tag, now) : 0,
                                            A::release(1));
    }
    Bin<P>* emptied = nullptr;
    if (!now && before && used_slots(*line) == 0) {
      emptied = line;
      uint64_t link = line->header.load(kRelaxed);
      if (before == in.bin) {
        in.header = link;
      } else {
        // (5) the lines behind the emptied one; pairs with (6).
        before->header.store(link, A::release(5));
      }
    }
    unlock_bin(*in.bin, in.header);
    if (emptied) P::retire(P::destroy_line, emptied);
    if (!replacement && (previous || successor)) root->counts->add_unchained();
    return true;
  }

  Table<P>* install_first() {
    P::safe_point_allocation();
    Counts<P>* counts = Counts<P>::create();
    Table<P>* table =
        counts ? Table<P>::create(P::kMinBits, P::random_key(), counts)
               : nullptr;
    if (!table) {
      if (counts) Counts<P>::destroy(counts);
      return nullptr;
    }
    Table<P>* none = nullptr;
    // (14) the table; pairs with (13), (15).
    // (15) the table that another thread installed; pairs with (14).
    if (root_.compare_exchange(none, table, A::release(14), A::acquire(15))) {
      return table;
    }
    Table<P>::release(table);
    Counts<P>::destroy(counts);
    return none;
  }

 protected:
  typename A::template Atomic<Table<P>*> root_;
};

// The next node of the same hash.  Wait-free.
template <class P>
inline Node<P>* next_node(const Node<P>* node) {
  // (4) the node; pairs with (3).
  return node->next.load(P::Atomics::acquire(4));
}

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_CORE_H_
