// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pthread.h>

#include <set>
#include <string>
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

TEST(ThreadName, IsKnownByNumberWhileTheThreadLives) {
  uint32_t id = 0;
  std::thread([&id] {
    thread_name_set("handler7");
    id = thread_id();
    EXPECT_STREQ(thread_name().text, "handler7");
    std::thread([id] {
      EXPECT_STREQ(thread_name(id).text, "handler7");
    }).join();
    thread_name_set("a name that is too long to be kept whole");
    EXPECT_STREQ(thread_name(id).text, "a name that is too long to be k");
  }).join();
  EXPECT_EQ(thread_name(id).text, "thread" + std::to_string(id));
}

TEST(ThreadName, OfAThreadNeverNamedIsTheKernels) {
  std::thread([] {
    pthread_setname_np(pthread_self(), "raw");
    EXPECT_STREQ(thread_name().text, "raw");
    EXPECT_EQ(thread_name(thread_id()).text,
              "thread" + std::to_string(thread_id()));
  }).join();
}

// Readers never take one thread's name for another's while nodes are reused.
TEST(ThreadName, StaysWithItsThreadWhileNodesAreReused) {
  constexpr int kRounds = 2000;
  std::thread reader([] {
    for (int i = 0; i < 20 * kRounds; i++) {
      uint32_t id = static_cast<uint32_t>(i) % (3 * kRounds);
      ThreadName name = thread_name(id);
      if (name.text[0] == 'n') {
        ASSERT_EQ(name.text, "named" + std::to_string(id));
      }
    }
  });
  for (int i = 0; i < kRounds; i++) {
    std::thread([] {
      thread_name_set(("named" + std::to_string(thread_id())).c_str());
    }).join();
  }
  reader.join();
}

}  // namespace
}  // namespace ovsthread
