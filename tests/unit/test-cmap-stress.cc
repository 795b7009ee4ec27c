// SPDX-License-Identifier: Apache-2.0
//
// cmap under concurrent writers without a lock: a set of elements stays, others
// come and go in waves that grow and shrink the table.  Readers must find, in
// every way there is, each element that stays, exactly once, and never touch
// one that was freed (the sanitizers see that).
#include <gtest/gtest.h>
#include <ovsthread/cmap.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "unit/cmap-test.h"

namespace ovsthread {
namespace {

struct Element {
  cmap_node node;
  uint64_t hash;
  int stays;  // Its number, or -1.
  uint64_t check;

  Element(uint64_t h, int number) : hash(h), stays(number), check(~h) {}
};

Element* element_of(const cmap_node* node) {
  return reinterpret_cast<Element*>(const_cast<cmap_node*>(node));
}

void free_element(void* element) { delete static_cast<Element*>(element); }

class Stress {
 public:
  // Elements that stay: every third one has a chain with its successor.
  Stress(uint64_t seed, int stay, uint64_t spread)
      : seed_(seed), stay_(stay), spread_(spread) {
    for (int i = 0; i < stay_; i++) {
      staying_.push_back(std::make_unique<Element>(hash_of(i), i));
      cmap_insert__(&map_, &staying_.back()->node, staying_.back()->hash);
    }
  }
  ~Stress() {
    cmap_destroy(&map_);
    rcu::barrier();
  }

  // Inserts, replaces and removes PER_WAVE elements of its own, WAVES times.
  void write(uint64_t id, int waves, size_t per_wave) {
    rcu::quiesce_end();  // A new thread is quiescent.
    std::mt19937_64 random(seed_ * 31 + id);
    auto draw = [&] { return hash_of(random() % (4 * spread_)); };
    for (int wave = 0; wave < waves; wave++) {
      std::vector<Element*> mine;
      for (size_t i = 0; i < per_wave; i++) {
        mine.push_back(new Element(draw(), -1));
        cmap_insert__(&map_, &mine.back()->node, mine.back()->hash);
        if (i % 8 == 0) {
          Element*& old = mine[random() % mine.size()];
          auto* now = new Element(old->hash, -1);
          cmap_replace__(&map_, &old->node, &now->node, old->hash);
          rcu::postpone(free_element, std::exchange(old, now));
        }
        if (i % 64 == 0) rcu::quiesce();
      }
      std::shuffle(mine.begin(), mine.end(), random);
      for (size_t i = 0; i < mine.size(); i++) {
        cmap_replace__(&map_, &mine[i]->node, nullptr, mine[i]->hash);
        rcu::postpone(free_element, mine[i]);
        if (i % 64 == 0) rcu::quiesce();
      }
    }
    rcu::quiesce_start();
  }

  void read_until(const std::atomic<bool>& done) {
    rcu::quiesce_end();
    do {
      look_up();
      rcu::quiesce();
      iterate();
      rcu::quiesce();
      walk_by_position();
    } while (!done);
    rcu::quiesce_start();
  }

  // Runs WRITERS and READERS at once, then checks what is left.
  void run(int writers, int readers, int waves, size_t per_wave) {
    std::atomic<bool> done = false;
    std::vector<std::thread> writing, reading;
    for (int i = 0; i < readers; i++) {
      reading.emplace_back([&] { read_until(done); });
    }
    for (int i = 0; i < writers; i++) {
      writing.emplace_back(
          [=, this] { write(static_cast<uint64_t>(i), waves, per_wave); });
    }
    // A thread that joins must not hold grace periods up.
    rcu::quiesce_start();
    for (std::thread& thread : writing) thread.join();
    done = true;
    for (std::thread& thread : reading) thread.join();
    rcu::quiesce_end();
    EXPECT_EQ(cmap_count(&map_), static_cast<size_t>(stay_));
    look_up();
    iterate();
    walk_by_position();
  }

 private:
  // Elements that stay have even numbers; every third one shares its hash with
  // the next.  With little spread all hashes fall in one bin.
  uint64_t hash_of(uint64_t number) const {
    uint64_t distinct = number % 3 ? number - 1 : number;
    return spread_ > 64 ? distinct : unmix(distinct << 8);
  }

  void look_up() const {
    for (int i = 0; i < stay_; i++) {
      Element& wanted = *staying_[i];
      int found = 0;
      for (const cmap_node* n = cmap_find__(&map_, wanted.hash); n;
           n = cmap_node_next(n)) {
        ASSERT_EQ(element_of(n)->check, ~wanted.hash);
        found += element_of(n) == &wanted;
      }
      ASSERT_EQ(found, 1) << "element " << i;
      ASSERT_GE(cmap_count(&map_), 1u);
      uint32_t index = cmap_find_index(&map_, static_cast<uint32_t>(i));
      const cmap_node* n = cmap_find_by_index(&map_, index);
      if (n) {
        ASSERT_EQ(element_of(n)->check, ~element_of(n)->hash);
      }
    }
    uint64_t hashes[64];
    cmap_node* nodes[64];
    int n = std::min(stay_, 64);
    for (int i = 0; i < n; i++) hashes[i] = staying_[i]->hash;
    uint64_t all = n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
    ASSERT_EQ(cmap_find_batch__(&map_, all, hashes, nodes), all);
    for (int i = 0; i < n; i++) {
      ASSERT_EQ(element_of(nodes[i])->check, ~hashes[i]);
    }
  }

  void iterate() const {
    std::vector<int> seen(static_cast<size_t>(stay_));
    cmap_cursor cursor = cmap_cursor_start(&map_);
    while (cmap_node* node = cursor.node) {
      cmap_cursor_advance(&cursor);
      ASSERT_EQ(element_of(node)->check, ~element_of(node)->hash);
      if (element_of(node)->stays >= 0) seen[element_of(node)->stays]++;
    }
    for (int i = 0; i < stay_; i++) ASSERT_EQ(seen[i], 1) << "element " << i;
  }

  void walk_by_position() const {
    std::vector<int> seen(static_cast<size_t>(stay_));
    cmap_position position = {0, 0, 0};
    for (int steps = 0;; steps++) {
      cmap_node* node = cmap_next_position(&map_, &position);
      if (!node) break;
      ASSERT_EQ(element_of(node)->check, ~element_of(node)->hash);
      if (element_of(node)->stays >= 0) seen[element_of(node)->stays]++;
      if (steps % 16 == 0) rcu::quiesce();
    }
    for (int i = 0; i < stay_; i++) ASSERT_GE(seen[i], 1) << "element " << i;
  }

  FixedKey key_;
  uint64_t seed_;
  int stay_;
  uint64_t spread_;
  cmap map_ = CMAP_INITIALIZER;
  std::vector<std::unique_ptr<Element>> staying_;
};

TEST(CmapStress, WavesOfWritersGrowAndShrinkTheTable) {
  Stress(test_seed(), 300, 2000).run(3, 2, 60, 4000);
}

// Few hashes: most elements are in chains.
TEST(CmapStress, ChainsComeAndGo) {
  Stress(test_seed(), 30, 65).run(3, 2, 100, 200);
}

// All in one bin of a table that stays small: overflow lines come and go.
TEST(CmapStress, OverflowLinesComeAndGo) {
  Stress(test_seed(), 9, 10).run(2, 2, 2000, 12);
}

// A thread that inserts before it removes never lets the map look empty, and
// sees its own nodes counted.
TEST(CmapStress, CountIsNeverZeroWhileANodeIsThere) {
  constexpr int kThreads = 4, kRounds = 20000;
  cmap map = CMAP_INITIALIZER;
  std::vector<Element> pool(2 * kThreads, Element(0, -1));
  std::atomic<int> starting = kThreads, running = kThreads;
  // Big enough for stripes.
  std::vector<cmap_node> filler(200);
  for (uint32_t i = 0; i < filler.size(); i++) cmap_insert(&map, &filler[i], i);
  std::atomic<bool> ready = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      rcu::quiesce_end();
      uint32_t hash = 1000 + static_cast<uint32_t>(t);
      Element* mine[2] = {&pool[2 * t], &pool[2 * t + 1]};
      cmap_insert(&map, &mine[0]->node, hash);
      starting--;
      while (!ready) std::this_thread::yield();
      for (int round = 0; round < kRounds; round++) {
        Element* in = mine[(round + 1) % 2];
        Element* out = mine[round % 2];
        EXPECT_GE(cmap_insert(&map, &in->node, hash), 2u);
        EXPECT_GE(cmap_remove(&map, &out->node, hash), 1u);
      }
      running--;
      rcu::quiesce_start();
    });
  }
  while (starting) std::this_thread::yield();
  for (uint32_t i = 0; i < filler.size(); i++) cmap_remove(&map, &filler[i], i);
  ready = true;
  while (running) {
    EXPECT_GE(cmap_count(&map), 1u);
    EXPECT_FALSE(cmap_is_empty(&map));
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cmap_count(&map), static_cast<size_t>(kThreads));
  cmap_destroy(&map);
  rcu::quiesce();
}

// Readers are inside when the map is destroyed in the middle of a migration.
TEST(CmapStress, DestroyUnderReaders) {
  for (int round = 0; round < 30; round++) {
    auto map = std::make_unique<cmap>();
    cmap_init(map.get());
    std::vector<cmap_node> nodes(3000);
    for (uint32_t i = 0; i < nodes.size(); i++) {
      cmap_insert(map.get(), &nodes[i], i);
    }
    SteeredMap& steered = SteeredMap::of(*map);
    steered.finish();
    steered.begin(steered.root()->bits + (round % 2 ? 1 : -1));
    std::atomic<int> inside = 0;
    std::vector<std::thread> readers;
    for (int t = 0; t < 2; t++) {
      readers.emplace_back([&] {
        rcu::quiesce_end();
        cmap_cursor cursor = cmap_cursor_start(map.get());
        const cmap copy = *map;
        inside++;
        size_t visits = 0;
        for (; cursor.node; cmap_cursor_advance(&cursor)) {
          uint32_t i = static_cast<uint32_t>(cursor.node - nodes.data());
          EXPECT_EQ(cmap_find(&copy, i), &nodes[i]);
          visits++;
        }
        EXPECT_EQ(visits, nodes.size());
        rcu::quiesce_start();
      });
    }
    while (inside < 2) std::this_thread::yield();
    cmap_destroy(map.get());
    rcu::quiesce();
    for (std::thread& reader : readers) reader.join();
    rcu::quiesce();
  }
  rcu::barrier();
}

}  // namespace
}  // namespace ovsthread
