// SPDX-License-Identifier: Apache-2.0
//
// The elision engine's rule for one lock, for the interleaving search: start a
// transaction, subscribe to the word, and give up where the hold is not free.
// (The engine itself keeps its state in thread-local memory, which fibers
// share; tests/unit/ covers it with the scripted layer.)
#ifndef OVSTHREAD_TESTS_INTERLEAVE_ELIDED_H_
#define OVSTHREAD_TESTS_INTERLEAVE_ELIDED_H_

#include "elision-engine.h"
#include "elision-policy.h"
#include "interleave/model-atomics.h"
#include "interleave/model-transactions.h"

namespace ovsthread {

// Whether the section that follows is elided; else the lock is to be taken for
// real.  With weakened number kUnsubscribed the word is not looked at, which
// must be found failing like any order that is missing.
inline constexpr int kUnsubscribed = 100;

inline bool elide(const elision::LockKind& kind,
                  const ModelAtomics::Atomic<uint32_t>& word) {
  if (ModelTransactions::begin() != ModelTransactions::kStarted) return false;
  if (ModelAtomics::weakened != kUnsubscribed &&
      // Relaxed: the transaction orders it.
      (word.load(kRelaxed) & kind.mask) != kLockLive) {
    ModelTransactions::abort<elision::kCodeBusy>();
  }
  return true;
}

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_INTERLEAVE_ELIDED_H_
