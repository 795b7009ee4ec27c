// SPDX-License-Identifier: Apache-2.0
//
// What hmap does for one thread.  test-hmap-face.cc has the C++ face;
// test-hmap-stripes.cc tells how several threads share a large map.
#include <gtest/gtest.h>
#include <ovsthread/hmap.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "openvswitch/hmap.h"
#include "topology.h"

namespace ovsthread {
namespace {

struct Element {
  int value;
  hmap_node node;
};

using Hash = size_t(int);

size_t identity(int value) { return static_cast<size_t>(value); }
size_t good(int value) {
  return static_cast<uint32_t>(value) * size_t{0x9e3779b97f4a7c15};
}
size_t constant(int) { return 123; }

unsigned seed() {
  static const unsigned value = [] {
    const char* given = getenv("OVSTHREAD_TEST_SEED");
    unsigned drawn = given != nullptr
                         ? static_cast<unsigned>(strtoul(given, nullptr, 0))
                         : std::random_device()();
    printf("# OVSTHREAD_TEST_SEED=%u\n", drawn);
    return drawn;
  }();
  return value;
}

// Number of buckets from which a map is striped here.
size_t striped_buckets() { return 64 * stripe_count(); }

bool is_striped(const hmap& map) { return hmap_is_striped__(map.tally); }

// All that can be asked of MAP is as if it held VALUES.
void check(hmap* map, std::vector<int> values, Hash* hash) {
  std::vector<int> found;
  Element* element;
  HMAP_FOR_EACH(element, node, map) { found.push_back(element->value); }
  EXPECT_EQ(element, nullptr);
  std::sort(found.begin(), found.end());
  std::sort(values.begin(), values.end());
  ASSERT_EQ(found, values);

  std::vector<int> positioned;
  hmap_position position = {0, 0};
  while (hmap_node* node = hmap_at_position(map, &position)) {
    positioned.push_back(CONTAINER_OF(node, Element, node)->value);
    ASSERT_LE(positioned.size(), values.size());
  }
  std::sort(positioned.begin(), positioned.end());
  ASSERT_EQ(positioned, values);
  EXPECT_EQ(position.bucket, 0u);
  EXPECT_EQ(position.offset, 0u);

  for (int value : values) {
    size_t count = 0;
    HMAP_FOR_EACH_WITH_HASH(element, node, hash(value), map) {
      EXPECT_TRUE(hmap_contains(map, &element->node));
      count += element->value == value;
    }
    EXPECT_EQ(count, 1u) << value;
    count = 0;
    HMAP_FOR_EACH_IN_BUCKET(element, node, hash(value), map) {
      count += element->value == value;
    }
    EXPECT_EQ(count, 1u) << value;
  }

  EXPECT_EQ(hmap_is_empty(map), values.empty());
  EXPECT_EQ(hmap_count(map), values.size());
  EXPECT_EQ(hmap_first(map) == nullptr, values.empty());
}

class WithHash : public testing::TestWithParam<Hash*> {};

std::string name_of(const testing::TestParamInfo<Hash*>& tested) {
  return tested.param == identity ? "Identity"
         : tested.param == good   ? "Good"
                                  : "Constant";
}

INSTANTIATE_TEST_SUITE_P(Hmap, WithHash,
                         testing::Values(identity, good, constant), name_of);

TEST_P(WithHash, InsertsAndRemovesInRandomOrder) {
  constexpr int kElements = 100;
  Hash* hash = GetParam();
  std::mt19937 random(seed());
  std::vector<Element> elements(kElements);
  std::vector<int> values;
  hmap map = HMAP_INITIALIZER(&map);
  for (int i = 0; i < kElements; i++) {
    elements[i].value = i;
    hmap_insert(&map, &elements[i].node, hash(i));
    values.push_back(i);
    check(&map, values, hash);
    EXPECT_GE(hmap_capacity(&map), hmap_count(&map));
  }
  std::shuffle(values.begin(), values.end(), random);
  while (!values.empty()) {
    hmap_remove(&map, &elements[values.back()].node);
    values.pop_back();
    check(&map, values, hash);
  }
  hmap_destroy(&map);
}

TEST_P(WithHash, ReservesAndShrinks) {
  constexpr int kElements = 32;
  Hash* hash = GetParam();
  std::mt19937 random(seed());
  for (int i = 0; i < kElements; i++) {
    std::vector<Element> elements(kElements);
    std::vector<int> values;
    hmap map;
    hmap_init(&map);
    hmap_reserve(&map, i);
    check(&map, values, hash);
    for (int j = 0; j < kElements; j++) {
      elements[j].value = j;
      hmap_insert(&map, &elements[j].node, hash(j));
      values.push_back(j);
      check(&map, values, hash);
    }
    std::shuffle(values.begin(), values.end(), random);
    while (!values.empty()) {
      hmap_remove(&map, &elements[values.back()].node);
      values.pop_back();
      hmap_shrink(&map);
      check(&map, values, hash);
    }
    EXPECT_EQ(hmap_capacity(&map), 1u);
    hmap_destroy(&map);
  }
}

TEST_P(WithHash, RemovesAnySubsetWhileIterating) {
  constexpr int kMost = 10;
  Hash* hash = GetParam();
  for (int n = 0; n <= kMost; n++) {
    for (unsigned pattern = 0; pattern < 1u << n; pattern++) {
      std::vector<Element> elements(n);
      std::vector<int> kept;
      hmap map;
      hmap_init(&map);
      for (int i = 0; i < n; i++) {
        elements[i].value = i;
        hmap_insert(&map, &elements[i].node, hash(i));
        if ((pattern >> i & 1) == 0) kept.push_back(i);
      }
      int bodies = 0;
      Element *element, *next;
      HMAP_FOR_EACH_SAFE(element, next, node, &map) {
        hmap_node* successor = hmap_next(&map, &element->node);
        ASSERT_EQ(next != nullptr ? &next->node : nullptr, successor);
        if (pattern >> element->value & 1) {
          hmap_remove(&map, &element->node);
          memset(&element->node, 0xee, sizeof element->node);
        }
        bodies++;
      }
      ASSERT_EQ(bodies, n);
      ASSERT_EQ(element, nullptr);
      ASSERT_EQ(next, nullptr);
      std::vector<int> left;
      HMAP_FOR_EACH_SAFE(element, node, &map) {
        left.push_back(element->value);
        Element* inner;
        HMAP_FOR_EACH(inner, node, &map) bodies++;
        hmap_remove(&map, &element->node);
        memset(&element->node, 0xee, sizeof element->node);
      }
      std::sort(left.begin(), left.end());
      ASSERT_EQ(left, kept);
      ASSERT_TRUE(hmap_is_empty(&map));
      hmap_destroy(&map);
    }
  }
}

TEST_P(WithHash, PopsElementsThatTheBodyOverwrites) {
  constexpr int kElements = 50;
  std::vector<Element> elements(kElements);
  hmap map;
  hmap_init(&map);
  for (int i = 0; i < kElements; i++) {
    elements[i].value = i;
    hmap_insert(&map, &elements[i].node, GetParam()(i));
  }
  std::set<int> seen;
  Element* element;
  HMAP_FOR_EACH_POP(element, node, &map) {
    seen.insert(element->value);
    memset(element, 0, sizeof *element);
  }
  EXPECT_EQ(seen.size(), size_t{kElements});
  EXPECT_EQ(element, nullptr);
  EXPECT_TRUE(hmap_is_empty(&map));
  hmap_destroy(&map);
}

// Two maps beside two that are surely right.
class Model {
 public:
  Model(Hash* hash, size_t most) : hash_(hash), most_(most), random_(seed()) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); i++) {
      // Sizes rise and fall, over the border between inline and striped counts.
      const bool rise = i / most_ % 2 == 0;
      unsigned which = random_() % 2;
      step(&maps_[which], &models_[which], rise);
      striped_seen_ |= is_striped(maps_[which]);
      if (i % 5000 == 0) verify();
    }
    verify();
    for (hmap& map : maps_) hmap_destroy(&map);
  }

  bool striped_seen() const { return striped_seen_; }

 private:
  using Multimap = std::unordered_multimap<size_t, std::unique_ptr<Element>>;

  void step(hmap* map, Multimap* model, bool rise) {
    switch (random_() % 16) {
      case 0:
        find(*map, *model, hash_(draw()));
        break;
      case 1:
        replace_or_move(map, model);
        break;
      case 2:
        if (random_() % 64 == 0) resize(map);
        break;
      case 3:
        if (random_() % 1024 == 0) {
          hmap_swap(&maps_[0], &maps_[1]);
          models_[0].swap(models_[1]);
        }
        break;
      default:
        if (rise == (random_() % 4 != 0) && model->size() < most_) {
          insert(map, model);
        } else {
          remove(map, model);
        }
    }
    ASSERT_EQ(hmap_count(map), model->size());
    ASSERT_EQ(hmap_is_empty(map), model->empty());
  }

  int draw() { return static_cast<int>(random_() % (2 * most_)); }

  void insert(hmap* map, Multimap* model) {
    auto element = std::make_unique<Element>();
    element->value = draw();
    size_t hash = hash_(element->value);
    if (random_() % 8 == 0) {
      hmap_insert_fast(map, &element->node, hash);
    } else {
      hmap_insert(map, &element->node, hash);
    }
    model->emplace(hash, std::move(element));
  }

  Multimap::iterator pick(Multimap* model) {
    auto some = model->find(hash_(draw()));
    return some != model->end() ? some : model->begin();
  }

  void remove(hmap* map, Multimap* model) {
    auto victim = pick(model);
    if (victim == model->end()) return;
    hmap_remove(map, &victim->second->node);
    EXPECT_EQ(hmap_node_hash(&victim->second->node), victim->first);
    model->erase(victim);
  }

  void replace_or_move(hmap* map, Multimap* model) {
    auto old = pick(model);
    if (old == model->end()) return;
    auto now = std::make_unique<Element>(*old->second);
    if (random_() % 2 == 0) {
      hmap_replace(map, &old->second->node, &now->node);
    } else {
      hmap_node_moved(map, &old->second->node, &now->node);
    }
    EXPECT_FALSE(hmap_contains(map, &old->second->node));
    EXPECT_TRUE(hmap_contains(map, &now->node));
    old->second = std::move(now);
  }

  void resize(hmap* map) {
    size_t capacity = random_() % (2 * most_);
    switch (random_() % 3) {
      case 0:
        hmap_shrink(map);
        EXPECT_LE(hmap_capacity(map), 4 * hmap_count(map) + 7);
        break;
      case 1:
        hmap_reserve(map, capacity);
        EXPECT_GE(hmap_capacity(map), capacity);
        break;
      case 2:
        hmap_expand(map);
        EXPECT_GE(hmap_capacity(map), hmap_count(map));
        break;
    }
    ASSERT_EQ(is_striped(*map), map->mask + 1 >= striped_buckets());
  }

  void find(const hmap& map, const Multimap& model, size_t hash) {
    size_t found = 0;
    Element* element;
    HMAP_FOR_EACH_WITH_HASH(element, node, hash, &map) {
      ASSERT_EQ(hash_(element->value), hash);
      found++;
    }
    ASSERT_EQ(found, model.count(hash));
  }

  void verify() {
    for (int i = 0; i < 2; i++) {
      std::set<const Element*> expected, found;
      for (const auto& [hash, element] : models_[i]) {
        expected.insert(element.get());
      }
      Element* element;
      HMAP_FOR_EACH(element, node, &maps_[i]) { found.insert(element); }
      ASSERT_EQ(found, expected);
    }
  }

  Hash* hash_;
  const size_t most_;
  std::mt19937 random_;
  hmap maps_[2] = {HMAP_INITIALIZER(&maps_[0]), HMAP_INITIALIZER(&maps_[1])};
  Multimap models_[2];
  bool striped_seen_ = false;
};

TEST_P(WithHash, AgreesWithAnotherMapUnderRandomOperations) {
  if (GetParam() == constant) {
    Model(constant, 60).run(20000);
    return;
  }
  const size_t most = 4 * striped_buckets();
  Model model(GetParam(), most);
  model.run(static_cast<int>(std::max<size_t>(50 * most, 100000)));
  EXPECT_TRUE(model.striped_seen());
}

TEST(Hmap, ReservesAnyCapacityFromEmpty) {
  for (size_t capacity = 0; capacity <= 300; capacity++) {
    hmap map = HMAP_INITIALIZER(&map);
    hmap_reserve(&map, capacity);
    EXPECT_GE(hmap_capacity(&map), capacity);
    EXPECT_LE(hmap_capacity(&map), 2 * capacity + 7);
    EXPECT_NE(map.mask, 1u);
    std::vector<Element> elements(capacity);
    size_t before = hmap_capacity(&map);
    hmap_reserve(&map, capacity / 3);
    for (size_t i = 0; i < capacity; i++) {
      elements[i].value = static_cast<int>(i);
      hmap_insert(&map, &elements[i].node, i);
    }
    EXPECT_EQ(hmap_capacity(&map), before);
    EXPECT_EQ(hmap_first_with_hash(&map, capacity), nullptr);
    EXPECT_EQ(hmap_count(&map), capacity);
    for (Element& element : elements) hmap_remove(&map, &element.node);
    hmap_shrink(&map);
    EXPECT_EQ(hmap_capacity(&map), 1u);
    EXPECT_EQ(hmap_first_with_hash(&map, 0), nullptr);
    hmap_destroy(&map);
  }
}

TEST(Hmap, GrowsFromOneBucketToManyAndStaysNearTwoNodesABucket) {
  constexpr size_t kElements = 300000;
  std::vector<hmap_node> nodes(kElements);
  hmap map = HMAP_INITIALIZER(&map);
  for (size_t i = 0; i < kElements; i++) {
    hmap_insert(&map, &nodes[i], i);
    size_t buckets = map.mask + 1;
    ASSERT_LE(i + 1, is_striped(map) ? buckets * 9 / 4 : buckets * 2);
    ASSERT_LE(buckets, i + 4);
  }
  EXPECT_TRUE(is_striped(map));
  EXPECT_EQ(hmap_count(&map), kElements);
  hmap_destroy(&map);
}

TEST(Hmap, SwapsAndMovesSmallAndLargeMaps) {
  const int large = static_cast<int>(3 * striped_buckets());
  for (int size_a : {0, 1, 10, large}) {
    for (int size_b : {0, 1, 10, large}) {
      std::vector<Element> elements(size_a + size_b);
      std::vector<int> in_a, in_b;
      hmap a = HMAP_INITIALIZER(&a), b = HMAP_INITIALIZER(&b);
      for (int i = 0; i < size_a + size_b; i++) {
        elements[i].value = i;
        hmap_insert(i < size_a ? &a : &b, &elements[i].node, i);
        (i < size_a ? in_a : in_b).push_back(i);
      }
      hmap_swap(&a, &b);
      check(&a, in_b, identity);
      check(&b, in_a, identity);
      hmap elsewhere;
      memcpy(&elsewhere, &a, sizeof a);
      memset(&a, 0xee, sizeof a);
      hmap_moved(&elsewhere);
      check(&elsewhere, in_b, identity);
      hmap_destroy(&elsewhere);
      hmap_destroy(&b);
    }
  }
}

TEST(Hmap, ClearForgetsNodesAndKeepsTheCapacity) {
  for (size_t n : {size_t{1}, size_t{100}, 3 * striped_buckets()}) {
    std::vector<hmap_node> nodes(n);
    hmap map = HMAP_INITIALIZER(&map);
    for (int round = 0; round < 3; round++) {
      for (size_t i = 0; i < n; i++) hmap_insert(&map, &nodes[i], i);
      EXPECT_EQ(hmap_count(&map), n);
      size_t capacity = hmap_capacity(&map);
      hmap_clear(&map);
      EXPECT_TRUE(hmap_is_empty(&map));
      EXPECT_EQ(hmap_count(&map), 0u);
      EXPECT_EQ(hmap_first(&map), nullptr);
      EXPECT_EQ(hmap_capacity(&map), capacity);
    }
    hmap_destroy(&map);
  }
}

TEST(Hmap, DestroysNothing) { hmap_destroy(nullptr); }

TEST(Hmap, MarksNodesThatAreInNoMap) {
  hmap map = HMAP_INITIALIZER(&map);
  hmap_node node;
  hmap_node_nullify(&node);
  EXPECT_TRUE(hmap_node_is_null(&node));
  hmap_insert(&map, &node, 0);
  EXPECT_FALSE(hmap_node_is_null(&node));
  hmap_remove(&map, &node);
  EXPECT_FALSE(hmap_node_is_null(&node));
  hmap_destroy(&map);
}

TEST(Hmap, TakesExtremeHashesAndReusedNodes) {
  hmap map = HMAP_INITIALIZER(&map);
  hmap_node node, old, now = {1, nullptr};
  for (size_t hash : {size_t{0}, size_t{UINT32_MAX}, SIZE_MAX}) {
    EXPECT_EQ(hmap_first_with_hash(&map, hash), nullptr);
    hmap_insert(&map, &node, hash);
    EXPECT_EQ(hmap_first_with_hash(&map, hash), &node);
    EXPECT_EQ(hmap_next_with_hash(&node), nullptr);
    EXPECT_EQ(hmap_first_with_hash(&map, hash ^ size_t{1} << 40), nullptr);
    hmap_insert_fast(&map, &old, hash);
    hmap_replace(&map, &old, &now);
    EXPECT_EQ(hmap_first_with_hash(&map, hash), &now);
    EXPECT_EQ(hmap_next_with_hash(&now), &node);
    hmap_remove(&map, &now);
    hmap_remove(&map, &node);
    EXPECT_EQ(hmap_first_with_hash(&map, hash), nullptr);
  }
  hmap_destroy(&map);
}

TEST(Hmap, PicksEveryNodeAtRandom) {
  constexpr int kElements = 20;
  Element elements[kElements];
  hmap map = HMAP_INITIALIZER(&map);
  EXPECT_EQ(hmap_random_node(&map), nullptr);
  for (int i = 0; i < kElements; i++)
    hmap_insert(&map, &elements[i].node, i / 3);
  std::set<hmap_node*> seen;
  for (int i = 0; i < 1000 * kElements; i++) {
    seen.insert(hmap_random_node(&map));
  }
  EXPECT_EQ(seen.size(), size_t{kElements});

  // One node in many buckets.
  for (int i = 1; i < kElements; i++) hmap_remove(&map, &elements[i].node);
  hmap_reserve(&map, 100000);
  for (int i = 0; i < 10; i++) {
    EXPECT_EQ(hmap_random_node(&map), &elements[0].node);
  }
  hmap_destroy(&map);
}

TEST_P(WithHash, PositionsSkipNoNodeThatStays) {
  constexpr int kElements = 64;
  std::mt19937 random(seed());
  for (int round = 0; round < 200; round++) {
    std::vector<Element> elements(2 * kElements);
    hmap map = HMAP_INITIALIZER(&map);
    hmap_reserve(&map, 2 * kElements);
    std::set<int> staying;
    for (int i = 0; i < kElements; i++) {
      elements[i].value = i;
      hmap_insert(&map, &elements[i].node, GetParam()(i));
      staying.insert(i);
    }
    int next_new = kElements;
    std::set<int> seen;
    hmap_position position = {0, 0};
    while (hmap_node* node = hmap_at_position(&map, &position)) {
      int value = CONTAINER_OF(node, Element, node)->value;
      seen.insert(value);
      if (random() % 2 == 0) {
        hmap_remove(&map, node);
        staying.erase(value);
      }
      if (random() % 4 == 0 && next_new < 2 * kElements) {
        elements[next_new].value = next_new;
        hmap_insert(&map, &elements[next_new].node, GetParam()(next_new));
        next_new++;
      }
    }
    EXPECT_TRUE(std::includes(seen.begin(), seen.end(), staying.begin(),
                              staying.end()));
    hmap_destroy(&map);
  }
}

// What was to come in a bucket that empties is not left out in the next one.
TEST(Hmap, APositionInABucketThatEmpties) {
  hmap map = HMAP_INITIALIZER(&map);
  hmap_node nodes[4];
  hmap_reserve(&map, 7);
  for (size_t i : {0, 1, 2, 3}) hmap_insert_fast(&map, &nodes[i], i / 2);
  hmap_position position = {0, 0};
  EXPECT_EQ(hmap_at_position(&map, &position), &nodes[1]);
  for (int i : {0, 1}) hmap_remove(&map, &nodes[i]);
  for (int i : {3, 2}) EXPECT_EQ(hmap_at_position(&map, &position), &nodes[i]);
  hmap_destroy(&map);
}

TEST_P(WithHash, RemovingAtEachPositionEmptiesTheMap) {
  constexpr int kElements = 1000;
  std::vector<Element> elements(kElements);
  hmap map = HMAP_INITIALIZER(&map);
  for (int i = 0; i < kElements; i++) {
    hmap_insert(&map, &elements[i].node, GetParam()(i));
  }
  hmap_position position = {0, 0};
  int steps = 0;
  while (hmap_node* node = hmap_at_position(&map, &position)) {
    hmap_remove(&map, node);
    ASSERT_LE(++steps, kElements);
  }
  EXPECT_TRUE(hmap_is_empty(&map));
  hmap_destroy(&map);
}

TEST(HmapDeathTest, NamesANodeThatIsNotInTheMap) {
  hmap map = HMAP_INITIALIZER(&map);
  hmap_node in, out = {5, nullptr}, other;
  hmap_insert(&map, &in, 5);
  EXPECT_DEATH(hmap_remove(&map, &out),
               "fatal: hmap at .*: node .* hash 0x5 is not in it");
  EXPECT_DEATH(hmap_replace(&map, &out, &other), "is not in it");
  EXPECT_DEATH(hmap_node_moved(&map, &other, &out), "is not in it");
  hmap_destroy(&map);
}

TEST(HmapDeathTest, NamesTheCallThatExhaustsMemory) {
  hmap map = HMAP_INITIALIZER(&map);
  EXPECT_DEATH(hmap_reserve(&map, size_t{1} << 60),
               "fatal: .*test-hmap.cc:[0-9]+: out of memory: an hmap needs");
  EXPECT_DEATH(hmap_reserve(&map, SIZE_MAX), "out of memory");
  EXPECT_TRUE(hmap_is_empty(&map));
  hmap_destroy(&map);
}

}  // namespace
}  // namespace ovsthread
