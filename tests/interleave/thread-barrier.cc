// SPDX-License-Identifier: Apache-2.0
//
// Interleavings of the barrier: what each thread did before is visible to all
// afterwards, and the first one to leave may destroy and free it.
#include "thread-barrier.h"

#include "interleave/driver.h"
#include "interleave/model-atomics.h"

namespace {

using ovsthread::kRelaxed;
using ovsthread::ModelAtomics;

struct ModelSleep {
  static void wait(const ModelAtomics::Atomic<uint32_t>&, uint32_t) {
    ModelAtomics::relax();
  }
  static void wake_all(const ModelAtomics::Atomic<uint32_t>&) {}
};

using Barrier = ovsthread::BarrierCore<ModelAtomics, ModelSleep>;

template <class Test, int threads>
struct Scenario : rl::test_suite<Test, threads> {
  Barrier barrier;
  ModelAtomics::Var<int> data[threads];

  void before() {
    barrier.init(threads);
    for (auto& value : data) value = 0;
  }
};

struct Visibility : Scenario<Visibility, 3> {
  void thread(unsigned index) {
    data[index] = 1;
    barrier.block([] {});
    RL_ASSERT(data[(index + 1) % 3] == 1);
  }
};

struct Rounds : Scenario<Rounds, 2> {
  void thread(unsigned index) {
    for (int round = 1; round <= 2; round++) {
      data[index] = round;
      barrier.block([] {});
      RL_ASSERT(data[1 - index] == round);
      barrier.block([] {});
    }
  }
};

// An access after the destruction fails the run, and so does one that is not
// ordered before it: `memory` stands for plain accesses to the same memory.
struct Destruction : rl::test_suite<Destruction, 2> {
  Barrier* barrier;
  ModelAtomics::Atomic<int> first{0};
  ModelAtomics::Var<int> memory{0};

  void before() {
    barrier = new Barrier;
    barrier->init(2);
  }
  void thread(unsigned) {
    barrier->block([this] { memory = 1; });
    if (first.exchange(1, kRelaxed) == 0) {
      barrier->destroy();
      memory = 2;
      delete barrier;
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  return run(
      argc, argv,
      {random<Visibility>("all see what all did", {11, 12, 13}),
       random<Rounds>("round after round", {}),
       random<Destruction>("destroyed by the first to leave", {14, 15})});
}
