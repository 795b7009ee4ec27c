// SPDX-License-Identifier: Apache-2.0
//
// Lookups and writers of one cmap bin: publication of nodes, chains and
// overflow lines, the bin lock, the first table.
#include "interleave/cmap-model.h"

namespace ovsthread::cmap_core {
namespace {

// What all scenarios share: bin 0 starts with STAYING, an element that is never
// touched.
template <class Test, unsigned kThreads>
struct Base : rl::test_suite<Test, kThreads> {
  ModelMap map{};
  Element staying;
  static uint64_t hash() { return hash_in(0); }

  void before() { map.add(staying, hash(), 7); }
  void after() { map.finish(); }
};

// A lookup finds an inserted node whole or not at all.
struct Insert : Base<Insert, 2> {
  Element element;
  void thread(unsigned index) {
    if (index == 0) {
      map.add(element, hash_in(1), 1);
    } else {
      RL_ASSERT(map.has(staying, hash()));
      if (ModelNode* n = map.find(hash_in(1))) RL_ASSERT(value_of(n) == 1);
    }
  }
};

// A replaced node in the middle of a chain: the walk sees one of the two, and
// all others.
struct ReplaceInChain : Base<ReplaceInChain, 2> {
  Element old, now, newest;
  void before() {
    Base::before();
    map.add(old, hash(), 1);
    map.add(newest, hash(), 2);
  }
  void thread(unsigned index) {
    if (index == 0) {
      now.value = 3;
      map.replace(&old.node, &now.node, hash());
    } else {
      int seen[8] = {};
      int all = 0;
      for (ModelNode* n = map.find(hash()); n; n = next_node(n)) {
        all++;
        seen[value_of(n)]++;
      }
      RL_ASSERT(all == 3 && seen[1] + seen[3] == 1 && seen[2] == 1);
    }
  }
};

// The head of a chain of three is removed while a reader may stand on it.
struct RemoveHead : Base<RemoveHead, 2> {
  Element second, head;
  void before() {
    Base::before();
    map.add(second, hash(), 1);
    map.add(head, hash(), 2);
  }
  void thread(unsigned index) {
    if (index == 0) {
      map.remove(head, hash());
    } else {
      RL_ASSERT(map.has(second, hash()) && map.has(staying, hash()));
    }
  }
};

// A position stands in a chain of which nodes between those that stay go: none
// of these is skipped.
struct PositionInChain : rl::test_suite<PositionInChain, 2> {
  ModelMap map;
  Element e[5];  // 0, 2 and 4 stay.
  void before() {
    for (Element& element : e) map.add(element, hash_in(0), 1);
  }
  void thread(unsigned index) {
    if (index == 0) {
      map.remove(e[3], hash_in(0));
      map.remove(e[1], hash_in(0));
    } else {
      int seen[5] = {};
      Position position = {0, 0};
      while (ModelNode* n = next_position(map, &position)) {
        for (int i = 0; i < 5; i++) seen[i] += n == &e[i].node;
      }
      RL_ASSERT(seen[0] && seen[2] && seen[4]);
    }
  }
  void after() { map.finish(); }
};

// A full bin gets an overflow line in front of a reader.
struct Overflow : Base<Overflow, 2> {
  Element other, third, fourth;
  void before() {
    Base::before();
    map.add(other, hash_in(1), 1);
  }
  void thread(unsigned index) {
    if (index == 0) {
      map.add(third, hash_in(2), 2);
    } else {
      if (ModelNode* n = map.find(hash_in(2))) RL_ASSERT(value_of(n) == 2);
      RL_ASSERT(map.has(staying, hash()) && map.has(other, hash_in(1)));
    }
  }
};

// A second line is put in front of the first one.
struct SecondLine : Base<SecondLine, 2> {
  Element bin1, old0, old1, new0;
  void before() {
    Base::before();
    map.add(bin1, hash_in(1), 1);
    map.add(old0, hash_in(2), 2);
    map.add(old1, hash_in(2, 1), 2);
  }
  void thread(unsigned index) {
    if (index == 0) {
      map.add(new0, hash_in(3), 3);
    } else {
      RL_ASSERT(map.has(old0, hash_in(2)) && map.has(old1, hash_in(2, 1)));
    }
  }
};

// The newer one of two overflow lines empties, then the older one, and a third
// is added; the reader looks for a node of the older one, or of the bin.
struct EmptyLines : Base<EmptyLines, 2> {
  Element bin1, old0, old1, new0;
  void before() {
    Base::before();
    map.add(bin1, hash_in(1), 1);
    map.add(old0, hash_in(2), 2);
    map.add(old1, hash_in(2, 1), 3);
    map.add(new0, hash_in(3), 4);
  }
  void thread(unsigned index) {
    if (index == 0) {
      map.remove(new0, hash_in(3));
      map.remove(old1, hash_in(2, 1));
    } else {
      RL_ASSERT(map.has(old0, hash_in(2)));
    }
  }
};

// The older line empties while a reader is on the newer one.
struct UnlinkOlder : Base<UnlinkOlder, 2> {
  Element bin1, oldest0, oldest1, mid0, mid1, new0;
  void before() {
    Base::before();
    map.add(bin1, hash_in(1), 1);
    map.add(oldest0, hash_in(2), 2);
    map.add(oldest1, hash_in(2, 1), 2);
    map.add(mid0, hash_in(3), 3);
    map.add(mid1, hash_in(3, 1), 3);
    map.add(new0, hash_in(2, 2), 4);
  }
  void thread(unsigned index) {
    if (index == 0) {
      map.remove(mid0, hash_in(3));
      map.remove(mid1, hash_in(3, 1));
    } else {
      RL_ASSERT(map.has(oldest0, hash_in(2)));
    }
  }
};

// Two writers of one bin: nothing is lost.
struct TwoWriters : Base<TwoWriters, 2> {
  Element a[2];
  void thread(unsigned index) {
    map.add(a[index], hash_in(1 + index), 1);
    RL_ASSERT(map.has(a[index], hash_in(1 + index)));
  }
  void after() {
    RL_ASSERT(map.has(a[0], hash_in(1)) && map.has(a[1], hash_in(2)));
    RL_ASSERT(map.count() == 3);
    Base::after();
  }
};

// Three threads, one of them removing what another inserted.
struct ThreeWriters : Base<ThreeWriters, 3> {
  Element a[3];
  void thread(unsigned index) {
    map.add(a[index], hash(), 1);
    if (index == 0) map.remove(a[index], hash());
  }
  void after() {
    RL_ASSERT(!map.has(a[0], hash()) && map.has(a[1], hash()) &&
              map.has(a[2], hash()) && map.has(staying, hash()));
    RL_ASSERT(map.count() == 3);
    Base::after();
  }
};

// Two writers insert into a map that has no table yet.
struct FirstTable : rl::test_suite<FirstTable, 3> {
  ModelMap map{};
  Element a[2];
  void thread(unsigned index) {
    if (index < 2) {
      map.add(a[index], hash_in(index), 1);
      RL_ASSERT(map.has(a[index], hash_in(index)));
    } else if (ModelNode* n = map.find(hash_in(0))) {
      RL_ASSERT(value_of(n) == 1);
    }
  }
  void after() {
    RL_ASSERT(map.has(a[0], hash_in(0)) && map.has(a[1], hash_in(1)));
    map.finish();
  }
};

// One thread inserts what another removes, counting on different stripes: the
// map, which has another node, is never seen empty.
struct CountRemoved : Base<CountRemoved, 3> {
  Element a;
  void before() {
    Base::before();
    map.root()->counts->spread();
  }
  void thread(unsigned index) {
    if (index == 0) {
      map.insert(&a.node, hash_in(4));
    } else if (index == 1) {
      while (!map.find(hash_in(4))) ModelAtomics::relax();
      map.remove(a, hash_in(4));
    } else {
      for (int i = 0; i < 3; i++) {
        size_t n = map.count();
        RL_ASSERT(n >= 1 && n <= 2);
      }
    }
  }
};

// Each of two writers inserts a node, then removes another: nor here.
struct CountReplaced : Base<CountReplaced, 3> {
  Element old[2], a[2];
  void before() {
    map.add(old[0], hash_in(0), 1);
    map.add(old[1], hash_in(4), 1);
    map.root()->counts->spread();
  }
  void thread(unsigned index) {
    if (index < 2) {
      map.add(a[index], hash_in(1 + index * 4), 1);
      map.remove(old[index], hash_in(index * 4));
    } else {
      size_t n = map.count();
      RL_ASSERT(n >= 2 && n <= 4);
    }
  }
};

// The same while the stripes appear.
struct Spread : Base<Spread, 3> {
  Element a[2];
  void thread(unsigned index) {
    if (index == 0) {
      map.root()->counts->spread();
      map.add(a[0], hash_in(1), 1);
    } else if (index == 1) {
      map.add(a[1], hash_in(4), 1);
      map.remove(a[1], hash_in(4));
    } else {
      size_t n = map.count();
      RL_ASSERT(n >= 1 && n <= 3);
      // Whoever finds a node counts it.
      if (map.has(a[0], hash_in(1))) RL_ASSERT(map.count() >= 2);
    }
  }
};

// One thread makes stripes while another finds no memory for them.
struct SpreadWithoutMemory : Base<SpreadWithoutMemory, 2> {
  void thread(unsigned index) {
    if (index == 1) MP::without_memory = 1;
    map.root()->counts->spread();
    if (index == 1) MP::without_memory = -1;
  }
  void after() {
    RL_ASSERT(map.count() == 1);
    Base::after();
  }
};

// The only node goes: who sees the map empty does not find it any more.
struct CountLast : Base<CountLast, 2> {
  void thread(unsigned index) {
    if (index == 0) {
      map.remove(staying, hash());
    } else if (map.count() == 0) {
      RL_ASSERT(!map.find(hash()));
    }
  }
};

}  // namespace
}  // namespace ovsthread::cmap_core

int main(int argc, char** argv) {
  using namespace ovsthread::cmap_core;
  using namespace ovsthread::interleave;
  return run(
      argc, argv,
      {random<Insert>("a lookup sees an inserted node whole", {1, 2}),
       random<ReplaceInChain>("a walk sees one of a replaced pair", {3, 4}),
       random<RemoveHead>("a reader on a removed head reaches the rest", {}),
       random<PositionInChain>("a position skips nothing that stays", {}),
       random<Overflow>("an overflow line is seen whole", {5, 6}),
       random<SecondLine>("a line in front of another hides no node", {5, 6}),
       random<EmptyLines>("emptied lines hide no node", {}),
       random<UnlinkOlder>("a line unlinked behind another hides no node", {}),
       random<TwoWriters>("two writers of a bin lose nothing", {5, 8}),
       random<ThreeWriters>("three writers of a chain lose nothing", {}),
       random<FirstTable>("two first insertions agree on a table",
                          {13, 14, 15}),
       random<CountRemoved>("the count knows what was removed", {9, 10}),
       random<CountReplaced>("the count is right between two writers", {}),
       random<Spread>("the count is right while stripes appear", {11, 12}),
       random<SpreadWithoutMemory>("stripes appear though one lacks memory",
                                   {}),
       random<CountLast>("an empty map has no node", {9, 10})});
}
