// SPDX-License-Identifier: Apache-2.0
//
// ovstest test-cmap check: cmap against a plain array of the values it should
// hold, through the C macros and through the C++ class.
//
// Elements are inserted, replaced and removed in random order, and after each
// step everything that can be asked of the map is asked.  This is done under
// three hash functions: one that keeps the values apart (and maps one to hash
// 0), one that scatters them, and one that makes a single chain of all.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "absl/strings/str_format.h"
#include "cmap.h"
#include "ovstest-command-line.h"
#include "ovstest-commands.h"
#include "ovstest-require.h"
#include "ovsthread/cmap.h"
#include "ovsthread/hash.h"

namespace ovstest {
namespace {

constexpr size_t kBatch = 64;  // The most that cmap_find_batch() takes.

struct Element {
  struct cmap_node node;
  uint32_t value;
};

using Hash = uint32_t (*)(uint32_t value);

uint32_t identity_hash(uint32_t value) { return value; }
uint32_t scattering_hash(uint32_t value) { return ovsthread::hash_u32(value); }
uint32_t constant_hash(uint32_t) { return 123; }

// The map seen through the C macros.  Each loop calls VISIT(value) and ends
// with its variable null.
class CFace {
 public:
  ~CFace() { cmap_destroy(&map_); }

  size_t insert(Element* element, uint32_t hash) {
    return cmap_insert(&map_, &element->node, hash);
  }
  size_t replace(Element* old, Element* replacement, uint32_t hash) {
    return cmap_replace(&map_, &old->node, &replacement->node, hash);
  }
  size_t remove(Element* element, uint32_t hash) {
    return cmap_remove(&map_, &element->node, hash);
  }
  size_t count() const { return cmap_count(&map_); }
  bool empty() const { return cmap_is_empty(&map_); }
  bool has_first() const { return cmap_first(&map_) != nullptr; }
  bool finds(uint32_t value, uint32_t hash) const {
    const struct cmap_node* node = cmap_find(&map_, hash);
    for (; node; node = cmap_node_next(node)) {
      const Element* element = nullptr;
      if (OBJECT_CONTAINING(node, element, node)->value == value) return true;
    }
    return false;
  }

  template <class Visit>
  absl::Status for_each(Visit visit) const {
    const Element* element;
    CMAP_FOR_EACH(element, node, &map_) { visit(element->value); }
    REQUIRE(element == nullptr);
    return absl::OkStatus();
  }

  template <class Visit>
  absl::Status for_each_position(Visit visit) const {
    struct cmap_position position = {0, 0, 0};
    while (struct cmap_node* node = cmap_next_position(&map_, &position)) {
      visit(
          OBJECT_CONTAINING(node, static_cast<Element*>(nullptr), node)->value);
    }
    return absl::OkStatus();
  }

  template <class Visit>
  absl::Status for_each_with_hash(uint32_t hash, Visit visit) const {
    const Element* element;
    CMAP_FOR_EACH_WITH_HASH(element, node, hash, &map_) {
      visit(element->value);
    }
    REQUIRE(element == nullptr);
    return absl::OkStatus();
  }

  // Calls VISIT(i, value) for each value whose hash is HASHES[i].
  template <class Visit>
  absl::Status for_each_in_batch(uint32_t* hashes, size_t n,
                                 Visit visit) const {
    const struct cmap_node* nodes[kBatch];
    unsigned long wanted = ~0ul >> (kBatch - n);
    unsigned long hits = cmap_find_batch(&map_, wanted, hashes, nodes);
    REQUIRE((hits & ~wanted) == 0);
    for (; hits; hits &= hits - 1) {
      size_t i = std::countr_zero(hits);
      const Element* element;
      CMAP_NODE_FOR_EACH(element, node, nodes[i]) { visit(i, element->value); }
      REQUIRE(element == nullptr);
    }
    return absl::OkStatus();
  }

 private:
  struct cmap map_ = CMAP_INITIALIZER;
};

// The map seen through the C++ class, with hashes that differ in their upper
// halves only.  It has no positions.
class CxxFace {
 public:
  size_t insert(Element* element, uint32_t hash) {
    map_.insert(*element, widen(hash));
    return count();
  }
  size_t replace(Element* old, Element* replacement, uint32_t hash) {
    map_.replace(*old, *replacement, widen(hash));
    return count();
  }
  size_t remove(Element* element, uint32_t hash) {
    map_.erase(*element, widen(hash));
    return count();
  }
  size_t count() const { return map_.size(); }
  bool empty() const { return map_.empty(); }
  bool has_first() const { return map_.begin() != map_.end(); }
  bool finds(uint32_t value, uint32_t hash) const {
    return map_.find(widen(hash), [value](const Element& element) {
      return element.value == value;
    }) != nullptr;
  }

  template <class Visit>
  absl::Status for_each(Visit visit) const {
    for (const Element& element : map_) visit(element.value);
    return absl::OkStatus();
  }

  template <class Visit>
  absl::Status for_each_position(Visit visit) const {
    return for_each(visit);
  }

  template <class Visit>
  absl::Status for_each_with_hash(uint32_t hash, Visit visit) const {
    for (const Element& element : map_.equal_range(widen(hash))) {
      visit(element.value);
    }
    return absl::OkStatus();
  }

  template <class Visit>
  absl::Status for_each_in_batch(uint32_t* hashes, size_t n,
                                 Visit visit) const {
    uint64_t wide[kBatch];
    for (size_t i = 0; i < n; i++) wide[i] = widen(hashes[i]);
    const Element* first[kBatch] = {};
    map_.find_batch(std::span<const uint64_t>(wide, n),
                    [&](size_t i, Element& element) { first[i] = &element; });
    for (size_t i = 0; i < n; i++) {
      auto range = map_.equal_range(wide[i]);
      REQUIRE(first[i] == (range.empty() ? nullptr : &*range.begin()));
      for (const Element& element : range) visit(i, element.value);
    }
    return absl::OkStatus();
  }

 private:
  static uint64_t widen(uint32_t hash) { return uint64_t{hash} << 32; }

  ovsthread::Cmap<Element, &Element::node> map_;
};

// Checks MAP against EXPECTED, which is sorted, with batches of BATCH lookups.
template <class Face>
absl::Status verify(const Face& map, const std::vector<uint32_t>& expected,
                    Hash hash, size_t batch) {
  std::vector<uint32_t> found;
  auto collect = [&](uint32_t value) { found.push_back(value); };
  REQUIRE_OK(map.for_each(collect));
  std::sort(found.begin(), found.end());
  REQUIRE(found == expected);

  found.clear();
  REQUIRE_OK(map.for_each_position(collect));
  std::sort(found.begin(), found.end());
  REQUIRE(found == expected);

  for (uint32_t value : expected) {
    size_t seen = 0;
    REQUIRE_OK(map.for_each_with_hash(
        hash(value), [&](uint32_t other) { seen += other == value; }));
    REQUIRE(seen == 1);
    REQUIRE(map.finds(value, hash(value)));
  }

  for (size_t start = 0; start < expected.size(); start += batch) {
    size_t n = std::min(batch, expected.size() - start);
    uint32_t hashes[kBatch];
    size_t seen[kBatch] = {};
    for (size_t i = 0; i < n; i++) hashes[i] = hash(expected[start + i]);
    REQUIRE_OK(map.for_each_in_batch(hashes, n, [&](size_t i, uint32_t value) {
      seen[i] += value == expected[start + i];
    }));
    for (size_t i = 0; i < n; i++) REQUIRE(seen[i] == 1);
  }

  REQUIRE(map.empty() == expected.empty());
  REQUIRE(map.has_first() == !expected.empty());
  REQUIRE(map.count() == expected.size());
  return absl::OkStatus();
}

// The map, and the values it should hold.
template <class Face>
class Check {
 public:
  Check(uint32_t n, Hash hash, std::mt19937_64* random)
      : n_(n), hash_(hash), random_(random), elements_(2 * n) {
    // Whatever is in a node before its insertion must not matter.
    std::memset(static_cast<void*>(elements_.data()), 0x5a,
                elements_.size() * sizeof(Element));
    for (uint32_t value = 0; value < n_; value++) {
      elements_[value].value = elements_[n_ + value].value = value;
      order_.push_back(value);
    }
  }

  absl::Status run() {
    REQUIRE_OK(verify());
    REQUIRE_OK(in_random_order([this](uint32_t value) -> absl::Status {
      hold(value);
      REQUIRE(map_.insert(&elements_[value], hash_(value)) == held_.size());
      return absl::OkStatus();
    }));
    REQUIRE_OK(in_random_order([this](uint32_t value) -> absl::Status {
      REQUIRE(map_.replace(&elements_[value], &elements_[n_ + value],
                           hash_(value)) == held_.size());
      std::memset(static_cast<void*>(&elements_[value]), 0xa5, sizeof(Element));
      return absl::OkStatus();
    }));
    REQUIRE_OK(in_random_order([this](uint32_t value) -> absl::Status {
      drop(value);
      Element* element = &elements_[n_ + value];
      REQUIRE(map_.remove(element, hash_(value)) == held_.size());
      std::memset(static_cast<void*>(element), 0xa5, sizeof(Element));
      return absl::OkStatus();
    }));
    return absl::OkStatus();
  }

 private:
  template <class Step>
  absl::Status in_random_order(Step step) {
    std::shuffle(order_.begin(), order_.end(), *random_);
    for (uint32_t value : order_) {
      REQUIRE_OK(step(value));
      REQUIRE_OK(verify());
    }
    return absl::OkStatus();
  }

  // Uses each size of batch in turn.
  absl::Status verify() {
    batch_ = batch_ % kBatch + 1;
    return ovstest::verify(map_, held_, hash_, batch_);
  }

  void hold(uint32_t value) {
    held_.insert(std::lower_bound(held_.begin(), held_.end(), value), value);
  }
  void drop(uint32_t value) {
    held_.erase(std::lower_bound(held_.begin(), held_.end(), value));
  }

  uint32_t n_;
  Hash hash_;
  std::mt19937_64* random_;
  std::vector<Element> elements_;  // Value v is that of v and of n_ + v.
  std::vector<uint32_t> order_;
  std::vector<uint32_t> held_;  // Sorted.
  size_t batch_ = 0;
  Face map_;
};

}  // namespace

absl::Status test_cmap_check(Words words) {
  uint64_t repeat = 1, seed = 1, n = 1000;
  CommandLine line(
      "ovstest test-cmap check",
      "Checks cmap against a plain array; prints a dot per check.");
  line.optional("N", "Times to run the three checks (default 1).",
                whole_number(&repeat, 1, 1000000));
  line.option("--elements", "E",
              "Elements (default 1000); the time grows with the cube.",
              whole_number(&n, 1, 100000));
  line.option("--seed", "S", "Of the orders of the steps (default 1).",
              whole_number(&seed, 0, UINT64_MAX));
  if (absl::Status status = line.parse(words);
      !status.ok() || line.help_shown()) {
    return status;
  }

  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < repeat; i++) {
    for (Hash hash : {identity_hash, scattering_hash, constant_hash}) {
      absl::Status status = Check<CFace>(n, hash, &random).run();
      if (status.ok()) status = Check<CxxFace>(n, hash, &random).run();
      if (!status.ok()) {
        return absl::InternalError(
            absl::StrCat(status.message(), " (seed ", seed, ")"));
      }
      std::putchar('.');
      std::fflush(stdout);
    }
  }
  std::putchar('\n');
  return absl::OkStatus();
}

}  // namespace ovstest
