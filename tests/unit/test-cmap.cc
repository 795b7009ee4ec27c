// SPDX-License-Identifier: Apache-2.0
//
// cmap in one thread: every operation against what a multimap says, and the
// cases at the edges.
#include <gtest/gtest.h>
#include <ovsthread/cmap.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cmap-core.h"
#include "cmap-platform.h"
#include "topology.h"
#include "unit/cmap-test.h"

namespace ovsthread {
namespace {

size_t root_slots(cmap& map) {
  return SteeredMap::of(map).root()->n * CmapPlatform::kSlots;
}

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
    std::memset(static_cast<void*>(&node), 0xee, sizeof node);
    // WANTED says whether it is alone in the batch.
    auto in_batch = [&](unsigned long wanted) {
      uint32_t hashes[2] = {hash + 1, hash};
      cmap_node untouched;
      const cmap_node* nodes[2] = {&untouched, &untouched};
      unsigned long found = cmap_find_batch(&map, wanted, hashes, nodes);
      EXPECT_EQ(nodes[0], &untouched);
      EXPECT_EQ(nodes[1], found ? &node : &untouched);
      return found == 2;
    };
    EXPECT_EQ(cmap_find(&map, hash), nullptr);
    EXPECT_FALSE(in_batch(2) || in_batch(3));
    EXPECT_EQ(cmap_insert(&map, &node, hash), 1u);
    EXPECT_EQ(cmap_find(&map, hash), &node);
    EXPECT_EQ(cmap_node_next(&node), nullptr);
    EXPECT_EQ(cmap_find_protected(&map, hash), &node);
    EXPECT_EQ(cmap_first(&map), &node);
    EXPECT_TRUE(in_batch(2) && in_batch(3));
    EXPECT_EQ(cmap_remove(&map, &node, hash), 0u);
    EXPECT_EQ(cmap_find(&map, hash), nullptr);
    EXPECT_FALSE(in_batch(2) || in_batch(3));
  }
  cmap_destroy(&map);
}

// A node whose tag is 0, before and after its slot empties.
TEST(Cmap, TagZeroIsNotEmpty) {
  FixedKey key;
  cmap map = CMAP_INITIALIZER;
  cmap_node node[2];
  uint64_t hash[2] = {unmix(0), unmix(1)};  // Bin 0, tag 0.
  auto expect = [&](cmap_node* first, cmap_node* second) {
    EXPECT_EQ(cmap_find__(&map, hash[0]), first);
    EXPECT_EQ(cmap_find__(&map, hash[1]), second);
    uint64_t found = (first ? 1 : 0) | (second ? 2 : 0);
    for (uint64_t wanted : {1, 2, 3}) {
      cmap_node* nodes[2] = {};
      EXPECT_EQ(cmap_find_batch__(&map, wanted, hash, nodes), wanted & found);
      EXPECT_EQ(nodes[0], wanted & 1 ? first : nullptr);
      EXPECT_EQ(nodes[1], wanted & 2 ? second : nullptr);
    }
  };
  expect(nullptr, nullptr);
  cmap_insert__(&map, &node[0], hash[0]);
  expect(&node[0], nullptr);
  cmap_insert__(&map, &node[1], hash[1]);
  expect(&node[0], &node[1]);
  cmap_replace__(&map, &node[0], nullptr, hash[0]);
  expect(nullptr, &node[1]);
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
    rcu::barrier();  // Before the elements go.
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
    for (uint64_t wanted : {0, 2, 3}) {
      cmap_node* nodes[3] = {};
      uint64_t bits = cmap_find_batch__(&map_, wanted, hashes, nodes);
      ASSERT_EQ(bits, expected.empty() ? 0u : wanted);
      for (int i = 0; i < 3; i++) {
        ASSERT_EQ(nodes[i],
                  wanted >> i & 1 ? cmap_find__(&map_, hash) : nullptr);
      }
    }
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

// Two nodes of one hash, and a thousand: seen once each by position, in any
// state of the chain's walk when visited nodes go.
TEST(Cmap, PositionsWalkChains) {
  for (size_t n : {2, 3, 1000}) {
    for (bool remove : {false, true}) {
      cmap map = CMAP_INITIALIZER;
      std::vector<cmap_node> nodes(n);
      for (cmap_node& node : nodes) cmap_insert(&map, &node, 7);
      std::set<cmap_node*> seen;
      cmap_position position = {0, 0, 0};
      while (cmap_node* node = cmap_next_position(&map, &position)) {
        ASSERT_TRUE(seen.insert(node).second);
        if (remove) cmap_remove(&map, node, 7);
      }
      EXPECT_EQ(seen.size(), n);
      EXPECT_EQ(cmap_count(&map), remove ? 0 : n);
      cmap_destroy(&map);
    }
  }
  rcu::quiesce();
}

// Insertions at the head don't shift the place in a chain; the removal of a
// node that was still to come repeats one at worst, and skips none.
TEST(Cmap, PositionsCountFromTheTail) {
  cmap map = CMAP_INITIALIZER;
  std::vector<cmap_node> nodes(6), late(3);
  for (cmap_node& node : nodes) cmap_insert(&map, &node, 7);
  cmap_position position = {0, 0, 0};
  std::multiset<cmap_node*> seen;
  for (int i = 0; i < 3; i++) {
    seen.insert(cmap_next_position(&map, &position));
    cmap_insert(&map, &late[i], 7);
  }
  cmap_remove(&map, &nodes[1], 7);  // Still to come: they come newest first.
  while (cmap_node* node = cmap_next_position(&map, &position)) {
    seen.insert(node);
  }
  EXPECT_EQ(seen.count(&nodes[1]), 0u);
  EXPECT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen.count(&nodes[3]), 2u);  // The one just visited, again.
  for (int i : {0, 2, 4, 5}) EXPECT_EQ(seen.count(&nodes[i]), 1u) << i;
  for (cmap_node& node : late) EXPECT_EQ(seen.count(&node), 0u);
  cmap_destroy(&map);
  rcu::quiesce();
}

// The greatest mixed hash has no bound behind it.
TEST(Cmap, PositionsEndAtTheGreatestHash) {
  FixedKey key;
  cmap map = CMAP_INITIALIZER;
  cmap_node nodes[4];
  uint64_t mixed[4] = {0, 0, UINT64_MAX, UINT64_MAX};
  for (int i = 0; i < 4; i++) cmap_insert__(&map, &nodes[i], unmix(mixed[i]));
  for (int round = 0; round < 2; round++) {
    std::set<cmap_node*> seen;
    cmap_position position = {0, 0, 0};
    while (cmap_node* node = cmap_next_position(&map, &position)) {
      ASSERT_TRUE(seen.insert(node).second);
    }
    EXPECT_EQ(seen.size(), 4u);
    EXPECT_FALSE(position.bucket || position.entry || position.offset);
  }
  cmap_destroy(&map);
  rcu::quiesce();
}

// The head and the middle of a chain go while somebody stands on them.
TEST(Cmap, RemovedNodesLeadOn) {
  cmap map = CMAP_INITIALIZER;
  cmap_node nodes[3];
  for (cmap_node& node : nodes) cmap_insert(&map, &node, 7);
  const cmap_node* head = cmap_find(&map, 7);
  EXPECT_EQ(head, &nodes[2]);
  EXPECT_EQ(cmap_remove(&map, &nodes[2], 7), 2u);
  const cmap_node* middle = cmap_node_next(head);
  EXPECT_EQ(middle, &nodes[1]);
  EXPECT_EQ(cmap_remove(&map, &nodes[1], 7), 1u);
  EXPECT_EQ(cmap_node_next(middle), &nodes[0]);
  EXPECT_EQ(cmap_find(&map, 7), &nodes[0]);
  cmap_destroy(&map);
  rcu::quiesce();
}

// A reader walks the lines that its bin had when it loaded the header, and no
// others, though at each step a writer empties the one where it stands and
// fills more than one anew.
TEST(Cmap, TheWalkOfAReaderIsFixed) {
  FixedKey key;
  cmap map = CMAP_INITIALIZER;
  std::deque<cmap_node> nodes;
  auto insert = [&](size_t n) {
    for (; n; n--) {
      uint64_t hash = unmix(nodes.size() << 41);  // In bin 0.
      cmap_insert__(&map, &nodes.emplace_back(), hash);
    }
  };
  constexpr size_t kSlots = CmapPlatform::kSlots;
  insert(1);
  SteeredMap& steered = SteeredMap::of(map);
  steered.migrate(12);
  insert(4 * kSlots - 1);
  const cmap_node* staying = &nodes[kSlots];  // In the oldest overflow line.
  size_t lines = 0;
  bool met = false;
  const CmapBin* line = steered.root()->bins;
  for (;;) {
    line = cmap_core::overflow_of<CmapPlatform>(cmap_core::load_header(*line));
    if (!line) break;
    ASSERT_LE(++lines, 3u);
    for (const auto& slot : line->slots) {
      auto* node = reinterpret_cast<cmap_node*>(
          cmap_core::node_of<CmapPlatform>(slot.load(kRelaxed)));
      if (node == staying) {
        met = true;
      } else if (node) {
        cmap_replace__(&map, node, nullptr, unmix(node->hash));
      }
    }
    insert(kSlots + 1);
  }
  EXPECT_EQ(lines, 3u);
  EXPECT_TRUE(met);
  cmap_destroy(&map);
  rcu::quiesce();
}

// An index is given only for what is there, and leads to it.
TEST(Cmap, IndexIsValidated) {
  cmap map = CMAP_INITIALIZER;
  constexpr uint32_t kNodes = 1000;
  std::vector<cmap_node> nodes(kNodes);
  for (uint32_t i = 0; i < kNodes; i++) cmap_insert(&map, &nodes[i], i);
  size_t slots = root_slots(map);
  std::set<uint32_t> indices;
  for (uint32_t i = 0; i < kNodes; i++) {
    uint32_t index = cmap_find_index(&map, i);
    if (index == UINT32_MAX) continue;
    EXPECT_LT(index, slots);
    EXPECT_TRUE(indices.insert(index).second);
    EXPECT_EQ(cmap_find_by_index(&map, index), &nodes[i]);
  }
  EXPECT_GT(indices.size(), kNodes / 2);
  for (size_t index : {slots, slots + 1, size_t{UINT32_MAX}}) {
    EXPECT_EQ(cmap_find_by_index(&map, static_cast<uint32_t>(index)), nullptr);
  }
  for (uint32_t i = 0; i < kNodes; i++) {
    uint32_t index = cmap_find_index(&map, i);
    cmap_remove(&map, &nodes[i], i);
    EXPECT_EQ(cmap_find_index(&map, i), UINT32_MAX);
    if (index != UINT32_MAX) {
      EXPECT_NE(cmap_find_by_index(&map, index), &nodes[i]);
    }
  }
  cmap_destroy(&map);
  rcu::quiesce();
}

// COUNT hashes, STRIDE apart, spread over places and tags.
void expect_spread(size_t count, uint64_t stride) {
  cmap map = CMAP_INITIALIZER;
  std::vector<cmap_node> nodes(count);
  for (size_t i = 0; i < count; i++) {
    cmap_insert__(&map, &nodes[i], i * stride);
  }
  const CmapTable* table = SteeredMap::of(map).root();
  std::set<uint64_t> tags;
  for (cmap_node& node : nodes) tags.insert(table->tag(node.hash) >> 48);
  // At most 26 in 10^5 maps with random keys.
  EXPECT_LE(fullest_bin(map), 32u) << "stride " << stride;
  EXPECT_GE(tags.size(), count / 2) << "stride " << stride;
  cmap_destroy(&map);
  rcu::quiesce();
}

// Hashes that differ only in bits 32-63, only in bits 24-31, or by one.
TEST(Cmap, HashesThatDifferInFewBitsSpread) {
  for (auto [count, shift] :
       {std::pair(4096, 32), {4096, 52}, {256, 24}, {4096, 0}, {4096, 40}}) {
    expect_spread(static_cast<size_t>(count), uint64_t{1} << shift);
  }
}

// Hashes 4096 of which a factor of the mix, by itself, would leave in a small
// part of the table.
TEST(Cmap, HashesThatOneFactorCrowdsSpread) {
  FixedKey key;
  cmap map = CMAP_INITIALIZER;
  cmap_node node;
  cmap_insert(&map, &node, 0);
  const CmapTable* table = SteeredMap::of(map).root();
  for (uint64_t factor : {table->first_factor, table->second_factor}) {
    uint64_t worst = 1;
    for (uint64_t stride = 2; stride < 1 << 20; stride++) {
      if (stride * factor < worst * factor) worst = stride;
    }
    EXPECT_LT(worst * factor, UINT64_MAX / 4096 / 16);
    expect_spread(4096, worst);
  }
  cmap_destroy(&map);
  rcu::quiesce();
}

// A tag says more than the place does.
TEST(Cmap, TagsTellTheNodesOfABinApart) {
  FixedKey key;
  cmap map = CMAP_INITIALIZER;
  std::vector<cmap_node> nodes(4096);
  for (size_t i = 0; i < nodes.size(); i++) {
    cmap_insert__(&map, &nodes[i], i);
  }
  SteeredMap& steered = SteeredMap::of(map);
  for (unsigned bits = 8; bits <= 16; bits++) {
    steered.migrate(bits);
    const CmapTable* table = steered.root();
    std::set<std::pair<size_t, uint64_t>> seen;
    for (cmap_node& node : nodes) {
      seen.insert({table->index(node.hash), table->tag(node.hash) >> 48});
    }
    EXPECT_GE(seen.size(), nodes.size() - 20) << bits;
  }
  cmap_destroy(&map);
  rcu::quiesce();
}

// Each thread counts in a stripe of its own, as soon as there are some.
TEST(Cmap, ThreadsCountApart) {
  using Counts = cmap_core::Counts<CmapPlatform>;
  Counts* counts = Counts::create();
  counts->add_inserted();
  counts->spread();
  // Consecutive thread numbers have different stripes.
  for (unsigned i = 0; i < stripe_count(); i++) {
    std::thread([counts] {
      EXPECT_EQ(counts->add_inserted(), 1u);
      EXPECT_EQ(counts->add_removed(), 1u);
      EXPECT_EQ(counts->add_inserted(), 2u);
    }).join();
  }
  EXPECT_EQ(counts->nodes(), 1 + stripe_count());
  Counts::destroy(counts);
}

TEST(Cmap, TypedFace) {
  struct Flow {
    int key;
    cmap_node node;
  };
  Cmap<Flow, &Flow::node> map;
  EXPECT_TRUE(map.empty());
  Flow flows[100];
  for (int i = 0; i < 100; i++) {
    flows[i].key = i;
    map.insert(flows[i], static_cast<uint64_t>(i / 2) << 40);
  }
  EXPECT_EQ(map.size(), 100u);
  std::set<int> keys;
  for (Flow& flow : map) keys.insert(flow.key);
  EXPECT_EQ(keys.size(), 100u);
  EXPECT_EQ(std::ranges::distance(map.equal_range(uint64_t{3} << 40)), 2);
  EXPECT_EQ(map.find(uint64_t{3} << 40,
                     [](const Flow& flow) { return flow.key == 6; }),
            &flows[6]);
  EXPECT_EQ(map.find(3, [](const Flow&) { return true; }), nullptr);
  uint64_t hashes[3] = {uint64_t{4} << 40, 5, uint64_t{6} << 40};
  std::set<std::pair<size_t, int>> found;
  map.find_batch(hashes, [&](size_t i, Flow& flow) {
    found.insert({i, flow.key});
  });
  EXPECT_EQ(found, (std::set<std::pair<size_t, int>>{{0, 9}, {2, 13}}));
  Flow other{1000, {}};
  map.replace(flows[6], other, uint64_t{3} << 40);
  for (Flow& flow : map) {
    if (&flow != &other)
      map.erase(flow, static_cast<uint64_t>(flow.key / 2) << 40);
  }
  EXPECT_EQ(map.size(), 1u);
  static_assert(std::ranges::input_range<decltype(map)>);
  static_assert(std::ranges::forward_range<decltype(map.equal_range(0))>);
}

}  // namespace
}  // namespace ovsthread
