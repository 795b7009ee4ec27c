// SPDX-License-Identifier: Apache-2.0
//
// A large hmap as several threads use it: under a lock that they may elide, so
// that writers of different buckets are inside at once, and hmap_is_empty()
// without the lock.
#include <gtest/gtest.h>
#include <ovsthread/cache-line.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "openvswitch/hmap.h"
#include "thread-id.h"
#include "topology.h"

namespace ovsthread {
namespace {

// Nodes that keep a map of this capacity striped, and leave room for more
// without growth.
size_t enough() { return 128 * stripe_count(); }

// A striped map in a page of its own that can be made read-only.
class Page {
 public:
  Page() : size_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    map_ = static_cast<hmap*>(memory);
    hmap_init(map_);
    hmap_reserve(map_, 2 * enough());
  }
  ~Page() {
    protect(PROT_READ | PROT_WRITE);
    hmap_destroy(map_);
    munmap(map_, size_);
  }
  void protect(int protection) {
    ASSERT_EQ(mprotect(map_, size_, protection), 0);
  }
  hmap* map() { return map_; }

 private:
  size_t size_;
  hmap* map_;
};

TEST(HmapStripes, AMutationOfALargeMapWritesNothingThatALookupReadsOfTheMap) {
  Page page;
  std::vector<hmap_node> nodes(enough());
  page.protect(PROT_READ);
  for (size_t i = 0; i < nodes.size(); i++) {
    hmap_insert(page.map(), &nodes[i], i);
  }
  EXPECT_EQ(hmap_count(page.map()), nodes.size());
  for (hmap_node& node : nodes) hmap_remove(page.map(), &node);
  EXPECT_TRUE(hmap_is_empty(page.map()));
}

TEST(HmapStripes, ASmallMapFitsHalfACacheLineAndAllocatesNoStripes) {
  hmap map = HMAP_INITIALIZER(&map);
  EXPECT_EQ(sizeof map, 32u);
  hmap_reserve(&map, 64 * stripe_count() - 1);
  EXPECT_FALSE(hmap_is_striped__(map.tally));
  hmap_reserve(&map, 64 * stripe_count() * 2 - 1);
  EXPECT_TRUE(hmap_is_striped__(map.tally));
  hmap_destroy(&map);
}

// The stripes of a map that no longer needs them serve the next one, empty.
TEST(HmapStripes, ReturnToThePool) {
  hmap maps[2];
  hmap_node node;
  size_t stripes = 0;
  for (bool shrunk : {false, true, false}) {
    for (hmap& map : maps) {
      hmap_init(&map);
      hmap_reserve(&map, 64 * stripe_count() * 2 - 1);
      EXPECT_EQ(hmap_count(&map), 0u);
      if (stripes != 0) {
        EXPECT_EQ(map.tally, stripes);
      }
      stripes = map.tally;
      hmap_insert(&map, &node, 0);
      if (shrunk) hmap_shrink(&map);
      EXPECT_EQ(hmap_count(&map), 1u);
      hmap_destroy(&map);
    }
  }
}

// Runs FUNCTION(i) in one thread for each stripe at once.
template <class Function>
void run_on_each_stripe(Function function) {
  std::atomic<unsigned> ready{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < stripe_count(); i++) {
    threads.emplace_back([&ready, &function] {
      // Consecutive thread numbers have different stripes.
      unsigned stripe = thread_id() & (stripe_count() - 1);
      ready++;
      while (ready < stripe_count()) std::this_thread::yield();
      function(stripe);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Behind the tally are a header, which no mutation writes, and a line for each
// stripe.
TEST(HmapStripes, ThreadsCountOnLinesOfTheirOwn) {
  struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Line {
    char counters[2 * sizeof(size_t)];  // What follows has no value.
  };
  hmap map = HMAP_INITIALIZER(&map);
  hmap_reserve(&map, 2 * enough());
  const Line* block = reinterpret_cast<const Line*>(map.tally - 1);
  const size_t lines = 1 + stripe_count();
  std::vector<hmap_node> nodes(stripe_count());
  std::set<size_t> written;
  // Consecutive thread numbers have different stripes.
  for (hmap_node& node : nodes) {
    std::vector<Line> before(block, block + lines);
    std::thread([&] {
      hmap_insert_fast(&map, &node, 1);
      hmap_remove(&map, &node);
    }).join();
    for (size_t i = 0; i < lines; i++) {
      if (std::memcmp(before[i].counters, block[i].counters,
                      sizeof(Line::counters)) == 0) {
        continue;
      }
      EXPECT_NE(i, 0u);
      EXPECT_TRUE(written.insert(i).second) << "line " << i;
    }
  }
  EXPECT_EQ(written.size(), stripe_count());
  hmap_destroy(&map);
}

// What writers of different buckets do in transactions they may do here without
// any: the thread sanitizer sees each line that two of them share.
TEST(HmapStripes, WritersOfDifferentBucketsShareNothing) {
  const unsigned writers = stripe_count();
  std::vector<hmap_node> nodes(enough());
  hmap map = HMAP_INITIALIZER(&map);
  hmap_reserve(&map, 64 * enough());
  run_on_each_stripe([&](unsigned self) {
    for (int round = 0; round < 200; round++) {
      for (size_t i = self; i < nodes.size(); i += writers) {
        hmap_insert_fast(&map, &nodes[i], i);
      }
      for (size_t i = self; i < nodes.size(); i += 2 * writers) {
        hmap_remove(&map, &nodes[i]);
      }
      for (size_t i = self + writers; i < nodes.size(); i += 2 * writers) {
        EXPECT_TRUE(hmap_contains(&map, &nodes[i]));
        hmap_remove(&map, &nodes[i]);
      }
    }
    for (size_t i = self; i < nodes.size(); i += writers) {
      hmap_insert_fast(&map, &nodes[i], i);
    }
  });
  EXPECT_EQ(hmap_count(&map), nodes.size());
  // Removed by another thread than the one that inserted.
  for (hmap_node& node : nodes) hmap_remove(&map, &node);
  EXPECT_EQ(hmap_count(&map), 0u);
  EXPECT_TRUE(hmap_is_empty(&map));
  hmap_destroy(&map);
}

TEST(HmapStripes, GrowsWhicheverThreadsInsert) {
  const size_t each = 20 * enough() / stripe_count();
  std::vector<hmap_node> nodes(each * stripe_count());
  hmap map = HMAP_INITIALIZER(&map);
  std::mutex mutex;
  run_on_each_stripe([&](unsigned self) {
    for (size_t i = 0; i < each; i++) {
      std::lock_guard<std::mutex> guard(mutex);
      hmap_insert(&map, &nodes[self * each + i], self * each + i);
      ASSERT_LE(hmap_count(&map), (map.mask + 1) * 9 / 4);
    }
  });
  EXPECT_EQ(hmap_count(&map), nodes.size());
  hmap_destroy(&map);
}

// One node at least is in the map all the time, which changes its size, its
// block of stripes and its place; somebody asks without the lock.
TEST(HmapStripes, IsNeverEmptyWhileANodeStays) {
  std::vector<hmap_node> nodes(2 * enough());
  hmap map = HMAP_INITIALIZER(&map);
  hmap other = HMAP_INITIALIZER(&other);
  hmap_node staying;
  hmap_insert(&map, &staying, 1);
  std::mutex mutex;
  std::atomic<bool> done{false};

  std::thread reader([&] {
    while (!done) ASSERT_FALSE(hmap_is_empty(&map));
  });
  auto writer = [&] {
    for (int round = 0; round < 30; round++) {
      std::lock_guard<std::mutex> guard(mutex);
      for (size_t i = 0; i < nodes.size(); i++) hmap_insert(&map, &nodes[i], i);
      for (hmap_node& node : nodes) hmap_remove(&map, &node);
      hmap_shrink(&map);
      for (size_t i = 0; i < nodes.size(); i++) {
        hmap_insert(&other, &nodes[i], i);
      }
      hmap_swap(&map, &other);
      hmap_insert(&map, &staying, (hmap_remove(&other, &staying), 1));
      hmap_destroy(&other);
      hmap_init(&other);
      for (hmap_node& node : nodes) hmap_remove(&map, &node);
    }
  };
  std::thread a(writer), b(writer);
  a.join();
  b.join();
  done = true;
  reader.join();
  EXPECT_EQ(hmap_count(&map), 1u);
  hmap_destroy(&map);
  hmap_destroy(&other);
}

}  // namespace
}  // namespace ovsthread
