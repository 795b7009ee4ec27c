/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes and offsets of the public types, which C and C++ must agree on. */
#include <pthread.h>

#include "cmap.h"
#include "openvswitch/hmap.h"
#include "openvswitch/thread.h"
#include "ovs-thread.h"
#include "tests/compat/calls.h"

#define TYPE(TYPE) \
  { #TYPE, sizeof(TYPE), __alignof__(TYPE) }
#define MEMBER(TYPE, MEMBER) \
  { #TYPE "::" #MEMBER, offsetof(TYPE, MEMBER), sizeof(((TYPE *)0)->MEMBER) }

typedef OVSRCU_TYPE(void *) rcu_pointer;

static const struct layout layouts[] = {
    TYPE(struct cmap),
    TYPE(struct cmap_node),
    TYPE(struct cmap_cursor),
    TYPE(struct cmap_position),
    MEMBER(struct cmap_cursor, node),
    TYPE(struct hmap),
    MEMBER(struct hmap, one),
    MEMBER(struct hmap, mask),
    TYPE(struct hmap_node),
    MEMBER(struct hmap_node, next),
    TYPE(struct hmap_position),
    TYPE(struct ovs_mutex),
    TYPE(struct ovs_spin),
    MEMBER(struct ovs_spin, where),
    TYPE(struct ovs_rwlock),
    TYPE(struct ovs_barrier),
    TYPE(struct ovsthread_once),
    MEMBER(struct ovsthread_once, mutex),
    TYPE(struct ovsthread_stats),
    TYPE(ovsrcu_index),
    TYPE(rcu_pointer),
};

const struct layout *CALLS(layout)(size_t *n) {
  *n = ARRAY_SIZE(layouts);
  return layouts;
}
