// SPDX-License-Identifier: Apache-2.0
//
// Bins: what a cmap is made of, and how one is searched.
//
// A bin is one cache line, a header word and seven slots.  A slot is one word,
//
//     bits 63:48  tag, 16 bits of the node's mixed hash
//     bits 47:0   pointer to the node, 0 in an empty slot
//
// so that one atomic load gives a tag and a pointer that belong together.  An
// empty slot is the word 0; a node may have tag 0, so emptiness is read off the
// pointer, never off the tag.  The node holds the whole mixed hash: a matching
// tag is verified on the line that the caller is about to read anyway.  Nodes
// of one hash form a chain behind one slot, newest first.
//
// The header word is
//
//     bit 0       locked: a writer is inside
//     bit 1       moved: the nodes live in the next table from now on
//     bits 63:3   pointer to the newest overflow line, 0 if none
//
//     header      lookup             writer
//     ----------  -----------------  ------------------------------------
//     0           search             lock (in a transaction: check), write
//     locked      search             wait (in a transaction: abort)
//     moved       go to next table   go to next table
//
// An overflow line looks like a bin; its header is the link to the next older
// one.  Lines are put in front and never compacted, and a node never changes
// its slot: so the walk of a reader is fixed when it loads the header, it ends,
// and it meets every node that stays.  An emptied line is unlinked and goes
// through RCU with its own link intact, so a reader that stands on it walks on.
//
// "Moved" is final, and a moved bin keeps its slots.  Readers who loaded the
// header before still find every node there that was in the map at that moment.
// Anybody else must not look: the nodes may have been removed and freed since.
// So the header is loaded before any slot is used, for a hit as for a miss.
//
// Writers hold the lock bit while they change the bin, its lines or the chains
// behind them.  Inside a transaction the lock is only checked: the transaction
// owns the line, and a writer who takes the lock for real aborts it.
//
// Progress: a search is wait-free; writers block each other per bin.
#ifndef OVSTHREAD_LIB_CMAP_BIN_H_
#define OVSTHREAD_LIB_CMAP_BIN_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "atomics.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ovsthread::cmap_core {

inline constexpr uint64_t kLocked = 1;
inline constexpr uint64_t kMoved = 2;
inline constexpr uint64_t kLinkMask = ~uint64_t{7};

inline constexpr unsigned kPointerBits = 48;
inline constexpr uint64_t kPointerMask = (uint64_t{1} << kPointerBits) - 1;

// P is the platform (cmap-platform.h): atomics, sizes, memory, transactions.
template <class P>
using Word = typename P::Atomics::template Atomic<uint64_t>;

template <class P>
struct Node {
  // Mixed.  Written before the node is published, constant while it is there.
  typename P::Atomics::template Var<uint64_t> hash;
  typename P::Atomics::template Atomic<Node*> next;
};

template <class P>
struct alignas(P::kLineSize) Bin {
  Word<P> header;
  Word<P> slots[P::kSlots];
};

template <class P>
Node<P>* node_of(uint64_t word) {
  return reinterpret_cast<Node<P>*>(word & kPointerMask);
}

// A tag is passed around as it stands in a slot, in bits 63:48; the other bits
// are of no account.  NODE must fit: insertion has checked it.
template <class P>
uint64_t make_word(uint64_t tag, const Node<P>* node) {
  return (tag & ~kPointerMask) | reinterpret_cast<uintptr_t>(node);
}

template <class P>
Bin<P>* overflow_of(uint64_t header) {
  return reinterpret_cast<Bin<P>*>(header & kLinkMask);
}

#if defined(__SSE2__) && !OVSTHREAD_THREAD_SANITIZER
#define OVSTHREAD_CMAP_SSE2 1
#endif

// Which slots of LINE seem to have TAG: a filter, the caller loads those words
// atomically and looks again.  Bit 2 i + 3 stands for slots[i], so that 4 times
// its number is the word's offset in the line, plus 4.
//
// The vector loads read the line at once: a loop over the slots mispredicts.
// Each word of an aligned vector load is read whole, and a slot that changes
// meanwhile belongs to an operation that overlaps the search.
template <class P>
inline unsigned match_tag(const Bin<P>& line, uint64_t tag) {
#ifdef OVSTHREAD_CMAP_SSE2
  if constexpr (std::is_same_v<typename P::Atomics, RealAtomics>) {
    static_assert(sizeof(Bin<P>) == 64);
    auto load = [&line](int i) {
      return _mm_load_ps(reinterpret_cast<const float*>(&line) +
                         ptrdiff_t{4} * i);
    };
    // The upper halves of four words each, compared 16 bits by 16 bits, give
    // two bits a word: the upper one is the tag's.
    constexpr int kUpper = _MM_SHUFFLE(3, 1, 3, 1);
    __m128i wanted = _mm_shuffle_epi32(
        _mm_cvtsi64_si128(static_cast<int64_t>(tag)), _MM_SHUFFLE(1, 1, 1, 1));
    __m128i low = _mm_castps_si128(_mm_shuffle_ps(load(0), load(1), kUpper));
    __m128i high = _mm_castps_si128(_mm_shuffle_ps(load(2), load(3), kUpper));
    int equal = _mm_movemask_epi8(_mm_packs_epi16(
        _mm_cmpeq_epi16(low, wanted), _mm_cmpeq_epi16(high, wanted)));
    return static_cast<unsigned>(equal) & 0xaaa8;
  }
#endif
  unsigned mask = 0;
  for (unsigned i = 0; i < P::kSlots; i++) {
    // Relaxed: a hint.
    uint64_t difference = line.slots[i].load(kRelaxed) ^ tag;
    mask |= static_cast<unsigned>(difference <= kPointerMask) << (2 * i + 3);
  }
  return mask;
}

// The slot of LINE that the lowest bit of MASK stands for.
template <class P>
inline const Word<P>& first_match(const Bin<P>& line, unsigned mask) {
  static_assert(offsetof(Bin<P>, slots) == sizeof(uint64_t) ||
                !std::is_same_v<typename P::Atomics, RealAtomics>);
  unsigned bit = static_cast<unsigned>(__builtin_ctz(mask));
  if constexpr (std::is_same_v<typename P::Atomics, RealAtomics>) {
    return *reinterpret_cast<const Word<P>*>(
        reinterpret_cast<const char*>(&line) + size_t{bit} * 4 - 4);
  } else {
    return line.slots[bit / 2 - 1];
  }
}

// Looks in LINE alone for the chain of HASH.  Returns its first node and stores
// its slot in *SLOT; or returns null.
template <class P>
inline Node<P>* search_line(const Bin<P>& line, uint64_t tag, uint64_t hash,
                            const Word<P>** slot) {
  unsigned mask = match_tag(line, tag);
  while (mask) {
    const Word<P>& candidate = first_match(line, mask);
    // (2) the node behind the pointer; pairs with (1).
    Node<P>* node = node_of<P>(candidate.load(P::Atomics::acquire(2)));
    if (__builtin_expect(node && node->hash == hash, 1)) {
      *slot = &candidate;
      return node;
    }
    mask &= mask - 1;
  }
  return nullptr;
}

// The number of an empty slot of LINE, kSlots if it has none.  The caller has
// the bin's lock.
template <class P>
unsigned empty_slot(const Bin<P>& line) {
  unsigned mask = 0;
  for (unsigned i = 0; i < P::kSlots; i++) {
    // Relaxed: the lock orders it.
    mask |= static_cast<unsigned>(!line.slots[i].load(kRelaxed)) << i;
  }
  return mask ? static_cast<unsigned>(__builtin_ctz(mask)) : P::kSlots;
}

// Slots in use in LINE: exact with the bin's lock, a hint without.
template <class P>
unsigned used_slots(const Bin<P>& line) {
  unsigned used = 0;
  for (unsigned i = 0; i < P::kSlots; i++) {
    // Relaxed: the lock orders it, or a hint is enough.
    used += line.slots[i].load(kRelaxed) != 0;
  }
  return used;
}

// Takes BIN's lock, or in a transaction checks that it is free.  Returns the
// header without the lock bit.  A moved bin is not locked: the header says so.
template <class P>
uint64_t lock_bin(Bin<P>& bin, bool in_transaction) {
  for (unsigned spins = 0;; spins++) {
    // (7) what the last writer did and, of a moved bin, the next table's copy;
    // pairs with (5).
    uint64_t header = bin.header.load(P::Atomics::acquire(7));
    if (header & kMoved) return header;
    if (!(header & kLocked)) {
      if (in_transaction) return header;
      // (8) as (7), where the header was changed and restored since; pairs with
      // (5).
      if (bin.header.compare_exchange(header, header | kLocked,
                                      P::Atomics::acquire(8), kRelaxed)) {
        return header;
      }
    } else if (in_transaction) {
      P::abort_busy();
    }
    P::pause(spins);
  }
}

// Stores HEADER, the new state without the lock bit, and so releases the lock.
template <class P>
void unlock_bin(Bin<P>& bin, uint64_t header) {
  // (5) all that was done under the lock, an overflow line that HEADER links,
  // and, with kMoved, the copy in the next table; pairs with (6), (7), (8).
  bin.header.store(header, P::Atomics::release(5));
}

// Loads the header of a bin or of an overflow line for reading.
template <class P>
inline uint64_t load_header(const Bin<P>& line) {
  // (6) the overflow line it links or, if moved, the copy; pairs with (5).
  return line.header.load(P::Atomics::acquire(6));
}

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_BIN_H_
