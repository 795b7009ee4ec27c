// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "thread-id.h"

namespace ovsthread {
namespace {

TEST(ThreadId, IsStableWithinAThreadAndUniqueAcrossThem) {
  constexpr int kThreads = 8;
  std::vector<uint32_t> ids(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&ids, i] {
      ids[i] = thread_id();
      EXPECT_EQ(thread_id(), ids[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ids.push_back(thread_id());
  EXPECT_EQ(std::set<uint32_t>(ids.begin(), ids.end()).size(), ids.size());
}

}  // namespace
}  // namespace ovsthread
