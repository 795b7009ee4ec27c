// SPDX-License-Identifier: Apache-2.0
//
// Self-test of ModelTransactions: what elision relies on holds, and what a
// careless user of transactions gets wrong is found.
#include "interleave/driver.h"
#include "interleave/model-atomics.h"
#include "interleave/model-transactions.h"

namespace {

using ovsthread::kRelaxed;
using ovsthread::ModelAtomics;
using ovsthread::ModelTransactions;

// The smallest elided lock: a word that is 0 or 1, spun upon.
class TinyLock {
 public:
  void lock() {
    uint32_t free = 0;
    // (1) the last section's writes; pairs with (2).
    while (
        !word_.compare_exchange(free, 1, ModelAtomics::acquire(1), kRelaxed)) {
      ModelAtomics::relax();
      free = 0;
    }
  }

  void unlock() {
    // (2) hands the section's writes on; pairs with (1).
    word_.store(0, ModelAtomics::release(2));
  }

  // Whether the section that follows is elided.
  bool lock_elided() {
    if (ModelTransactions::begin() != ModelTransactions::kStarted) {
      lock();
      return false;
    }
    // (3) stands for the subscription: without it, nothing excludes a real
    // owner; pairs with (3).
    if (ModelAtomics::weakened != 3 && word_.load(kRelaxed)) {
      ModelTransactions::abort<0xff>();
    }
    return true;
  }

  void unlock(bool elided) { elided ? ModelTransactions::end() : unlock(); }

 private:
  ModelAtomics::Atomic<uint32_t> word_{0};
};

// Both sections happen, one after the other, whoever elides.
template <bool kSecondElides>
struct Count : rl::test_suite<Count<kSecondElides>, 2> {
  TinyLock lock;
  ModelAtomics::Var<int> counter{0};

  void thread(unsigned index) {
    ModelTransactions::Scope scope(1);
    bool elided = false;
    if (index == 0 || kSecondElides) {
      elided = lock.lock_elided();
    } else {
      lock.lock();
    }
    counter += 1;
    lock.unlock(elided);
  }

  void after() { RL_ASSERT(counter == 2); }
};

// Nobody sees half of a transaction, nor any of one that was aborted.
struct AllOrNothing : rl::test_suite<AllOrNothing, 2> {
  ModelAtomics::Atomic<int> a, b;

  void thread(unsigned index) {
    ModelTransactions::Scope scope(1);
    if (index == 0) {
      if (ModelTransactions::begin() != ModelTransactions::kStarted) return;
      a.store(1, kRelaxed);
      // (4) stands for keeping all of it in the transaction; pairs with (4).
      if (ModelAtomics::weakened == 4) {
        ModelTransactions::end();
        b.store(1, kRelaxed);
        return;
      }
      b.store(1, kRelaxed);
      ModelTransactions::end();
    } else {
      int seen_a = a.load(std::memory_order_acquire);
      RL_ASSERT(b.load(std::memory_order_acquire) >= seen_a);
    }
  }
};

struct Rollback : rl::test_suite<Rollback, 1> {
  ModelAtomics::Atomic<int> a{1};
  ModelAtomics::Var<int> v{1};
  int attempts = 0;

  void write_and_abort(int& local) {
    a.fetch_add(1, kRelaxed);
    v += 1;
    local++;
    RL_ASSERT(a.load(kRelaxed) == 2 && v == 2);
    ModelTransactions::abort<3>();
  }

  void thread(unsigned) {
    ModelTransactions::Scope scope(0);
    int local = 1;
    uint32_t status = ModelTransactions::begin();
    if (++attempts == 1) {
      RL_ASSERT(status == ModelTransactions::kStarted);
      write_and_abort(local);
    }
    RL_ASSERT(status == (3u << 24 | 1));
    RL_ASSERT(!ModelTransactions::active());
    RL_ASSERT(local == 1 && attempts == 2);
    RL_ASSERT(a.load(kRelaxed) == 1 && v == 1);
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  return run(
      argc, argv,
      {full<Rollback>("an aborted transaction leaves no trace", {}),
       full<AllOrNothing>("a transaction happens at one instant", {4}),
       full<Count<false>>("an elided section and a real one exclude each other",
                          {1, 2, 3}),
       full<Count<true>>("two elided sections exclude each other", {1, 2})});
}
