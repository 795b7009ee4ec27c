// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "held-locks.h"
#include "lock-word.h"
#include "no-memory.h"
#include "thread-id.h"

namespace ovsthread {
namespace {

TEST(HeldLocks, RemembersKindAndPlace) {
  HeldLocks held{};
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  held.push_real(&a, Hold::kCounted, "a.c:1");
  held.push_elided(&b, Hold::kElidedShared, "b.c:2");
  EXPECT_TRUE(held.any_elided());
  EXPECT_EQ(held.find(&a)->hold(), Hold::kCounted);
  EXPECT_FALSE(held.find(&a)->elided());
  EXPECT_STREQ(held.find(&a)->where(), "a.c:1");
  EXPECT_EQ(held.find(&b)->hold(), Hold::kElidedShared);
  EXPECT_TRUE(held.find(&b)->elided());
  EXPECT_EQ(held.find(&b)->lock(), &b);
  EXPECT_EQ(held.find(&c), nullptr);
  held.remove(held.find(&b));
  EXPECT_FALSE(held.any_elided());
  EXPECT_EQ(held.find(&b), nullptr);
  EXPECT_NE(held.find(&a), nullptr);
}

TEST(HeldLocks, FindsTheYoungestHoldOfALock) {
  HeldLocks held{};
  uint32_t lock = 0;
  held.push_real(&lock, Hold::kCounted, "first");
  held.push_elided(&lock, Hold::kElidedShared, "second");
  EXPECT_STREQ(held.find(&lock)->where(), "second");
  held.remove(held.find(&lock));
  EXPECT_STREQ(held.find(&lock)->where(), "first");
}

TEST(HeldLocks, RemovesInAnyOrder) {
  std::vector<uint32_t> locks(4);
  std::vector<size_t> order = {0, 1, 2, 3};
  do {
    HeldLocks held{};
    for (uint32_t& lock : locks) {
      held.push_elided(&lock, Hold::kElidedExclusive, nullptr);
    }
    for (size_t i = 0; i < order.size(); i++) {
      EXPECT_TRUE(held.any_elided());
      held.remove(held.find(&locks[order[i]]));
      for (size_t j = 0; j < order.size(); j++) {
        EXPECT_EQ(held.find(&locks[order[j]]) != nullptr, j > i);
      }
    }
    EXPECT_FALSE(held.any_elided());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(HeldLocks, CountedHoldsGoToTheHeapWhenFull) {
  HeldLocks held{};
  std::vector<uint32_t> locks(100);
  for (uint32_t& lock : locks) held.push_real(&lock, Hold::kCounted, "here");
  EXPECT_TRUE(held.full());
  for (uint32_t& lock : locks) ASSERT_NE(held.find(&lock), nullptr);
  for (size_t i = 0; i < locks.size(); i++) {
    size_t which = i * 37 % locks.size();
    held.remove(held.find(&locks[which]));
    EXPECT_EQ(held.find(&locks[which]), nullptr);
  }
  EXPECT_FALSE(held.full());
  for (uint32_t& lock : locks) EXPECT_EQ(held.find(&lock), nullptr);
}

TEST(HeldLocks, SelfIsTheThreadsNumber) {
  HeldLocks held{};
  EXPECT_EQ(held.self_if_known(), 0u);
  EXPECT_EQ(held.self(), lock_number(thread_id()));
  EXPECT_EQ(held.self_if_known(), held.self());
}

TEST(LockNumber, IsNeverZeroAndLeavesTheStateBitsAlone) {
  for (uint32_t id : {0u, 1u, 1000u, (1u << 27) - 2, (1u << 27) - 1, 1u << 27,
                      UINT32_MAX - 1}) {
    EXPECT_NE(lock_number(id), 0u) << id;
    EXPECT_EQ(lock_number(id) & ~kOwnerMask, 0u) << id;
  }
  EXPECT_NE(lock_number(0), lock_number(1));
}

// More read holds than the list has room for.
void hold_many(HeldLocks& held, std::vector<uint32_t>& locks) {
  for (uint32_t& lock : locks) held.push_real(&lock, Hold::kCounted, nullptr);
}

TEST(HeldLocks, SaysThatMemoryIsOut) {
  if (!can_exhaust_memory()) GTEST_SKIP() << "others need memory, too";
  HeldLocks held{};
  std::vector<uint32_t> locks(9);
  auto offend = [&] {
    exhaust_memory();
    hold_many(held, locks);
  };
  EXPECT_EXIT(offend(), testing::KilledBySignal(SIGABRT),
              "out of memory for a list of held read locks");
}

// A transaction that released it may abort, and hold it again.  The heap lies
// above static memory and below the stack.
TEST(HeldLocks, KeepsTheMemoryOfAReleasedHoldInsideATransaction) {
  static HeldLocks low{};
  HeldLocks high{};
  for (HeldLocks* held : {&low, &high}) {
    std::vector<uint32_t> locks(8);
    uint32_t elided = 0;
    held->push_elided(&elided, Hold::kElidedExclusive, nullptr);
    hold_many(*held, locks);
    HeldLocks before = *held;
    held->remove(held->find(&locks.back()));
    EXPECT_EQ(held->find(&locks.back()), nullptr);
    *held = before;
    EXPECT_NE(held->find(&locks.back()), nullptr);
    held->remove(held->find(&elided));
    for (uint32_t& lock : locks) held->remove(held->find(&lock));
  }
}

}  // namespace
}  // namespace ovsthread
