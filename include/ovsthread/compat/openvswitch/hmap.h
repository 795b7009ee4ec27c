/* SPDX-License-Identifier: Apache-2.0
 *
 * Open vSwitch's hmap: the functions of ovsthread/hmap-core.h, and loops.
 *
 * Common to the loops: each is one for statement.  NODE is the name of a
 * pointer variable; its type has the node as its MEMBER.  NODE is assigned
 * before each run of the body and NULL after a loop that was not left early.
 * Progress is in hidden variables, named after NODE, that an assignment to NODE
 * in the body does not disturb.  HMAP is evaluated once more than the body
 * runs, except in the loops over one hash or bucket, which evaluate it once. */
#ifndef HMAP_H
#define HMAP_H 1

#include <ovsthread/hmap-core.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ovsthread-util.h"

#define hmap_insert(HMAP, NODE, HASH) \
  hmap_insert_at(HMAP, NODE, HASH, OVSTHREAD_WHERE)
#define hmap_expand(HMAP) hmap_expand_at(HMAP, OVSTHREAD_WHERE)
#define hmap_shrink(HMAP) hmap_shrink_at(HMAP, OVSTHREAD_WHERE)
#define hmap_reserve(HMAP, CAPACITY) \
  hmap_reserve_at(HMAP, CAPACITY, OVSTHREAD_WHERE)

/* Evaluates up to eight expressions of any type and discards their values. */
#define HMAP_DISCARD__(...)                                            \
  HMAP_NINTH__(__VA_ARGS__, HMAP_DISCARD_8__, HMAP_DISCARD_7__,        \
               HMAP_DISCARD_6__, HMAP_DISCARD_5__, HMAP_DISCARD_4__,   \
               HMAP_DISCARD_3__, HMAP_DISCARD_2__, HMAP_DISCARD_1__, ) \
  (__VA_ARGS__)
#define HMAP_NINTH__(A, B, C, D, E, F, G, H, NAME, ...) NAME
#define HMAP_DISCARD_1__(A) (void)(A)
#define HMAP_DISCARD_2__(A, ...) (void)(A), HMAP_DISCARD_1__(__VA_ARGS__)
#define HMAP_DISCARD_3__(A, ...) (void)(A), HMAP_DISCARD_2__(__VA_ARGS__)
#define HMAP_DISCARD_4__(A, ...) (void)(A), HMAP_DISCARD_3__(__VA_ARGS__)
#define HMAP_DISCARD_5__(A, ...) (void)(A), HMAP_DISCARD_4__(__VA_ARGS__)
#define HMAP_DISCARD_6__(A, ...) (void)(A), HMAP_DISCARD_5__(__VA_ARGS__)
#define HMAP_DISCARD_7__(A, ...) (void)(A), HMAP_DISCARD_6__(__VA_ARGS__)
#define HMAP_DISCARD_8__(A, ...) (void)(A), HMAP_DISCARD_7__(__VA_ARGS__)

/* A loop that starts at FIRST and goes on with NEXT, an expression in the
 * hidden variable. */
#define HMAP_ITER__(NODE) NODE##_hmap_iter__
#define HMAP_NEXT__(NODE) NODE##_hmap_next__
#define HMAP_LOOP__(NODE, MEMBER, FIRST, NEXT)               \
  for (struct hmap_node * HMAP_ITER__(NODE) = (FIRST);       \
       (OVSTHREAD_ASSIGN__(NODE, MEMBER, HMAP_ITER__(NODE)), \
        HMAP_ITER__(NODE) != NULL);                          \
       HMAP_ITER__(NODE) = (NEXT))

/* All nodes.  The body may remove, but not free, the current one; it may not
 * change the map otherwise.  The _INIT forms first evaluate further
 * expressions, once. */
#define HMAP_FOR_EACH(NODE, MEMBER, HMAP)     \
  HMAP_LOOP__(NODE, MEMBER, hmap_first(HMAP), \
              hmap_next(HMAP, HMAP_ITER__(NODE)))
#define HMAP_FOR_EACH_INIT(NODE, MEMBER, HMAP, ...)                          \
  HMAP_LOOP__(NODE, MEMBER, (HMAP_DISCARD__(__VA_ARGS__), hmap_first(HMAP)), \
              hmap_next(HMAP, HMAP_ITER__(NODE)))

/* The same, starting after NODE. */
#define HMAP_FOR_EACH_CONTINUE(NODE, MEMBER, HMAP)            \
  HMAP_LOOP__(NODE, MEMBER, hmap_next(HMAP, &(NODE)->MEMBER), \
              hmap_next(HMAP, HMAP_ITER__(NODE)))
#define HMAP_FOR_EACH_CONTINUE_INIT(NODE, MEMBER, HMAP, ...)                   \
  HMAP_LOOP__(NODE, MEMBER,                                                    \
              (HMAP_DISCARD__(__VA_ARGS__), hmap_next(HMAP, &(NODE)->MEMBER)), \
              hmap_next(HMAP, HMAP_ITER__(NODE)))

/* The nodes whose hash is HASH; the nodes of the bucket of HASH, which hold
 * others as well. */
#define HMAP_FOR_EACH_WITH_HASH(NODE, MEMBER, HASH, HMAP)     \
  HMAP_LOOP__(NODE, MEMBER, hmap_first_with_hash(HMAP, HASH), \
              hmap_next_with_hash(HMAP_ITER__(NODE)))
#define HMAP_FOR_EACH_IN_BUCKET(NODE, MEMBER, HASH, HMAP)     \
  HMAP_LOOP__(NODE, MEMBER, hmap_first_in_bucket(HMAP, HASH), \
              hmap_next_in_bucket(HMAP_ITER__(NODE)))

/* All nodes; the body may also free the current one, not its successor.  With
 * four arguments, NEXT is a variable of NODE's type that holds the successor,
 * or NULL. */
#define HMAP_FOR_EACH_SAFE(...)                      \
  HMAP_FIFTH__(__VA_ARGS__, HMAP_FOR_EACH_SAFE_LONG, \
               HMAP_FOR_EACH_SAFE_SHORT, )           \
  (__VA_ARGS__)
#define HMAP_FIFTH__(A, B, C, D, NAME, ...) NAME
#define HMAP_FOR_EACH_SAFE_SHORT(NODE, MEMBER, HMAP) \
  HMAP_SAFE_LOOP__(NODE, MEMBER, HMAP, hmap_first(HMAP), (void)0)
#define HMAP_FOR_EACH_SAFE_SHORT_INIT(NODE, MEMBER, HMAP, ...) \
  HMAP_SAFE_LOOP__(NODE, MEMBER, HMAP,                         \
                   (HMAP_DISCARD__(__VA_ARGS__), hmap_first(HMAP)), (void)0)
#define HMAP_FOR_EACH_SAFE_LONG(NODE, NEXT, MEMBER, HMAP) \
  HMAP_SAFE_LOOP__(NODE, MEMBER, HMAP, hmap_first(HMAP),  \
                   OVSTHREAD_ASSIGN__(NEXT, MEMBER, HMAP_NEXT__(NODE)))
#define HMAP_FOR_EACH_SAFE_LONG_INIT(NODE, NEXT, MEMBER, HMAP, ...) \
  HMAP_SAFE_LOOP__(NODE, MEMBER, HMAP,                              \
                   (HMAP_DISCARD__(__VA_ARGS__), hmap_first(HMAP)), \
                   OVSTHREAD_ASSIGN__(NEXT, MEMBER, HMAP_NEXT__(NODE)))
#define HMAP_SAFE_LOOP__(NODE, MEMBER, HMAP, FIRST, ASSIGN_NEXT)           \
  for (struct hmap_node * HMAP_ITER__(NODE) = (FIRST),                     \
                          *HMAP_NEXT__(NODE) = NULL;                       \
       (HMAP_NEXT__(NODE) =                                                \
            HMAP_ITER__(NODE) ? hmap_next(HMAP, HMAP_ITER__(NODE)) : NULL, \
       OVSTHREAD_ASSIGN__(NODE, MEMBER, HMAP_ITER__(NODE)), ASSIGN_NEXT,   \
       HMAP_ITER__(NODE) != NULL);                                         \
       HMAP_ITER__(NODE) = HMAP_NEXT__(NODE))

/* Takes each node out of the map before the body runs, which may free it. Nodes
 * that the body inserts into earlier buckets stay. */
#define HMAP_FOR_EACH_POP(NODE, MEMBER, HMAP)                     \
  for (size_t HMAP_ITER__(NODE) = 0;                              \
       (OVSTHREAD_ASSIGN__(NODE, MEMBER,                          \
                           hmap_pop__(HMAP, &HMAP_ITER__(NODE))), \
        (NODE) != NULL);)

#endif /* HMAP_H */
