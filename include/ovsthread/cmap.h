/* SPDX-License-Identifier: Apache-2.0
 *
 * cmap: a concurrent hash map of nodes that the caller embeds in its elements.
 * C and C++; ovsthread::Cmap below is the typed face of it.  The algorithm is
 * told in lib/cmap-core.h.
 *
 * Any number of readers and of writers at once, without a lock.  Readers are
 * wait-free and write nothing shared.  Writers block each other only in the
 * same cache line of the table, so writers of disjoint elements run side by
 * side, also as transactions under an elided lock.  The table grows and shrinks
 * by itself, at most 64 bins in a call.
 *
 * Readers, and writers whom no common lock excludes, must be RCU-active (see
 * ovs-rcu.h, ovsthread/rcu.h) before their first call: a thread that
 * ovs_thread_create() starts is, any other calls ovsrcu_quiesce_end() or holds
 * a read-side guard.  Removed nodes must stay as they are until a grace period
 * has passed, unless no other thread can hold them.  Equal hashes are allowed;
 * a lookup returns the newest node, the others follow.
 *
 * Out of memory: an insertion that can't be done without memory aborts with a
 * message (C++: throws std::bad_alloc and leaves the map as it was).  Resizing
 * is put off.  Nothing else fails. */
#ifndef OVSTHREAD_CMAP_H_
#define OVSTHREAD_CMAP_H_

#include <ovsthread/annotations.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
/* Programs may include C headers inside extern "C". */
extern "C++" {
#include <bit>
#include <iterator>
#include <new>
#include <span>
}

extern "C" {
#endif

/* Embedded in an element.  Arbitrary content before insertion. */
struct cmap_node {
  uint64_t hash; /* Internal: mixed. */
  struct cmap_node *next;
};

/* Zeroed, a map is empty as well. */
struct cmap {
  void *root;
};

#define CMAP_INITIALIZER \
  { NULL }

/* A place in an iteration, a plain value; zeroed, it is at the end. */
struct cmap_cursor {
  struct cmap_node *node; /* To be visited next; NULL at the end. */
  const struct cmap *cmap;
  const void *table;
  uint64_t step;
  uint64_t first, last;
  const void *line;
  uint64_t link;
  uint64_t lower, upper;
  uint32_t slot;
  bool rest;
  uint64_t section;
};

/* A place that outlives quiescent states.  Start with zeros. */
struct cmap_position {
  unsigned int bucket, entry, offset;
};

/* Makes CMAP empty.  Allocates nothing. */
OVSTHREAD_API void cmap_init(struct cmap *cmap);

/* Releases the table after a grace period, not the elements, which the caller
 * may free at once if no other reader is there.  Readers may be inside, writers
 * not.  CMAP may be NULL. */
OVSTHREAD_API void cmap_destroy(struct cmap *cmap);

/* Number of nodes: never 0 while a node can be found; exact while no writer is
 * inside, else wrong by at most the number of writers that are.  Wait-free;
 * adds up one line for each hardware thread if the map is not small. */
OVSTHREAD_API size_t cmap_count(const struct cmap *cmap);
OVSTHREAD_API bool cmap_is_empty(const struct cmap *cmap);

/* Internal. */
OVSTHREAD_API void cmap_insert__(struct cmap *, struct cmap_node *,
                                 uint64_t hash);
OVSTHREAD_API bool cmap_try_insert__(struct cmap *, struct cmap_node *,
                                     uint64_t hash);
OVSTHREAD_API void cmap_replace__(struct cmap *, struct cmap_node *,
                                  struct cmap_node *, uint64_t hash);
OVSTHREAD_API struct cmap_node *cmap_find__(const struct cmap *, uint64_t hash);
OVSTHREAD_API uint64_t cmap_find_batch__(const struct cmap *, uint64_t wanted,
                                         const uint64_t hashes[],
                                         struct cmap_node *nodes[]);
/* Pure only as seen from the operations below: what they don't use of it,
 * compilers drop. */
OVSTHREAD_API size_t cmap_count_after__(const struct cmap *)
    __attribute__((__pure__));

/* Adds NODE, which must be in no map.  A reader that finds it sees all that was
 * stored to its element before.  Returns the count, at no cost if it is
 * ignored. A node above the lower 48 bits of the address space ends the program
 * with a message. */
OVSTHREAD_API size_t cmap_insert(struct cmap *cmap, struct cmap_node *node,
                                 uint32_t hash);

/* Puts NEW_NODE, or with NULL nothing, in the place of OLD_NODE, which must be
 * in CMAP with HASH: else the program ends with a message.  A lookup meanwhile
 * sees one of the two.  Returns the count, at no cost if it is ignored. */
OVSTHREAD_API size_t cmap_replace(struct cmap *cmap, struct cmap_node *old_node,
                                  struct cmap_node *new_node, uint32_t hash);

/* Inline where the compiler inlines; else the functions of the library. */
#ifndef CMAP_NO_INLINES__
extern inline __attribute__((__gnu_inline__)) size_t cmap_insert(
    struct cmap *cmap, struct cmap_node *node, uint32_t hash) {
  cmap_insert__(cmap, node, hash);
  return cmap_count_after__(cmap);
}

extern inline __attribute__((__gnu_inline__)) size_t cmap_replace(
    struct cmap *cmap, struct cmap_node *old_node, struct cmap_node *new_node,
    uint32_t hash) {
  cmap_replace__(cmap, old_node, new_node, hash);
  return cmap_count_after__(cmap);
}
#endif

/* Removes NODE, which must be in CMAP with HASH. */
static inline size_t cmap_remove(struct cmap *cmap, struct cmap_node *node,
                                 uint32_t hash) {
  return cmap_replace(cmap, node, NULL, hash);
}

/* The newest node of HASH, or NULL; cmap_node_next() leads to the others.  The
 * protected forms are the same: no lookup needs protection.  Wait-free. */
OVSTHREAD_API const struct cmap_node *cmap_find(const struct cmap *cmap,
                                                uint32_t hash);
OVSTHREAD_API struct cmap_node *cmap_find_protected(const struct cmap *cmap,
                                                    uint32_t hash);
#ifndef CMAP_NO_INLINES__
/* The caller mostly has HASH in 64 bits already. */
extern inline __attribute__((__gnu_inline__)) const struct cmap_node *cmap_find(
    const struct cmap *cmap, uint32_t hash) {
  return cmap_find__(cmap, hash);
}
extern inline __attribute__((__gnu_inline__)) struct cmap_node *
cmap_find_protected(const struct cmap *cmap, uint32_t hash) {
  return cmap_find__(cmap, hash);
}
#endif

static inline struct cmap_node *cmap_node_next(const struct cmap_node *node) {
  /* (4) the node; pairs with (3). */
  return __atomic_load_n(&node->next, __ATOMIC_ACQUIRE);
}

static inline struct cmap_node *cmap_node_next_protected(
    const struct cmap_node *node) {
  return cmap_node_next(node);
}

/* For each bit i of MAP looks hashes[i] up.  Found: stores the node in nodes[i]
 * and sets bit i of the result; else leaves nodes[i] as it is.  Entries of
 * clear bits are not touched.  Faster than single lookups if the map is not in
 * cache. Wait-free. */
OVSTHREAD_API unsigned long cmap_find_batch(const struct cmap *cmap,
                                            unsigned long map,
                                            uint32_t hashes[],
                                            const struct cmap_node *nodes[]);

/* The number of the slot in which HASH was found, or UINT32_MAX: not there, or
 * in a place that has no number (an overflowing bin, a resize that runs).
 * Wait-free. */
OVSTHREAD_API uint32_t cmap_find_index(const struct cmap *cmap, uint32_t hash);

/* The first node of slot INDEX, which is any number; NULL if there is none.  It
 * may have another hash than the one the index was found for.  Wait-free. */
OVSTHREAD_API const struct cmap_node *cmap_find_by_index(
    const struct cmap *cmap, uint32_t index);

/* Iteration: each node that stays in the map is visited exactly once, others at
 * most once, of a replaced pair one.  Nothing needs to be done at the end of a
 * cursor's use.  While anybody writes, the thread must not quiesce between the
 * start and the last use of a cursor; libraries built without NDEBUG end the
 * program if they notice.  Wait-free. */
OVSTHREAD_API struct cmap_cursor cmap_cursor_start(const struct cmap *cmap);
OVSTHREAD_API void cmap_cursor_advance(struct cmap_cursor *cursor);

/* Returns the node at POSITION and moves it on; at the end NULL, and POSITION
 * is zero again.  The map may change and the thread may quiesce between calls:
 * a node that stays is never skipped.  It is repeated only if a node of the
 * same hash that was still to come is removed.  Nodes come in the order of a
 * mixed hash, and a call takes time in proportion to the empty bins that it
 * passes. Wait-free. */
OVSTHREAD_API struct cmap_node *cmap_next_position(
    const struct cmap *cmap, struct cmap_position *position);

/* Any node, NULL exactly if there is none. */
static inline struct cmap_node *cmap_first(const struct cmap *cmap) {
  struct cmap_position start = {0, 0, 0};
  return cmap_next_position(cmap, &start);
}

#ifdef __cplusplus
}  // extern "C"

extern "C++" {
namespace ovsthread {

// A map of elements of the standard-layout type T, each of which embeds its
// node as the member kNode.  The map owns no element.  What is said of the C
// functions above holds; hashes have 64 bits, all of which count.
//
//   struct Flow { int key; cmap_node node; };
//   Cmap<Flow, &Flow::node> flows;
//   flows.insert(flow, hash_u64(flow.key));
//   for (Flow &f : flows.equal_range(hash_u64(7))) if (f.key == 7) ...
//   for (Flow &f : flows) ...
template <class T, cmap_node T::*kNode>
class Cmap {
 public:
  using value_type = T;
  using size_type = size_t;

  // An input iterator over all elements, to be used within one RCU read
  // section.
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    T &operator*() const { return *element(node_); }
    T *operator->() const { return element(node_); }
    iterator &operator++() {
      next();
      return *this;
    }
    void operator++(int) { next(); }
    bool operator==(std::default_sentinel_t) const { return !node_; }

   private:
    friend Cmap;
    explicit iterator(const cmap *map) : cursor_(cmap_cursor_start(map)) {
      next();
    }
    // The cursor is one ahead, so that the current element may go.
    void next() {
      node_ = cursor_.node;
      if (node_) cmap_cursor_advance(&cursor_);
    }
    cmap_node *node_ = nullptr;
    cmap_cursor cursor_{};
  };

  // A forward iterator over the elements of one hash.
  class local_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T *;
    using reference = T &;

    local_iterator() = default;
    T &operator*() const { return *element(node_); }
    T *operator->() const { return element(node_); }
    local_iterator &operator++() {
      node_ = cmap_node_next(node_);
      return *this;
    }
    local_iterator operator++(int) {
      local_iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const local_iterator &) const = default;

   private:
    friend Cmap;
    explicit local_iterator(cmap_node *node) : node_(node) {}
    cmap_node *node_ = nullptr;
  };

  Cmap() = default;
  ~Cmap() { cmap_destroy(&map_); }
  Cmap(const Cmap &) = delete;
  Cmap &operator=(const Cmap &) = delete;

  size_t size() const { return cmap_count(&map_); }
  [[nodiscard]] bool empty() const { return cmap_is_empty(&map_); }

  iterator begin() const { return iterator(&map_); }
  std::default_sentinel_t end() const { return {}; }

  // Adds ELEMENT, which must be in no map.  Throws std::bad_alloc; the map is
  // then as it was.
  void insert(T &element, uint64_t hash) {
    if (!cmap_try_insert__(&map_, &(element.*kNode), hash)) {
      throw std::bad_alloc();
    }
  }

  // Takes out ELEMENT, which is in the map with HASH.  Its memory is the
  // caller's after a grace period.
  void erase(T &element, uint64_t hash) {
    cmap_replace__(&map_, &(element.*kNode), nullptr, hash);
  }

  // Puts NOW in the place of OLD, which is in the map with HASH.
  void replace(T &old, T &now, uint64_t hash) {
    cmap_replace__(&map_, &(old.*kNode), &(now.*kNode), hash);
  }

  // The elements of one hash.  Not a std::ranges::subrange: clang 14 cannot
  // instantiate that of GCC 12's library.
  class hash_range {
   public:
    explicit hash_range(local_iterator first) : first_(first) {}
    local_iterator begin() const { return first_; }
    local_iterator end() const { return {}; }
    bool empty() const { return begin() == end(); }

   private:
    local_iterator first_;
  };

  // The elements of HASH, newest first.
  hash_range equal_range(uint64_t hash) const {
    return hash_range(local_iterator(cmap_find__(&map_, hash)));
  }

  // The newest element of HASH for which EQUAL(element) holds, or null.
  template <class Equal>
  T *find(uint64_t hash, Equal &&equal) const {
    for (T &e : equal_range(hash)) {
      if (equal(static_cast<const T &>(e))) return &e;
    }
    return nullptr;
  }

  // Looks up to 64 hashes up at once: calls FOUND(i, element), with the newest
  // element of hashes[i], for each that is found.
  template <class Found>
  void find_batch(std::span<const uint64_t> hashes, Found &&found) const {
    cmap_node *nodes[64];
    uint64_t all =
        hashes.size() < 64 ? (uint64_t{1} << hashes.size()) - 1 : ~uint64_t{0};
    uint64_t left = cmap_find_batch__(&map_, all, hashes.data(), nodes);
    for (; left; left &= left - 1) {
      size_t i = static_cast<size_t>(__builtin_ctzll(left));
      found(i, *element(nodes[i]));
    }
  }

 private:
  static T *element(cmap_node *node) {
    // A pointer to a data member is the member's offset (Itanium C++ ABI).
    auto offset = std::bit_cast<std::ptrdiff_t>(kNode);
    return reinterpret_cast<T *>(reinterpret_cast<char *>(node) - offset);
  }

  cmap map_ = CMAP_INITIALIZER;
};

}  // namespace ovsthread
}  // extern "C++"
#endif  // __cplusplus

#endif /* OVSTHREAD_CMAP_H_ */
