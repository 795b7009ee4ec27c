// SPDX-License-Identifier: Apache-2.0
//
// Maps from 32-bit keys to 64-bit values under one interface, for benchmarks
// that compare them.  Intrusive ones are given their elements, the others copy
// the pairs.
#ifndef OVSTHREAD_BENCH_MAPS_H_
#define OVSTHREAD_BENCH_MAPS_H_

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cmap.h"
#include "openvswitch/hmap.h"
#include "ovsthread/hash.h"

namespace bench {

// Of the maps of the standard library and of Abseil, so that all hash alike.
struct Hash {
  size_t operator()(uint32_t key) const { return ovsthread::hash_u32(key); }
};

// What an intrusive map is given.
template <class Node>
struct Element {
  Node node;
  uint32_t key;
  uint64_t value;
};

class Cmap {
 public:
  explicit Cmap(uint32_t n) : elements_(n) { cmap_init(&map_); }
  Cmap(const Cmap&) = delete;
  Cmap& operator=(const Cmap&) = delete;
  ~Cmap() { cmap_destroy(&map_); }

  void insert(uint32_t key) {
    Element* element = &elements_[key];
    element->key = element->value = key;
    cmap_insert(&map_, &element->node, ovsthread::hash_u32(key));
  }
  void erase(uint32_t key) {
    cmap_remove(&map_, &elements_[key].node, ovsthread::hash_u32(key));
  }
  uint64_t find(uint32_t key) const {
    const Element* element;
    CMAP_FOR_EACH_WITH_HASH(element, node, ovsthread::hash_u32(key), &map_) {
      if (element->key == key) return element->value;
    }
    return 0;
  }

 private:
  using Element = bench::Element<struct cmap_node>;

  std::vector<Element> elements_;
  struct cmap map_;
};

class Hmap {
 public:
  explicit Hmap(uint32_t n) : elements_(n) { hmap_init(&map_); }
  Hmap(const Hmap&) = delete;
  Hmap& operator=(const Hmap&) = delete;
  ~Hmap() { hmap_destroy(&map_); }

  void insert(uint32_t key) {
    Element* element = &elements_[key];
    element->key = element->value = key;
    hmap_insert(&map_, &element->node, ovsthread::hash_u32(key));
  }
  void erase(uint32_t key) { hmap_remove(&map_, &elements_[key].node); }
  uint64_t find(uint32_t key) const {
    const Element* element;
    HMAP_FOR_EACH_WITH_HASH(element, node, ovsthread::hash_u32(key), &map_) {
      if (element->key == key) return element->value;
    }
    return 0;
  }

 private:
  using Element = bench::Element<struct hmap_node>;

  std::vector<Element> elements_;
  struct hmap map_;
};

template <class M>
class Copying {
 public:
  explicit Copying(uint32_t) {}

  void insert(uint32_t key) { map_.emplace(key, key); }
  void erase(uint32_t key) { map_.erase(key); }
  uint64_t find(uint32_t key) const {
    auto found = map_.find(key);
    return found == map_.end() ? 0 : found->second;
  }

 private:
  M map_;
};

using StdMap = Copying<std::unordered_map<uint32_t, uint64_t, Hash>>;
using AbslMap = Copying<absl::flat_hash_map<uint32_t, uint64_t, Hash>>;

}  // namespace bench

// Registers NAME, a function template on the map, for each map above, with 2^10
// to 2^22 elements.
#define BENCHMARK_MAPS(NAME)          \
  BENCHMARK_MAP(NAME, bench::Cmap);   \
  BENCHMARK_MAP(NAME, bench::Hmap);   \
  BENCHMARK_MAP(NAME, bench::StdMap); \
  BENCHMARK_MAP(NAME, bench::AbslMap)
#define BENCHMARK_MAP(NAME, MAP) \
  BENCHMARK_TEMPLATE(NAME, MAP)->RangeMultiplier(64)->Range(1 << 10, 1 << 22)

#endif  // OVSTHREAD_BENCH_MAPS_H_
