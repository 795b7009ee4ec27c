// SPDX-License-Identifier: Apache-2.0
//
// What ends the program, and the message that says why.
#include <gtest/gtest.h>
#include <ovsthread/cmap.h>

#include <vector>

#include "unit/cmap-test.h"

namespace ovsthread {
namespace {

TEST(CmapMisuseDeathTest, RemovingAnAbsentNode) {
  cmap map = CMAP_INITIALIZER;
  cmap_node in, out, never;
  EXPECT_DEATH(cmap_remove(&map, &in, 7),
               "cmap .*: removing node .* not in it");
  cmap_insert(&map, &in, 7);
  cmap_insert(&map, &out, 7);
  cmap_remove(&map, &out, 7);
  EXPECT_DEATH(cmap_remove(&map, &out, 7), "removing node .* not in it");
  EXPECT_DEATH(cmap_remove(&map, &never, 8), "removing node .* not in it");
  EXPECT_DEATH(cmap_replace(&map, &out, &never, 7),
               "replacing node .* not in it with hash 0x7");
  EXPECT_EQ(cmap_count(&map), 1u);
  EXPECT_EQ(cmap_find(&map, 7), &in);
  cmap_destroy(&map);
  rcu::quiesce();
}

TEST(CmapMisuseDeathTest, NodeAbove48Bits) {
  cmap map = CMAP_INITIALIZER;
  cmap_node node;
  auto* far = reinterpret_cast<cmap_node*>(reinterpret_cast<uintptr_t>(&node) |
                                           uintptr_t{1} << 56);
  EXPECT_DEATH(cmap_insert(&map, far, 7),
               "node .* is not in the lower 48 bits");
  cmap_insert(&map, &node, 7);
  EXPECT_DEATH(cmap_replace(&map, &node, far, 7), "not in the lower 48 bits");
  cmap_destroy(&map);
  rcu::quiesce();
}

TEST(CmapMisuseDeathTest, InsertingWithoutMemory) {
  cmap map = CMAP_INITIALIZER;
  cmap_node node;
  {
    AllocationBudget none(0);
    EXPECT_DEATH(cmap_insert(&map, &node, 7),
                 "cmap .*: out of memory inserting");
  }
  EXPECT_EQ(cmap_insert(&map, &node, 7), 1u);
  cmap_destroy(&map);
  rcu::quiesce();
}

// Legal while nobody writes; else it is trapped where the library is built for
// debugging.
TEST(CmapMisuseDeathTest, QuiescingInsideAnIteration) {
  cmap map = CMAP_INITIALIZER;
  std::vector<cmap_node> nodes(3000);
  for (uint32_t i = 0; i < nodes.size(); i++) cmap_insert(&map, &nodes[i], i);
  SteeredMap& steered = SteeredMap::of(map);
  steered.finish();
  rcu::quiesce();
  size_t visits = 0;
  for (cmap_cursor c = cmap_cursor_start(&map); c.node; visits++) {
    const uint64_t section = CmapPlatform::read_section();
    cmap_cursor_advance(&c);
    rcu::postpone([](void*) {}, nullptr);  // Makes for a new grace period.
    rcu::quiesce();
#ifndef NDEBUG
    EXPECT_NE(CmapPlatform::read_section(), section);
#endif
  }
  EXPECT_EQ(visits, nodes.size());
#ifdef NDEBUG
  GTEST_SKIP() << "the library does not trap it without its debug checks";
#endif
  EXPECT_DEATH(
      {
        cmap_cursor c = cmap_cursor_start(&map);
        steered.migrate(steered.root()->bits - 1);
        rcu::quiesce();
        rcu::quiesce();
        cmap_cursor_advance(&c);
      },
      "quiesced within an iteration");
  cmap_destroy(&map);
  rcu::quiesce();
}

}  // namespace
}  // namespace ovsthread
