/* SPDX-License-Identifier: Apache-2.0
 *
 * ovs-rcu.h as programs use it; see calls.h. */
#include "ovs-rcu.h"
#include "tests/compat/calls.h"

struct item {
  int value;
  OVSRCU_TYPE(struct item *) next;
};
typedef OVSRCU_TYPE(void *) shared_void;

static struct item first_item;
static OVSRCU_TYPE(struct item *) head = OVSRCU_INITIALIZER(&first_item);
static OVSRCU_TYPE(const struct item *) const_head = OVSRCU_INITIALIZER(NULL);
static shared_void any = OVSRCU_INITIALIZER(NULL);

static int evaluations;
static int freed;
static int const_freed;
static int void_freed;

static shared_void *any_once(void) {
  evaluations++;
  return &any;
}

static void *value_once(void *value) {
  evaluations++;
  return value;
}

static void free_item(struct item *item) {
  if (item) {
    freed += item->value;
  }
}

static void free_const_item(const struct item *item) {
  const_freed += item->value;
}

static int free_void(void *item) { return void_freed += item != NULL; }

typedef void free_function(struct item *);

static free_function *function_once(void) {
  evaluations++;
  return free_item;
}

static struct item *item_once(struct item *item) {
  evaluations++;
  return item;
}

const char *CALLS(rcu)(void) {
  static struct item items[3] = {
      {1, OVSRCU_INITIALIZER(NULL)}, {10, {NULL}}, {100, {NULL}}};
  struct item *none = NULL;
  struct item *nested;
  ovsrcu_index index;
  int target;

  /* Pointers. */
  CHECK(ovsrcu_get(struct item *, &head) == &first_item);
  CHECK(ovsrcu_get_protected(const struct item *, &const_head) == NULL);
  ovsrcu_init(&head, &items[0]);
  ovsrcu_set_hidden(&items[0].next, &items[1]);
  ovsrcu_set(&items[1].next, &items[2]);
  ovsrcu_set(&const_head, &items[2]);
  CHECK(ovsrcu_get(const struct item *, &const_head)->value == 100);

  /* One as an argument of another. */
  nested =
      ovsrcu_get(struct item *,
                 &ovsrcu_get_protected(struct item *,
                                       &ovsrcu_get(struct item *, &head)->next)
                      ->next);
  CHECK(nested == &items[2]);
  ovsrcu_set(&ovsrcu_get(struct item *, &head)->next, __extension__({
    ovsrcu_set(&items[2].next, __extension__({
      ovsrcu_set_hidden(&items[1].next, none);
      &items[0];
    }));
    &items[2];
  }));
  CHECK(ovsrcu_get(struct item *, &items[0].next) == &items[2]);
  CHECK(ovsrcu_get(struct item *, &items[1].next) == NULL);
  CHECK(ovsrcu_get(struct item *, &items[2].next) == &items[0]);

  /* A const variable. */
  {
    const struct item *item = &items[0];
    CHECK(ovsrcu_get(struct item *, &item->next) == &items[2]);
  }

  /* Each argument is evaluated once; as the branches of an if. */
  evaluations = 0;
  if (none)
    ovsrcu_set(&any, none);
  else
    ovsrcu_set(any_once(), value_once(&target));
  CHECK(evaluations == 2);
  ovsrcu_set_hidden(any_once(), value_once(&target));
  ovsrcu_init(any_once(), value_once(&target));
  CHECK(evaluations == 6);
  CHECK(ovsrcu_get(void *, any_once()) == &target);
  CHECK(ovsrcu_get_protected(void *, any_once()) == &target);
  CHECK(evaluations == 8);

  /* Callbacks. */
  evaluations = 0;
  ovsrcu_postpone(function_once(), item_once(&items[0]));
  CHECK(evaluations == 2);
  if (none)
    ovsrcu_postpone(free_item, none);
  else
    ovsrcu_postpone(free_item, &items[1]);
  ovsrcu_postpone(free_item, none);
  ovsrcu_postpone(free_const_item, &items[1]);
  ovsrcu_postpone(free_const_item, (const struct item *)&items[2]);
  ovsrcu_postpone(free_void, &items[0]);
  ovsrcu_postpone(free_void, ovsrcu_get(void *, &any));
  ovsrcu_postpone(free, malloc(1));
  CHECK(!ovsrcu_is_quiescent());
  CHECK(freed == 0);
  ovsrcu_barrier();
  CHECK(freed == 11);
  CHECK(const_freed == 110);
  CHECK(void_freed == 2);

  /* States. */
  ovsrcu_quiesce_start();
  CHECK(ovsrcu_is_quiescent());
  ovsrcu_quiesce_end();
  CHECK(!ovsrcu_is_quiescent());
  ovsrcu_quiesce_start();
  ovsrcu_quiesce();
  CHECK(!ovsrcu_is_quiescent());
  ovsrcu_synchronize();
  ovsrcu_quiesce_start();

  /* Numbers. */
  ovsrcu_index_init(&index, -1);
  CHECK(ovsrcu_index_get(&index) == -1);
  ovsrcu_index_set(&index, 5);
  CHECK(ovsrcu_index_get_protected(&index) == 5);
  ovsrcu_index_set_hidden(&index, 6);
  CHECK(ovsrcu_index_get(&index) == 6);
  CHECK(sizeof index == 4);
  return NULL;
}
