// SPDX-License-Identifier: Apache-2.0
//
// cmap growing and shrinking in one thread: the table follows the load, no call
// does much, crowds don't form, nothing is lost in the states between, and all
// memory comes back.
#include <gtest/gtest.h>
#include <ovsthread/cmap.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <vector>

#include "unit/cmap-test.h"

namespace ovsthread {
namespace {

size_t bins_of(cmap& map) { return SteeredMap::of(map).root()->n; }

class CmapResize : public testing::Test {
 protected:
  ~CmapResize() override {
    cmap_destroy(&map_);
    EXPECT_EQ(live_bytes(), live_before_);
  }
  void insert(size_t count) {
    size_t begin = nodes_.size();
    nodes_.resize(begin + count);
    for (size_t i = begin; i < nodes_.size(); i++) {
      cmap_insert__(&map_, &nodes_[i], i);
    }
  }
  size_t hash_of(const cmap_node* node) const {
    return static_cast<size_t>(node - nodes_.data());
  }
  void remove(cmap_node* node) {
    cmap_replace__(&map_, node, nullptr, hash_of(node));
  }

  FixedKey key_;
  const uint32_t live_before_ = live_bytes();
  cmap map_ = CMAP_INITIALIZER;
  std::vector<cmap_node> nodes_;
};

// Any number of nodes, from an empty map and back to one.
TEST_F(CmapResize, EverySizeFillsAndEmpties) {
  auto walk = [this] {
    size_t visits = 0;
    cmap_cursor cursor = cmap_cursor_start(&map_);
    for (; cursor.node; cmap_cursor_advance(&cursor)) visits++;
    cmap_cursor_advance(&cursor);  // Stays at the end.
    EXPECT_EQ(cursor.node, nullptr);
    size_t steps = 0;
    cmap_position position = {0, 0, 0};
    while (cmap_next_position(&map_, &position)) steps++;
    EXPECT_EQ(steps, visits);
    return visits;
  };
  for (size_t n = 0; n <= 300; n++) {
    insert(n);
    EXPECT_EQ(cmap_count(&map_), n);
    EXPECT_EQ(walk(), n);
    EXPECT_EQ(cmap_find__(&map_, n), nullptr);
    for (cmap_node& node : nodes_) remove(&node);
    EXPECT_TRUE(cmap_is_empty(&map_));
    EXPECT_EQ(walk(), 0u);
    EXPECT_EQ(cmap_find__(&map_, n), nullptr);
    ASSERT_LE(n ? bins_of(map_) : 0, 128u);
    nodes_.clear();
  }
}

// A thousand nodes, of hashes of their own or two of each, of which the oldest
// goes for each that comes: the table and its memory stay as they are.  A long
// run takes OVSTHREAD_TEST_CMAP_NODES=10000000.
TEST_F(CmapResize, ChurnKeepsItsSize) {
  constexpr size_t kLive = 1000;
  const char* given = std::getenv("OVSTHREAD_TEST_CMAP_NODES");
  size_t n = given ? std::strtoull(given, nullptr, 10) : 200000;
  nodes_.resize(kLive);
  for (size_t share : {1, 2}) {
    const size_t slots = kLive / share;
    for (size_t i = 0; i < n; i++) {
      cmap_node* node = &nodes_[i % kLive];
      if (i >= kLive) cmap_replace__(&map_, node, nullptr, (i - kLive) / share);
      cmap_insert__(&map_, node, i / share);
      if (i % kLive) continue;
      ASSERT_LE(bins_of(map_), slots);
      ASSERT_LE(live_bytes() - live_before_, 100 * slots) << i;
      if (i == 0) continue;
      ASSERT_GE(bins_of(map_), slots / 8);
      ASSERT_LE(fullest_bin(map_), 24u);
    }
    cmap_destroy(&map_);
    cmap_init(&map_);
    rcu::barrier();
  }
}

// Lines that empty are given back, whichever of a bin's lines empties first.
TEST_F(CmapResize, EmptiedLinesGoBack) {
  constexpr size_t kCrowd = 40;
  std::vector<cmap_node> crowd(kCrowd);
  auto hash_of = [](size_t i) { return unmix(i << 41); };
  insert(1);
  SteeredMap::of(map_).migrate(12);
  const uint32_t before = live_bytes();
  auto oldest_first = [](size_t i) { return i; };
  auto newest_first = [](size_t i) { return kCrowd - 1 - i; };
  auto middle_first = [](size_t i) { return (i + kCrowd / 2) % kCrowd; };
  for (size_t (*nth)(size_t) : {+oldest_first, +newest_first, +middle_first}) {
    for (size_t i = 0; i < kCrowd; i++) {
      cmap_insert__(&map_, &crowd[i], hash_of(i));
    }
    EXPECT_GE(live_bytes() - before, 5 * sizeof(CmapBin));
    for (size_t i = 0; i < kCrowd; i++) {
      cmap_replace__(&map_, &crowd[nth(i)], nullptr, hash_of(nth(i)));
    }
    EXPECT_EQ(live_bytes(), before);
  }
}

// A batch finds nodes in any line of a bin, and in the copy of a moved one.
TEST_F(CmapResize, BatchesReachEveryLine) {
  constexpr size_t kCrowd = 40;
  constexpr uint64_t kAll = (uint64_t{1} << kCrowd) - 1;
  std::vector<cmap_node> crowd(kCrowd);
  insert(1);
  SteeredMap& steered = SteeredMap::of(map_);
  steered.migrate(12);
  uint64_t hashes[kCrowd];
  for (size_t i = 0; i < kCrowd; i++) {
    hashes[i] = unmix(i << 41);
    cmap_insert__(&map_, &crowd[i], hashes[i]);
  }
  for (bool moved : {false, true}) {
    if (moved) steered.begin(13);
    EXPECT_EQ(steered.is_migrating(), moved);
    cmap_node* found[kCrowd];
    ASSERT_EQ(cmap_find_batch__(&map_, kAll, hashes, found), kAll);
    for (size_t i = 0; i < kCrowd; i++) EXPECT_EQ(found[i], &crowd[i]);
  }
  cmap_destroy(&map_);
  rcu::barrier();
}

TEST_F(CmapResize, TableFollowsTheLoad) {
  nodes_.reserve(100000);
  insert(100000);
  SteeredMap::of(map_).finish();
  EXPECT_GE(bins_of(map_), 100000 / 5u);
  EXPECT_LE(bins_of(map_), 100000u);
  for (size_t i = 0; i < nodes_.size(); i++) remove(&nodes_[i]);
  EXPECT_EQ(cmap_count(&map_), 0u);
  EXPECT_LE(bins_of(map_), 64u);
}

// Chains are one slot, however long; and a bin that is full only by chance is
// no reason to grow.
TEST_F(CmapResize, DuplicatesAndCrowdedBinsDoNotGrowTheTable) {
  std::vector<cmap_node> same(1000), crowd(9);
  for (cmap_node& node : same) cmap_insert(&map_, &node, 7);
  EXPECT_EQ(bins_of(map_), 2u);
  for (size_t i = 0; i < crowd.size(); i++) {
    cmap_insert__(&map_, &crowd[i], unmix(i << 20));
    EXPECT_EQ(cmap_find__(&map_, unmix(i << 20)), &crowd[i]);
  }
  EXPECT_LE(bins_of(map_), 4u);
  cmap_destroy(&map_);
  rcu::barrier();
}

// The hash's lower half must not matter less than the upper one.
TEST_F(CmapResize, HashesThatDifferAboveBit32DoNotGrowItWithoutBound) {
  nodes_.resize(5000);
  for (size_t i = 0; i < nodes_.size(); i++) {
    cmap_insert__(&map_, &nodes_[i], static_cast<uint64_t>(i) << 32);
  }
  EXPECT_LE(bins_of(map_), 4096u);
  EXPECT_LE(fullest_bin(map_), 20u);
  cmap_destroy(&map_);
  rcu::barrier();
}

TEST_F(CmapResize, RemovingWhatThePositionGivesEmptiesTheMap) {
  insert(1000);
  cmap_position position = {0, 0, 0};
  size_t steps = 0;
  while (cmap_node* node = cmap_next_position(&map_, &position)) {
    remove(node);
    rcu::quiesce();
    ASSERT_LE(++steps, 1000u);
  }
  EXPECT_EQ(cmap_count(&map_), 0u);
}

// No call moves more than 64 bins, zeroes more than a small table, or frees a
// table.  A long run takes OVSTHREAD_TEST_CMAP_NODES=10000000.
TEST_F(CmapResize, NoCallDoesMuch) {
  const char* given = std::getenv("OVSTHREAD_TEST_CMAP_NODES");
  size_t n = given ? std::strtoull(given, nullptr, 10) : 1000000;
  nodes_.resize(n);
  cmap_core::Work most{}, all{};
  auto watch = [&](auto operation) {
    cmap_core::Work before = cmap_core::tls_work;
    operation();
    const cmap_core::Work& now = cmap_core::tls_work;
    auto note = [](uint32_t was, uint32_t is, uint32_t* top, uint32_t* sum) {
      *top = std::max(*top, is - was);
      *sum += is - was;
    };
    note(before.moved_bins, now.moved_bins, &most.moved_bins, &all.moved_bins);
    note(before.zeroed_bytes, now.zeroed_bytes, &most.zeroed_bytes,
         &all.zeroed_bytes);
    note(before.released_bytes, now.released_bytes, &most.released_bytes,
         &all.released_bytes);
  };
  size_t peak = 0;
  for (size_t i = 0; i < n; i++) {
    watch([&] { cmap_insert__(&map_, &nodes_[i], i); });
    if (i % 10000 == 0) rcu::quiesce();
  }
  peak = bins_of(map_);
  EXPECT_GE(all.moved_bins, peak / 4);
  for (size_t i = 0; i < n; i++) {
    watch([&] { remove(&nodes_[i]); });
    if (i % 10000 == 0) rcu::quiesce();
  }
  EXPECT_LE(bins_of(map_), 64u);
  EXPECT_GE(all.moved_bins, peak);
  EXPECT_LE(most.moved_bins, 64u);
  EXPECT_LE(most.zeroed_bytes, uint64_t{128} << 10);
  EXPECT_EQ(all.released_bytes, 0u);
  // Quiescing gives a big table back in pieces.
  EXPECT_GE(cmap_core::tls_work.released_bytes, peak * 64 / 2);
}

// Flushed in walk order, by cursor and by position: survivors don't crowd, and
// a cursor's order lets the table shrink as they get fewer.
class CmapFlush : public CmapResize,
                  public testing::WithParamInterface<bool> {};

TEST_P(CmapFlush, InWalkOrderLeavesNoCrowd) {
  constexpr size_t kNodes = 1000000;
  nodes_.reserve(kNodes);
  insert(kNodes);
  size_t left = kNodes;
  auto removed = [&](cmap_node* node) {
    remove(node);
    if (--left % 50000 == 0 || left == 1000 || left == 100) {
      ASSERT_LE(fullest_bin(map_), 80u) << left << " left";
      if (left && GetParam()) {
        ASSERT_LE(bins_of(map_), 32 * left);
      }
    }
  };
  if (GetParam()) {
    cmap_cursor cursor = cmap_cursor_start(&map_);
    while (cmap_node* node = cursor.node) {
      cmap_cursor_advance(&cursor);
      ASSERT_NO_FATAL_FAILURE(removed(node));
    }
  } else {
    cmap_position position = {0, 0, 0};
    while (cmap_node* node = cmap_next_position(&map_, &position)) {
      ASSERT_NO_FATAL_FAILURE(removed(node));
    }
  }
  EXPECT_EQ(left, 0u);
  // However many bins are left, they go as writers call again.
  cmap_node& node = nodes_.front();
  for (size_t i = bins_of(map_) / 4 + 1000; i; i--) {
    cmap_insert__(&map_, &node, 0);
    remove(&node);
  }
  EXPECT_LE(bins_of(map_), 64u);
}
INSTANTIATE_TEST_SUITE_P(Order, CmapFlush, testing::Values(true, false),
                         [](const auto& order) {
                           return order.param ? "Cursor" : "Position";
                         });

// A crowd keeps the table from shrinking, though the samples that are to find
// it may all lie beside it; as many nodes all over the table do not.
TEST_F(CmapResize, NoCrowdIsOverlooked) {
  constexpr size_t kNodes = 100;
  constexpr int kLooks = 200;
  auto looks_that_shrink = [&] {
    SteeredMap& steered = SteeredMap::of(map_);
    steered.migrate(12);
    int shrink = 0;
    for (int i = 0; i < kLooks; i++) {
      shrink += cmap_core::shrinkable_bits(*steered.root(), kNodes) != 0;
    }
    return shrink;
  };
  nodes_.resize(kNodes);
  auto in_one_bin = [](size_t i) { return unmix(i << 8); };
  for (size_t i = 0; i < kNodes; i++) {
    cmap_insert__(&map_, &nodes_[i], in_one_bin(i));
  }
  EXPECT_EQ(looks_that_shrink(), 0);
  for (size_t i = 0; i < kNodes; i++) {
    cmap_replace__(&map_, &nodes_[i], nullptr, in_one_bin(i));
    cmap_insert__(&map_, &nodes_[i], i);
  }
  EXPECT_GT(looks_that_shrink(), kLooks / 2);
}

// In the middle of a migration: bins move, then their nodes are removed.  The
// root is still the old table, whose slots still point to them.
TEST_F(CmapResize, MovedBinsAreNotLookedAt) {
  for (bool grow : {true, false}) {
    // So many bins that the removals below don't end the migration.
    insert(10000);
    SteeredMap& steered = SteeredMap::of(map_);
    steered.migrate(12);
    std::vector<uint32_t> index(nodes_.size());
    for (uint32_t i = 0; i < nodes_.size(); i++) {
      index[i] = cmap_find_index(&map_, i);
    }
    steered.begin(grow ? 13 : 11);
    ASSERT_TRUE(steered.is_migrating());
    std::vector<uint32_t> moved;
    for (uint32_t i = 0; i < nodes_.size(); i++) {
      const CmapBin& bin = steered.root()->bin(nodes_[i].hash);
      if (bin.header.load(kRelaxed) & cmap_core::kMoved) moved.push_back(i);
    }
    for (uint32_t i : moved) {
      EXPECT_EQ(cmap_find(&map_, i), &nodes_[i]);
      EXPECT_EQ(cmap_find_index(&map_, i), UINT32_MAX);
      remove(&nodes_[i]);
      EXPECT_EQ(cmap_find(&map_, i), nullptr);
      uint32_t hashes[2] = {i, i};
      for (unsigned long wanted : {1, 3}) {  // One, or more.
        const cmap_node* found[2];
        EXPECT_EQ(cmap_find_batch(&map_, wanted, hashes, found), 0u);
      }
      EXPECT_EQ(cmap_find_index(&map_, i), UINT32_MAX);
      if (index[i] != UINT32_MAX) {
        EXPECT_EQ(cmap_find_by_index(&map_, index[i]), nullptr);
      }
    }
    ASSERT_TRUE(steered.is_migrating());
    EXPECT_GT(moved.size(), 60u);
    EXPECT_EQ(cmap_count(&map_), nodes_.size() - moved.size());
    cmap_destroy(&map_);
    cmap_init(&map_);
    rcu::barrier();
    nodes_.clear();
  }
}

// A cursor's table shrinks, grows and shrinks under it, migrations being whole
// or half done at each step: each node that stays comes once.
TEST_F(CmapResize, CursorsVisitOnceWhateverTheTablesDo) {
  insert(2000);
  SteeredMap& steered = SteeredMap::of(map_);
  const std::vector<std::vector<unsigned>> scripts = {
      {6, 7, 8, 9},           {9, 6, 7},
      {9, 10, 11, 12},        {7, 8, 9, 6, 7, 8, 9, 10, 5},
      {9, 10, 4, 5, 6, 4, 5}, {3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 1}};
  for (const auto& script : scripts) {
    for (size_t stride : {1, 7, 50, 333}) {
      for (bool half : {false, true}) {
        steered.migrate(8);
        std::vector<int> seen(nodes_.size());
        size_t visits = 0, next = 0;
        cmap_cursor cursor = cmap_cursor_start(&map_);
        for (; cursor.node; cmap_cursor_advance(&cursor)) {
          seen[hash_of(cursor.node)]++;
          if (++visits % stride || next == script.size()) continue;
          // A migration that is half done stands until the next step.
          steered.finish();
          steered.begin(script[next++]);
          if (!half) steered.finish();
        }
        EXPECT_EQ(std::count(seen.begin(), seen.end(), 1),
                  static_cast<ptrdiff_t>(nodes_.size()))
            << "stride " << stride << (half ? ", half" : "");
      }
    }
  }
}

// Positions too, with quiescent states between.
TEST_F(CmapResize, PositionsOutliveTables) {
  insert(2000);
  SteeredMap& steered = SteeredMap::of(map_);
  std::vector<int> seen(nodes_.size());
  size_t visits = 0;
  cmap_position position = {0, 0, 0};
  while (cmap_node* node = cmap_next_position(&map_, &position)) {
    seen[hash_of(node)]++;
    if (++visits % 50 == 0) {
      steered.finish();
      unsigned bits = steered.root()->bits;
      steered.begin(bits < 10 ? bits + 1 : 4);
      rcu::quiesce();
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1),
            static_cast<ptrdiff_t>(nodes_.size()));
}

// The n-th allocation fails, for each n: the map is as it was, or as it should
// be, and goes on working afterwards.
TEST_F(CmapResize, FailedAllocations) {
  struct Flow {
    cmap_node node;
  };
  for (int64_t budget = 0; budget < 40; budget++) {
    Cmap<Flow, &Flow::node> map;
    std::vector<Flow> flows(3000);
    std::vector<bool> in(flows.size());
    auto check = [&] {
      size_t count = 0;
      for (size_t i = 0; i < flows.size(); i++) {
        count += in[i];
        bool found = !map.equal_range(i).empty();
        ASSERT_EQ(found, in[i]) << i << ", budget " << budget;
      }
      ASSERT_EQ(map.size(), count);
    };
    auto insert = [&](size_t i) {
      try {
        map.insert(flows[i], i);
        in[i] = true;
      } catch (const std::bad_alloc&) {
      }
    };
    {
      AllocationBudget limit(budget);
      for (size_t i = 0; i < 2000; i++) insert(i);
      ASSERT_NO_FATAL_FAILURE(check());
      for (size_t i = 0; i < 1000; i++) {
        if (in[i]) map.erase(flows[i], i);
        in[i] = false;
      }
      ASSERT_NO_FATAL_FAILURE(check());
    }
    for (size_t i = 0; i < flows.size(); i++) {
      if (!in[i]) insert(i);
      ASSERT_TRUE(in[i]);
    }
    ASSERT_NO_FATAL_FAILURE(check());
  }
}

// A bin for whose overflow lines there is no memory, or not enough, stays where
// it is.
TEST_F(CmapResize, BinsWithoutMemoryStay) {
  std::vector<cmap_node> crowd(200);
  auto hash_of = [](size_t i) { return unmix((i & 1) << 59 | i << 8); };
  auto find_all = [&] {
    for (size_t i = 0; i < crowd.size(); i++) {
      ASSERT_EQ(cmap_find__(&map_, hash_of(i)), &crowd[i]);
    }
  };
  for (size_t i = 0; i < crowd.size(); i++) {
    cmap_insert__(&map_, &crowd[i], hash_of(i));
  }
  SteeredMap& steered = SteeredMap::of(map_);
  steered.migrate(3);
  for (unsigned bits : {4u, 2u}) {
    // Lines for none of the crowd, some, or one half of it.
    for (int64_t lines : {0, 3, 16}) {
      steered.migrate(bits);
      {
        AllocationBudget limit(2 + lines);  // The table takes two.
        steered.begin(bits == 4 ? 5 : 1);
        for (int i = 0; i < 10; i++) {
          if (steered.is_migrating()) steered.step();
        }
        EXPECT_TRUE(steered.is_migrating());
        ASSERT_NO_FATAL_FAILURE(find_all());
      }
      steered.finish();
      ASSERT_NO_FATAL_FAILURE(find_all());
    }
  }
  cmap_destroy(&map_);
  rcu::barrier();
}

// A map is destroyed in the middle of a migration, with overflow lines in both
// tables, while this thread still reads.
TEST_F(CmapResize, DestroyWhileMigrating) {
  for (unsigned bits : {9u, 7u}) {
    insert(2000);
    SteeredMap& steered = SteeredMap::of(map_);
    steered.migrate(8);
    steered.begin(bits);
    cmap_cursor cursor = cmap_cursor_start(&map_);
    const cmap copy = map_;  // What a reader that came before would hold.
    cmap_destroy(&map_);
    for (size_t i = 0; i < nodes_.size(); i++) {
      EXPECT_EQ(cmap_find(&copy, static_cast<uint32_t>(i)), &nodes_[i]);
    }
    size_t visits = 0;
    for (; cursor.node; cmap_cursor_advance(&cursor)) visits++;
    EXPECT_EQ(visits, nodes_.size());
    cmap_init(&map_);
    rcu::barrier();
    nodes_.clear();
  }
}

}  // namespace
}  // namespace ovsthread
