// SPDX-License-Identifier: Apache-2.0
//
// ovstest test-hmap: hmap against a plain array of the values it should hold.
//
// Each check runs under three hash functions: one that keeps the values apart,
// one that scatters them, and one that puts all of them in one bucket.  A dot
// is printed for each check passed.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "openvswitch/hmap.h"
#include "ovstest-command-line.h"
#include "ovstest-commands.h"
#include "ovstest-require.h"
#include "ovsthread/hash.h"

namespace ovstest {
namespace {

struct Element {
  int value;
  struct hmap_node node;
};

using Values = std::vector<int>;
using Hash = size_t (*)(int value);

size_t identity_hash(int value) { return value; }
size_t scattering_hash(int value) { return ovsthread::hash_u32(value); }
size_t constant_hash(int) { return 123; }

// Checks each way to look into MAP against EXPECTED, which is in any order.
absl::Status verify(struct hmap* map, Values expected, Hash hash) {
  std::sort(expected.begin(), expected.end());
  Element* e;

  Values found;
  HMAP_FOR_EACH(e, node, map) { found.push_back(e->value); }
  REQUIRE(e == nullptr);
  std::sort(found.begin(), found.end());
  REQUIRE(found == expected);

  found.clear();
  struct hmap_position position = {};
  while (struct hmap_node* node = hmap_at_position(map, &position)) {
    found.push_back(CONTAINER_OF(node, Element, node)->value);
  }
  std::sort(found.begin(), found.end());
  REQUIRE(found == expected);

  for (int value : expected) {
    size_t seen = 0, seen_in_bucket = 0;
    HMAP_FOR_EACH_WITH_HASH(e, node, hash(value), map) {
      seen += e->value == value;
    }
    REQUIRE(e == nullptr);
    HMAP_FOR_EACH_IN_BUCKET(e, node, hash(value), map) {
      seen_in_bucket += e->value == value;
    }
    REQUIRE(e == nullptr);
    REQUIRE(seen == 1);
    REQUIRE(seen_in_bucket == 1);
  }

  REQUIRE(hmap_is_empty(map) == expected.empty());
  REQUIRE(hmap_count(map) == expected.size());
  REQUIRE((hmap_first(map) == nullptr) == expected.empty());
  return absl::OkStatus();
}

// N elements with the values 0 ... N - 1.
std::vector<Element> make_elements(size_t n) {
  std::vector<Element> elements(n);
  for (size_t i = 0; i < n; i++) elements[i].value = static_cast<int>(i);
  return elements;
}

Values values_of(const std::vector<Element*>& elements) {
  Values values;
  for (const Element* e : elements) values.push_back(e->value);
  return values;
}

absl::Status insert_and_remove(Hash hash, std::mt19937_64* random) {
  constexpr size_t kElements = 100;
  std::vector<Element> elements = make_elements(kElements);
  std::vector<Element*> order;
  for (Element& element : elements) order.push_back(&element);
  std::shuffle(order.begin(), order.end(), *random);

  struct hmap map = HMAP_INITIALIZER(&map);
  std::vector<Element*> held;
  REQUIRE_OK(verify(&map, {}, hash));
  for (Element* element : order) {
    hmap_insert(&map, &element->node, hash(element->value));
    held.push_back(element);
    REQUIRE(hmap_contains(&map, &element->node));
    REQUIRE_OK(verify(&map, values_of(held), hash));
  }

  size_t capacity = hmap_capacity(&map);
  hmap_reserve(&map, capacity * 2);
  REQUIRE(hmap_capacity(&map) >= capacity * 2);
  REQUIRE_OK(verify(&map, values_of(held), hash));
  hmap_shrink(&map);
  REQUIRE(hmap_capacity(&map) < capacity * 2);
  REQUIRE_OK(verify(&map, values_of(held), hash));

  std::shuffle(held.begin(), held.end(), *random);
  while (!held.empty()) {
    hmap_remove(&map, &held.back()->node);
    held.pop_back();
    REQUIRE_OK(verify(&map, values_of(held), hash));
  }
  hmap_shrink(&map);
  REQUIRE_OK(verify(&map, {}, hash));
  hmap_destroy(&map);
  return absl::OkStatus();
}

// The number of elements of the loops below, small because they are run over
// every subset of the elements.
constexpr size_t kLoopElements = 10;

// Runs TEST on a fresh map of n elements for each n and each of the 2^n sets of
// elements to remove while looping.
template <class Test>
absl::Status for_each_pattern(Hash hash, Test test) {
  for (size_t n = 0; n <= kLoopElements; n++) {
    for (unsigned pattern = 0; pattern < 1u << n; pattern++) {
      std::vector<Element> elements = make_elements(n);
      struct hmap map;
      hmap_init(&map);
      for (Element& element : elements) {
        hmap_insert(&map, &element.node, hash(element.value));
      }
      REQUIRE_OK(test(&map, n, pattern));
      Values kept;
      for (size_t i = 0; i < n; i++) {
        if (!(pattern >> i & 1)) kept.push_back(static_cast<int>(i));
      }
      REQUIRE_OK(verify(&map, kept, hash));
      hmap_destroy(&map);
    }
  }
  return absl::OkStatus();
}

// What the body of a loop over MAP does: other loops over it, then the removal
// of E if PATTERN says so.  A removed element is overwritten, as if freed.
absl::Status loop_body(struct hmap* map, Element* e, unsigned pattern) {
  size_t count = 0;
  const Element* other;
  HMAP_FOR_EACH(other, node, map) { count++; }
  REQUIRE(count == hmap_count(map));
  Element* safe;
  HMAP_FOR_EACH_SAFE(safe, node, map) { count--; }
  REQUIRE(count == 0);
  if (pattern >> e->value & 1) {
    hmap_remove(map, &e->node);
    std::memset(static_cast<void*>(e), 0xff, sizeof *e);
  }
  return absl::OkStatus();
}

absl::Status safe_loop_of_3_arguments(Hash hash, std::mt19937_64*) {
  return for_each_pattern(
      hash, [](struct hmap* map, size_t n, unsigned pattern) -> absl::Status {
        size_t visited = 0;
        Element* e;
        HMAP_FOR_EACH_SAFE(e, node, map) {
          visited++;
          REQUIRE_OK(loop_body(map, e, pattern));
        }
        REQUIRE(e == nullptr);
        REQUIRE(visited == n);
        return absl::OkStatus();
      });
}

absl::Status safe_loop_of_4_arguments(Hash hash, std::mt19937_64*) {
  return for_each_pattern(
      hash, [](struct hmap* map, size_t n, unsigned pattern) -> absl::Status {
        size_t visited = 0;
        Element *e, *next;
        HMAP_FOR_EACH_SAFE(e, next, node, map) {
          struct hmap_node* successor = hmap_next(map, &e->node);
          REQUIRE(successor == (next ? &next->node : nullptr));
          visited++;
          REQUIRE_OK(loop_body(map, e, pattern));
        }
        REQUIRE(e == nullptr);
        REQUIRE(next == nullptr);
        REQUIRE(visited == n);
        return absl::OkStatus();
      });
}

absl::Status pop_loop(Hash hash, std::mt19937_64*) {
  for (size_t n = 0; n <= 3 * kLoopElements; n++) {
    std::vector<Element> elements = make_elements(n);
    struct hmap map;
    hmap_init(&map);
    for (Element& element : elements) {
      hmap_insert(&map, &element.node, hash(element.value));
    }

    // The loop is left half-way, then done to its end.
    Values left;
    for (const Element& element : elements) left.push_back(element.value);
    size_t stop = n / 2;
    Element* e;
    HMAP_FOR_EACH_POP(e, node, &map) {
      left.erase(std::find(left.begin(), left.end(), e->value));
      std::memset(static_cast<void*>(e), 0, sizeof *e);
      if (left.size() == stop) break;
    }
    REQUIRE((e == nullptr) == (n == 0));
    REQUIRE_OK(verify(&map, left, hash));
    HMAP_FOR_EACH_POP(e, node, &map) {
      left.erase(std::find(left.begin(), left.end(), e->value));
      std::memset(static_cast<void*>(e), 0, sizeof *e);
    }
    REQUIRE(e == nullptr);
    REQUIRE(left.empty());
    REQUIRE_OK(verify(&map, {}, hash));
    hmap_destroy(&map);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status test_hmap(Words words) {
  uint64_t seed = 1;
  CommandLine line(
      "ovstest test-hmap",
      "Checks hmap against a plain array; prints a dot per check.");
  line.option("--seed", "S",
              "Of the orders of insertion and removal (default 1).",
              whole_number(&seed, 0, UINT64_MAX));
  if (absl::Status status = line.parse(words);
      !status.ok() || line.help_shown()) {
    return status;
  }

  std::mt19937_64 random(seed);
  for (auto* check : {insert_and_remove, safe_loop_of_3_arguments,
                      safe_loop_of_4_arguments, pop_loop}) {
    for (Hash hash : {identity_hash, scattering_hash, constant_hash}) {
      if (absl::Status status = check(hash, &random); !status.ok()) {
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
