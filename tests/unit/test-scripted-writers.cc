// SPDX-License-Identifier: Apache-2.0
//
// What writers of a concurrent map do all day, over and over, elides.
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "rcu.h"
#include "unit/cmap-test.h"
#include "unit/scripted-testing.h"

namespace ovsthread {
namespace {

using Writers = Scripted;

struct Element {
  cmap_node node;
  unsigned frees;
};

// A map of this thread alone, since scripted transactions exclude nobody: the
// oldest element is removed and a new one inserted, ROUNDS times.
class Writer {
 public:
  static constexpr size_t kSize = 1 << 16;

  explicit Writer(size_t rounds) : rounds_(rounds), elements_(kSize + rounds) {}

  void run(ovs_mutex& mutex) {
    Script script;
    for (size_t i = 0; i < kSize; i++) insert(i);
    size_t i = 0;
    script.undo_with([&] {
      if (!cmap_find__(&map_, i)) insert(i);
    });
    for (; i < rounds_; i++) {
      ovs_mutex_lock(&mutex);
      cmap_replace__(&map_, &elements_[i].node, nullptr, i);
      rcu::postpone(free_element, &elements_[i]);
      ovs_mutex_unlock(&mutex);
      insert(kSize + i);
      if (i % 64 == 0) {
        rcu::quiesce();
        script.trace();  // Forgets it.
      }
    }
    EXPECT_EQ(cmap_count(&map_), kSize);
    cmap_destroy(&map_);
  }

  // How many elements were not freed as often as they should.
  size_t n_wrong() const {
    size_t n = 0;
    for (size_t i = 0; i < elements_.size(); i++) {
      n += elements_[i].frees != (i < rounds_);
    }
    return n;
  }

 private:
  void insert(size_t i) { cmap_insert__(&map_, &elements_[i].node, i); }
  static void free_element(void* element) {
    static_cast<Element*>(element)->frees++;
  }

  size_t rounds_;
  std::vector<Element> elements_;
  cmap map_ = CMAP_INITIALIZER;
};

TEST_F(Writers, RemoveAndPostponeUnderOneMutex) {
  constexpr size_t kRounds = 500000;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  Writer writers[2] = {Writer(kRounds), Writer(kRounds)};
  std::thread other([&] { writers[1].run(mutex); });
  writers[0].run(mutex);
  other.join();
  rcu::barrier();
  for (const Writer& writer : writers) EXPECT_EQ(writer.n_wrong(), 0u);
  ovs_elision_counts now = counts();
  std::printf("# elided: %ju of %ju\n", uintmax_t{now.elided},
              uintmax_t{now.acquisitions});
  EXPECT_EQ(now.acquisitions, 2 * kRounds);
  EXPECT_GE(now.elided, 2 * kRounds * 99 / 100);
}

}  // namespace
}  // namespace ovsthread
