// SPDX-License-Identifier: Apache-2.0
//
// Question: how close is a lookup in a cmap to the memory accesses that no hash
// table can do without?
//
// The yardstick is a walk over the same elements by way of a table of the same
// shape, without the map.  For each key it computes the same hash and index as
// the map, loads one word of that line of a zeroed table, adds it to the key,
// which makes a true dependency, and so gets the index of the element; there it
// compares the key and adds the value.  The batched walk takes groups of 32
// keys and prefetches all their lines, then all their elements.
//
// The map does the same through its public interface, called in a shared
// library, with the same comparison of keys.  Each thread visits all keys in a
// random order of its own.  Walk and map alternate (A B B A) after one warm-up
// of each, and the figure is the median of the paired ratios map / walk.
//
// Elements have a stride of 64 bytes on 4 KiB pages; both tables are on huge
// pages.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "cmap-mix.h"
#include "cmap.h"
#include "ovs-rcu.h"
#include "ovstest-command-line.h"
#include "ovstest-json.h"
#include "ovstest-memory.h"
#include "ovsthread/hash.h"
#include "paired.h"
#include "team.h"
#include "workload.h"

namespace bench {
namespace {

constexpr unsigned kBatch = 32;
constexpr double kLoad = 4.8;  // Elements per line of a table, at most.

struct alignas(64) Element {
  uint32_t key;
  uint64_t value;
  struct cmap_node node;
};

struct alignas(64) Line {
  uint64_t words[8];
};

class Walk {
 public:
  Walk(uint32_t n, const Pages<Element>& elements)
      : elements_(elements), bits_(bits_for(n)), lines_(1u << bits_, true) {}

  unsigned bits() const { return bits_; }

  uint64_t single(const std::vector<uint32_t>& keys) const {
    uint64_t sum = 0;
    for (uint32_t key : keys) {
      const Element& element = elements_[key + line_of(key).words[0]];
      if (element.key == key) sum += element.value;
    }
    return sum;
  }

  uint64_t batched(const std::vector<uint32_t>& keys) const {
    uint64_t sum = 0;
    const Line* lines[kBatch];
    const Element* elements[kBatch];
    for (size_t start = 0; start < keys.size(); start += kBatch) {
      const uint32_t* group = &keys[start];
      unsigned n = std::min<size_t>(kBatch, keys.size() - start);
      for (unsigned i = 0; i < n; i++) {
        lines[i] = &line_of(group[i]);
        __builtin_prefetch(lines[i]);
      }
      for (unsigned i = 0; i < n; i++) {
        elements[i] = &elements_[group[i] + lines[i]->words[0]];
        __builtin_prefetch(elements[i]);
      }
      for (unsigned i = 0; i < n; i++) {
        if (elements[i]->key == group[i]) sum += elements[i]->value;
      }
    }
    return sum;
  }

 private:
  // The smallest table that is loaded by no more than kLoad.
  static unsigned bits_for(uint32_t n) {
    unsigned bits = 1;
    while (n > kLoad * static_cast<double>(uint64_t{1} << bits)) bits++;
    return bits;
  }

  const Line& line_of(uint32_t key) const {
    // As the map's own index (lib/cmap-table.h), under a key that is as good as
    // its random one.
    uint64_t mixed = ovsthread::cmap_core::mix(ovsthread::hash_u32(key), 0);
    return lines_[mixed >> (64 - bits_)];
  }

  const Pages<Element>& elements_;
  unsigned bits_;
  Pages<Line> lines_;
};

class Map {
 public:
  Map(uint32_t n, Pages<Element>& elements) {
    for (uint32_t key = 0; key < n; key++) {
      cmap_insert(&map_, &elements[key].node, ovsthread::hash_u32(key));
    }
    // Lest the tables that it grew out of are freed while lookups are timed.
    ovsrcu_barrier();
  }
  ~Map() {
    cmap_destroy(&map_);
    ovsrcu_barrier();  // Frees what the map has retired.
  }

  uint64_t single(const std::vector<uint32_t>& keys) const {
    uint64_t sum = 0;
    for (uint32_t key : keys) {
      const Element* element;
      CMAP_FOR_EACH_WITH_HASH(element, node, ovsthread::hash_u32(key), &map_) {
        if (element->key == key) {
          sum += element->value;
          break;
        }
      }
    }
    return sum;
  }

  uint64_t batched(const std::vector<uint32_t>& keys) const {
    uint64_t sum = 0;
    uint32_t hashes[kBatch];
    const struct cmap_node* nodes[kBatch];
    for (size_t start = 0; start < keys.size(); start += kBatch) {
      const uint32_t* group = &keys[start];
      unsigned n = std::min<size_t>(kBatch, keys.size() - start);
      for (unsigned i = 0; i < n; i++)
        hashes[i] = ovsthread::hash_u32(group[i]);
      unsigned long hits =
          cmap_find_batch(&map_, (1ul << n) - 1, hashes, nodes);
      for (; hits; hits &= hits - 1) {
        unsigned i = std::countr_zero(hits);
        const Element* element;
        CMAP_NODE_FOR_EACH(element, node, nodes[i]) {
          if (element->key == group[i]) {
            sum += element->value;
            break;
          }
        }
      }
    }
    return sum;
  }

 private:
  struct cmap map_ = CMAP_INITIALIZER;
};

struct Settings {
  uint64_t n = 0;
  uint64_t threads = 0;
  uint64_t rounds = 11;
  uint64_t seed = 1;
  bool pin = false;
  bool json = false;
};

struct Result {
  Summary ratio;   // map / walk
  double walk_ns;  // Per visit.
  double map_ns;
};

// Times VISIT(keys) in all threads at once.  Exits if a sum is not EXPECTED.
template <class Visit>
double timed_visits(const Settings& settings,
                    const std::vector<std::vector<uint32_t>>& keys,
                    uint64_t expected, Visit visit) {
  std::vector<uint64_t> sums(settings.threads);
  double ms = timed_team(settings.threads, settings.pin, [&](unsigned thread) {
    sums[thread] = visit(keys[thread]);
  });
  for (uint64_t sum : sums) {
    if (sum != expected) {
      std::fprintf(stderr, "reference-walk: not every element was found\n");
      std::exit(1);
    }
  }
  return ms;
}

template <class A, class B>
Result compare(const Settings& settings,
               const std::vector<std::vector<uint32_t>>& keys,
               uint64_t expected, A walk, B map) {
  std::vector<double> walk_ms, map_ms;
  auto run_walk = [&] { return timed_visits(settings, keys, expected, walk); };
  auto run_map = [&] { return timed_visits(settings, keys, expected, map); };
  run_walk();
  run_map();
  for (unsigned round = 0; round < settings.rounds; round++) {
    if (reversed(round)) map_ms.push_back(run_map());
    walk_ms.push_back(run_walk());
    if (!reversed(round)) map_ms.push_back(run_map());
  }
  double ns_per_visit = 1e6 / static_cast<double>(settings.n);
  return {paired_ratio(map_ms, walk_ms), median(walk_ms) * ns_per_visit,
          median(map_ms) * ns_per_visit};
}

void print(absl::string_view name, const Result& result) {
  absl::PrintF("%-8s %10.1f %10.1f %8.3f  %.3f to %.3f\n", name, result.walk_ns,
               result.map_ns, result.ratio.median, result.ratio.low,
               result.ratio.high);
}

void write(absl::string_view name, const Result& result,
           ovstest::JsonWriter* json) {
  json->key(name)
      .open_object()
      .member("walk_ns", result.walk_ns)
      .member("map_ns", result.map_ns)
      .member("ratio", result.ratio.median)
      .member("ratio_low", result.ratio.low)
      .member("ratio_high", result.ratio.high)
      .close_object();
}

void run(const Settings& settings) {
  uint32_t n = settings.n;
  Pages<Element> elements(n, false);
  uint64_t expected = 0;
  for (uint32_t key = 0; key < n; key++) {
    elements[key].key = key;
    elements[key].value = key + 1;
    expected += key + 1;
  }
  Map map(n, elements);
  Walk walk(n, elements);
  std::vector<std::vector<uint32_t>> keys;
  for (unsigned thread = 0; thread < settings.threads; thread++) {
    keys.push_back(permutation(n, settings.seed, thread));
  }

  Result single = compare(
      settings, keys, expected, [&](auto& order) { return walk.single(order); },
      [&](auto& order) { return map.single(order); });
  Result batched = compare(
      settings, keys, expected,
      [&](auto& order) { return walk.batched(order); },
      [&](auto& order) { return map.batched(order); });

  if (settings.json) {
    ovstest::JsonWriter json;
    json.open_object()
        .member("n", settings.n)
        .member("threads", settings.threads)
        .member("rounds", settings.rounds)
        .member("seed", settings.seed)
        .member("walk_lines", uint64_t{1} << walk.bits());
    write("single", single, &json);
    write("batched", batched, &json);
    json.close_object();
    absl::PrintF("%s\n", json.text());
    return;
  }
  absl::PrintF(
      "n=%d, %d threads, %d rounds, seed %d; the walk's table has 2^%d lines\n"
      "per visit    walk, ns    cmap, ns    ratio  95%% interval\n",
      settings.n, settings.threads, settings.rounds, settings.seed,
      walk.bits());
  print("single", single);
  print("batched", batched);
}

absl::Status reference_walk(ovstest::Words words) {
  Settings settings;
  ovstest::CommandLine line(
      "reference-walk",
      "Compares lookups in a cmap with a walk over the same elements.");
  line.required("N", "Elements.",
                ovstest::whole_number(&settings.n, 1, UINT32_MAX));
  line.required("THREADS", "Threads; each visits all elements.",
                ovstest::whole_number(&settings.threads, 1, 1024));
  line.option("--rounds", "R", "Rounds (default 11).",
              ovstest::whole_number(&settings.rounds, 1, 1000));
  line.option("--seed", "S", "Of the orders of visit (default 1).",
              ovstest::whole_number(&settings.seed, 0, UINT64_MAX));
  line.flag("--pin", "Binds each thread to a hardware thread.", &settings.pin);
  line.flag("--json", "Prints one JSON object.", &settings.json);
  absl::Status status = line.parse(words);
  if (!status.ok() || line.help_shown()) return status;

  // Elements, both tables (the map's while it grows), orders of visit.
  double needed =
      static_cast<double>(settings.n) *
      (sizeof(Element) + 4 * sizeof(Line) / kLoad + 4.0 * settings.threads);
  double available = static_cast<double>(ovstest::available_memory());
  if (needed > available) {
    return line.error(absl::StrFormat(
        "N is %d, which needs about %s of memory, but %s are available",
        settings.n, ovstest::format_bytes(needed),
        ovstest::format_bytes(available)));
  }
  run(settings);
  return absl::OkStatus();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<absl::string_view> words(argv + (argc > 0), argv + argc);
  return ovstest::finish("reference-walk", bench::reference_walk(words));
}
