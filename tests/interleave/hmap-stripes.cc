// SPDX-License-Identifier: Apache-2.0
//
// The counts of a large hmap, asked without its lock, and the pool of their
// blocks.
#include "hmap-stripes.h"

#include "interleave/driver.h"
#include "interleave/model-atomics.h"

namespace {

using ovsthread::hmap_looks_empty;
using ovsthread::hmap_publish;
using ovsthread::HmapBlockPool;
using ovsthread::ModelAtomics;
using Tally = ModelAtomics::Atomic<size_t>;

struct Block {
  ovsthread::HmapStripe<ModelAtomics> stripes[2];
  ModelAtomics::Var<Block*> next;

  size_t sum() { return ovsthread::HmapStripe<ModelAtomics>::sum(stripes, 2); }
};

bool looks_empty(const Tally& tally) {
  return hmap_looks_empty<ModelAtomics, Block>(tally);
}

size_t striped(Block* block) { return reinterpret_cast<size_t>(block) | 1; }

// One thread inserts a node, another removes the older one after that.
struct InsertThenRemove : rl::test_suite<InsertThenRemove, 3> {
  Block block;
  Tally tally;
  rl::mutex lock;
  bool inserted = false;

  void before() {
    block.stripes[0].add(1);
    hmap_publish<ModelAtomics>(tally, striped(&block));
  }
  void thread(unsigned index) {
    if (index == 2) {
      RL_ASSERT(!looks_empty(tally));
      return;
    }
    lock.lock(RL_INFO);
    if (index == 0) {
      block.stripes[0].add(1);
      inserted = true;
    } else if (inserted) {
      block.stripes[1].subtract(1);
    }
    lock.unlock(RL_INFO);
  }
};

// A map that holds one node begins to count in stripes.
struct BecomeStriped : rl::test_suite<BecomeStriped, 2> {
  Block* block = nullptr;
  Tally tally;

  void before() { tally.store(2, std::memory_order_relaxed); }
  void thread(unsigned index) {
    if (index == 1) {
      RL_ASSERT(!looks_empty(tally));
      return;
    }
    block = new Block;
    block->stripes[0].add(1);
    hmap_publish<ModelAtomics>(tally, striped(block));
  }
  void after() { delete block; }
};

// A map that holds one node gives its block back, where the sum becomes zero.
struct LoseStripes : rl::test_suite<LoseStripes, 2> {
  Block block;
  Tally tally;

  void before() {
    block.stripes[0].add(1);
    hmap_publish<ModelAtomics>(tally, striped(&block));
  }
  void thread(unsigned index) {
    if (index == 1) {
      RL_ASSERT(!looks_empty(tally));
      return;
    }
    hmap_publish<ModelAtomics>(tally, 2);
    block.stripes[0].subtract(1);
  }
};

// Blocks go from hand to hand; each belongs to one thread at a time.
struct TakeAndPut : rl::test_suite<TakeAndPut, 2> {
  struct Owned {
    ModelAtomics::Var<int> owner{-1};
    ModelAtomics::Var<Owned*> next;
  };
  Owned blocks[2];
  HmapBlockPool<ModelAtomics, Owned> pool;

  void before() {
    for (Owned& block : blocks) pool.put(&block);
  }
  void thread(unsigned index) {
    Owned* block = pool.take();
    if (block == nullptr) return;
    RL_ASSERT(block->owner == -1);
    block->owner = static_cast<int>(index);
    RL_ASSERT(block->owner == static_cast<int>(index));
    block->owner = -1;
    pool.put(block);
  }
  void after() {
    RL_ASSERT(pool.take() != nullptr);
    RL_ASSERT(pool.take() != nullptr);
    RL_ASSERT(pool.take() == nullptr);
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  return run(
      argc, argv,
      {random<InsertThenRemove>(
           "a map is not empty while one of its nodes stays", {1, 2}),
       full<BecomeStriped>("nor while it begins to count in stripes", {5, 6}),
       full<LoseStripes>("nor while it gives its stripes back", {1, 2}),
       random<TakeAndPut>("a free block goes to one thread", {3, 4})});
}
