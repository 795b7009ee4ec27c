// SPDX-License-Identifier: Apache-2.0
//
// ModelEngine: the library's elision engine for the interleaving search, over
// ModelAtomics and ModelTransactions.  A lock of the model is an Operation on
// it (lib/lock-operations.h), like those of the library.
//
// What the library keeps in thread-local memory is here an array, since the
// threads of a search are fibers of one.  A scenario owns a ModelElision, and
// each of its threads that elides begins with a ModelElision::Scope.
#ifndef OVSTHREAD_TESTS_INTERLEAVE_ELIDED_H_
#define OVSTHREAD_TESTS_INTERLEAVE_ELIDED_H_

#include <new>

#include "elision-engine.h"
#include "interleave/model-atomics.h"
#include "interleave/model-transactions.h"
#include "thread-id.h"

namespace ovsthread {

class ModelElision {
 public:
  // QUEUED: how often an acquisition has waited in a queue already, which it
  // may kMaxQueued times.
  explicit ModelElision(unsigned queued = elision::kMaxQueued) {
    queued_ = queued;
    for (uint32_t i = 0; i < kMaxThreads; i++) {
      threads_[i] = {};
      tls_thread_id = i;
      threads_[i].held.self();  // Has this number from now on.
      new (&counts_[i]) elision::Counts;
    }
  }
  ModelElision(const ModelElision&) = delete;
  ModelElision& operator=(const ModelElision&) = delete;

  class Scope : public ModelTransactions::Scope {
   public:
    __attribute__((always_inline)) explicit Scope(unsigned aborts)
        : ModelTransactions::Scope(aborts, &thread(), sizeof thread()) {}
  };

  static elision::ThreadElision& thread() {
    return threads_[rl::thread_index()];
  }
  // The caller's in the owner's bits of lock words.
  static uint32_t self() { return thread().held.self(); }

  // For the engine.  Elision is always tried, and after one look at a busy lock
  // that is taken for real: each look is a point where the search branches.
  static bool active() { return true; }
  static elision::Attention attention() { return elision::kAttendAll; }
  static bool recording() { return false; }
  static ovs_elision_mode mode() { return OVS_ELISION_ALWAYS; }
  static elision::Counts* make_counts() { return &counts_[rl::thread_index()]; }
  static elision::Histories& histories() { return elision::histories; }
  static uint64_t now() { return 0; }
  static void suspect_storm() {}
  static elision::Attempts attempts() {
    return {elision::kMaxBusyLooks - 1, 0, queued_};
  }

 private:
  static constexpr unsigned kMaxThreads = 8;

  static inline unsigned queued_;
  static inline elision::ThreadElision threads_[kMaxThreads];
  static inline elision::Counts counts_[kMaxThreads];
};

using ModelEngine =
    elision::Engine<ModelAtomics, ModelTransactions, ModelElision>;

// With weakened number kUnsubscribed it does not matter to a transaction what
// the word says, which must be found failing like any order that is missing.
inline constexpr int kUnsubscribed = 100;

inline elision::LockKind subscribed_by(elision::LockKind kind) {
  if (ModelAtomics::weakened == kUnsubscribed) kind.mask = kLockLive;
  return kind;
}

// Changes the mode bit of a lock, as sampling does, if nothing else changes its
// word meanwhile.
inline void change_mode(ModelAtomics::Atomic<uint32_t>& word) {
  uint32_t old = word.load(kRelaxed);
  word.compare_exchange(old, old ^ kLockElide, kRelaxed, kRelaxed);
}

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_INTERLEAVE_ELIDED_H_
