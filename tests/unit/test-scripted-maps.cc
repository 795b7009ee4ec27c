// SPDX-License-Identifier: Apache-2.0
//
// Maps that are written to inside an elided section: what a transaction can do
// commits; what it can't (installing a table, allocating, moving bins, waiting
// for a bin) makes the section start again with its lock taken for real, once,
// and neither a node nor memory is lost.
#include <malloc.h>

#include <cstdint>
#include <vector>

#include "openvswitch/hmap.h"
#include "ovs-thread.h"
#include "unit/cmap-test.h"
#include "unit/scripted-testing.h"

namespace ovsthread {
namespace {

ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
ovs_rwlock rwlock = OVS_RWLOCK_INITIALIZER;

struct Outer {
  const char* name;
  void (*lock)();
  void (*unlock)();
};

void PrintTo(const Outer& outer, std::ostream* out) { *out << outer.name; }

constexpr Outer kOuter[] = {
    {"mutex", [] { ovs_mutex_lock(&mutex); }, [] { ovs_mutex_unlock(&mutex); }},
    {"rwlock", [] { ovs_rwlock_wrlock(&rwlock); },
     [] { ovs_rwlock_unlock(&rwlock); }},
};

bool is_lock_taken() { return is_held(mutex) || rwlock.word >= 32; }

class Sections : public Scripted, public testing::WithParamInterface<Outer> {
 protected:
  // Runs WRITE in a section, as a transaction at first.
  template <class Write>
  static void run_section(Write write) {
    UndoAll undo_all;
    GetParam().lock();
    write();
    EXPECT_NE(elided(), is_lock_taken());
    GetParam().unlock();
  }

  template <class Write>
  static void expect_elided(Write write) {
    ovs_elision_counts_reset();
    run_section(write);
    expect_counts(1, 1);
  }

  template <class Write>
  static void expect_safe_point(ovs_safe_point what, Write write) {
    ovs_elision_counts_reset();
    run_section(write);
    expect_counts(1, 0);
    EXPECT_EQ(counts().safe_points[what], 1u);
  }

  // Each section started one transaction; those not ELIDED reached one safe
  // point and took the lock for real.
  static void expect_counts(uint64_t sections, uint64_t elided) {
    ovs_elision_counts now = counts();
    EXPECT_EQ(now.acquisitions, sections);
    EXPECT_EQ(now.started, sections);
    EXPECT_EQ(now.elided, elided);
    for (int i = 0; i < OVS_N_ABORTS; i++) {
      ovs_elision_abort cause = static_cast<ovs_elision_abort>(i);
      EXPECT_EQ(now.aborts[i],
                cause == OVS_ABORT_SAFE_POINT ? sections - elided : 0)
          << ovs_elision_abort_name(cause);
    }
    EXPECT_FALSE(is_lock_taken());
  }
};

using cmap_core::tls_work;

// Leaves the thread with so many overflow lines to spare, less than a stock.
void leave_spare_lines(unsigned lines) {
  constexpr unsigned kStock = 8;
  auto use_up = [] {
    CmapPlatform::destroy_line(CmapPlatform::create_line<CmapBin>());
  };
  uint64_t zeroed = tls_work.zeroed_bytes;
  while (tls_work.zeroed_bytes == zeroed) use_up();
  for (unsigned left = kStock - 1; left > lines; left--) use_up();
}

class CmapSections : public Sections {
 protected:
  void SetUp() override {
    Sections::SetUp();
    rcu::quiesce();  // Registers the thread.
    memory_at_start_ = memory();
    nodes_.reserve(1000);
  }

  // Every node that was inserted and not removed is found, and no memory lost.
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(cmap_count(&map_), nodes_.size() - removed_.size());
    for (Element& element : nodes_) {
      EXPECT_EQ(cmap_find__(&map_, element.hash),
                element.removed ? nullptr : &element.node);
    }
    cmap_destroy(&map_);
    rcu::barrier();
    EXPECT_EQ(memory(), memory_at_start_);
  }

  void insert(uint64_t hash) {
    nodes_.push_back({{}, hash, false});
    cmap_insert__(&map_, &nodes_.back().node, hash);
  }
  void remove(size_t i) {
    cmap_replace__(&map_, &nodes_[i].node, nullptr, nodes_[i].hash);
    nodes_[i].removed = true;
    removed_.push_back(i);
  }

  CmapTable& root() { return *SteeredMap::of(map_).root(); }
  SteeredMap& steered() { return SteeredMap::of(map_); }

  // The I-th of the hashes that belong into bin BIN of the root.
  uint64_t hash_in(size_t bin, uint64_t i) {
    return unmix((uint64_t{bin} << root().shift()) + ((i + 1) << 20));
  }
  void fill(size_t bin, unsigned slots) {
    for (unsigned i = 0; i < slots; i++) insert(hash_in(bin, i));
  }

  // A table that migrates and of which some bins have not moved, the last one
  // among them.
  void start_to_grow(unsigned bits) {
    insert(0);
    steered().migrate(bits);
    steered().begin(bits + 1);
  }

 private:
  struct Element {
    cmap_node node;
    uint64_t hash;
    bool removed;
  };

  // Bytes that this thread has allocated and not freed, but for spare lines.
  // Arrays that are mapped are not among them.
  static uint64_t memory() {
    leave_spare_lines(0);
    return tls_work.zeroed_bytes - tls_work.released_bytes;
  }

 protected:
  FixedKey key_;
  cmap map_ = CMAP_INITIALIZER;
  std::vector<Element> nodes_;
  std::vector<size_t> removed_;
  uint64_t memory_at_start_;
};

constexpr unsigned kSlots = CmapPlatform::kSlots;

TEST_P(CmapSections, InstallsTheFirstTable) {
  expect_safe_point(OVS_SAFE_POINT_ALLOCATION, [&] { insert(1); });
  expect_elided([&] { insert(2); });
}

TEST_P(CmapSections, OverflowsIntoASpareLine) {
  start_to_grow(8);
  fill(255, kSlots);
  leave_spare_lines(1);
  expect_elided([&] { insert(hash_in(255, kSlots)); });
  EXPECT_NE(root().bins[255].header.load(kRelaxed), 0u);
}

TEST_P(CmapSections, OverflowsWithoutASpareLine) {
  start_to_grow(8);
  fill(255, kSlots);
  leave_spare_lines(0);
  expect_safe_point(OVS_SAFE_POINT_ALLOCATION,
                    [&] { insert(hash_in(255, kSlots)); });
  EXPECT_NE(root().bins[255].header.load(kRelaxed), 0u);
}

TEST_P(CmapSections, EmptiesAnOverflowLine) {
  start_to_grow(8);
  fill(255, kSlots + 1);
  expect_elided([&] { remove(kSlots + 1); });
  EXPECT_EQ(root().bins[255].header.load(kRelaxed), 0u);
}

TEST_P(CmapSections, StartsToGrow) {
  insert(0);
  fill(0, kSlots - 1);
  fill(1, 2);
  ASSERT_EQ(root().n, 2u);
  leave_spare_lines(7);
  expect_safe_point(OVS_SAFE_POINT_MIGRATION,
                    [&] { insert(hash_in(0, kSlots)); });
  EXPECT_EQ(root().n, 4u);
}

TEST_P(CmapSections, GoesOnGrowing) {
  start_to_grow(8);
  uint64_t moved = tls_work.moved_bins;
  ovs_elision_counts_reset();
  uint64_t sections = 0;
  while (tls_work.moved_bins == moved) {
    ASSERT_LT(sections++, CmapPlatform::kGrowTicks);
    run_section([&] { insert(hash_in(200 + sections, 0)); });
  }
  EXPECT_EQ(tls_work.moved_bins, moved + CmapPlatform::kChunkBins);
  expect_counts(sections, sections - 1);
}

TEST_P(CmapSections, Shrinks) {
  insert(0);
  steered().migrate(6);
  for (uint64_t i = 0; i < CmapPlatform::kMinCheckTicks; i++) {
    insert(hash_in(i % 64, 1 + i / 64));
  }
  for (size_t i = 1; i < CmapPlatform::kMinCheckTicks; i++) remove(i);
  ASSERT_EQ(root().n, 64u);
  expect_safe_point(OVS_SAFE_POINT_MIGRATION, [&] { remove(0); });
  EXPECT_EQ(root().n, 2u);
}

TEST_P(CmapSections, GoesOnShrinking) {
  insert(0);
  steered().migrate(8);
  for (size_t i = 0; i < CmapPlatform::kShrinkTicks; i++) {
    insert(hash_in(255, i));
  }
  steered().begin(7);
  for (size_t i = 1; i < CmapPlatform::kShrinkTicks; i++) remove(i);
  uint64_t moved = tls_work.moved_bins;
  expect_safe_point(OVS_SAFE_POINT_MIGRATION, [&] { remove(0); });
  EXPECT_EQ(tls_work.moved_bins, moved + CmapPlatform::kChunkBins);
}

// Another writer, not under the outer lock, is inside the bin.
TEST_P(CmapSections, MeetsALockedBin) {
  insert(0);
  CmapBin& bin = root().bins[1];
  for (bool remove : {false, true}) {
    uint64_t header = cmap_core::lock_bin(bin, false);
    expect_safe_point(OVS_SAFE_POINT_MIGRATION, [&] {
      // By the time of the real run it has left.
      if (!elided()) cmap_core::unlock_bin(bin, header);
      remove ? this->remove(1) : insert(hash_in(1, 0));
    });
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Locks, CmapSections, testing::ValuesIn(kOuter));

class HmapSections : public Sections {
 protected:
  // TEST runs with an empty map, often enough that all memory which is kept for
  // good exists before the last time.
  template <class Test>
  void repeat(Test test) {
    size_t in_use = 0;
    for (int round = 0; round < 4; round++) {
      in_use = mallinfo2().uordblks;
      hmap_init(&map_);
      n_ = 0;
      test();
      EXPECT_EQ(hmap_count(&map_), n_);
      for (size_t i = 0; i < n_; i++) {
        EXPECT_TRUE(hmap_contains(&map_, &nodes_[i]));
      }
      hmap_destroy(&map_);
    }
    EXPECT_EQ(mallinfo2().uordblks, in_use);
  }

  // Without growing the map.
  void fill(size_t n) {
    while (n_ < n) {
      hmap_insert_fast(&map_, &nodes_[n_], n_);
      n_++;
    }
  }
  void insert() {
    hmap_insert(&map_, &nodes_[n_], n_);
    n_++;
  }

  hmap map_;
  std::vector<hmap_node> nodes_{10000};
  size_t n_;
};

// A small array is allocated and filled inside.
TEST_P(HmapSections, GrowsALittle) {
  repeat([&] {
    fill(hmap_capacity(&map_));
    expect_elided([&] { insert(); });
    EXPECT_EQ(map_.mask, 3u);
  });
}

TEST_P(HmapSections, GrowsMuch) {
  repeat([&] {
    hmap_reserve(&map_, 500);
    ASSERT_EQ(map_.mask, 255u);
    fill(hmap_capacity(&map_));
    ovs_elision_counts_reset();
    // When a thread looks at the load is its stripe's affair.
    uint64_t sections = 0;
    while (map_.mask == 255) {
      ASSERT_LE(++sections, 256u);
      run_section([&] { insert(); });
    }
    EXPECT_EQ(map_.mask, 511u);
    expect_counts(sections, sections - 1);
  });
}

TEST_P(HmapSections, ShrinksMuch) {
  repeat([&] {
    hmap_reserve(&map_, 1000);
    ASSERT_EQ(map_.mask, 511u);
    fill(100);
    expect_safe_point(OVS_SAFE_POINT_ALLOCATION, [&] { hmap_shrink(&map_); });
    EXPECT_LT(map_.mask, 100u);
  });
}

INSTANTIATE_TEST_SUITE_P(Locks, HmapSections, testing::ValuesIn(kOuter));

}  // namespace
}  // namespace ovsthread
