/* SPDX-License-Identifier: Apache-2.0
 *
 * cmap.h as programs use it; see calls.h. */
#include "cmap.h"
#include "tests/compat/calls.h"

struct element {
  int value;
  struct {
    struct cmap_node node;
  } up;
};

enum { N = 10 };

static struct cmap static_map = CMAP_INITIALIZER;
static struct {
  int before;
  struct cmap map;
} nested = {1, CMAP_INITIALIZER};

static int map_evaluations;
static int hash_evaluations;

static struct cmap *map_once(struct cmap *map) {
  map_evaluations++;
  return map;
}

static uint32_t hash_once(uint32_t hash) {
  hash_evaluations++;
  return hash;
}

/* Fills MAP with the values 0...N-1, their own hashes. */
static void fill(struct cmap *map, struct element elements[N]) {
  cmap_init(map);
  for (int i = 0; i < N; i++) {
    elements[i].value = i;
    cmap_insert(map, &elements[i].up.node, (uint32_t)i);
  }
  map_evaluations = hash_evaluations = 0;
}

static const char *initialisers(void) {
  struct cmap_cursor end;
  struct element *e;
  memset(&end, 0, sizeof end);
  CMAP_CURSOR_FOR_EACH_CONTINUE(e, up.node, &end) { return "entered"; }
  CHECK(e == NULL);
  CHECK(cmap_is_empty(&static_map) && cmap_count(&static_map) == 0);
  CHECK(cmap_first(&static_map) == NULL && cmap_find(&static_map, 0) == NULL);
  CHECK(cmap_is_empty(&nested.map) && nested.before == 1);
  cmap_destroy(&static_map);
  cmap_init(&static_map);
  cmap_destroy(NULL);
  return NULL;
}

static const char *for_each(void) {
  struct cmap map;
  struct element elements[N], *e;
  const struct element *c;
  unsigned seen = 0;
  fill(&map, elements);

  CMAP_FOR_EACH(e, up.node, map_once(&map)) { seen |= 1u << e->value; }
  CHECK(e == NULL && seen == (1u << N) - 1 && map_evaluations == 1);

  int bodies = 0;
  CMAP_FOR_EACH(c, up.node, &map) bodies++;
  CHECK(c == NULL && bodies == N);

  CMAP_FOR_EACH(e, up.node, &map) {
    if (e->value == 3) {
      break;
    }
  }
  CHECK(e == &elements[3]);

  bodies = 0;
  CMAP_FOR_EACH(e, up.node, &map) {
    bodies++;
    e = NULL; /* Does not disturb the loop. */
  }
  CHECK(bodies == N);

  if (bodies)
    CMAP_FOR_EACH(e, up.node, &map) bodies++;
  else
    bodies = -1;
  CHECK(bodies == 2 * N);

  bodies = 0;
  CMAP_FOR_EACH(e, up.node, &map) {
    CMAP_FOR_EACH(c, up.node, &map) {
      if (c->value > e->value) {
        continue;
      }
      bodies++;
    }
  }
  CHECK(bodies == N * (N + 1) / 2);

  bodies = 0;
  CMAP_FOR_EACH(e, up.node, &map) {
    size_t left = cmap_remove(&map, &e->up.node, (uint32_t)e->value);
    bodies++;
    CHECK(left == (size_t)(N - bodies));
    memset(e, 0xff, sizeof *e); /* No other reader: the memory is ours. */
  }
  CHECK(bodies == N && cmap_is_empty(&map));
  CMAP_FOR_EACH(e, up.node, &map) bodies++;
  CHECK(e == NULL && bodies == N);
  cmap_destroy(&map);
  return NULL;
}

static const char *cursors(void) {
  struct cmap map;
  struct cmap_cursor cursor;
  struct {
    struct element *e; /* Any lvalue will do. */
    struct cmap_cursor cursor;
  } state;
  struct element elements[N], *e;
  int bodies = 0;
  fill(&map, elements);
  CMAP_CURSOR_FOR_EACH(e, up.node, &cursor, map_once(&map)) {
    if (++bodies == 4) {
      break;
    }
  }
  CHECK(e != NULL && map_evaluations == 1);
  struct element *stopped = e;
  state.cursor = cursor;
  CMAP_CURSOR_FOR_EACH_CONTINUE(e, up.node, &cursor) {
    CHECK(e != stopped);
    bodies++;
  }
  CHECK(e == NULL && bodies == N);
  CMAP_CURSOR_FOR_EACH_CONTINUE(e, up.node, &cursor) bodies++;
  CHECK(e == NULL && bodies == N);

  bodies = 4;
  CMAP_CURSOR_FOR_EACH_CONTINUE(state.e, up.node, &state.cursor) bodies++;
  CHECK(state.e == NULL && bodies == N);

  cursor = cmap_cursor_start(&map);
  for (int i = 0; i < 2 * N; i++) {
    cmap_cursor_advance(&cursor); /* Stays at the end. */
  }
  CMAP_CURSOR_FOR_EACH_CONTINUE(e, up.node, &cursor) bodies++;
  CHECK(bodies == N);

  struct cmap_position position = {0, 0, 0};
  for (int round = 0; round < 2; round++) {
    unsigned seen = 0;
    struct cmap_node *node;
    while ((node = cmap_next_position(&map, &position)) != NULL) {
      seen |= 1u << CONTAINER_OF(node, struct element, up.node)->value;
    }
    CHECK(seen == (1u << N) - 1);
    CHECK(!position.bucket && !position.entry && !position.offset);
  }
  cmap_destroy(&map);
  return NULL;
}

static const char *with_hash(void) {
  struct cmap map = CMAP_INITIALIZER;
  struct element elements[N], *e;
  const struct element *c;
  int bodies = 0;
  for (int i = 0; i < N; i++) {
    elements[i].value = i;
    cmap_insert(&map, &elements[i].up.node, (uint32_t)(i % 2));
  }
  map_evaluations = hash_evaluations = 0;
  CMAP_FOR_EACH_WITH_HASH(e, up.node, hash_once(1), map_once(&map)) {
    CHECK(e->value % 2 == 1);
    bodies++;
  }
  CHECK(!e && bodies == N / 2 && map_evaluations == 1 && hash_evaluations == 1);
  CMAP_FOR_EACH_WITH_HASH_PROTECTED(c, up.node, hash_once(0), map_once(&map))
  bodies++;
  CHECK(!c && bodies == N && map_evaluations == 2 && hash_evaluations == 2);
  CMAP_FOR_EACH_WITH_HASH(e, up.node, 2, &map) bodies++;
  CHECK(!e && bodies == N);

  const struct cmap_node *first = cmap_find(&map, 0), *none = NULL;
  CHECK(first && cmap_find_protected(&map, 0) == first);
  CMAP_NODE_FOR_EACH(e, up.node, first ? first : none) bodies++;
  CHECK(!e && bodies == N + N / 2);
  CMAP_NODE_FOR_EACH_PROTECTED(c, up.node, none) bodies++;
  CHECK(!c && bodies == N + N / 2);
  CHECK(cmap_node_next(first) && cmap_node_next_protected(first));

  bodies = 0;
  CMAP_FOR_EACH_WITH_HASH(e, up.node, 1, &map) {
    CMAP_FOR_EACH_WITH_HASH(c, up.node, 0, &map) bodies++;
  }
  CHECK(bodies == N / 2 * (N / 2));
  cmap_destroy(&map);
  return NULL;
}

/* Bodies that ignore NODE draw no warning. */
static int count_only(struct cmap *map) {
  struct element *a, *b, *c, *d;
  struct cmap_cursor cursor;
  int n = 0;
  CMAP_FOR_EACH(a, up.node, map) n++;
  CMAP_FOR_EACH_WITH_HASH(b, up.node, 1, map) n++;
  CMAP_NODE_FOR_EACH(c, up.node, cmap_find(map, 1)) n++;
  CMAP_CURSOR_FOR_EACH(d, up.node, &cursor, map) n++;
  return n;
}

static const char *ignored(void) {
  struct cmap map;
  struct element elements[N];
  fill(&map, elements);
  CHECK(count_only(&map) == 2 * N + 2);
  cmap_destroy(&map);
  return NULL;
}

static const char *batches(void) {
  struct cmap map;
  struct element elements[N], other, *e;
  uint32_t hashes[64];
  const struct cmap_node *nodes[64];
  unsigned long i, wanted = 0xfff0ul;
  fill(&map, elements);
  other.value = -1;
  for (i = 0; i < 64; i++) {
    hashes[i] = (uint32_t)i;
    nodes[i] = &other.up.node;
  }
  CHECK(cmap_find_batch(&map, 0, NULL, NULL) == 0);
  unsigned long found = cmap_find_batch(&map, wanted, hashes, nodes);
  CHECK(found == 0x03f0ul);
  for (i = 0; i < 64; i++) {
    CHECK(nodes[i] == (found >> i & 1 ? &elements[i].up.node : &other.up.node));
  }
  ULLONG_FOR_EACH_1(i, found) {
    CMAP_NODE_FOR_EACH(e, up.node, nodes[i]) { CHECK(e->value == (int)i); }
  }
  uint32_t slot = cmap_find_index(&map, 3);
  CHECK(slot == UINT32_MAX || cmap_find_by_index(&map, slot));
  CHECK(!cmap_find_by_index(&map, UINT32_MAX));

  CHECK(cmap_replace(&map, &elements[3].up.node, &other.up.node, 3) == N);
  CHECK(cmap_find(&map, 3) == &other.up.node);
  CHECK(cmap_replace(&map, &other.up.node, NULL, 3) == N - 1);
  CHECK(cmap_find(&map, 3) == NULL);
  cmap_destroy(&map);
  return NULL;
}

const char *CALLS(cmap)(void) {
  const char *(*const tests[])(void) = {initialisers, for_each, cursors,
                                        with_hash,    ignored,  batches};
  for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
    const char *failure = tests[i]();
    if (failure) {
      return failure;
    }
  }
  return NULL;
}
