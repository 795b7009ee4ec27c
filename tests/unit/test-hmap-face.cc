// SPDX-License-Identifier: Apache-2.0
//
// The C++ face of hmap.
#include <gtest/gtest.h>
#include <ovsthread/hmap.h>

#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace ovsthread {
namespace {

struct Element {
  int value;
  hmap_node node;
};

size_t hash(int value) {
  return static_cast<uint32_t>(value) * size_t{0x9e3779b97f4a7c15};
}

using ElementMap = Hmap<Element, &Element::node>;

TEST(HmapFace, FindsIteratesAndErases) {
  constexpr int kElements = 100;
  std::vector<Element> elements(kElements);
  ElementMap map;
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.begin(), map.end());
  map.reserve(kElements);
  size_t capacity = map.capacity();
  for (int i = 0; i < kElements; i++) {
    elements[i].value = i;
    map.insert(elements[i], hash(i));
  }
  EXPECT_EQ(map.capacity(), capacity);
  EXPECT_EQ(map.size(), size_t{kElements});
  auto is = [](int value) {
    return [value](const Element& element) { return element.value == value; };
  };
  EXPECT_EQ(map.find(hash(7), is(7)), &elements[7]);
  EXPECT_EQ(map.find(hash(7), is(8)), nullptr);

  std::set<int> seen;
  for (Element& element : map) seen.insert(element.value);
  EXPECT_EQ(seen.size(), size_t{kElements});

  for (auto it = map.begin(); it != map.end();) {
    it = it->value % 2 == 0 ? map.erase(it) : std::next(it);
  }
  EXPECT_EQ(map.size(), size_t{kElements / 2});
  EXPECT_FALSE(map.contains(elements[2]));
  map.erase(elements[3]);
  EXPECT_FALSE(map.contains(elements[3]));
  map.replace(elements[5], elements[3] = Element{3, {}});
  EXPECT_TRUE(map.contains(elements[3]));
  EXPECT_FALSE(map.contains(elements[5]));
  map.clear();
  EXPECT_TRUE(map.empty());
  map.shrink_to_fit();
  EXPECT_EQ(map.capacity(), 1u);
}

TEST(HmapFace, MovesAndSwaps) {
  Element a = {1, {}}, b = {2, {}};
  ElementMap first, second;
  first.insert(a, 1);
  second.insert(b, 2);
  swap(first, second);
  EXPECT_TRUE(first.contains(b) && second.contains(a));
  ElementMap third = std::move(first);
  EXPECT_TRUE(third.contains(b) && first.empty());
  third = std::move(second);
  EXPECT_TRUE(third.contains(a) && !third.contains(b) && second.empty());
}

TEST(HmapFace, HandsOutElementsOnceWhenCleared) {
  ElementMap map;
  for (int i = 0; i < 50; i++) map.insert(*new Element{i, {}}, i % 7);
  std::set<int> seen;
  map.clear_and_dispose([&seen](Element* element) {
    EXPECT_TRUE(seen.insert(element->value).second);
    delete element;
  });
  EXPECT_EQ(seen.size(), 50u);
  EXPECT_TRUE(map.empty());
}

}  // namespace
}  // namespace ovsthread
