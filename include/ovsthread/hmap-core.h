/* SPDX-License-Identifier: Apache-2.0
 *
 * hmap: a chained hash map of nodes that the caller embeds in its elements.  C
 * and C++.  Programs include openvswitch/hmap.h, which adds the loops, or
 * ovsthread/hmap.h, which has types.
 *
 * The map allocates nothing but its bucket array, and takes no lock: any number
 * of readers or one writer, as the caller arranges.  It is laid out for a lock
 * that runs critical sections as transactions: there several writers are inside
 * at once, and all commit as long as none writes a line that another one reads.
 * Writers of different buckets would meet only where the nodes are counted.  So
 * a map of some size counts in stripes, one for each hardware thread, apart
 * from the words that a lookup reads; a small map counts inline, since it has
 * not enough buckets for its writers to miss each other anyway.
 *
 *   struct hmap, small            struct hmap, striped
 *   buckets, one, mask            buckets, one, mask
 *   tally = 2 * nodes             tally = address of the stripes + 1
 *
 * A map that was striped once stays so until it is destroyed, and its stripes
 * return to a pool whose memory is never given back: hmap_is_empty() may thus
 * be called without the lock, at any time but before hmap_init() and after
 * hmap_destroy().
 *
 * Growth is decided by what the inserting thread alone knows: each time that it
 * has added a certain number of nodes, it adds up the stripes and compares with
 * the number of buckets.  A small map grows at more than two nodes a bucket, a
 * striped one at no more than a quarter above that.
 *
 * Unless its comment says otherwise, a function is for a caller who excludes
 * other threads, and takes a time that depends on the length of the chain
 * only. */
#ifndef OVSTHREAD_HMAP_CORE_H_
#define OVSTHREAD_HMAP_CORE_H_

#include <ovsthread/annotations.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Embedded in an element.  Arbitrary content before insertion. */
struct hmap_node {
  size_t hash;
  struct hmap_node *next; /* In the bucket. */
};

struct hmap {
  struct hmap_node **buckets; /* &one if mask is 0. */
  struct hmap_node *one;      /* The only bucket of an empty or tiny map. */
  size_t mask;                /* Number of buckets - 1; 0 or at least 3. */
  size_t tally;               /* Twice the number of nodes, or odd: stripes. */
};

struct hmap_position {
  unsigned int bucket, offset;
};

/* The initialiser of a map at the address HMAP; that of a constant map at HMAP
 * of N nodes that are chained from NODE. */
#define HMAP_INITIALIZER(HMAP) \
  { (struct hmap_node **)&(HMAP)->one, NULL, 0, 0 }
#define HMAP_CONST(HMAP, N, NODE) \
  { (struct hmap_node **)&(HMAP)->one, NODE, 0, 2 * (size_t)(N) }

/* The next of a node that is marked as in no map. */
#define HMAP_NODE_NULL ((struct hmap_node *)1)
#define HMAP_NODE_NULL_INITIALIZER \
  { 0, HMAP_NODE_NULL }

/* Internal: striped counts, and the end of misuse. */
OVSTHREAD_API bool hmap_striped_add__(struct hmap *);
OVSTHREAD_API void hmap_striped_subtract__(struct hmap *);
OVSTHREAD_API size_t hmap_striped_count__(const struct hmap *);
OVSTHREAD_API bool hmap_striped_is_empty__(const struct hmap *);
OVSTHREAD_API void hmap_not_in_map__(const struct hmap *,
                                     const struct hmap_node *)
    __attribute__((__noreturn__, __cold__));

/* Makes HMAP empty.  Allocates nothing. */
OVSTHREAD_API void hmap_init(struct hmap *hmap);

/* Frees the buckets, not the nodes.  HMAP may be NULL. */
OVSTHREAD_API void hmap_destroy(struct hmap *hmap);

/* Forgets all nodes without touching them; keeps the buckets, hence takes a
 * time in proportion to their number. */
OVSTHREAD_API void hmap_clear(struct hmap *hmap);

OVSTHREAD_API void hmap_swap(struct hmap *a, struct hmap *b);

/* To be called after *HMAP was copied from elsewhere.  The source is not to be
 * used any more. */
OVSTHREAD_API void hmap_moved(struct hmap *hmap);

/* Resizing: up, or down, to what suits the present number of nodes; up to what
 * suits CAPACITY nodes.  Nothing happens where the size fits already.  Chains
 * may change their order.  WHERE appears in the message if memory is exhausted,
 * which ends the program.  Takes a time in proportion to nodes and buckets;
 * inside an elided section, all but small maps make the section run for real
 * first. */
OVSTHREAD_API void hmap_expand_at(struct hmap *hmap, const char *where);
OVSTHREAD_API void hmap_shrink_at(struct hmap *hmap, const char *where);
OVSTHREAD_API void hmap_reserve_at(struct hmap *hmap, size_t capacity,
                                   const char *where);

/* To be called after the element of OLD_NODE, which is in HMAP, was copied, so
 * that its node is now NODE.  OLD_NODE is compared only. */
OVSTHREAD_API void hmap_node_moved(struct hmap *hmap,
                                   struct hmap_node *old_node,
                                   struct hmap_node *node);

/* A node picked at random, not uniformly, but each one may come up; NULL if the
 * map is empty.  Takes a time in proportion to the longest run of empty
 * buckets.
 */
OVSTHREAD_API struct hmap_node *hmap_random_node(const struct hmap *hmap);

/* The node at POSITION, which moves on; NULL at the end, where the position is
 * zero again.  Start with zeros.  The
 * map may change between calls: a node that stays is not skipped and may be
 * repeated; but a resize may skip as well.  Positions reach the first 2^32 - 1
 * buckets. */
OVSTHREAD_API struct hmap_node *hmap_at_position(
    const struct hmap *hmap, struct hmap_position *position);

/* Whether NODE itself, whose hash is set, is in HMAP. */
OVSTHREAD_API bool hmap_contains(const struct hmap *hmap,
                                 const struct hmap_node *node);

static inline size_t hmap_load_tally__(const struct hmap *hmap) {
  /* Relaxed: a count without the lock is a hint, and with it nobody writes. */
  return __atomic_load_n(&hmap->tally, __ATOMIC_RELAXED);
}

static inline bool hmap_is_striped__(size_t tally) { return tally & 1; }

/* Number of nodes.  Adds up one line for each hardware thread if the map is
 * large. */
static inline size_t hmap_count(const struct hmap *hmap) {
  size_t tally = hmap_load_tally__(hmap);
  return __builtin_expect(hmap_is_striped__(tally), 0)
             ? hmap_striped_count__(hmap)
             : tally / 2;
}

/* May be called without the lock, and may be out of date then; but it never
 * returns true while a node stays in the map.  Lock-free. */
static inline bool hmap_is_empty(const struct hmap *hmap) {
  size_t tally = hmap_load_tally__(hmap);
  return __builtin_expect(hmap_is_striped__(tally), 0)
             ? hmap_striped_is_empty__(hmap)
             : tally == 0;
}

/* Number of nodes at which the map needs no more buckets than it has. */
static inline size_t hmap_capacity(const struct hmap *hmap) {
  return hmap->mask * 2 + 1;
}

static inline struct hmap_node **hmap_bucket__(const struct hmap *hmap,
                                               size_t hash) {
  return &hmap->buckets[hash & hmap->mask];
}

/* The link that points to NODE, which must be in HMAP with the hash HASH. */
static inline struct hmap_node **hmap_link__(const struct hmap *hmap,
                                             const struct hmap_node *node,
                                             size_t hash) {
  struct hmap_node **link = hmap_bucket__(hmap, hash);
  while (*link != node) {
    if (!*link) {
      hmap_not_in_map__(hmap, node);
    }
    link = &(*link)->next;
  }
  return link;
}

/* Returns whether it is time to look at the load. */
static inline bool hmap_add__(struct hmap *hmap, struct hmap_node *node,
                              size_t hash) {
  struct hmap_node **bucket = hmap_bucket__(hmap, hash);
  node->hash = hash;
  node->next = *bucket;
  *bucket = node;
  /* Last: a transaction shall own the line of the stripe for a short time. */
  size_t tally = hmap_load_tally__(hmap);
  if (hmap_is_striped__(tally)) {
    return hmap_striped_add__(hmap);
  }
  __atomic_store_n(&hmap->tally, tally + 2, __ATOMIC_RELAXED);
  return (tally + 2) / 4 > hmap->mask;
}

/* Adds NODE at the head of its bucket without ever growing the map. */
static inline void hmap_insert_fast(struct hmap *hmap, struct hmap_node *node,
                                    size_t hash) {
  (void)hmap_add__(hmap, node, hash);
}

/* Adds NODE, which must not be in a map, at the head of its bucket.  May grow
 * the map: see hmap_expand_at(). */
static inline void hmap_insert_at(struct hmap *hmap, struct hmap_node *node,
                                  size_t hash, const char *where) {
  if (__builtin_expect(hmap_add__(hmap, node, hash), 0)) {
    hmap_expand_at(hmap, where);
  }
}

/* Unlinks NODE, whose content stays as it is.  Never shrinks the map.  A node
 * that is not in HMAP ends the program with a message. */
static inline void hmap_remove(struct hmap *hmap, struct hmap_node *node) {
  *hmap_link__(hmap, node, node->hash) = node->next;
  size_t tally = hmap_load_tally__(hmap);
  if (hmap_is_striped__(tally)) {
    hmap_striped_subtract__(hmap);
  } else {
    __atomic_store_n(&hmap->tally, tally - 2, __ATOMIC_RELAXED);
  }
}

/* Puts NEW_NODE in the place of OLD_NODE, which must be in HMAP, with its
 * hash. */
static inline void hmap_replace(struct hmap *hmap,
                                const struct hmap_node *old_node,
                                struct hmap_node *new_node) {
  *hmap_link__(hmap, old_node, old_node->hash) = new_node;
  new_node->hash = old_node->hash;
  new_node->next = old_node->next;
}

static inline struct hmap_node *hmap_skip_to_hash__(struct hmap_node *node,
                                                    size_t hash) {
  while (node && node->hash != hash) {
    node = node->next;
  }
  return node;
}

/* First and next node of equal hash, or NULL. */
static inline struct hmap_node *hmap_first_with_hash(const struct hmap *hmap,
                                                     size_t hash) {
  return hmap_skip_to_hash__(*hmap_bucket__(hmap, hash), hash);
}

static inline struct hmap_node *hmap_next_with_hash(
    const struct hmap_node *node) {
  return hmap_skip_to_hash__(node->next, node->hash);
}

/* First and next node of the bucket of HASH, or NULL. */
static inline struct hmap_node *hmap_first_in_bucket(const struct hmap *hmap,
                                                     size_t hash) {
  return *hmap_bucket__(hmap, hash);
}

static inline struct hmap_node *hmap_next_in_bucket(
    const struct hmap_node *node) {
  return node->next;
}

static inline struct hmap_node *hmap_first_from__(const struct hmap *hmap,
                                                  size_t bucket) {
  for (; bucket <= hmap->mask; bucket++) {
    if (hmap->buckets[bucket]) {
      return hmap->buckets[bucket];
    }
  }
  return NULL;
}

/* First and next node in order of the buckets, or NULL.  NODE may have been
 * removed, if it is intact and no resize came between. */
static inline struct hmap_node *hmap_first(const struct hmap *hmap) {
  return hmap_first_from__(hmap, 0);
}

static inline struct hmap_node *hmap_next(const struct hmap *hmap,
                                          const struct hmap_node *node) {
  return node->next ? node->next
                    : hmap_first_from__(hmap, (node->hash & hmap->mask) + 1);
}

/* Removes and returns a node of *BUCKET or a later bucket, which *BUCKET then
 * names; NULL if there is none. */
static inline struct hmap_node *hmap_pop__(struct hmap *hmap, size_t *bucket) {
  struct hmap_node *node = hmap_first_from__(hmap, *bucket);
  if (node) {
    *bucket = node->hash & hmap->mask;
    hmap_remove(hmap, node);
  }
  return node;
}

static inline size_t hmap_node_hash(const struct hmap_node *node) {
  return node->hash;
}

/* Marks and tests "in no map".  Insertion un-marks; removal does not mark. */
static inline bool hmap_node_is_null(const struct hmap_node *node) {
  return node->next == HMAP_NODE_NULL;
}

static inline void hmap_node_nullify(struct hmap_node *node) {
  node->next = HMAP_NODE_NULL;
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif /* OVSTHREAD_HMAP_CORE_H_ */
