// SPDX-License-Identifier: Apache-2.0
//
// How many nodes a cmap holds, counted without a line that all writers share.
//
// Each stripe is a cache line of monotone counters; a thread writes the one
// that its number selects.  A small map has one stripe, inside the block; a
// bigger one gets as many as there are hardware threads.  The block outlives
// resizes.
//
// A node is added before it is published and subtracted after it is unlinked,
// and a reader sums all removals first, then all insertions.  A removal that it
// sees follows the insertion of the same node, so the sum is never negative;
// and whatever can be found at the instant between the two sums is in it, so it
// is not 0 while a node can be found.  Stripes may appear while a reader sums:
// it looks for them again before the second sum, so it can miss removals, never
// insertions.
//
// The sum costs a line per hardware thread: writers use it only now and then,
// to see whether the table still fits.  There a chain of equal hashes is one
// slot, however long, so nodes that joined a chain are counted apart.
//
// Progress: wait-free.
#ifndef OVSTHREAD_LIB_CMAP_COUNT_H_
#define OVSTHREAD_LIB_CMAP_COUNT_H_

#include <cstddef>
#include <cstdint>

#include "atomics.h"

namespace ovsthread::cmap_core {

template <class P>
class Counts {
  using A = typename P::Atomics;
  using Counter = typename A::template Atomic<uint64_t>;

  struct alignas(P::kLineSize) Stripe {
    Counter inserted;
    Counter removed;
    Counter chained;    // Insertions into a slot that was in use.
    Counter unchained;  // Removals that left the slot in use.
  };

 public:
  // Each returns how many of its kind the caller's stripe has seen: writers
  // take that as the tick of their clock.

  uint64_t add_inserted() {
    // Relaxed: who finds the node has acquired what came before it.
    return stripe().inserted.fetch_add(1, kRelaxed) + 1;
  }

  uint64_t add_removed() {
    // (9) the insertion that was undone; pairs with (10).
    return stripe().removed.fetch_add(1, A::release(9)) + 1;
  }

  // Relaxed: these only steer the size of the table.
  void add_chained() { stripe().chained.fetch_add(1, kRelaxed); }
  void add_unchained() { stripe().unchained.fetch_add(1, kRelaxed); }

  size_t nodes() const {
    // (10) the insertions before each removal that is counted; pairs with (9).
    uint64_t removed = sum(&Stripe::removed, A::acquire(10));
    // Relaxed: ordered behind the removals, which is all that is needed.
    return sum(&Stripe::inserted, kRelaxed) - removed;
  }

  // Slots in use, about: exact while nobody writes.
  size_t slots() const {
    // Relaxed: an estimate.
    uint64_t more = sum(&Stripe::chained, kRelaxed);
    uint64_t less = sum(&Stripe::unchained, kRelaxed);
    uint64_t in_chains = more > less ? more - less : 0;
    size_t all = nodes();
    return all > in_chains ? all - in_chains : 0;
  }

  // Gives each hardware thread a stripe.  Without memory all goes on as before.
  void spread() {
    // Relaxed: whether there are any.
    if (stripes_.load(kRelaxed)) return;
    Stripe* stripes = P::template create<Stripe>(n_stripes_);
    if (!stripes) return;
    Stripe* none = nullptr;
    // (11) the zeroed stripes; pairs with (12).
    if (!stripes_.compare_exchange(none, stripes, A::release(11), kRelaxed)) {
      P::destroy(stripes, n_stripes_);
    }
  }

  // Returns null without memory.
  static Counts* create() {
    Counts* counts = P::template create<Counts>(1);
    if (counts) counts->n_stripes_ = P::stripe_count();
    return counts;
  }

  static void destroy(void* counts_) {
    Counts* counts = static_cast<Counts*>(counts_);
    // Relaxed: nobody else uses it any more.
    if (Stripe* stripes = counts->stripes_.load(kRelaxed)) {
      P::destroy(stripes, counts->n_stripes_);
    }
    P::destroy(counts, 1);
  }

 private:
  Stripe* stripes() const {
    // (12) the zeroed stripes; pairs with (11).
    return stripes_.load(A::acquire(12));
  }

  Stripe& stripe() {
    Stripe* stripes = this->stripes();
    return stripes ? stripes[P::thread_id() & (n_stripes_ - 1)] : first_;
  }

  uint64_t sum(Counter Stripe::*counter, std::memory_order order) const {
    uint64_t total = (first_.*counter).load(order);
    if (Stripe* stripes = this->stripes()) {
      for (unsigned i = 0; i < n_stripes_; i++) {
        total += (stripes[i].*counter).load(order);
      }
    }
    return total;
  }

  Stripe first_;
  typename A::template Atomic<Stripe*> stripes_;
  unsigned n_stripes_;
};

}  // namespace ovsthread::cmap_core

#endif  // OVSTHREAD_LIB_CMAP_COUNT_H_
