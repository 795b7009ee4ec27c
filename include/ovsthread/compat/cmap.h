/* SPDX-License-Identifier: Apache-2.0
 *
 * Open vSwitch's cmap: the functions of ovsthread/cmap.h, and loops.
 *
 * Common to the loops: each is one for statement.  NODE is a pointer variable;
 * its type has the node as its MEMBER.  NODE is assigned before each run of the
 * body and NULL after a loop that was not left early.  Progress is in hidden
 * variables that an assignment to NODE in the body does not disturb.  Each
 * argument that is not NODE, MEMBER or CURSOR is evaluated once. */
#ifndef CMAP_H
#define CMAP_H 1

#include <ovsthread/cmap.h>
#include <stdbool.h>
#include <stdint.h>

#include "ovs-rcu.h"
#include "ovsthread-helpers.h"

/* A hidden variable for each use, so that nested loops don't shadow. */
#define CMAP_HIDDEN__(COUNTER) CMAP_PASTE__(cmap_hidden_, COUNTER)
#define CMAP_PASTE__(A, B) A##B

/* The cursor moves on before the body runs. */
static inline bool cmap_cursor_step__(struct cmap_cursor *cursor) {
  if (!cursor->node) {
    return false;
  }
  cmap_cursor_advance(cursor);
  return true;
}

#define CMAP_CURSOR_STEP__(NODE, MEMBER, CURSOR) \
  (OVSTHREAD_ASSIGN__(NODE, MEMBER, (CURSOR)->node), cmap_cursor_step__(CURSOR))

/* All nodes.  The body may remove any node, and free the current one if no
 * other thread can hold it. */
#define CMAP_FOR_EACH(NODE, MEMBER, CMAP) \
  CMAP_FOR_EACH_IN__(NODE, MEMBER, CMAP, CMAP_HIDDEN__(__COUNTER__))
#define CMAP_FOR_EACH_IN__(NODE, MEMBER, CMAP, HIDDEN) \
  CMAP_FOR_EACH_WITH__(NODE, MEMBER, CMAP, HIDDEN)
#define CMAP_FOR_EACH_WITH__(NODE, MEMBER, CMAP, HIDDEN)    \
  for (struct cmap_cursor HIDDEN = cmap_cursor_start(CMAP); \
       CMAP_CURSOR_STEP__(NODE, MEMBER, &HIDDEN);)

/* The same with a cursor of the caller's, which stands behind NODE in the body
 * and after a break; the second form goes on from there. */
#define CMAP_CURSOR_FOR_EACH(NODE, MEMBER, CURSOR, CMAP) \
  for (*(CURSOR) = cmap_cursor_start(CMAP);              \
       CMAP_CURSOR_STEP__(NODE, MEMBER, CURSOR);)
#define CMAP_CURSOR_FOR_EACH_CONTINUE(NODE, MEMBER, CURSOR) \
  for (; CMAP_CURSOR_STEP__(NODE, MEMBER, CURSOR);)

/* From CMAP_NODE, which may be NULL, along the nodes of the same hash.  The
 * body must not free the current node. */
#define CMAP_NODE_FOR_EACH(NODE, MEMBER, CMAP_NODE) \
  CMAP_NODE_FOR_EACH_IN__(NODE, MEMBER, CMAP_NODE, CMAP_HIDDEN__(__COUNTER__))
#define CMAP_NODE_FOR_EACH_IN__(NODE, MEMBER, CMAP_NODE, HIDDEN) \
  CMAP_NODE_FOR_EACH_WITH__(NODE, MEMBER, CMAP_NODE, HIDDEN)
#define CMAP_NODE_FOR_EACH_WITH__(NODE, MEMBER, CMAP_NODE, HIDDEN) \
  for (struct cmap_node *HIDDEN = (struct cmap_node *)(CMAP_NODE); \
       (OVSTHREAD_ASSIGN__(NODE, MEMBER, HIDDEN), HIDDEN != NULL); \
       HIDDEN = cmap_node_next(HIDDEN))

/* All nodes of HASH. */
#define CMAP_FOR_EACH_WITH_HASH(NODE, MEMBER, HASH, CMAP) \
  CMAP_NODE_FOR_EACH(NODE, MEMBER, cmap_find(CMAP, HASH))

/* No loop needs protection. */
#define CMAP_NODE_FOR_EACH_PROTECTED(NODE, MEMBER, CMAP_NODE) \
  CMAP_NODE_FOR_EACH(NODE, MEMBER, CMAP_NODE)
#define CMAP_FOR_EACH_WITH_HASH_PROTECTED(NODE, MEMBER, HASH, CMAP) \
  CMAP_FOR_EACH_WITH_HASH(NODE, MEMBER, HASH, CMAP)

#ifdef __cplusplus
extern "C" {
#endif

/* The name behind CMAP_INITIALIZER in Open vSwitch; nothing here uses it. */
struct cmap_impl;
OVSTHREAD_EXPORT extern const struct cmap_impl empty_cmap;

#ifdef __cplusplus
}
#endif

#endif /* CMAP_H */
