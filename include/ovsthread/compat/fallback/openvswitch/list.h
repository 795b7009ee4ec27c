/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Open vSwitch's header of this name where a program has none: a
 * circular, doubly linked list of nodes embedded in their elements.  The head
 * is a node without an element. */
#ifndef OPENVSWITCH_LIST_H
#define OPENVSWITCH_LIST_H 1

#include <stdbool.h>
#include <stddef.h>

#include "types.h"
#include "util.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ovs_list {
  struct ovs_list *prev; /* The last element, in a head. */
  struct ovs_list *next; /* The first element, in a head. */
};

#ifndef OVS_LIST_INITIALIZER
#define OVS_LIST_INITIALIZER(LIST) \
  { LIST, LIST }
#endif

static inline void ovs_list_init(struct ovs_list *list) {
  list->next = list->prev = list;
}

static inline bool ovs_list_is_empty(const struct ovs_list *list) {
  return list->next == list;
}

/* True for no or one element. */
static inline bool ovs_list_is_short(const struct ovs_list *list) {
  return list->next == list->prev;
}

static inline bool ovs_list_is_singleton(const struct ovs_list *list) {
  return ovs_list_is_short(list) && !ovs_list_is_empty(list);
}

static inline size_t ovs_list_size(const struct ovs_list *list) {
  size_t n = 0;
  for (const struct ovs_list *node = list->next; node != list;
       node = node->next) {
    n++;
  }
  return n;
}

/* The list must not be empty. */
static inline struct ovs_list *ovs_list_front(const struct ovs_list *list) {
  return list->next;
}

static inline struct ovs_list *ovs_list_back(const struct ovs_list *list) {
  return list->prev;
}

/* Inserts NODE just before BEFORE. */
static inline void ovs_list_insert(struct ovs_list *before,
                                   struct ovs_list *node) {
  node->prev = before->prev;
  node->next = before;
  before->prev->next = node;
  before->prev = node;
}

static inline void ovs_list_push_front(struct ovs_list *list,
                                       struct ovs_list *node) {
  ovs_list_insert(list->next, node);
}

static inline void ovs_list_push_back(struct ovs_list *list,
                                      struct ovs_list *node) {
  ovs_list_insert(list, node);
}

/* Removes NODE and returns the one that followed it. */
static inline struct ovs_list *ovs_list_remove(struct ovs_list *node) {
  node->prev->next = node->next;
  node->next->prev = node->prev;
  return node->next;
}

/* The list must not be empty. */
static inline struct ovs_list *ovs_list_pop_front(struct ovs_list *list) {
  struct ovs_list *front = list->next;
  ovs_list_remove(front);
  return front;
}

static inline struct ovs_list *ovs_list_pop_back(struct ovs_list *list) {
  struct ovs_list *back = list->prev;
  ovs_list_remove(back);
  return back;
}

/* Moves the nodes from FIRST to before LAST to just before BEFORE. */
static inline void ovs_list_splice(struct ovs_list *before,
                                   struct ovs_list *first,
                                   struct ovs_list *last) {
  if (first == last) {
    return;
  }
  struct ovs_list *tail = last->prev;
  first->prev->next = last;
  last->prev = first->prev;
  first->prev = before->prev;
  tail->next = before;
  before->prev->next = first;
  before->prev = tail;
}

/* Puts NODE where POSITION was. */
static inline void ovs_list_replace(struct ovs_list *node,
                                    const struct ovs_list *position) {
  node->next = position->next;
  node->prev = position->prev;
  node->prev->next = node->next->prev = node;
}

/* To be called after a head was copied from ORIG to LIST. */
static inline void ovs_list_moved(struct ovs_list *list,
                                  const struct ovs_list *orig) {
  if (list->next == orig) {
    ovs_list_init(list);
  } else {
    list->prev->next = list->next->prev = list;
  }
}

/* Makes DST the head of what SRC heads; SRC is then uninitialised. */
static inline void ovs_list_move(struct ovs_list *dst, struct ovs_list *src) {
  *dst = *src;
  ovs_list_moved(dst, src);
}

#ifdef __cplusplus
}
#endif

/* ITER is NULL after a loop that was not left early. */
#ifndef LIST_FOR_EACH
#define LIST_FOR_EACH(ITER, MEMBER, LIST)                          \
  for (INIT_MULTIVAR(ITER, MEMBER, (LIST)->next, struct ovs_list); \
       CONDITION_MULTIVAR(ITER, MEMBER, ITER_VAR(ITER) != (LIST)); \
       UPDATE_MULTIVAR(ITER, ITER_VAR(ITER)->next))
#endif
#ifndef LIST_FOR_EACH_CONTINUE
#define LIST_FOR_EACH_CONTINUE(ITER, MEMBER, LIST)                        \
  for (INIT_MULTIVAR(ITER, MEMBER, (ITER)->MEMBER.next, struct ovs_list); \
       CONDITION_MULTIVAR(ITER, MEMBER, ITER_VAR(ITER) != (LIST));        \
       UPDATE_MULTIVAR(ITER, ITER_VAR(ITER)->next))
#endif
#ifndef LIST_FOR_EACH_REVERSE
#define LIST_FOR_EACH_REVERSE(ITER, MEMBER, LIST)                  \
  for (INIT_MULTIVAR(ITER, MEMBER, (LIST)->prev, struct ovs_list); \
       CONDITION_MULTIVAR(ITER, MEMBER, ITER_VAR(ITER) != (LIST)); \
       UPDATE_MULTIVAR(ITER, ITER_VAR(ITER)->prev))
#endif
#ifndef LIST_FOR_EACH_SAFE
#define LIST_FOR_EACH_SAFE(...)                                             \
  OVERLOAD_SAFE_MACRO(LIST_FOR_EACH_SAFE_LONG, LIST_FOR_EACH_SAFE_SHORT, 4, \
                      __VA_ARGS__)
#define LIST_FOR_EACH_SAFE_SHORT(ITER, MEMBER, LIST)                          \
  for (INIT_MULTIVAR_SAFE_SHORT(ITER, MEMBER, (LIST)->next, struct ovs_list); \
       CONDITION_MULTIVAR_SAFE_SHORT(                                         \
           ITER, MEMBER, ITER_VAR(ITER) != (LIST),                            \
           ITER_NEXT_VAR(ITER) = ITER_VAR(ITER)->next);                       \
       UPDATE_MULTIVAR_SAFE_SHORT(ITER))
#define LIST_FOR_EACH_SAFE_LONG(ITER, NEXT, MEMBER, LIST)                      \
  for (INIT_MULTIVAR_SAFE_LONG(ITER, NEXT, MEMBER, (LIST)->next,               \
                               struct ovs_list);                               \
       CONDITION_MULTIVAR_SAFE_LONG(                                           \
           ITER, NEXT, MEMBER, ITER_VAR(ITER) != (LIST),                       \
           (ITER_VAR(NEXT) = ITER_VAR(ITER)->next, ITER_VAR(NEXT) != (LIST))); \
       UPDATE_MULTIVAR_SAFE_LONG(ITER, NEXT))
#endif
#ifndef LIST_FOR_EACH_POP
#define LIST_FOR_EACH_POP(ITER, MEMBER, LIST)                               \
  while (ovs_list_is_empty(LIST)                                            \
             ? (((ITER) = NULL), (void)(ITER), 0)                           \
             : (((ITER) = OBJECT_CONTAINING(ovs_list_pop_front(LIST), ITER, \
                                            MEMBER)),                       \
                1))
#endif

#endif /* OPENVSWITCH_LIST_H */
