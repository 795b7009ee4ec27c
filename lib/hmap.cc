// SPDX-License-Identifier: Apache-2.0
//
// What of hmap is not inline: resizing, striped counts, and rare queries.  The
// design is told in ovsthread/hmap-core.h and hmap-stripes.h.
#include <limits.h>
#include <ovsthread/hmap-core.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "atomics.h"
#include "elision.h"
#include "hmap-stripes.h"
#include "log.h"
#include "thread-id.h"
#include "thread-random.h"
#include "topology.h"

namespace ovsthread {
namespace {

using Stripe = HmapStripe<RealAtomics>;
using Tally = RealAtomics::Atomic<size_t>;
static_assert(sizeof(Tally) == sizeof(size_t) && sizeof(hmap) == 32);

// A map has stripes as soon as its buckets take eight times their memory.
constexpr size_t kBucketsPerStripe = 64;

// Of the inserts that fill the buckets once, the part that all threads together
// may add before one of them looks at the load.
constexpr size_t kLooksPerFill = 4;

// From this number on, buckets are allocated, cleared and freed for real, not
// in a transaction: it may take a system call, or more lines than fit.
constexpr size_t kSafePointBuckets = 512;

constexpr size_t kHugePage = size_t{2} << 20;

// The stripes of one map; they follow the header, which inserts read but only
// resizing writes.
struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Block {
  size_t stripe_mask;
  size_t look_mask;  // Look at the load when these bits of a stripe are 0.
  Block* next;       // In the pool.

  Stripe* stripes() { return reinterpret_cast<Stripe*>(this + 1); }
  Stripe& own() { return stripes()[thread_id() & stripe_mask]; }
  size_t sum() { return Stripe::sum(stripes(), stripe_mask + 1); }
};

// Never destroyed, and trivially so: threads may outlive main().
HmapBlockPool<RealAtomics, Block> pool;

[[noreturn]] void out_of_memory(const char* where, size_t bytes) {
  fatal("%s: out of memory: an hmap needs %zu bytes", where, bytes);
}

Block* make_block(const char* where) {
  size_t bytes = sizeof(Block) + stripe_count() * sizeof(Stripe);
  void* memory = aligned_alloc(OVSTHREAD_CACHE_LINE_SIZE, bytes);
  if (memory == nullptr) out_of_memory(where, bytes);
  Block* block = new (memory) Block;
  block->stripe_mask = stripe_count() - 1;
  for (size_t i = 0; i < stripe_count(); i++) new (&block->stripes()[i]) Stripe;
  return block;
}

Tally& tally_of(hmap* map) { return reinterpret_cast<Tally&>(map->tally); }
const Tally& tally_of(const hmap* map) {
  return reinterpret_cast<const Tally&>(map->tally);
}

Block* block_of(size_t tally) {
  return reinterpret_cast<Block*>(tally & ~size_t{1});
}

Block* block_of(const hmap* map) { return block_of(hmap_load_tally__(map)); }

void count_in_stripes(hmap* map, size_t nodes, const char* where) {
  Block* block = pool.take();
  if (block == nullptr) block = make_block(where);
  block->own().add(nodes);
  hmap_publish<RealAtomics>(tally_of(map), reinterpret_cast<size_t>(block) | 1);
}

void count_inline(hmap* map, size_t nodes) {
  Block* block = block_of(map);
  hmap_publish<RealAtomics>(tally_of(map), 2 * nodes);
  block->own().subtract(block->sum());
  pool.put(block);
}

size_t mask_for(size_t nodes) {
  size_t mask = std::bit_ceil(nodes / 2 + 1) - 1;
  return mask == 1 ? 3 : mask;
}

void leave_transaction_for(size_t buckets) {
  if (buckets >= kSafePointBuckets) {
    elision::safe_point(OVS_SAFE_POINT_ALLOCATION);
  }
}

// Zeroed.
hmap_node** allocate_buckets(size_t n, const char* where) {
  size_t bytes;
  if (__builtin_mul_overflow(n, sizeof(hmap_node*), &bytes)) bytes = SIZE_MAX;
  void* memory;
  if (bytes < kHugePage) {
    memory = calloc(n, sizeof(hmap_node*));
  } else if (bytes == SIZE_MAX) {
    memory = nullptr;
  } else if ((memory = aligned_alloc(kHugePage, bytes)) != nullptr) {
    madvise(memory, bytes, MADV_HUGEPAGE);  // No harm if it is refused.
    memset(memory, 0, bytes);
  }
  if (memory == nullptr) out_of_memory(where, bytes);
  return static_cast<hmap_node**>(memory);
}

// Moves all nodes of the N buckets at FROM to the buckets of TO.
void rehash(hmap_node** from, size_t n, hmap* to) {
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < n; i++) {
    if (i + kAhead < n) __builtin_prefetch(from[i + kAhead]);
    for (hmap_node* node = from[i]; node != nullptr;) {
      hmap_node* next = node->next;
      hmap_node** bucket = hmap_bucket__(to, node->hash);
      node->next = *bucket;
      *bucket = node;
      node = next;
    }
  }
}

void resize(hmap* map, size_t mask, const char* where) {
  leave_transaction_for(std::max(mask, map->mask) + 1);
  hmap_node** old_buckets = map->buckets;
  size_t old_mask = map->mask;
  hmap_node* chain = map->one;
  hmap_node** buckets =
      mask != 0 ? allocate_buckets(mask + 1, where) : &map->one;

  map->one = nullptr;
  map->buckets = buckets;
  map->mask = mask;
  if (old_mask == 0) {
    rehash(&chain, 1, map);
  } else {
    rehash(old_buckets, old_mask + 1, map);
    free(old_buckets);
  }

  bool striped = mask + 1 >= kBucketsPerStripe * stripe_count();
  if (striped != hmap_is_striped__(map->tally)) {
    size_t nodes = hmap_count(map);
    if (striped) {
      count_in_stripes(map, nodes, where);
    } else {
      count_inline(map, nodes);
    }
  }
  if (striped) {
    size_t inserts = (mask + 1) / (kLooksPerFill * stripe_count());
    block_of(map)->look_mask = std::bit_floor(inserts) - 1;
  }
}

size_t length(const hmap_node* chain) {
  size_t n = 0;
  for (; chain != nullptr; chain = chain->next) n++;
  return n;
}

}  // namespace
}  // namespace ovsthread

using namespace ovsthread;

bool hmap_striped_add__(hmap* map) {
  Block* block = block_of(map);
  return (block->own().add(1) & block->look_mask) == 0;
}

void hmap_striped_subtract__(hmap* map) { block_of(map)->own().subtract(1); }

size_t hmap_striped_count__(const hmap* map) { return block_of(map)->sum(); }

bool hmap_striped_is_empty__(const hmap* map) {
  return hmap_looks_empty<RealAtomics, Block>(tally_of(map));
}

void hmap_not_in_map__(const hmap* map, const hmap_node* node) {
  fatal("hmap at %p: node %p with hash %#zx is not in it",
        static_cast<const void*>(map), static_cast<const void*>(node),
        node->hash);
}

void hmap_init(hmap* map) {
  map->one = nullptr;
  map->buckets = &map->one;
  map->mask = 0;
  hmap_publish<RealAtomics>(tally_of(map), 0);
}

void hmap_destroy(hmap* map) {
  if (map == nullptr) return;
  leave_transaction_for(map->mask + 1);
  if (hmap_is_striped__(map->tally)) count_inline(map, 0);
  if (map->mask != 0) free(map->buckets);
}

void hmap_clear(hmap* map) {
  leave_transaction_for(map->mask + 1);
  std::fill_n(map->buckets, map->mask + 1, nullptr);
  if (hmap_is_striped__(map->tally)) {
    Block* block = block_of(map);
    block->own().subtract(block->sum());
  } else {
    hmap_publish<RealAtomics>(tally_of(map), 0);
  }
}

void hmap_swap(hmap* a, hmap* b) {
  std::swap(a->buckets, b->buckets);
  std::swap(a->one, b->one);
  std::swap(a->mask, b->mask);
  hmap_moved(a);
  hmap_moved(b);
  size_t tally = a->tally;
  hmap_publish<RealAtomics>(tally_of(a), b->tally);
  hmap_publish<RealAtomics>(tally_of(b), tally);
}

void hmap_moved(hmap* map) {
  if (map->mask == 0) map->buckets = &map->one;
}

void hmap_expand_at(hmap* map, const char* where) {
  size_t mask = mask_for(hmap_count(map));
  if (mask > map->mask) resize(map, mask, where);
}

void hmap_shrink_at(hmap* map, const char* where) {
  size_t mask = mask_for(hmap_count(map));
  if (mask < map->mask) resize(map, mask, where);
}

void hmap_reserve_at(hmap* map, size_t capacity, const char* where) {
  size_t mask = mask_for(capacity);
  if (mask > map->mask) resize(map, mask, where);
}

void hmap_node_moved(hmap* map, hmap_node* old_node, hmap_node* node) {
  *hmap_link__(map, old_node, node->hash) = node;
}

hmap_node* hmap_random_node(const hmap* map) {
  hmap_node* chain = hmap_first_from__(map, thread_random() & map->mask);
  if (chain == nullptr) chain = hmap_first(map);
  if (chain == nullptr) return nullptr;
  for (size_t skip = thread_random() % length(chain); skip > 0; skip--) {
    chain = chain->next;
  }
  return chain;
}

// The offset of a position is the number of nodes of the bucket that are still
// to come, at the end of the chain; 0 means all.  So neither an insertion,
// which is at the head, nor the removal of what was visited makes it skip a
// node.
hmap_node* hmap_at_position(const hmap* map, hmap_position* position) {
  size_t last = std::min<size_t>(map->mask, UINT_MAX - 1);
  size_t to_come = position->offset;
  for (size_t bucket = position->bucket; bucket <= last; bucket++) {
    hmap_node* node = map->buckets[bucket];
    size_t rest = length(node);
    for (; to_come != 0 && rest > to_come; rest--) node = node->next;
    if (node != nullptr) {
      position->bucket = static_cast<unsigned>(rest > 1 ? bucket : bucket + 1);
      position->offset = static_cast<unsigned>(rest - 1);
      return node;
    }
    to_come = 0;
  }
  *position = {0, 0};
  return nullptr;
}

bool hmap_contains(const hmap* map, const hmap_node* node) {
  const hmap_node* other = hmap_first_in_bucket(map, node->hash);
  while (other != nullptr && other != node) other = hmap_next_in_bucket(other);
  return other != nullptr;
}
