// SPDX-License-Identifier: Apache-2.0
//
// cmap in one thread: every operation against what a multimap says, and the
// cases at the edges.
#include <gtest/gtest.h>
#include <ovsthread/cmap.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <unordered_map>
#include <vector>

#include "cmap-core.h"
#include "cmap-platform.h"
#include "unit/cmap-test.h"

namespace ovsthread {
namespace {

TEST(Cmap, EmptyMapHasNothing) {
  for (bool zeroed : {false, true}) {
    cmap map = CMAP_INITIALIZER;
    if (!zeroed) cmap_init(&map);
    cmap_position position = {0, 0, 0};
    EXPECT_EQ(cmap_count(&map), 0u);
    EXPECT_TRUE(cmap_is_empty(&map));
    EXPECT_EQ(cmap_find(&map, 0), nullptr);
    EXPECT_EQ(cmap_first(&map), nullptr);
    EXPECT_EQ(cmap_next_position(&map, &position), nullptr);
    EXPECT_EQ(cmap_cursor_start(&map).node, nullptr);
    EXPECT_EQ(cmap_find_index(&map, 0), UINT32_MAX);
    EXPECT_EQ(cmap_find_by_index(&map, 0), nullptr);
    EXPECT_EQ(cmap_find_batch(&map, 0, nullptr, nullptr), 0u);
    cmap_destroy(&map);
  }
  cmap_destroy(nullptr);
}

// No hash and no reused node is special, alone or in a batch.
TEST(Cmap, ExtremeHashesAndReusedNodes) {
  cmap map = CMAP_INITIALIZER;
  cmap_node node;
  for (uint32_t hash : {0u, UINT32_MAX, 1u, 0x80000000u, 0u}) {
    auto in_batch = [&] {
      uint32_t hashes[2] = {hash + 1, hash};
      cmap_node untouched;
      const cmap_node* nodes[2] = {&untouched, &untouched};
      unsigned long found = cmap_find_batch(&map, 3, hashes, nodes);
      EXPECT_EQ(nodes[0], &untouched);
      EXPECT_EQ(nodes[1], found ? &node : &untouched);
      return found == 2;
    };
    EXPECT_EQ(cmap_find(&map, hash), nullptr);
    EXPECT_FALSE(in_batch());
    EXPECT_EQ(cmap_insert(&map, &node, hash), 1u);
    EXPECT_EQ(cmap_find(&map, hash), &node);
    EXPECT_EQ(cmap_find_protected(&map, hash), &node);
    EXPECT_EQ(cmap_first(&map), &node);
    EXPECT_TRUE(in_batch());
    EXPECT_EQ(cmap_remove(&map, &node, hash), 0u);
    EXPECT_EQ(cmap_find(&map, hash), nullptr);
    EXPECT_FALSE(in_batch());
  }
  cmap_destroy(&map);
}

// A node whose tag is 0, before and after its slot empties.
TEST(Cmap, TagZeroIsNotEmpty) {
  FixedKey key(0);
  cmap map = CMAP_INITIALIZER;
  cmap_node node[2];
  uint64_t hash[2] = {unmix(0), unmix(1)};  // Bin 0, tag 0.
  EXPECT_EQ(cmap_find__(&map, hash[0]), nullptr);
  cmap_insert__(&map, &node[0], hash[0]);
  EXPECT_EQ(cmap_find__(&map, hash[0]), &node[0]);
  EXPECT_EQ(cmap_find__(&map, hash[1]), nullptr);
  cmap_insert__(&map, &node[1], hash[1]);
  cmap_replace__(&map, &node[0], nullptr, hash[0]);
  EXPECT_EQ(cmap_find__(&map, hash[0]), nullptr);
  EXPECT_EQ(cmap_find__(&map, hash[1]), &node[1]);
  cmap_destroy(&map);
}

// Everything the API says of a map, against a multimap.
class Reference {
 public:
  struct Element {
    cmap_node node;
    uint64_t hash;
  };

  explicit Reference(uint64_t seed) : random_(seed) {}
  ~Reference() {
    cmap_destroy(&map_);
    wait_for_grace_period();
  }

  size_t size() const { return expected_.size(); }
  uint64_t random(uint64_t limit) { return random_() % limit; }

  void insert(uint64_t hash) {
    auto element = std::make_unique<Element>();
    element->hash = hash;
    cmap_insert__(&map_, &element->node, hash);
    expected_.emplace(hash, element.get());
    elements_.push_back(std::move(element));
  }

  void remove() {
    auto element = take();
    cmap_replace__(&map_, &element->node, nullptr, element->hash);
    erase(element.get());
    removed_.push_back(std::move(element));
  }

  void replace() {
    auto old = take();
    auto element = std::make_unique<Element>();
    element->hash = old->hash;
    cmap_replace__(&map_, &old->node, &element->node, old->hash);
    erase(old.get());
    expected_.emplace(element->hash, element.get());
    elements_.push_back(std::move(element));
    removed_.push_back(std::move(old));
  }

  void check_lookups(uint64_t hash) const {
    std::multiset<const cmap_node*> expected, found;
    auto [begin, end] = expected_.equal_range(hash);
    for (auto i = begin; i != end; ++i) expected.insert(&i->second->node);
    for (const cmap_node* n = cmap_find__(&map_, hash); n;
         n = cmap_node_next(n)) {
      found.insert(n);
    }
    ASSERT_EQ(found, expected) << "hash " << hash;
    uint64_t hashes[3] = {hash, hash, ~hash};
    cmap_node* nodes[3] = {};
    uint64_t bits = cmap_find_batch__(&map_, 2, hashes, nodes);
    ASSERT_EQ(bits, expected.empty() ? 0u : 2u);
    ASSERT_EQ(nodes[1], cmap_find__(&map_, hash));
    ASSERT_FALSE(nodes[0] || nodes[2]);
  }

  void check_all() const {
    ASSERT_EQ(cmap_count(&map_), expected_.size());
    ASSERT_EQ(cmap_is_empty(&map_), expected_.empty());
    std::multiset<const cmap_node*> expected, by_cursor, by_position;
    for (const auto& [hash, element] : expected_) {
      expected.insert(&element->node);
      check_lookups(hash);
    }
    cmap_cursor cursor = cmap_cursor_start(&map_);
    for (; cursor.node; cmap_cursor_advance(&cursor)) {
      by_cursor.insert(cursor.node);
    }
    ASSERT_EQ(by_cursor, expected);
    cmap_position position = {0, 0, 0};
    while (cmap_node* node = cmap_next_position(&map_, &position)) {
      by_position.insert(node);
    }
    ASSERT_EQ(by_position, expected);
    ASSERT_FALSE(position.bucket || position.entry || position.offset);
  }

 private:
  std::unique_ptr<Element> take() {
    std::swap(elements_[random(elements_.size())], elements_.back());
    auto element = std::move(elements_.back());
    elements_.pop_back();
    return element;
  }
  void erase(Element* element) {
    auto [begin, end] = expected_.equal_range(element->hash);
    expected_.erase(std::find_if(
        begin, end, [=](const auto& i) { return i.second == element; }));
  }

  std::mt19937_64 random_;
  cmap map_ = CMAP_INITIALIZER;
  std::unordered_multimap<uint64_t, Element*> expected_;
  std::vector<std::unique_ptr<Element>> elements_, removed_;
};

// Up and down several times, with duplicates; the size drifts so that the table
// is met in every state of many migrations.
TEST(Cmap, AgreesWithAMultimap) {
  uint64_t seed = test_seed();
  for (uint64_t distinct : {uint64_t{40}, uint64_t{3000}, UINT64_MAX}) {
    Reference reference(seed + distinct);
    for (size_t target : {100, 3000, 200, 6000, 0, 500, 0}) {
      while (reference.size() != target) {
        bool grow = reference.size() < target;
        uint64_t dice = reference.random(10);
        if (reference.size() == 0 || (grow ? dice < 7 : dice < 2)) {
          reference.insert(reference.random(distinct));
        } else if (dice == 9) {
          reference.replace();
        } else {
          reference.remove();
        }
        if (dice == 0) {
          ASSERT_NO_FATAL_FAILURE(
              reference.check_lookups(reference.random(distinct)));
        }
        if (reference.random(500) == 0) {
          ASSERT_NO_FATAL_FAILURE(reference.check_all());
        }
      }
      ASSERT_NO_FATAL_FAILURE(reference.check_all());
    }
  }
}

}  // namespace
}  // namespace ovsthread
