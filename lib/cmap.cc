// SPDX-License-Identifier: Apache-2.0
//
// The functions of ovsthread/cmap.h: cmap's templates on the real platform,
// seen through the public structs.
#define CMAP_NO_INLINES__
#include <ovsthread/cmap.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cmap-batch.h"
#include "cmap-core.h"
#include "cmap-cursor.h"
#include "cmap-platform.h"
#include "cmap-position.h"
#include "log.h"

namespace ovsthread::cmap_core {
namespace {

using RealMap = Map<Platform>;
using RealNode = Node<Platform>;
using RealCursor = Cursor<Platform>;

// C and C++ see one layout.
static_assert(sizeof(RealMap) == sizeof(::cmap));
static_assert(sizeof(RealNode) == sizeof(cmap_node));
static_assert(offsetof(RealNode, next) == offsetof(cmap_node, next));
static_assert(sizeof(RealCursor) == sizeof(cmap_cursor));
static_assert(offsetof(RealCursor, node) == offsetof(cmap_cursor, node));
static_assert(offsetof(RealCursor, section) == offsetof(cmap_cursor, section));
static_assert(std::is_trivially_copyable_v<RealCursor>);

RealMap& map_of(::cmap* cmap) { return *reinterpret_cast<RealMap*>(cmap); }
const RealMap& map_of(const ::cmap* cmap) {
  return *reinterpret_cast<const RealMap*>(cmap);
}
RealNode* in(cmap_node* node) { return reinterpret_cast<RealNode*>(node); }
cmap_node* out(RealNode* node) { return reinterpret_cast<cmap_node*>(node); }

}  // namespace
}  // namespace ovsthread::cmap_core

using namespace ovsthread::cmap_core;  // NOLINT: the functions are global

void cmap_init(cmap* cmap) { cmap->root = nullptr; }

void cmap_destroy(cmap* cmap) {
  if (cmap) map_of(cmap).destroy();
}

size_t cmap_count(const cmap* cmap) { return map_of(cmap).count(); }

size_t cmap_count_after__(const cmap* cmap) { return map_of(cmap).count(); }

bool cmap_is_empty(const cmap* cmap) { return map_of(cmap).count() == 0; }

bool cmap_try_insert__(cmap* cmap, cmap_node* node, uint64_t hash) {
  return map_of(cmap).insert(in(node), hash) == RealMap::Result::kDone;
}

void cmap_insert__(cmap* cmap, cmap_node* node, uint64_t hash) {
  if (!cmap_try_insert__(cmap, node, hash)) {
    ovsthread::fatal("cmap %p: out of memory inserting node %p",
                     static_cast<void*>(cmap), static_cast<void*>(node));
  }
}

void cmap_replace__(cmap* cmap, cmap_node* old_node, cmap_node* new_node,
                    uint64_t hash) {
  if (map_of(cmap).replace(in(old_node), in(new_node), hash) !=
      RealMap::Result::kDone) {
    ovsthread::fatal(
        "cmap %p: %s node %p, which is not in it with hash %#llx",
        static_cast<void*>(cmap), new_node ? "replacing" : "removing",
        static_cast<void*>(old_node), static_cast<unsigned long long>(hash));
  }
}

size_t cmap_insert(cmap* cmap, cmap_node* node, uint32_t hash) {
  cmap_insert__(cmap, node, hash);
  return cmap_count(cmap);
}

size_t cmap_replace(cmap* cmap, cmap_node* old_node, cmap_node* new_node,
                    uint32_t hash) {
  cmap_replace__(cmap, old_node, new_node, hash);
  return cmap_count(cmap);
}

cmap_node* cmap_find__(const cmap* cmap, uint64_t hash) {
  return out(map_of(cmap).find(hash));
}

const cmap_node* cmap_find(const cmap* cmap, uint32_t hash) {
  return out(map_of(cmap).find(hash));
}

cmap_node* cmap_find_protected(const cmap* cmap, uint32_t hash) {
  return out(map_of(cmap).find(hash));
}

uint64_t cmap_find_batch__(const cmap* cmap, uint64_t wanted,
                           const uint64_t hashes[], cmap_node* nodes[]) {
  return find_batch(map_of(cmap).root(), wanted, hashes, nodes);
}

unsigned long cmap_find_batch(const cmap* cmap, unsigned long map,
                              uint32_t hashes[], const cmap_node* nodes[]) {
  return find_batch(map_of(cmap).root(), map, hashes, nodes);
}

uint32_t cmap_find_index(const cmap* cmap, uint32_t hash) {
  return find_index(map_of(cmap).root(), hash);
}

const cmap_node* cmap_find_by_index(const cmap* cmap, uint32_t index) {
  return out(find_by_index(map_of(cmap).root(), index));
}

cmap_cursor cmap_cursor_start(const cmap* cmap) {
  return std::bit_cast<cmap_cursor>(Iteration<Platform>::start(map_of(cmap)));
}

void cmap_cursor_advance(cmap_cursor* cursor) {
  Iteration<Platform>::advance(*reinterpret_cast<RealCursor*>(cursor));
}

cmap_node* cmap_next_position(const cmap* cmap, cmap_position* position) {
  Position at = {uint64_t{position->bucket} << 32 | position->entry,
                 position->offset};
  cmap_node* node = out(next_position(map_of(cmap), &at));
  *position = {static_cast<unsigned>(at.bound >> 32),
               static_cast<unsigned>(at.bound), at.left};
  return node;
}

// Open vSwitch's object behind CMAP_INITIALIZER; only its address exists here.
extern "C" {
struct cmap_impl {
  char unused;
};
OVSTHREAD_EXPORT extern const cmap_impl empty_cmap;
const cmap_impl empty_cmap{};
}
