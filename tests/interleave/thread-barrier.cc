// SPDX-License-Identifier: Apache-2.0
//
// Interleavings of the barrier: what each thread did before is visible to all
// afterwards, and the first one to leave may destroy and free it.
#include "thread-barrier.h"

#include <climits>

#include "interleave/driver.h"
#include "interleave/model-atomics.h"
#include "interleave/model-platform.h"

namespace {

using ovsthread::FutexQueue;
using ovsthread::kRelaxed;
using ovsthread::ModelAtomics;
using ovsthread::ModelPlatform;

struct ModelSleep {
  using Word = ModelAtomics::Atomic<uint32_t>;
  static void wait(Word& word, uint32_t value) {
    ModelPlatform::wait(word, value, FutexQueue::kShared);
  }
  static void wake_all(Word& word) {
    ModelPlatform::wake(word, INT_MAX, FutexQueue::kShared);
  }
};

using Barrier = ovsthread::BarrierCore<ModelAtomics, ModelSleep>;

template <class Test, int threads>
struct Scenario : rl::test_suite<Test, threads> {
  ModelPlatform platform;
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

// The 2^32nd arrival is in the middle of a round.
struct ManyRounds : Scenario<ManyRounds, 3> {
  static constexpr uint32_t kBefore = UINT32_MAX / 3;
  void before() {
    Scenario::before();
    barrier.arrivals.store(uint64_t{kBefore} * 3, kRelaxed);
    barrier.rounds.store(kBefore, kRelaxed);
  }
  void thread(unsigned index) {
    data[index] = 1;
    barrier.block([] {});
    RL_ASSERT(data[(index + 1) % 3] == 1);
  }
};

// An access after the destruction fails the run, and so does one that is not
// ordered before it: `memory` stands for plain accesses to the same memory.
struct Destruction : rl::test_suite<Destruction, 2> {
  ModelPlatform platform;
  alignas(Barrier) char place[sizeof(Barrier)];
  Barrier* barrier;
  ModelAtomics::Atomic<int> first{0};
  ModelAtomics::Var<int> memory{0};

  void before() {
    barrier = new (place) Barrier;
    barrier->init(2);
  }
  void thread(unsigned) {
    barrier->block([this] { memory = 1; });
    if (first.exchange(1, kRelaxed) == 0) {
      barrier->destroy();
      memory = 2;
      barrier->~Barrier();
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  return run(argc, argv,
             {random<Visibility>("all see what all did", {11, 12, 13}),
              random<Rounds>("round after round", {}),
              random<ManyRounds>("beyond 2^32 arrivals", {}),
              random<Destruction>("destroyed by the first to leave", {14, 15}),
              bounded<Destruction>("the destroyer is woken", 2, {})});
}
