// SPDX-License-Identifier: Apache-2.0
//
// The example and the self-test of the interleaving search: one thread writes
// data and sets a flag, the other sees the flag and reads the data.  The search
// must pass it as it is, and must miss neither of its two orders.
#include "interleave/driver.h"
#include "interleave/model-atomics.h"

namespace {

using ovsthread::ModelAtomics;

template <class A>
class Mailbox {
 public:
  void send(int value) {
    data_ = value;
    // (1) publishes the data; pairs with (2).
    full_.store(1, A::release(1));
  }

  bool receive(int& value) {
    // (2) the data that the sender wrote before; pairs with (1).
    if (!full_.load(A::acquire(2))) return false;
    value = data_;
    return true;
  }

 private:
  typename A::template Var<int> data_{0};
  typename A::template Atomic<int> full_{0};
};

struct Send : rl::test_suite<Send, 2> {
  Mailbox<ModelAtomics> mailbox;

  void thread(unsigned index) {
    if (index == 0) {
      mailbox.send(7);
      return;
    }
    int value = 0;
    while (!mailbox.receive(value)) ModelAtomics::relax();
    RL_ASSERT(value == 7);
  }
};

// Each thread raises its flag and looks at the other's: at least one of them
// sees the other, which takes sequential consistency on both sides.
struct RaiseFlags : rl::test_suite<RaiseFlags, 2> {
  ModelAtomics::Atomic<int> flag[2];
  int seen[2] = {0, 0};

  void thread(unsigned index) {
    flag[index].store(1, std::memory_order_relaxed);
    // (3) before the other's flag is read; pairs with (3).
    ModelAtomics::fence(ModelAtomics::seq_cst(3));
    seen[index] = flag[1 - index].load(std::memory_order_relaxed);
  }

  void after() { RL_ASSERT(seen[0] + seen[1] > 0); }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  return run(argc, argv,
             {full<Send>("a receiver sees the data behind the flag", {1, 2}),
              bounded<Send>("the same with two preemptions", 2, {1, 2}),
              random<Send>("the same at random", {1, 2}),
              full<RaiseFlags>("one of two threads sees the other", {3})});
}
