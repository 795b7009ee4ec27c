/* SPDX-License-Identifier: Apache-2.0
 *
 * openvswitch/hmap.h as programs use it; see calls.h. */
#include <string.h>

#include "openvswitch/hmap.h"
#include "tests/compat/calls.h"

struct element {
  int value;
  struct {
    struct hmap_node node;
  } up;
};

struct OVS_LOCKABLE lockable;

static struct hmap static_map = HMAP_INITIALIZER(&static_map);
static struct hmap_node static_node = HMAP_NODE_NULL_INITIALIZER;
static const struct hmap const_map = HMAP_CONST(&const_map, 1, &static_node);
static struct {
  int before;
  struct hmap map;
} nested = {1, HMAP_INITIALIZER(&nested.map)};

static int map_evaluations;
static int extra_evaluations;
static int hash_evaluations;

static struct hmap *map_once(struct hmap *map) {
  map_evaluations++;
  return map;
}

static int extra(void) { return extra_evaluations++ + map_evaluations; }

static size_t hash_once(size_t hash) {
  hash_evaluations++;
  return hash;
}

enum { N = 10 };

/* Fills MAP with the values 0...N-1, their own hashes. */
static void fill(struct hmap *map, struct element elements[N]) {
  hmap_init(map);
  for (int i = 0; i < N; i++) {
    elements[i].value = i;
    hmap_insert(map, &elements[i].up.node, (size_t)i);
  }
  map_evaluations = extra_evaluations = hash_evaluations = 0;
}

static const char *initialisers(void) {
  CHECK(hmap_is_empty(&static_map) && hmap_count(&static_map) == 0);
  CHECK(hmap_first(&static_map) == NULL && hmap_capacity(&static_map) == 1);
  CHECK(hmap_is_empty(&nested.map) && nested.before == 1);
  CHECK(hmap_node_is_null(&static_node));
  static_node.next = NULL;
  CHECK(hmap_count(&const_map) == 1 && hmap_first(&const_map) == &static_node);
  static_node.next = HMAP_NODE_NULL;
  return NULL;
}

static const char *for_each(void) {
  struct hmap map;
  struct element elements[N], *e;
  const struct element *c;
  unsigned seen = 0;
  fill(&map, elements);

  HMAP_FOR_EACH(e, up.node, map_once(&map)) { seen |= 1u << e->value; }
  CHECK(e == NULL && seen == (1u << N) - 1 && map_evaluations == N + 1);

  int bodies = 0;
  HMAP_FOR_EACH(c, up.node, &map) bodies++;
  CHECK(c == NULL && bodies == N);

  HMAP_FOR_EACH(e, up.node, &map) {
    if (e->value == 3) {
      break;
    }
  }
  CHECK(e == &elements[3]);

  bodies = 0;
  HMAP_FOR_EACH(e, up.node, &map) {
    bodies++;
    e = NULL; /* Does not disturb the loop. */
  }
  CHECK(bodies == N);

  if (bodies)
    HMAP_FOR_EACH(e, up.node, &map) bodies++;
  else
    bodies = -1;
  CHECK(bodies == 2 * N);

  bodies = 0;
  HMAP_FOR_EACH(e, up.node, &map) {
    HMAP_FOR_EACH(c, up.node, &map) {
      if (c->value > e->value) {
        continue;
      }
      bodies++;
    }
  }
  CHECK(bodies == N * (N + 1) / 2);

  HMAP_FOR_EACH_INIT(e, up.node, map_once(&map), extra(), (void)sizeof(e),
                     extra()) {
    CHECK(extra_evaluations == 2);
  }
  CHECK(extra_evaluations == 2);

  bodies = 0;
  HMAP_FOR_EACH(e, up.node, &map) {
    hmap_remove(&map, &e->up.node); /* Not freed: the loop goes on from it. */
    bodies++;
  }
  CHECK(bodies == N && hmap_is_empty(&map));
  HMAP_FOR_EACH(e, up.node, &map) bodies++;
  CHECK(e == NULL && bodies == N);
  hmap_destroy(&map);
  return NULL;
}

static const char *for_each_continue(void) {
  struct hmap map;
  struct element elements[N], *e;
  int bodies = 0;
  fill(&map, elements);
  HMAP_FOR_EACH(e, up.node, &map) {
    if (++bodies == 4) {
      break;
    }
  }
  HMAP_FOR_EACH_CONTINUE(e, up.node, map_once(&map)) bodies++;
  CHECK(e == NULL && bodies == N && map_evaluations == N - 4 + 1);

  e = CONTAINER_OF(hmap_first(&map), struct element, up.node);
  bodies = 1;
  HMAP_FOR_EACH_CONTINUE_INIT(e, up.node, &map, extra(), 1 + 1) bodies++;
  CHECK(e == NULL && bodies == N && extra_evaluations == 1);
  hmap_destroy(&map);
  return NULL;
}

static const char *for_each_safe(void) {
  struct hmap map;
  struct element elements[N], *e, *next;
  unsigned seen = 0;
  fill(&map, elements);
  HMAP_FOR_EACH_SAFE(e, up.node, map_once(&map)) {
    seen |= 1u << e->value;
    hmap_remove(&map, &e->up.node);
    memset(e, 0xff, sizeof *e);
  }
  CHECK(e == NULL && seen == (1u << N) - 1 && map_evaluations == N + 1);
  CHECK(hmap_is_empty(&map));
  hmap_destroy(&map);

  fill(&map, elements);
  int bodies = 0;
  HMAP_FOR_EACH_SAFE(e, next, up.node, map_once(&map)) {
    struct hmap_node *successor = hmap_next(&map, &e->up.node);
    CHECK(next == (successor ? CONTAINER_OF(successor, struct element, up.node)
                             : NULL));
    hmap_remove(&map, &e->up.node);
    memset(e, 0xff, sizeof *e);
    bodies++;
  }
  CHECK(e == NULL && next == NULL && bodies == N && map_evaluations == N + 1);
  hmap_destroy(&map);

  fill(&map, elements);
  HMAP_FOR_EACH_SAFE(e, next, up.node, &map) {
    if (e->value == 5) {
      break;
    }
  }
  CHECK(e == &elements[5] && next == &elements[6]);
  HMAP_FOR_EACH_SAFE_LONG(e, next, up.node, &map) bodies++;
  HMAP_FOR_EACH_SAFE_SHORT(e, up.node, &map) bodies++;
  HMAP_FOR_EACH_SAFE_LONG_INIT(e, next, up.node, &map, extra(), (void)e)
  bodies++;
  HMAP_FOR_EACH_SAFE_SHORT_INIT(e, up.node, &map, extra()) bodies++;
  CHECK(bodies == 5 * N && extra_evaluations == 2 && !e && !next);
  hmap_destroy(&map);
  return NULL;
}

/* Bodies that ignore NODE and NEXT draw no warning. */
static int count_only(struct hmap *map) {
  struct element *a, *b, *c, *d, *e, *f, *next;
  int n = 0;
  HMAP_FOR_EACH(a, up.node, map) n++;
  HMAP_FOR_EACH_WITH_HASH(b, up.node, 1, map) n++;
  HMAP_FOR_EACH_IN_BUCKET(c, up.node, 1, map) n++;
  HMAP_FOR_EACH_SAFE(d, next, up.node, map) n++;
  HMAP_FOR_EACH_SAFE(e, up.node, map) n++;
  HMAP_FOR_EACH_POP(f, up.node, map) n++;
  return n;
}

static const char *ignored(void) {
  struct hmap map;
  struct element elements[N];
  fill(&map, elements);
  CHECK(count_only(&map) >= 4 * N + 2 && hmap_is_empty(&map));
  hmap_destroy(&map);
  return NULL;
}

static const char *with_hash(void) {
  struct hmap map;
  struct element elements[N], *e;
  int bodies = 0;
  hmap_init(&map);
  for (int i = 0; i < N; i++) {
    elements[i].value = i;
    hmap_insert(&map, &elements[i].up.node, (size_t)(i % 2));
  }
  map_evaluations = hash_evaluations = 0;
  HMAP_FOR_EACH_WITH_HASH(e, up.node, hash_once(1), map_once(&map)) {
    CHECK(e->value % 2 == 1);
    bodies++;
  }
  CHECK(!e && bodies == N / 2 && map_evaluations == 1 && hash_evaluations == 1);
  HMAP_FOR_EACH_WITH_HASH(e, up.node, 2, &map) { bodies++; }
  CHECK(!e && bodies == N / 2);

  bodies = 0;
  HMAP_FOR_EACH_IN_BUCKET(e, up.node, hash_once(0), map_once(&map)) {
    bodies += e->value % 2 == 0;
  }
  CHECK(!e && bodies == N / 2 && map_evaluations == 2 && hash_evaluations == 2);
  hmap_destroy(&map);
  return NULL;
}

static const char *pop(void) {
  struct hmap map;
  struct element elements[N], *e;
  unsigned seen = 0;
  fill(&map, elements);
  HMAP_FOR_EACH_POP(e, up.node, map_once(&map)) {
    seen |= 1u << e->value;
    memset(e, 0, sizeof *e);
  }
  CHECK(e == NULL && seen == (1u << N) - 1 && map_evaluations == N + 1);
  CHECK(hmap_is_empty(&map) && hmap_first(&map) == NULL);
  hmap_destroy(&map);

  fill(&map, elements);
  HMAP_FOR_EACH_POP(e, up.node, &map) { break; }
  CHECK(e != NULL && hmap_count(&map) == N - 1);
  CHECK(!hmap_contains(&map, &e->up.node));
  hmap_destroy(&map);
  return NULL;
}

static const char *resizing(void) {
  struct hmap map;
  struct element elements[N];
  fill(&map, elements);
  hmap_reserve(&map, 100);
  CHECK(hmap_capacity(&map) >= 100);
  hmap_shrink(&map);
  CHECK(hmap_capacity(&map) >= N && hmap_capacity(&map) < 100);
  hmap_expand(&map);
  CHECK(hmap_count(&map) == N);
  hmap_destroy(&map);
  return NULL;
}

const char *CALLS(hmap)(void) {
  const char *(*const tests[])(void) = {
      initialisers, for_each, for_each_safe, for_each_continue,
      with_hash,    ignored,  pop,           resizing};
  for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
    const char *failure = tests[i]();
    if (failure) {
      return failure;
    }
  }
  return NULL;
}
