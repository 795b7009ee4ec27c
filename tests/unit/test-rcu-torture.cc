// SPDX-License-Identifier: Apache-2.0
//
// Torture of RCU: writers replace objects that readers hold.
//
// An object has an age: 0 while it is published, 1 once it is unpublished, 2
// from the moment its callback has run, when it may be used again.  No reader
// may ever meet an age of 2 or a change of the object's number.  Readers use
// the library in all three ways: always active with quiescent states between,
// quiescent with active phases, quiescent with guards.  Some writers postpone
// before they unpublish, and some threads end and start anew.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ovs-rcu.h"
#include "unit/rcu-testing.h"

namespace ovsthread {
namespace {

constexpr int kSlots = 64;
constexpr int kReaders = 4;
constexpr int kWriters = 2;
constexpr int kReplacements = 40000;

struct Object {
  std::atomic<int> age{0};
  std::atomic<unsigned> number{0};
};

unsigned test_seed() {
  const char* text = getenv("OVSTHREAD_TEST_SEED");
  unsigned seed = text != nullptr
                      ? static_cast<unsigned>(strtoul(text, nullptr, 0))
                      : std::random_device()();
  printf("# OVSTHREAD_TEST_SEED=%u\n", seed);
  fflush(stdout);
  return seed;
}

class Torture {
 public:
  explicit Torture(unsigned seed) : seed_(seed) {
    for (auto& slot : slots_) ovsrcu_init(&slot, new Object);
  }

  void run() {
    std::vector<std::thread> readers, writers;
    for (unsigned i = 0; i < kReaders; i++) {
      readers.emplace_back([this, i] { read_in_threads(i); });
    }
    for (unsigned i = 0; i < kWriters; i++) {
      writers.emplace_back([this, i] { write(i); });
    }
    for (std::thread& writer : writers) writer.join();
    stop_ = true;
    for (std::thread& reader : readers) reader.join();
    ovsrcu_barrier();
    for (auto& slot : slots_) delete ovsrcu_get_protected(Object*, &slot);
    for (Object* object : free_) delete object;
    EXPECT_EQ(objects_, kSlots + static_cast<int>(free_.size()));
    EXPECT_EQ(callbacks_, kWriters * kReplacements);
    EXPECT_EQ(ages_[2], 0);
    EXPECT_EQ(changes_, 0);
    printf("# reads by age: %ld published, %ld unpublished, %ld reused\n",
           ages_[0].load(), ages_[1].load(), ages_[2].load());
  }

 private:
  using Random = std::minstd_rand;
  static unsigned below(Random& random, unsigned limit) {
    return static_cast<unsigned>(random() >> 8) % limit;
  }

  void look(Random& random) {
    const Object* object = ovsrcu_get(Object*, &slots_[below(random, kSlots)]);
    unsigned number = object->number.load(std::memory_order_relaxed);
    unsigned looks = below(random, 20);
    for (unsigned i = 0; i < looks; i++) {
      if (below(random, 50) == 0) std::this_thread::yield();
      ages_[object->age.load(std::memory_order_relaxed)]++;
      changes_ += object->number.load(std::memory_order_relaxed) != number;
    }
  }

  void read(unsigned way, Random& random) {
    unsigned rounds = 1000 + below(random, 1000);
    for (unsigned i = 0; i < rounds && !stop_; i++) {
      switch (way) {
        case 0:
          ovsrcu_quiesce();
          for (unsigned j = below(random, 4); j > 0; j--) look(random);
          break;
        case 1:
          ovsrcu_quiesce_end();
          look(random);
          ovsrcu_quiesce_start();
          break;
        default:
          rcu::guard_lock();
          look(random);
          rcu::guard_lock();
          look(random);
          rcu::guard_unlock();
          look(random);
          rcu::guard_unlock();
          break;
      }
    }
  }

  // Some threads end active.
  void read_in_threads(unsigned index) {
    for (unsigned i = 0; !stop_; i++) {
      std::thread([this, index, i] {
        Random random(seed_ + 100 * index + i + 1);
        read((index + i) % 3, random);
      }).join();
    }
  }

  Object* allocate() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) {
      objects_++;
      return new Object;
    }
    Object* object = free_.back();
    free_.pop_back();
    return object;
  }

  struct Removed {
    Torture* torture;
    Object* object;
  };

  static void reclaim(Removed* removed) {
    Torture* torture = removed->torture;
    Object* object = removed->object;
    EXPECT_EQ(object->age, 1);
    object->age = 2;
    object->number++;
    torture->callbacks_++;
    std::lock_guard lock(torture->mutex_);
    torture->free_.push_back(object);
    delete removed;
  }

  void write(unsigned index) {
    Random random(seed_ + 10 * index + 7);
    for (int i = 0; i < kReplacements; i++) {
      auto& slot = slots_[index + kWriters * below(random, kSlots / kWriters)];
      Object* fresh = allocate();
      fresh->age = 0;
      Object* old = ovsrcu_get_protected(Object*, &slot);
      bool early = below(random, 2) == 0;
      if (early) ovsrcu_postpone(reclaim, (new Removed{this, old}));
      if (early && below(random, 100) == 0) std::this_thread::yield();
      ovsrcu_set(&slot, fresh);
      old->age = 1;
      if (!early) ovsrcu_postpone(reclaim, (new Removed{this, old}));
      if (below(random, 200) == 0) ovsrcu_quiesce();
      if (below(random, 2000) == 0) ovsrcu_quiesce_start();
      if (below(random, 5000) == 0) ovsrcu_synchronize();
      if (below(random, 5000) == 0) ovsrcu_barrier();
    }
  }

  const unsigned seed_;
  OVSRCU_TYPE(Object*) slots_[kSlots];
  std::atomic<bool> stop_{false};
  std::array<std::atomic<long>, 3> ages_{};
  std::atomic<int> changes_{0};
  std::atomic<int> callbacks_{0};
  std::mutex mutex_;
  std::vector<Object*> free_;  // Guarded by the mutex, as the next.
  int objects_ = kSlots;
};

TEST_P(Rcu, Torture) {
  unsigned seed = test_seed();
  process([seed] { Torture(seed).run(); });
}

}  // namespace
}  // namespace ovsthread
