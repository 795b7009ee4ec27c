// SPDX-License-Identifier: Apache-2.0
//
// Growing and shrinking, a few bins at a time.
//
// A migration begins when a writer sets the root's `next`, and ends when every
// bin of the root is marked moved: then `next` becomes the root and the old
// table is retired.  One at a time: only the root gets a next.
//
// A bin moves whole, under its lock: its words are copied to where they belong
// in the next table, then it is marked moved, which both publishes the copy and
// sends everybody there.  A slot moves as one word, so a chain of equal hashes
// keeps its order and its links.  Until the mark is set the children of a split
// bin can't be reached, so they need no lock.  When bins merge, the child is in
// use for those that moved before: it is locked too, always after its parent.
// What readers of the child see early is of hashes that they don't look for.
// The overflow lines of a moved bin are retired.  Without memory for an
// overflow line in the next table the bin stays as it is.
//
// Who moves: at every 16th tick of its stripe (a growing table) or every 4th (a
// shrinking one) a writer claims the next chunk of at most 64 bins.  So a table
// that grew at 4 slots per bin has moved after 6 % more insertions, and no call
// moves more than one chunk.  A claim is a hint, not a right: who stalls with
// one delays nobody, for when all chunks are claimed the numbers start over and
// bins that are left are moved by others.  Each bin is marked once, and who
// marks the last one, by the count, ends the migration.
//
// When: a writer looks at the load at certain ticks only, some 256 times while
// the table fills, and in a small table when it had to use an overflow line. It
// grows above 4 slots per bin and shrinks below 1, at most
// to a 32nd and to 2 or more per bin: so either way a good part of the table
// must change before it turns round, and what is inserted while a big table
// shrinks fits the small one.  It shrinks only if bins sampled all over the
// table are sparse: where nodes were removed in order of their hashes, the
// survivors are crowded at one end.
//
// So an emptied map may still have many bins.  They go, by steps of up to a
// 32nd, as writers go on to call, for no call moves more than its chunk; while
// nobody writes they stay.
//
// Progress: blocking, as all writers: a bin's lock may be held.
#ifndef OVSTHREAD_LIB_CMAP_MIGRATE_H_
#define OVSTHREAD_LIB_CMAP_MIGRATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cmap-bin.h"
#include "cmap-table.h"

namespace ovsthread::cmap_core {

template <class P>
using Root = typename P::Atomics::template Atomic<Table<P>*>;

// Where the words of one parent go: a bin of the next table that the caller has
// locked or that nobody else can reach.
template <class P>
class Child {
 public:
  explicit Child(Bin<P>& bin, uint64_t header)
      : bin_(bin), header_(header), line_(&bin) {}

  uint64_t header() const { return header_; }

  // Makes room for WORDS more, in lines that are linked only locally.  False
  // without memory: the child is then as it was.
  bool reserve(unsigned words) {
    unsigned room = P::kSlots - used_slots(bin_);
    // Relaxed, as all loads here: the lock orders them.
    for (Bin<P>* line = overflow_of<P>(header_); line;
         line = overflow_of<P>(line->header.load(kRelaxed))) {
      room += P::kSlots - used_slots(*line);
    }
    uint64_t before = header_;
    for (; room < words; room += P::kSlots) {
      Bin<P>* line = P::template create_line<Bin<P>>();
      if (!line) {
        free_lines(before);
        return false;
      }
      line->header.store(header_, kRelaxed);
      header_ = reinterpret_cast<uintptr_t>(line);
    }
    return true;
  }

  // Takes one of the words that room was made for.
  void add(uint64_t word) {
    while (line_->slots[slot_].load(kRelaxed)) {
      if (++slot_ < P::kSlots) continue;
      slot_ = 0;
      line_ = overflow_of<P>(line_ == &bin_ ? header_
                                            : line_->header.load(kRelaxed));
    }
    // (1) the node, to those who use the child already; pairs with (2).
    line_->slots[slot_].store(word, P::Atomics::release(1));
  }

  // Gives back what reserve() made room in.
  void free_lines(uint64_t until) {
    while (header_ != until) {
      Bin<P>* line = overflow_of<P>(header_);
      header_ = line->header.load(kRelaxed);
      P::destroy_line(line);
    }
  }

 private:
  Bin<P>& bin_;
  uint64_t header_;
  // No slot before this one is empty.
  Bin<P>* line_;
  unsigned slot_ = 0;
};

template <class P>
class Migration {
  using A = typename P::Atomics;

 public:
  Migration(Table<P>& from, Table<P>& to) : from_(from), to_(to) {}

  // Claims a chunk and moves what is there to move.  True if that was the end.
  bool step() {
    size_t n = from_.n;
    size_t chunk = std::min<size_t>(n, P::kChunkBins);
    // Relaxed: a hint.
    size_t begin = from_.claimed.fetch_add(1, kRelaxed) * chunk & (n - 1);
    size_t moved = 0;
    for (size_t i = begin; i < begin + chunk; i++) moved += move(i);
    P::note_moved(moved);
    // (16) the copies of all who moved bins, to who ends the migration; pairs
    // with (16).
    return moved && from_.moved.fetch_add(moved, A::acq_rel(16)) + moved == n;
  }

 private:
  // Calls FUNCTION with each word of BIN, which is locked.
  template <class Function>
  static void for_each_word(const Bin<P>& bin, uint64_t header,
                            Function function) {
    const Bin<P>* line = &bin;
    while (line) {
      for (const Word<P>& slot : line->slots) {
        // Relaxed: the lock orders it.
        if (uint64_t word = slot.load(kRelaxed)) function(word);
      }
      line = overflow_of<P>(header);
      if (line) header = line->header.load(kRelaxed);
    }
  }

  bool same_window() const { return from_.window() == to_.window(); }

  // Whether WORD belongs to the second half of a bin that splits.
  bool in_second_half(uint64_t word) const {
    unsigned bit = to_.shift();
    return (same_window() ? word >> (bit + to_.window())
                          : node_of<P>(word)->hash >> bit) &
           1;
  }

  uint64_t word_in_next(uint64_t word) const {
    if (same_window()) return word;
    Node<P>* node = node_of<P>(word);
    return make_word(to_.tag(node->hash), node);
  }

  // True if this call moved bin I.
  bool move(size_t i) {
    Bin<P>& bin = from_.bins[i];
    uint64_t header = lock_bin(bin, false);
    if (header & kMoved) return false;
    bool done = to_.bits > from_.bits ? split(i, header) : merge(i, header);
    unlock_bin(bin, done ? kMoved : header);
    if (!done) return false;
    while (Bin<P>* line = overflow_of<P>(header)) {
      // Relaxed: moved lines change no more.
      header = line->header.load(kRelaxed);
      P::retire(P::destroy_line, line);
    }
    return true;
  }

  bool split(size_t i, uint64_t header) {
    const Bin<P>& bin = from_.bins[i];
    Bin<P>* halves = &to_.bins[2 * i];
    unsigned all = 0, second = 0;
    for_each_word(bin, header, [&](uint64_t word) {
      all++;
      second += in_second_half(word);
    });
    Child<P> child[2] = {Child<P>(halves[0], 0), Child<P>(halves[1], 0)};
    if (!child[0].reserve(all - second)) return false;
    if (!child[1].reserve(second)) {
      child[0].free_lines(0);
      return false;
    }
    for_each_word(bin, header, [&](uint64_t word) {
      child[in_second_half(word)].add(word_in_next(word));
    });
    for (int half = 0; half < 2; half++) {
      // Relaxed: the mark of the parent publishes it.
      halves[half].header.store(child[half].header(), kRelaxed);
    }
    return true;
  }

  bool merge(size_t i, uint64_t header) {
    const Bin<P>& bin = from_.bins[i];
    unsigned words = 0;
    for_each_word(bin, header, [&words](uint64_t) { words++; });
    Bin<P>& into = to_.bins[i >> (from_.bits - to_.bits)];
    // The child can't have moved: only a root gets a next.
    Child<P> child(into, lock_bin(into, false));
    bool done = child.reserve(words);
    if (done) {
      for_each_word(bin, header,
                    [&](uint64_t word) { child.add(word_in_next(word)); });
    }
    unlock_bin(into, child.header());
    return done;
  }

  Table<P>& from_;
  Table<P>& to_;
};

// Starts or goes on with the migration of TABLE.
template <class P>
void migrate(Root<P>& root, Table<P>& table, Table<P>& next) {
  if (!Migration<P>(table, next).step()) return;
  // (18) the table and all copies; pairs with (13).
  root.store(&next, P::Atomics::release(18));
  P::retire(Table<P>::release, &table);
}

// Makes the table of 2^BITS bins to which TABLE migrates.  Does nothing if
// TABLE is no longer the root, migrates already, or there is no memory.
template <class P>
void start_migration(Root<P>& root, Table<P>& table, unsigned bits) {
  // Relaxed: a table that stops being the root has a next already.
  if (root.load(kRelaxed) != &table) return;
  Table<P>* next = Table<P>::create(bits, table.key, table.counts);
  if (!next) return;
  if (next->n >= P::stripe_count()) next->counts->spread();
  Table<P>* none = nullptr;
  // (17) the new table; pairs with (19).
  if (!table.next.compare_exchange(none, next, P::Atomics::release(17),
                                   kRelaxed)) {
    Table<P>::release(next);
    return;
  }
  migrate(root, table, *next);
}

// Slots in use in BIN and its lines, about.
template <class P>
unsigned used_in_bin(const Bin<P>& bin) {
  unsigned used = 0;
  for (const Bin<P>* line = &bin; line;) {
    uint64_t header = load_header(*line);
    used += used_slots(*line);
    line = overflow_of<P>(header);
  }
  return used;
}

// By how many powers of two TABLE, which holds SLOTS, may shrink now.
template <class P>
unsigned shrinkable_bits(const Table<P>& table, size_t slots) {
  unsigned by = 0;
  while (by < P::kMaxShrinkBits && table.bits - by > P::kMinBits &&
         slots <= (table.n >> (by + 1)) * P::kShrunkLoad) {
    by++;
  }
  // However they are spread, so few are no crowd.
  constexpr unsigned kCrowd = 4 * P::kSlots;
  if (!by || slots <= kCrowd) return by;
  size_t stride = std::max<size_t>(table.n / P::kSamples, 1);
  unsigned most = 0;
  size_t seen = 0;
  for (size_t i = P::random() & (stride - 1); i < table.n; i += stride) {
    unsigned used = used_in_bin(table.bins[i]);
    most = std::max(most, used);
    seen += used;
  }
  // Not seen where they should be: they are crowded somewhere else.
  if (!seen || seen * 4 < slots / stride) return 0;
  while (by && most << by > kCrowd) by--;
  return by;
}

template <class P>
bool is_tick(uint64_t tick, uint64_t period) {
  return (tick & (period - 1)) == 0;
}

// The part of both functions below that is due while a migration runs.
template <class P>
inline bool goes_on(Root<P>& root, Table<P>& table, uint64_t tick) {
  // (19) the new table; pairs with (17).
  Table<P>* next = table.next.load(P::Atomics::acquire(19));
  if (__builtin_expect(!next, 1)) return false;
  uint64_t period = next->bits > table.bits ? P::kGrowTicks : P::kShrinkTicks;
  if (is_tick<P>(tick, period)) {
    P::safe_point_migration();
    migrate(root, table, *next);
  }
  return true;
}

// Ticks from one look at the load to the next.
template <class P>
uint64_t check_period(const Table<P>& table) {
  return std::max<uint64_t>(table.n / P::kChecks, P::kMinCheckTicks);
}

// What a writer owes after an insertion that began with TABLE as the root and
// used an overflow line or not.
template <class P>
inline void maintain_after_insert(Root<P>& root, Table<P>& table, uint64_t tick,
                                  bool overflow) {
  if (goes_on(root, table, tick)) return;
  uint64_t period = check_period(table);
  bool small = period == P::kMinCheckTicks;
  if (!(small && overflow) && !is_tick<P>(tick, period)) return;
  P::safe_point_migration();
  if (table.counts->slots() <= table.n * P::kMaxLoad) return;
  if (table.bits < P::kMaxBits) start_migration(root, table, table.bits + 1);
}

// The same after a removal.
template <class P>
inline void maintain_after_remove(Root<P>& root, Table<P>& table,
                                  uint64_t tick) {
  if (goes_on(root, table, tick)) return;
  if (table.bits == P::kMinBits) return;
  if (!is_tick<P>(tick, check_period(table))) return;
  P::safe_point_migration();
  size_t slots = table.counts->slots();
  if (slots >= table.n * P::kMinLoad) return;
  if (unsigned by = shrinkable_bits(table, slots)) {
    start_migration(root, table, table.bits - by);
  }
}

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_MIGRATE_H_
